package landlockconfig

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Model is a configuration of landlockconfig, as of version 0.1.0: rights on files and ports that are
// handled, which means denied but for the rules, and every other right unrestricted (its schema and
// README, and Documentation/userspace-api/landlock.rst of the kernel). A kernel that knows fewer rights
// enforces less; the evaluation is that of one which knows all of them.
type Model struct {
	foreign.Host
	// IsDir reports whether a directory has a name.
	IsDir func(abs string) bool
	// ABI is the version that "abi.*" stands for.
	ABI int
	// HandledFS and HandledNet are the rights of all rulesets, as they are written.
	HandledFS, HandledNet []string
	// Paths and Ports are the rules, Variables the texts for "${name}".
	Paths     []PathsRule
	Ports     []PortsRule
	Variables map[string][]string
}

// PathsRule is one path_beneath.
type PathsRule struct{ Access, Parents []string }

// PortsRule is one net_port.
type PortsRule struct {
	Access []string
	Ports  []uint16
}

var (
	landlockRead  = []string{"execute", "read_file", "read_dir"}
	landlockFile  = []string{"execute", "write_file", "read_file", "truncate", "ioctl_dev"}
	landlockMakes = []string{"make_dir", "make_reg", "make_sock", "make_fifo", "make_sym"}
)

// fs are the rights on files that a list stands for.
func (l *Model) fs(list []string) map[string]bool {
	all := slices.Concat(landlockRead, landlockMakes,
		[]string{"write_file", "remove_dir", "remove_file", "make_char", "make_block"})
	for i, more := range []string{"refer", "truncate", "", "ioctl_dev"} {
		if l.ABI >= i+2 && more != "" {
			all = append(all, more)
		}
	}
	out := map[string]bool{}
	for _, word := range list {
		switch word {
		case "abi.all", "abi.read_write", "abi.read_execute":
			for _, r := range all {
				reads := slices.Contains(landlockRead, r) || r == "refer"
				if word == "abi.all" || word == "abi.read_write" && r != "execute" || word == "abi.read_execute" &&
					reads {
					out[r] = true
				}
			}
		default:
			out[word] = true
		}
	}
	return out
}

// handled reports whether a right is denied but for the rules: those that a rule grants are.
func (l *Model) handled(right string) bool {
	return l.fs(l.HandledFS)[right] || slices.ContainsFunc(l.Paths,
		func(p PathsRule) bool { return l.fs(p.Access)[right] })
}

// expand replaces the variables of a path, once for each of their texts.
func (l *Model) expand(text string) []string {
	for i := 0; i+1 < len(text); i++ {
		switch {
		case text[i] != '$':
		case text[i+1] == '$':
			return prefixed(text[:i+1], l.expand(text[i+2:]))
		case text[i+1] == '{':
			name, rest, _ := strings.Cut(text[i+2:], "}")
			var out []string
			for _, value := range l.Variables[name] {
				out = append(out, prefixed(text[:i]+value, l.expand(rest))...)
			}
			return out
		default:
			i++ // the character behind a dollar begins nothing
		}
	}
	return []string{text}
}

func prefixed(begin string, list []string) []string {
	for i := range list {
		list[i] = begin + list[i]
	}
	return list
}

// granted are the rights that rules give at a path. A path leads over symlinks to a file, which has to exist.
func (l *Model) granted(abs string) map[string]bool {
	out := map[string]bool{}
	for _, p := range l.Paths {
		for _, parent := range p.Parents {
			for _, text := range l.expand(parent) {
				if !strings.HasPrefix(text, "/") {
					text = l.Dir + "/" + text
				}
				at := l.Follow(path.Clean(text))
				if text == l.Dir+"/" || slices.Contains(strings.Split(text, "/"), "..") || !l.Exists(at) ||
					!foreign.Under(abs, at) {
					continue
				}
				for r := range l.fs(p.Access) {
					out[r] = out[r] || l.IsDir(at) || slices.Contains(landlockFile, r)
				}
			}
		}
	}
	return out
}

// has reports whether all of some rights are permitted at a path. Moving files to other directories is denied
// also where nothing handles it.
func (l *Model) has(abs string, rights ...string) bool {
	granted := l.granted(abs)
	return !slices.ContainsFunc(rights, func(r string) bool { return !granted[r] && (r == "refer" || l.handled(r)) })
}

// Permits implements Detailed. A rule's directory counts as part of what lies below it, and a place below a file, where
// nothing can be, as the file. See decision D213. A directory at the top of the file system that is not there is none
// that a confined program could make, and counts as open.
func (l *Model) Permits(operation, abs string) bool {
	if parts := foreign.Split(abs); len(parts) > 0 && !l.Exists("/"+parts[0]) {
		return true
	}
	for at := path.Dir(abs); at != "/"; at = path.Dir(at) {
		if l.file(at) {
			abs = at
		}
	}
	switch operation {
	case "read":
		return l.has(abs, "read_file") && (l.file(abs) || l.has(abs, "read_dir"))
	case "execute":
		return l.has(abs, "execute", "read_file")
	case "update":
		return l.has(abs, "write_file", "truncate")
	case "create":
		return l.has(abs, append([]string{"write_file", "refer"}, landlockMakes...)...)
	}
	return l.has(abs, "remove_file", "remove_dir", "refer")
}

func (l *Model) file(abs string) bool { return l.Exists(abs) && !l.IsDir(abs) }

// Moves implements Detailed: a file or a directory that moves to another directory, or gets a further name there,
// may gain no right.
func (l *Model) Moves(from, to string, dir bool) bool {
	if path.Dir(from) == path.Dir(to) {
		return true
	}
	before, after := l.granted(from), l.granted(to)
	for r, gained := range after {
		if gained && !before[r] && (dir || slices.Contains(landlockFile, r)) {
			return false
		}
	}
	return before["refer"] && after["refer"]
}

// Reads implements Policy.
func (l *Model) Reads(abs string) bool { return l.Permits("read", abs) }

// Writes implements Policy.
func (l *Model) Writes(abs string) bool {
	return l.Permits("update", abs) && l.Permits("create", abs) && l.Permits("delete", abs)
}

// port reports whether a right on TCP ports is permitted at one.
func (l *Model) port(right string, port uint16) bool {
	names := func(list []string) bool {
		return slices.Contains(list, right) || slices.Contains(list, "abi.all") && l.ABI >= 4
	}
	handled := names(l.HandledNet)
	for _, p := range l.Ports {
		if names(p.Access) && slices.Contains(p.Ports, port) {
			return true
		}
		handled = handled || names(p.Access)
	}
	return !handled
}

// Connects implements Policy: a rule is about a port of any host.
func (l *Model) Connects(_ string, port uint16) bool { return l.port("connect_tcp", port) }

// Listens implements Detailed.
func (l *Model) Listens(port uint16) bool { return l.port("bind_tcp", port) }

// Fetches implements Policy: the rules are about processes alone.
func (l *Model) Fetches(string) bool { return false }

// Passes implements Policy.
func (l *Model) Passes(string) bool { return true }

// Runs implements Policy.
func (l *Model) Runs(string) bool { return true }

// Marks implements Policy.
func (l *Model) Marks() foreign.Marks {
	out := foreign.Marks{Linux: true, Paths: []string{l.Dir}}
	for _, p := range l.Paths {
		for _, parent := range p.Parents {
			for _, text := range l.expand(parent) {
				if !strings.HasPrefix(text, "/") {
					text = l.Dir + "/" + text
				}
				out.Paths = append(out.Paths, l.Follow(path.Clean(text)))
			}
		}
	}
	for _, p := range l.Ports {
		out.Ports = append(out.Ports, p.Ports...)
	}
	return out
}
