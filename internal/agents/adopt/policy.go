package adopt

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/tomltext"
)

// Ground is where the policy of adopted servers counts from.
type Ground struct {
	// Root is the workspace, and Home the user's home directory, both without symlinks.
	Root, Home string
	// Exists reports whether something is at a place, and Dir whether it is a directory.
	Exists func(string) bool
	// Own is true for the user's own layer, in which rules may name any place.
	Own bool
	// Reserved is why no rule on a place is proposed, empty where it may be.
	Reserved func(abs string) string
	// Secrets are the sensitive places below a directory of the workspace, false where they are not all known.
	Secrets func(abs string) ([]string, bool)
}

// Config is the part of a layer that is a server's.
type Config struct {
	// Text is the table, with a comment of its own at either end.
	Text string
	// Downloads is the sentence about a download at the first start, empty without one.
	Downloads string
	// Approve are external rules, and Mount are places that no rule of this layer can name. Left are places without a
	// rule, each with the reason.
	Approve, Mount, Left []string
	// Alone are files in the home itself that are not there yet, and that no rule lets be made.
	Alone []string
	// Modes are those of the places of Mount from which the server is started: rx, rwx. The others are rw.
	Modes map[string]string
}

// Config writes the table that a server needs to start: the registry of its launcher, the places among its arguments
// and the variables of its entry.
func (s Server) Config(g Ground) Config {
	var c Config
	key := tomltext.Key(s.Policy)
	c.Text = between(key, fmt.Sprintf("[servers.%s]\n", key)+s.Lines(g, &c))
	return c
}

// Lines are those of the server's table, its name and command aside; the other fields of c are set.
func (s Server) Lines(g Ground, c *Config) string {
	var b strings.Builder
	key := tomltext.Key(s.Policy)
	l := launch(s.Command)
	if l.by != nil && l.by.preset != "" {
		c.Downloads = l.by.reason
		fmt.Fprintf(&b, "# %s\naccess.extends = [%s]\n", l.by.reason, tomltext.String(l.by.preset))
	}
	for _, r := range g.rules(s, l, c) {
		fmt.Fprintf(&b, "\n# %s\n[[servers.%s.access.fs]]\npath = %s\n%s", r.why, key, tomltext.String(r.path), r.grants)
	}
	for _, h := range hosts(s.Command) {
		fmt.Fprintf(&b, "\n# %s\n[[servers.%s.access.net]]\nhost = %s\nscheme = %s\n",
			byArgs, key, tomltext.String(h.host), tomltext.String(h.scheme))
		if h.port != "" {
			fmt.Fprintf(&b, "port = %s\n", h.port)
		}
		b.WriteString("allow = true\n")
	}
	env := slices.Clone(s.Env)
	slices.Sort(env)
	for _, name := range env {
		fmt.Fprintf(&b, "\n# the entry of the server sets it\n[[servers.%s.access.env]]\nname = %s\nread = true\n",
			key, tomltext.String(name))
	}
	return b.String()
}

// rule is one rule on files.
type rule struct{ why, path, grants string }

const (
	readOnly = "read = true\n"
	changes  = "read = true\nwrite = true\n"
	starts   = "execute = true\n"
	outside  = "external = true\n"
)

// The reasons of rules.
const (
	byArgs  = "the server's arguments name it"
	byEnv   = "a variable of the server's entry names it"
	byStart = "the server is started from it"
)

// rules are those on the places that arguments and variables name, and on the one that the server is started from.
// Without such a place the default files hold.
// See decision D395.
func (g Ground) rules(s Server, l launched, p *Config) []rule {
	var out []rule
	add := func(r rule, ok bool) {
		if ok && !slices.ContainsFunc(out, func(o rule) bool { return o.path == r.path }) {
			out = append(out, r)
		}
	}
	for _, arg := range l.args {
		add(g.place(arg, byArgs, p))
	}
	for _, set := range s.Set {
		if _, value, _ := strings.Cut(set, "="); g.there(value) {
			add(g.place(value, byEnv, p))
		}
	}
	named := len(out)
	for _, dir := range l.dirs {
		// Its environment is made there, with the programs that it starts.
		add(g.program(dir, "rwx", p))
	}
	add(g.started(l, p))
	switch {
	case len(out) == 0:
		return nil
	case named == 0:
		out = append(out, rule{"the default of a server of which no place is known", ".", changes + starts})
	}
	whole := slices.ContainsFunc(out, func(r rule) bool { return r.path == "." })
	if l.by == nil || l.by.preset == "" {
		if !whole {
			out = append(out, rule{"the server's program may lie here", ".", readOnly + starts})
		}
		whole = true
	}
	if whole && g.Exists(filepath.Join(g.Root, ".env")) {
		out = append(out, rule{"secrets", ".env", ""})
	}
	for _, r := range slices.Clone(out) {
		if strings.HasPrefix(r.path, "~") || filepath.IsAbs(r.path) || r.grants == "" {
			continue
		}
		names, _ := g.Secrets(filepath.Join(g.Root, r.path))
		for _, name := range names {
			if closed := (rule{"secrets", name, ""}); !slices.Contains(out, closed) {
				out = append(out, closed)
			}
		}
	}
	return out
}

// there reports whether a variable's value is a place: it is written as such, and lies in a directory.
func (g Ground) there(value string) bool {
	at, named, ok := g.path(value)
	return ok && named && g.Exists(filepath.Dir(at)) && filepath.Dir(at) != at
}

// started is the rule on the project that a script outside of the workspace belongs to: its packages lie beside it.
func (g Ground) started(l launched, p *Config) (rule, bool) {
	if l.by == nil || l.by.preset != "" || slices.Contains(l.by.words, "-m") {
		return rule{}, false
	}
	at, named, ok := g.path(l.server)
	if !ok || !named || workspace.Within(at, g.Root) {
		return rule{}, false
	}
	if dir := g.project(filepath.Dir(at)); dir != "" {
		at = dir
	}
	return g.program(filepath.ToSlash(at), "rx", p)
}

// program is the rule on a place that the server is started from.
func (g Ground) program(arg, mode string, p *Config) (rule, bool) {
	before := len(p.Mount)
	r, ok := g.place(arg, byStart, p)
	grants := changes + starts
	if mode == "rx" {
		grants = readOnly + starts
	}
	r.grants = strings.Replace(r.grants, changes, grants, 1)
	for _, at := range p.Mount[before:] {
		if p.Modes == nil {
			p.Modes = map[string]string{}
		}
		p.Modes[at] = mode
	}
	return r, ok
}

// Link is a name for the mount of a place: its own, with a number behind it where the workspace has that name, or one
// of some other mounts.
func (g Ground) Link(at string, taken ...string) string {
	// A colon and an equals sign divide the words of a mount, and a file of a name that is hidden may be protected.
	own := strings.TrimLeft(strings.NewReplacer(":", "-", "=", "-").Replace(filepath.Base(at)), ".-")
	if own == "" || own == string(filepath.Separator) {
		own = "place"
	}
	for i := 1; ; i++ {
		name := own
		if i > 1 {
			name = fmt.Sprintf("%s-%d", own, i)
		}
		if !slices.Contains(taken, name) && !g.Exists(filepath.Join(g.Root, name)) {
			return name
		}
	}
}

// project is the directory of a script's project, at most two above its own, and empty where that would be the home or
// the root.
func (g Ground) project(dir string) string {
	const above = 3
	narrow := func(at string) bool { return at != g.Home && filepath.Dir(at) != at && !workspace.Within(g.Home, at) }
	for at, i := dir, 0; i < above && narrow(at); at, i = filepath.Dir(at), i+1 {
		for _, name := range []string{"package.json", "pyproject.toml", "requirements.txt", "setup.py"} {
			if g.Exists(filepath.Join(at, name)) {
				return at
			}
		}
	}
	if narrow(dir) {
		return dir
	}
	return ""
}

// path is the absolute place that a text may name, and whether it is written as a place is.
func (g Ground) path(arg string) (at string, named, ok bool) {
	for _, w := range []string{"${workspaceFolder}", "${PWD}", "$PWD"} {
		if rest, ok := strings.CutPrefix(arg, w); ok && (rest == "" || rest[0] == '/') {
			arg = "." + rest
		}
	}
	if rest, ok := strings.CutPrefix(arg, "~/"); ok {
		arg = filepath.Join(g.Home, rest)
	}
	named = arg == "." || strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || filepath.IsAbs(arg)
	if arg == "" || strings.HasPrefix(arg, "-") || strings.Contains(arg, "://") || strings.ContainsAny(arg, "*?[]${}\n") {
		return "", named, false
	}
	if at = arg; !filepath.IsAbs(at) {
		at = filepath.Join(g.Root, filepath.FromSlash(arg))
	}
	return filepath.Clean(at), named, true
}

// databases are the endings of files beside which programs make others while they write, records those of further files
// that servers make.
var (
	databases = []string{".db", ".db3", ".sqlite", ".sqlite3", ".duckdb"}
	records   = []string{".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".md", ".log", ".yaml", ".yml", ".xml"}
)

// holder is the directory that a server needs for a data file, since it makes the file or others beside it; empty for
// another place. A rule on the file alone lets it be neither made nor replaced. The whole home is more than a file
// needs: alone is true for one that is not there yet.
// See decision D395.
func (g Ground) holder(at string) (dir string, alone bool) {
	dir, ending := filepath.Dir(at), strings.ToLower(filepath.Ext(at))
	there, base := g.Exists(at), slices.Contains(databases, ending)
	switch {
	case !base && (there || !slices.Contains(records, ending)), !g.Exists(dir), dir == g.Root:
		return "", false
	case dir == g.Home || filepath.Dir(dir) == dir:
		return "", !there
	default:
		return dir, false
	}
}

// place is the rule on the place that an argument or a variable names.
func (g Ground) place(arg, by string, p *Config) (rule, bool) {
	written := arg
	if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		arg = value
	}
	at, named, ok := g.path(arg)
	if !ok {
		return rule{}, false
	}
	if !named && !g.Exists(at) {
		return rule{}, false // a word that is no path
	}
	switch dir, alone := g.holder(at); {
	case by == byStart:
	case alone:
		p.Alone = append(p.Alone, written)
	case dir != "" && g.Reserved(at) == "":
		at, by, written = dir, by+" or a file in it", written+": its directory"
	}
	if why := g.Reserved(at); why != "" {
		if why = written + ": " + why; !slices.Contains(p.Left, why) {
			p.Left = append(p.Left, why)
		}
		return rule{}, false
	}
	if workspace.Within(at, g.Root) {
		if _, whole := g.Secrets(at); !whole {
			p.Left = append(p.Left, written+": too much is there to be looked at for secrets")
			return rule{}, false
		}
		rel, err := filepath.Rel(g.Root, at)
		return rule{by, filepath.ToSlash(rel), changes}, err == nil && !g.Own
	}
	why := by + ", outside of the workspace: it needs your approval"
	name := filepath.ToSlash(at)
	if g.Home != "" && workspace.Within(at, g.Home) && at != g.Home {
		rel, _ := filepath.Rel(g.Home, at)
		name = path.Join("~", filepath.ToSlash(rel))
	} else if !g.Own {
		if !slices.Contains(p.Mount, at) {
			p.Mount = append(p.Mount, at)
		}
		return rule{}, false
	}
	if !slices.Contains(p.Approve, name) {
		p.Approve = append(p.Approve, name)
	}
	return rule{why, name, changes + outside}, true
}
