package ir

// Platform is an operating system that policies are compiled for.
type Platform uint8

// The platforms.
const (
	Linux Platform = iota + 1
	Darwin
	Windows
)

// Platforms lists every platform in canonical order.
var Platforms = [...]Platform{Linux, Darwin, Windows}

// String returns the platform's name as Go and the artifacts spell it.
func (p Platform) String() string {
	switch p {
	case Linux:
		return "linux"
	case Darwin:
		return "darwin"
	case Windows:
		return "windows"
	default:
		return "none"
	}
}

// ParsePlatform is the inverse of Platform.String.
func ParsePlatform(s string) (Platform, bool) {
	for _, p := range Platforms {
		if p.String() == s {
			return p, true
		}
	}
	return 0, false
}

// BaseName names a list of what every program of a platform needs outside the
// workspace.
type BaseName uint8

// The bases.
const (
	// BaseSystem is loader, libraries, shell, the system's programs and its
	// public configuration.
	BaseSystem BaseName = iota + 1
	// BaseMinimal is what a dynamically linked binary needs to start.
	BaseMinimal
	// BaseNone is nothing.
	BaseNone
)

// BaseVersion is the version of the lists below. It changes with every change of
// theirs, so that two policies under different lists never look equal.
const BaseVersion = 1

// String returns the configuration word for b.
func (b BaseName) String() string {
	switch b {
	case BaseSystem:
		return "system"
	case BaseMinimal:
		return "minimal"
	case BaseNone:
		return "none"
	default:
		return "unset"
	}
}

// ParseBase is the inverse of BaseName.String.
func ParseBase(s string) (BaseName, bool) {
	for _, b := range [...]BaseName{BaseSystem, BaseMinimal, BaseNone} {
		if b.String() == s {
			return b, true
		}
	}
	return 0, false
}

// BaseRules returns the list b of platform p, as rules on absolute paths. The
// paths are the platform's own spelling; a host may resolve some of them
// elsewhere (/bin is often /usr/bin) and lack others.
func BaseRules(b BaseName, p Platform) []FSRule {
	var groups []baseGroup
	switch b {
	case BaseSystem:
		groups = systemBase(p)
	case BaseMinimal:
		groups = minimalBase(p)
	case BaseNone:
	}
	origin := Origin{Layer: LayerBase, Label: "base:" + b.String()}
	var out []FSRule
	for _, g := range groups {
		for _, path := range g.paths {
			out = append(out, FSRule{Written: "/" + path, At: Sys(path), Caps: g.caps, Origin: origin})
		}
	}
	return out
}

type baseGroup struct {
	caps  CapSet
	paths []string
}

const (
	readOnly    = CapSet(1 << Read)
	readExecute = CapSet(1<<Read | 1<<Execute)
	readUpdate  = CapSet(1<<Read | 1<<Update)
)

func systemBase(p Platform) []baseGroup {
	switch p {
	case Linux:
		return linuxSystem
	case Darwin:
		return darwinSystem
	case Windows:
		return windowsSystem
	default:
		return nil
	}
}

func minimalBase(p Platform) []baseGroup {
	switch p {
	case Linux:
		return linuxMinimal
	case Darwin:
		return darwinMinimal
	case Windows:
		return windowsSystem
	default:
		return nil
	}
}

var linuxSystem = []baseGroup{
	{readExecute, []string{
		"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "nix/store",
	}},
	{readOnly, []string{"etc", "proc"}},
	{0, linuxSecrets},
	{readUpdate, []string{"dev/null", "dev/zero", "dev/full", "dev/tty", "dev/ptmx", "dev/pts"}},
	{readOnly, []string{"dev/random", "dev/urandom"}},
}

// linuxSecrets are the places below /etc that hold credentials on the common
// distributions. Most are readable by root alone; they are named because tools
// are also run as root.
var linuxSecrets = []string{
	"etc/NetworkManager/system-connections",
	"etc/docker/key.json",
	"etc/exim4/passwd.client",
	"etc/gshadow",
	"etc/gshadow-",
	"etc/ipsec.d/private",
	"etc/ipsec.secrets",
	"etc/krb5.keytab",
	"etc/kubernetes",
	"etc/letsencrypt",
	"etc/mysql/debian.cnf",
	"etc/netplan",
	"etc/openvpn",
	"etc/pki/private",
	"etc/pki/tls/private",
	"etc/postfix/sasl_passwd",
	"etc/ppp/chap-secrets",
	"etc/ppp/pap-secrets",
	"etc/rancher",
	"etc/samba/private",
	"etc/security/opasswd",
	"etc/shadow",
	"etc/shadow-",
	"etc/ssh/ssh_host_dsa_key",
	"etc/ssh/ssh_host_ecdsa_key",
	"etc/ssh/ssh_host_ed25519_key",
	"etc/ssh/ssh_host_rsa_key",
	"etc/ssl/private",
	"etc/sudoers",
	"etc/sudoers.d",
	"etc/wireguard",
	"etc/wpa_supplicant",
}

var linuxMinimal = []baseGroup{
	{readExecute, []string{
		"usr/lib", "usr/lib32", "usr/lib64", "usr/libx32", "lib", "lib32", "lib64", "libx32", "nix/store",
	}},
	{readOnly, []string{"etc/ld.so.cache", "etc/ld.so.conf", "etc/ld.so.conf.d", "dev/urandom"}},
	{readUpdate, []string{"dev/null"}},
}

// The macOS list follows what published profiles grant on 10.15 to 26; see
// docs/platforms/macos.md for the reason behind each group.
var darwinSystem = []baseGroup{
	{readExecute, []string{
		"Applications/Xcode.app/Contents/Developer",
		"Library/Apple/System/Library",
		"Library/Apple/usr",
		"Library/Developer",
		"System/Cryptexes/App",
		"System/Cryptexes/OS",
		"System/Library",
		"System/Volumes/Preboot/Cryptexes/App/System",
		"System/Volumes/Preboot/Cryptexes/OS",
		"System/iOSSupport/System/Library",
		"bin", "sbin", "opt", "nix/store",
		"usr/bin", "usr/lib", "usr/libexec", "usr/local", "usr/sbin",
	}},
	{readOnly, []string{
		"usr/share",
		"private/etc/hosts", "private/etc/passwd", "private/etc/protocols", "private/etc/services", "private/etc/ssl",
		"private/var/db/dyld", "private/var/db/timezone", "private/var/select",
		"dev/autofs_nowait", "dev/random", "dev/urandom",
	}},
	{readUpdate, []string{"dev/dtracehelper", "dev/fd", "dev/null", "dev/tty", "dev/zero"}},
}

var darwinMinimal = []baseGroup{
	{readExecute, []string{
		"Library/Apple/System/Library",
		"Library/Apple/usr",
		"System/Cryptexes/App",
		"System/Cryptexes/OS",
		"System/Library",
		"System/Volumes/Preboot/Cryptexes/App/System",
		"System/Volumes/Preboot/Cryptexes/OS",
		"System/iOSSupport/System/Library",
		"usr/lib",
	}},
	{readOnly, []string{"private/var/db/dyld", "dev/autofs_nowait", "dev/random", "dev/urandom"}},
	{readUpdate, []string{"dev/dtracehelper", "dev/fd", "dev/null"}},
}

// Every AppContainer may read and run what carries an entry for ALL APPLICATION
// PACKAGES; on a default installation these are the trees that do.
var windowsSystem = []baseGroup{
	{readExecute, []string{
		"${SystemRoot}", "${ProgramFiles}", "${ProgramFiles(x86)}",
	}},
}
