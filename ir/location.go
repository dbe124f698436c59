package ir

import "strings"

// RootKind names a kind of place that paths are counted from.
type RootKind uint8

// The roots of a policy. A portable policy names them by symbol; Bindings give them absolute paths on a host.
const (
	// Workspace is the workspace root.
	Workspace RootKind = iota + 1
	// System is the root directory of the host.
	System
	// Home is the tool's private home directory.
	Home
	// Temp is the private temporary directory of a run.
	Temp
	// External is the approved target of an external rule.
	External
)

// Root is a place that paths are counted from.
type Root struct {
	// Kind is zero for no root.
	Kind RootKind
	// Name is the lexical path of an external rule, empty for other kinds.
	Name string
}

// Direct reports whether r is the target of a rule that names its place by itself, in the
// user's home ("~/x") or absolutely, and not by a symlink of the workspace.
func (r Root) Direct() bool {
	home := r.Name == "~" || strings.HasPrefix(r.Name, "~/")
	drive := len(r.Name) > 2 && r.Name[1:3] == ":/"
	return r.Kind == External && (home || drive || strings.HasPrefix(r.Name, "/"))
}

// String returns the symbol of r as artifacts write it.
func (r Root) String() string {
	switch r.Kind {
	case Workspace:
		return "${workspace}"
	case System:
		return ""
	case Home:
		return "${home}"
	case Temp:
		return "${tmp}"
	case External:
		return "${external:" + r.Name + "}"
	default:
		return "${invalid}"
	}
}

// Location is a canonical place: a root and a slash-separated path below it with
// no empty, "." or ".." component. The path of the root itself is empty.
type Location struct {
	Root Root   // the tree
	Path string // below it
}

// In returns the location of path below the workspace root.
func In(path string) Location { return Location{Root{Kind: Workspace}, path} }

// Sys returns the location of an absolute path, given without its leading slash.
func Sys(path string) Location { return Location{Root{Kind: System}, path} }

// String writes the location with its root as a symbol, absolute for System.
func (l Location) String() string {
	if l.Root.Kind == System {
		return "/" + l.Path
	}
	if l.Path == "" {
		return l.Root.String()
	}
	return l.Root.String() + "/" + l.Path
}

// Short writes the location for messages: workspace-relative for the workspace, the lexical
// path for an external target.
func (l Location) Short() string {
	switch l.Root.Kind {
	case Workspace:
		if l.Path == "" {
			return "."
		}
		return l.Path
	case External:
		if strings.HasSuffix(l.Root.Name, "/") {
			return l.Root.Name + l.Path
		}
		return join(l.Root.Name, l.Path)
	case System, Home, Temp:
		return l.String()
	default:
		return l.String()
	}
}

// Spelled writes the location as the path of a rule: as Short does, but a name of the workspace
// that begins with "~" or "$" from ".".
func (l Location) Spelled() string {
	s := l.Short()
	if (l.Root.Kind == Workspace || l.Root.Kind == External && !l.Root.Direct()) &&
		(strings.HasPrefix(s, "~") || strings.HasPrefix(s, "$")) {
		return "./" + s
	}
	return s
}

// Depth returns the number of components of the path below the root.
func (l Location) Depth() int { return depth(l.Path) }

// Under reports whether l is at or below m.
func (l Location) Under(m Location) bool {
	return l.Root == m.Root && Within(l.Path, m.Path)
}

// Parent returns the location of the directory that contains l's name, and false for a root.
func (l Location) Parent() (Location, bool) {
	if l.Path == "" {
		return Location{}, false
	}
	i := strings.LastIndexByte(l.Path, '/')
	if i < 0 {
		return Location{l.Root, ""}, true
	}
	return Location{l.Root, l.Path[:i]}, true
}

// Base returns the last component of the path, empty for a root.
func (l Location) Base() string {
	return l.Path[strings.LastIndexByte(l.Path, '/')+1:]
}

// Child returns the location of name in the directory l.
func (l Location) Child(name string) Location {
	return Location{l.Root, join(l.Path, name)}
}

func join(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	default:
		return a + "/" + b
	}
}

func depth(path string) int {
	if path == "" {
		return 0
	}
	return strings.Count(path, "/") + 1
}

// Within reports whether a slash-separated path is a directory or lies in it, by component. The empty directory and /
// hold everything. Of two different texts only one lies in the other.
func Within(path, dir string) bool {
	if dir == "" || dir == "/" || path == dir {
		return true
	}
	dir = strings.TrimSuffix(dir, "/")
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// cut splits the first component off path.
func cut(path string) (first, rest string) {
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return path, ""
}

// Bindings give the roots of a policy their absolute paths on a host. All
// paths are canonical, absolute and slash-separated. An empty path means that
// the root is not bound there.
type Bindings struct {
	Workspace string // the root of the workspace
	Home      string // the home directory that the tool sees
	Temp      string // the private directory of the run
	// External maps the lexical path of an approved external rule to its target.
	External map[string]string
}

// Path returns the absolute path of l, and false when its root is not bound.
func (b *Bindings) Path(l Location) (string, bool) {
	base, ok := b.root(l.Root)
	if !ok {
		return "", false
	}
	if base == "/" || l.Root.Kind == System {
		return "/" + l.Path, true
	}
	return join(base, l.Path), true
}

func (b *Bindings) root(r Root) (string, bool) {
	var p string
	switch r.Kind {
	case Workspace:
		p = b.Workspace
	case System:
		p = "/"
	case Home:
		p = b.Home
	case Temp:
		p = b.Temp
	case External:
		p = b.External[r.Name]
	}
	return p, p != ""
}

// Locate returns the location of an absolute canonical path. The deepest bound root that
// contains it wins, so that paths in the workspace are judged by the workspace's rules even
// where the base grants something above it. Between equal roots the workspace comes first.
func (b *Bindings) Locate(abs string) Location {
	best, bestPath := Root{Kind: System}, ""
	try := func(r Root, p string) {
		if p == "" || !Within(abs, p) {
			return
		}
		deeper := len(p) > len(bestPath)
		if deeper || len(p) == len(bestPath) && rank(r) < rank(best) {
			best, bestPath = r, p
		}
	}
	try(Root{Kind: Workspace}, b.Workspace)
	try(Root{Kind: Home}, b.Home)
	try(Root{Kind: Temp}, b.Temp)
	for name, p := range b.External {
		try(Root{External, name}, p)
	}
	rel := strings.TrimPrefix(abs, bestPath)
	return Location{best, strings.TrimPrefix(rel, "/")}
}

// rank orders roots that are bound to the same directory; the lexically first
// external name wins so that the answer does not depend on map order.
func rank(r Root) string {
	switch r.Kind {
	case Workspace:
		return "0"
	case Home:
		return "1"
	case Temp:
		return "2"
	case External:
		return "3" + r.Name
	case System:
		return "9"
	default:
		return "9"
	}
}
