package adopt

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/tomltext"
	"github.com/accessc/accessc/internal/workspace"
)

// Ground is where the policy of adopted servers counts from.
type Ground struct {
	// Root is the workspace, and Home the user's home directory, both without symlinks.
	Root, Home string
	// Exists reports whether something is at a place, and Dir whether it is a directory.
	Exists func(string) bool
	// Own is true for the user's own layer, in which rules may name any place.
	Own bool
	// Reserved is why no rule on a place is proposed, empty where one may be.
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
}

// Config writes the table that a server needs to start: the registry of its launcher, the places among its arguments
// and the variables of its entry.
func (s Server) Config(g Ground) Config {
	var c Config
	var b strings.Builder
	key := tomltext.Key(s.Policy)
	l := launch(s.Command)
	fmt.Fprintf(&b, "[servers.%s]\n", key)
	if l.by != nil && l.by.preset != "" {
		c.Downloads = l.by.reason
		fmt.Fprintf(&b, "# %s\naccess.extends = [%s]\n", l.by.reason, tomltext.String(l.by.preset))
	}
	for _, r := range g.rules(l, &c) {
		fmt.Fprintf(&b, "\n# %s\n[[servers.%s.access.fs]]\npath = %s\n%s", r.why, key, tomltext.String(r.path), r.grants)
	}
	env := slices.Clone(s.Env)
	slices.Sort(env)
	for _, name := range env {
		fmt.Fprintf(&b, "\n# the entry of the server sets it\n[[servers.%s.access.env]]\nname = %s\nread = true\n",
			key, tomltext.String(name))
	}
	c.Text = between(key, b.String())
	return c
}

// rule is one rule on files.
type rule struct{ why, path, grants string }

const (
	readOnly = "read = true\n"
	changes  = "read = true\nwrite = true\n"
	outside  = "external = true\n"
)

// rules are those on the places that arguments name. Without such a place the default files hold.
func (g Ground) rules(l launched, p *Config) []rule {
	var out []rule
	for _, arg := range l.args {
		if r, ok := g.place(arg, p); ok && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil
	}
	whole := slices.ContainsFunc(out, func(r rule) bool { return r.path == "." })
	if l.by == nil || l.by.preset == "" {
		if !whole {
			out = append(out, rule{"the server's program may lie here", ".", "read = true\nexecute = true\n"})
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

// place is the rule on the place that an argument names.
func (g Ground) place(arg string, p *Config) (rule, bool) {
	written := arg
	if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		arg = value
	}
	for _, w := range []string{"${workspaceFolder}", "${PWD}", "$PWD"} {
		if rest, ok := strings.CutPrefix(arg, w); ok && (rest == "" || rest[0] == '/') {
			arg = "." + rest
		}
	}
	if rest, ok := strings.CutPrefix(arg, "~/"); ok {
		arg = filepath.Join(g.Home, rest)
	}
	named := arg == "." || strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || filepath.IsAbs(arg)
	if arg == "" || strings.HasPrefix(arg, "-") || strings.Contains(arg, "://") || strings.ContainsAny(arg, "*?[]${}\n") {
		return rule{}, false
	}
	at := arg
	if !filepath.IsAbs(at) {
		at = filepath.Join(g.Root, filepath.FromSlash(arg))
	}
	at = filepath.Clean(at)
	if !named && !g.Exists(at) {
		return rule{}, false // a word that is no path
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
		return rule{"the server's arguments name it", filepath.ToSlash(rel), changes}, err == nil && !g.Own
	}
	const why = "the server's arguments name it, outside of the workspace: it needs your approval"
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
