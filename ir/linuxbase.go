package ir

// Some places of the Linux base refer to another file for every tool: the kernel shows a
// process itself and its terminal there, and processes share memory. The supervisor answers
// calls on them; without a supervisor the tool has less.
const (
	// LinuxProc is /proc/self and /proc/thread-self, and the directories by number of all
	// processes of the tool.
	LinuxProc = "proc/self"
	// LinuxTerminal is the controlling terminal, by its own name as well, and the
	// pseudo-terminals that the tool has made.
	LinuxTerminal = "dev/tty"
	// LinuxShared is memory that the processes of a run share, apart from all others.
	LinuxShared = "dev/shm"
	// LinuxStandard is the descriptors 0 to 2 by their names in /dev.
	LinuxStandard = "dev/fd"
)

// LinuxOwn reports whether a path, without its leading slash, is LinuxProc, LinuxTerminal,
// LinuxShared or LinuxStandard. Such a path stays as it is spelled, although the kernel resolves
// it to a file of the calling process.
func LinuxOwn(path string) bool {
	return path == LinuxProc || path == LinuxTerminal || path == LinuxShared || path == LinuxStandard
}

// linuxSystem is the Linux base. Of /etc it lists single files that programs read everywhere,
// so that secrets that the list does not foresee stay closed.
// See decision D53.
var linuxSystem = []BaseEntry{
	{"/usr", readExecute, "programs, libraries and their data"},
	{"/bin", readExecute, "programs"},
	{"/sbin", readExecute, "programs"},
	{"/lib", readExecute, "libraries"},
	{"/lib32", readExecute, "libraries"},
	{"/lib64", readExecute, "libraries and the loader"},
	{"/libx32", readExecute, "libraries"},
	{"/opt", readExecute, "installed programs"},
	{"/nix/store", readExecute, "programs and libraries of Nix"},

	{"/dev/full", readUpdate, "fails writes, for tests"},
	{"/dev/null", readUpdate, "discards"},
	{"/dev/ptmx", readUpdate, "makes pseudo-terminals"},
	{"/dev/random", readOnly, "random numbers"},
	{"/dev/urandom", readOnly, "random numbers"},
	{"/dev/zero", readUpdate, "zeros"},
	{"/" + LinuxStandard, readUpdate, "the standard descriptors, opened again for as much as they are open for"},
	{"/" + LinuxShared, All.Without(Execute), "memory shared by the processes of the run, apart from everybody else's"},
	{"/" + LinuxTerminal, readUpdate, "the controlling terminal, and pseudo-terminals that the tool makes"},

	{"/proc/cpuinfo", readOnly, "processors"},
	{"/proc/filesystems", readOnly, "kinds of file system"},
	{"/proc/loadavg", readOnly, "load of the machine"},
	{"/proc/meminfo", readOnly, "memory of the machine"},
	{"/" + LinuxProc, readOnly, "a process of the tool as it sees itself and the others of the tool, with the " +
		"machine's sockets and mounts; the numbers of all processes"},
	{"/proc/stat", readOnly, "times of the processors"},
	{"/proc/sys", readOnly, "settings of the kernel"},
	{"/proc/uptime", readOnly, "time since the start of the machine"},

	{"/etc/alternatives", readOnly, "chosen programs"},
	{"/etc/bash.bashrc", readOnly, "settings of shells"},
	{"/etc/bashrc", readOnly, "settings of shells"},
	{"/etc/ca-certificates", readOnly, "certificates"},
	{"/etc/chromium.d", readOnly, "settings of chromium, without which Debian's does not start"},
	{"/etc/crypto-policies", readOnly, "accepted ciphers"},
	{"/etc/debian_version", readOnly, "release of the system, without which Debian's pip does not start"},
	{"/etc/fonts", readOnly, "fonts"},
	{"/etc/gai.conf", readOnly, "order of addresses"},
	{"/etc/gitattributes", readOnly, "defaults of git"},
	{"/etc/gitconfig", readOnly, "defaults of git"},
	{"/etc/group", readOnly, "names of groups"},
	{"/etc/host.conf", readOnly, "names of hosts"},
	{"/etc/hostname", readOnly, "name of the machine"},
	{"/etc/hosts", readOnly, "names of hosts"},
	{"/etc/inputrc", readOnly, "keys of line editors"},
	{"/etc/java", readOnly, "settings of Java"},
	{"/etc/java-11-openjdk", readOnly, "settings of Java"},
	{"/etc/java-17-openjdk", readOnly, "settings of Java"},
	{"/etc/java-21-openjdk", readOnly, "settings of Java"},
	{"/etc/java-25-openjdk", readOnly, "settings of Java"},
	{"/etc/java-8-openjdk", readOnly, "settings of Java"},
	{"/etc/krb5.conf", readOnly, "realms of Kerberos"},
	{"/etc/ld-musl-aarch64.path", readOnly, "places of libraries"},
	{"/etc/ld-musl-x86_64.path", readOnly, "places of libraries"},
	{"/etc/ld.so.cache", readOnly, "places of libraries"},
	{"/etc/ld.so.conf", readOnly, "places of libraries"},
	{"/etc/ld.so.conf.d", readOnly, "places of libraries"},
	{"/etc/ld.so.preload", readOnly, "libraries that the system loads first"},
	{"/etc/locale.alias", readOnly, "languages"},
	{"/etc/locale.conf", readOnly, "languages"},
	{"/etc/localtime", readOnly, "time zone"},
	{"/etc/lsb-release", readOnly, "release of the system"},
	{"/etc/magic", readOnly, "kinds of file"},
	{"/etc/maven", readOnly, "defaults of Maven"},
	{"/etc/mime.types", readOnly, "kinds of file"},
	{"/etc/npmrc", readOnly, "defaults of npm"},
	{"/etc/nsswitch.conf", readOnly, "sources of names"},
	{"/etc/os-release", readOnly, "release of the system"},
	{"/etc/passwd", readOnly, "names of users"},
	{"/etc/perl", readOnly, "settings of Perl"},
	{"/etc/pip.conf", readOnly, "defaults of pip"},
	{"/etc/pki/ca-trust", readOnly, "certificates"},
	{"/etc/pki/tls/cert.pem", readOnly, "certificates"},
	{"/etc/pki/tls/certs", readOnly, "certificates"},
	{"/etc/pki/tls/openssl.cnf", readOnly, "settings of TLS"},
	{"/etc/profile", readOnly, "settings of shells"},
	{"/etc/profile.d", readOnly, "settings of shells"},
	{"/etc/protocols", readOnly, "names of protocols"},
	{"/etc/python3.10", readOnly, "settings of Python"},
	{"/etc/python3.11", readOnly, "settings of Python"},
	{"/etc/python3.12", readOnly, "settings of Python"},
	{"/etc/python3.13", readOnly, "settings of Python"},
	{"/etc/python3.14", readOnly, "settings of Python"},
	{"/etc/python3.9", readOnly, "settings of Python"},
	{"/etc/redhat-release", readOnly, "release of the system"},
	{"/etc/resolv.conf", readOnly, "name servers"},
	{"/etc/selinux/config", readOnly, "mode of SELinux"},
	{"/etc/services", readOnly, "names of ports"},
	{"/etc/shells", readOnly, "shells"},
	{"/etc/ssh/ssh_config", readOnly, "defaults of ssh"},
	{"/etc/ssh/ssh_config.d", readOnly, "defaults of ssh"},
	{"/etc/ssh/ssh_known_hosts", readOnly, "keys of known hosts"},
	{"/etc/ssl/cert.pem", readOnly, "certificates"},
	{"/etc/ssl/certs", readOnly, "certificates"},
	{"/etc/ssl/openssl.cnf", readOnly, "settings of TLS"},
	{"/etc/terminfo", readOnly, "terminals"},
	{"/etc/timezone", readOnly, "time zone"},
	{"/etc/wgetrc", readOnly, "defaults of wget"},
	{"/etc/xdg", readOnly, "defaults of desktop programs"},
	{"/etc/zsh", readOnly, "settings of shells"},
}

var linuxMinimal = []BaseEntry{
	{"/usr/lib", readExecute, "libraries"},
	{"/usr/lib32", readExecute, "libraries"},
	{"/usr/lib64", readExecute, "libraries and the loader"},
	{"/usr/libx32", readExecute, "libraries"},
	{"/lib", readExecute, "libraries"},
	{"/lib32", readExecute, "libraries"},
	{"/lib64", readExecute, "libraries and the loader"},
	{"/libx32", readExecute, "libraries"},
	{"/nix/store", readExecute, "programs and libraries of Nix"},
	{"/dev/null", readUpdate, "discards"},
	{"/dev/urandom", readOnly, "random numbers"},
	{"/etc/ld.so.cache", readOnly, "places of libraries"},
	{"/etc/ld.so.conf", readOnly, "places of libraries"},
	{"/etc/ld.so.conf.d", readOnly, "places of libraries"},
}
