package settings

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/text/plural"
)

// watched lists the files that an agent reads, those of administrators first.
func (p Places) watched(a *Agent) []watched {
	var out []watched
	add := func(scope, dir string, names ...string) {
		for _, name := range names {
			for _, path := range matches(dir, name) {
				out = append(out, watched{scope, path})
			}
		}
	}
	add(managed, a.ManagedDir.here(), a.ManagedFiles...)
	add(user, p.dir(a), a.UserFiles...)
	if p.Workspace != "" {
		add(project, p.Workspace, a.ProjectFiles...)
	}
	return out
}

// matches are the files below a directory that a well-formed pattern names; a name without "*" is one, there or not.
func matches(dir, pattern string) []string {
	names := []string{pattern}
	if strings.Contains(pattern, "*") {
		names, _ = fs.Glob(os.DirFS(dir), pattern) // a directory's own name may look like a pattern
	}
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return out
}

// here is the directory on this system.
func (s Systems) here() string {
	switch runtime.GOOS {
	case "darwin":
		return s.Darwin
	case "windows":
		return s.Windows
	default:
		return s.Linux
	}
}

// Toggle is a setting that switches the hook off, or has the agent ask for nothing.
type Toggle struct {
	Key  string
	Bad  func(v any) bool
	Text string
}

// Is reports one of some values.
func Is(bad ...any) func(any) bool { return func(v any) bool { return slices.Contains(bad, v) } }

// Has reports a list in which one of some texts is.
func Has(texts ...string) func(any) bool {
	return func(v any) bool {
		list, _ := v.([]any)
		return slices.ContainsFunc(list, func(v any) bool {
			s, _ := v.(string)
			return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(s, text) })
		})
	}
}

// ListsText reports a list with one text.
func ListsText(text string) func(any) bool {
	return func(v any) bool {
		list, _ := v.([]any)
		return slices.Contains(list, any(text))
	}
}

// Either reports what one of two functions reports.
func Either(a, b func(any) bool) func(any) bool {
	return func(v any) bool { return a(v) || b(v) }
}

// The faults that toggles have.
const (
	SwitchedOff = "switches all hooks off"
	OnlyManaged = "lets hooks of administrators alone run"
	Unasked     = "has the agent ask for nothing: what the hook leaves to it, it does"
)

// switches looks for the toggles in a file.
func (x *examination) switches(w watched, tree map[string]any) {
	for _, t := range x.agent.Toggles {
		if v := at(tree, t.Key); v != nil && t.Bad(v) {
			x.find(w.path, "%s %s", t.Key, t.Text)
		}
	}
}

// at is the value of a dotted key.
func at(tree map[string]any, key string) any {
	var v any = tree
	for _, part := range strings.Split(key, ".") {
		m, _ := v.(map[string]any)
		v = m[part]
	}
	return v
}

func merge(into, from map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	maps.Copy(into, from)
	return into
}

// brought looks for hooks that a repository brings.
func (x *examination) brought(w watched, tree map[string]any, own []found) {
	if x.script(w) {
		if len(own) == 0 {
			what := "plugin"
			if strings.HasPrefix(filepath.Base(filepath.Dir(w.path)), "tool") {
				what = "tool"
			}
			x.find(w.path, "the repository brings a %s, which runs in the agent and may take hooks away", what)
		}
		return
	}
	if list, _ := tree["plugin"].([]any); len(list) > 0 {
		x.find(w.path, "the repository brings %s, which run in the agent and may take hooks away",
			plural.Count(len(list), "plugin"))
	}
	x.commands(w, tree)
	hooks, _ := tree[hooksKey].(map[string]any)
	names := []string{}
	for name, v := range hooks {
		n := x.count(v)
		for _, f := range own {
			if f.event == name {
				n--
			}
		}
		if n > 0 {
			names = append(names, name)
		}
	}
	if sort.Strings(names); len(names) > 0 {
		x.find(w.path, "the repository brings hooks of its own, which the agent starts: %s", strings.Join(names, ", "))
	}
}

// count is how many hooks an event has.
func (x *examination) count(v any) int {
	list, _ := v.([]any)
	n := 0
	for _, item := range list {
		group, _ := item.(map[string]any)
		in, grouped := group[hooksKey].([]any)
		if !grouped {
			in = []any{item}
		}
		n += len(in)
	}
	return n
}

// borrowed looks for the hook of another agent in settings that this agent reads, too: it is then
// asked by an agent whose events it does not know.
func (x *examination) borrowed() {
	from := x.agent.Borrows
	if from == nil {
		return
	}
	var paths []string
	if from.User {
		paths = []string{x.places.User(from.Agent)}
	}
	if x.places.Workspace != "" {
		paths = append(paths, x.places.Project(from.Agent))
	}
	for _, path := range paths {
		_, data, err := wholefile.Read(path)
		if err != nil {
			continue
		}
		if all, _, _ := from.Agent.find(data); len(all) > 0 {
			x.find(path, "%s runs this hook of %s as well: both are asked, and %s decides which answer counts",
				x.agent.Title, from.Agent.Title, x.agent.Title)
		}
	}
}

// notHeldAnywhere are the actions that no hook is asked about.
var notHeldAnywhere = []string{
	"servers of MCP that the agent starts, and what they do beyond the arguments of a call: accessc adopt",
	"the agent itself: accessc exec --command -- AGENT",
}
