package nono

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Model is a profile of nono, as of version 0.66.0 on Linux (its profile authoring guide, and data/policy.json of
// nono-cli). Nothing is open but the listed places, those of its default groups, and without a list of domains the
// network.
type Model struct {
	foreign.Host
	// IsDir reports whether a directory has a name.
	IsDir func(abs string) bool
	// Allow, Read and Write are directories, AllowFile and ReadFile files, Deny is closed at any depth.
	Allow, Read, Write, AllowFile, ReadFile, Deny []string
	// Workdir is the use for which the workspace is open: none, read, write or readwrite.
	Workdir string
	// NoSystem leaves the directories of the system out.
	NoSystem bool
	// Block closes the network; Filtered opens Domains alone.
	Block, Filtered bool
	Domains         []string
	// AllowVars are the variables that commands get, all if there is none; DenyVars are those that they never do. A "*"
	// at the end is any text.
	AllowVars, DenyVars []string
	// Commands are programs that a run may not begin with.
	Commands []string
}

// deniedPlaces are places of the home that its required groups deny.
var deniedPlaces = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".gcloud", ".kube", ".docker", ".git-credentials", ".netrc",
	".npmrc", ".vault-token", ".credentials", ".secrets", ".keys", ".pki", ".terraform.d", ".config/op",
	".password-store",
	".1password", ".op", ".local/share/keyrings", ".config/google-chrome", ".config/chromium", ".mozilla/firefox",
	".config/microsoft-edge", ".config/BraveSoftware", ".config/vivaldi", ".config/opera", ".bash_history",
	".zsh_history",
	".history", ".python_history", ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".bashrc", ".bash_profile",
	".bash_login", ".bash_logout", ".profile", ".config/fish", ".env", ".envrc", "Library",
}

// systemPlaces are the paths that its group of core paths opens for reading.
var systemPlaces = []string{
	"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/lib", "/lib64", "/usr/lib", "/usr/lib64",
	"/usr/local/lib",
	"/usr/local/lib64", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/ssl", "/etc/pki",
	"/etc/ca-certificates", "/etc/crypto-policies", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/localtime", "/etc/timezone", "/etc/locale.conf", "/etc/locale.gen", "/etc/alternatives", "/etc/os-release",
	"/etc/services", "/usr/share", "/etc/terminfo",
}

// spell is the absolute form of a path, empty if it is not certain.
func (n *Model) spell(text string) string {
	for variable, dir := range map[string]string{"~": n.Home, "$HOME": n.Home, "$WORKDIR": n.Dir} {
		if rest, ok := strings.CutPrefix(text, variable); ok && (rest == "" || rest[0] == '/') {
			text = dir + rest
		}
	}
	if !strings.HasPrefix(text, "/") || strings.ContainsAny(text, "$*?[") ||
		slices.Contains(strings.Split(text, "/"), "..") {
		return ""
	}
	return path.Clean(text)
}

// in reports whether a path is in one of some directories, which exist, or is one of some files.
func (n *Model) in(abs string, dirs, files []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool {
		at := n.spell(d)
		return at != "" && n.Follow(at) == at && n.IsDir(at) && foreign.Under(abs, at)
	}) || slices.ContainsFunc(files, func(f string) bool {
		at := n.spell(f)
		return at != "" && n.Follow(at) == at && n.Exists(at) && !n.IsDir(at) && foreign.Under(abs, at)
	})
}

// denied reports whether a path is closed whatever opens it.
func (n *Model) denied(abs string) bool {
	return slices.ContainsFunc(deniedPlaces,
		func(name string) bool { return foreign.Under(abs, n.Follow(path.Join(n.Home, name))) }) ||
		slices.ContainsFunc(n.Deny, func(d string) bool {
			return n.spell(d) == "" ||
				foreign.Under(abs, n.Follow(n.spell(d)))
		})
}

// Reads implements Policy.
func (n *Model) Reads(abs string) bool {
	if n.denied(abs) {
		return false
	}
	if parts := foreign.Split(abs); len(parts) > 0 &&
		(!n.Exists("/"+parts[0]) || len(parts) > 1 && parts[0] == "usr" && !n.Exists("/usr/"+parts[1])) {
		return true // there is no such directory of the system, and no confined program could make it
	}
	system := !n.NoSystem && slices.ContainsFunc(systemPlaces, func(dir string) bool { return foreign.Under(abs, dir) })
	workdir := (n.Workdir == "read" || n.Workdir == "readwrite") && foreign.Under(abs, n.Dir)
	return system || workdir || n.in(abs, slices.Concat(n.Allow, n.Read), slices.Concat(n.AllowFile, n.ReadFile))
}

// Writes implements Policy: writing includes making and removing files, and so no single file is written.
func (n *Model) Writes(abs string) bool {
	workdir := (n.Workdir == "write" || n.Workdir == "readwrite") && foreign.Under(abs, n.Dir)
	return !n.denied(abs) && (workdir || n.in(abs, slices.Concat(n.Allow, n.Write), nil))
}

// Connects implements Policy.
func (n *Model) Connects(host string, port uint16) bool {
	return !n.Block && (!n.Filtered || slices.ContainsFunc(n.Domains,
		func(d string) bool { return foreign.Domain(d, host, port) }))
}

// Fetches implements Policy: nono confines commands alone.
func (n *Model) Fetches(string) bool { return false }

// Passes implements Policy.
func (n *Model) Passes(name string) bool {
	match := func(p string) bool { return foreign.MatchName(p, name) }
	return (len(n.AllowVars) == 0 || slices.ContainsFunc(n.AllowVars, match)) && !slices.ContainsFunc(n.DenyVars, match)
}

// Runs implements Policy: of the command that a run begins with.
func (n *Model) Runs(line string) bool {
	words := strings.Fields(line)
	return len(words) == 0 || !slices.Contains(n.Commands, path.Base(words[0]))
}

// Marks implements Policy.
func (n *Model) Marks() foreign.Marks {
	out := foreign.Marks{Linux: true, Paths: []string{n.Dir}, Hosts: n.Domains}
	for _, text := range slices.Concat(n.Allow, n.Read, n.Write, n.AllowFile, n.ReadFile, n.Deny) {
		if at := n.spell(text); at != "" {
			out.Paths = append(out.Paths, at, n.Follow(at))
		}
	}
	for _, name := range deniedPlaces {
		out.Paths = append(out.Paths, path.Join(n.Home, name))
	}
	for _, v := range slices.Concat(n.AllowVars, n.DenyVars) {
		out.Vars = append(out.Vars, strings.TrimSuffix(v, "*"), strings.ReplaceAll(v, "*", "ZZ"))
	}
	out.Vars = append(out.Vars, "LC_ZZ")
	for _, c := range n.Commands {
		out.Commands = append(out.Commands, c+" *")
	}
	return out
}
