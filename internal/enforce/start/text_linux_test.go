package start_test

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// text is a policy read by its text, without any of the code that decides elsewhere: lists of
// rules that are gone through each time.
type text struct {
	rules []textRule
	// programs are the listed ones, nil where any may be started.
	programs []textProgram
	listed   bool
}

type textRule struct {
	id   ir.RuleID
	path string
	caps ir.CapSet
	// names are the patterns of a rule by name: it stands for the same rule at each path below its own whose
	// last name matches.
	names  []string
	guards bool
}

// depth is the number of components of the path that a rule decides by on the way to a place, -1 for none.
func (r *textRule) depth(at spoken) int {
	if !at.in || !below(at.path, r.path) {
		return -1
	}
	if r.names == nil {
		return components(r.path)
	}
	names := strings.Split(at.path, "/")
	for n := components(at.path); n > components(r.path); n-- {
		if slices.ContainsFunc(r.names, func(p string) bool { ok, _ := path.Match(p, names[n-1]); return ok }) {
			return n
		}
	}
	return -1
}

type textProgram struct {
	name, file string
	any        bool
	args       [][]string
}

// spoken is a place of the tree as rules name it: relative to the workspace, where it is in
// it. Nothing is granted elsewhere.
type spoken struct {
	path string
	in   bool
}

func placeOf(p string) spoken {
	if p == inWorkspace {
		return spoken{"", true}
	}
	rest, in := strings.CutPrefix(p, inWorkspace+"/")
	return spoken{rest, in}
}

func below(p, dir string) bool { return dir == "" || p == dir || strings.HasPrefix(p, dir+"/") }

func components(p string) int {
	if p == "" {
		return 0
	}
	return strings.Count(p, "/") + 1
}

// newText reads a tool's rules. Protected paths take writing away, unless a rule is written
// for the path.
func newText(tool *ir.Tool) *text {
	t := &text{}
	for i, r := range tool.FS {
		t.rules = append(t.rules, textRule{ir.FSRuleID(i), r.At.Path, r.Caps, r.Names, false})
	}
	byName := func(r textRule) bool { return r.names != nil && r.caps&ir.Write != 0 }
	if tool.Protects {
		for _, p := range append(ir.ProtectedPaths(), tool.Protected...) {
			written := slices.ContainsFunc(t.rules, func(r textRule) bool { return r.names == nil && r.path == p.Path })
			caps := t.caps(spoken{p.Path, true})
			if !written && (caps&ir.Write != 0 || slices.ContainsFunc(t.rules, byName)) {
				t.rules = append(t.rules, textRule{"protected", p.Path, caps &^ ir.Write, nil, true})
			}
		}
	}
	if tool.Commands != nil {
		t.listed = true
		for _, r := range tool.Commands.Rules {
			p := textProgram{name: r.Program, file: r.File.Path, any: r.AnyArgs}
			for _, a := range r.Args {
				words := slices.Clone(a.Words)
				if a.Rest {
					words = append(words, "**")
				}
				p.args = append(p.args, words)
			}
			t.programs = append(t.programs, p)
		}
	}
	return t
}

// rule is the one with the most components that is a prefix, the last of several.
func (t *text) rule(at spoken) *textRule {
	var win *textRule
	for i := range t.rules {
		r := &t.rules[i]
		if depth := r.depth(at); depth >= 0 && (win == nil || depth >= win.depth(at)) {
			win = r
		}
	}
	return win
}

// caps are those of the rule that decides, without writing where the deepest rule on a path is a protected one's.
func (t *text) caps(at spoken) ir.CapSet {
	r := t.rule(at)
	if r == nil {
		return 0
	}
	deepest, guarded := -1, false
	for i := range t.rules {
		if o := &t.rules[i]; o.names == nil && o.depth(at) >= max(deepest, 0) {
			deepest, guarded = o.depth(at), o.guards
		}
	}
	if guarded {
		return r.caps &^ ir.Write
	}
	return r.caps
}

// byPath is the policy without its rules by name.
func (t *text) byPath() *text {
	return &text{rules: slices.DeleteFunc(slices.Clone(t.rules), func(r textRule) bool { return r.names != nil })}
}

// without is the policy without the rules that are written for a path itself.
func (t *text) without(p string) *text {
	out := &text{}
	for _, r := range t.rules {
		if r.names != nil || r.path != p {
			out.rules = append(out.rules, r)
		}
	}
	return out
}

// may asks for capabilities on a place.
func (t *text) may(at spoken, caps ...ir.Capability) bool {
	have := t.caps(at)
	for _, c := range caps {
		if !have.Has(c) || at.path == "" && (c == ir.Create || c == ir.Delete) {
			return false
		}
	}
	return true
}

// pinned reports whether moving a name would change the grants: a rule's path at or below it
// has other capabilities than the directory that it is in, or a listed program is.
func (t *text) pinned(at spoken) bool {
	if at.path == "" {
		return true
	}
	for _, r := range t.rules {
		if r.path == "" || !below(r.path, at.path) {
			continue
		}
		on, plain := spoken{r.path, true}, t.byPath()
		guards := r.guards && plain.caps(on) != plain.without(r.path).caps(on)
		if guards || r.names != nil || t.caps(on) != t.without(r.path).caps(on) {
			return true
		}
	}
	return t.leadsToProgram(at)
}

func (t *text) leadsToProgram(at spoken) bool {
	return slices.ContainsFunc(t.programs, func(p textProgram) bool { return below(p.file, at.path) })
}

// makes reports whether a name of a kind may be made, or removed.
func (t *text) makes(c ir.Capability, at spoken, kind ir.NameKind) bool {
	if !t.may(at, c) {
		return false
	}
	if !t.pinned(at) || kind == ir.NameDir {
		return true
	}
	own := slices.ContainsFunc(t.rules, func(r textRule) bool { return r.path == at.path }) ||
		slices.ContainsFunc(t.programs, func(p textProgram) bool { return p.file == at.path })
	return own && (c == ir.Delete || kind != ir.NameLink)
}

// fileCaps are those that a move of a file must not add.
var fileCaps = ir.Caps(ir.Read, ir.Update, ir.Execute)

func (t *text) escalates(from, to spoken, dir bool) bool {
	matters := fileCaps
	if dir {
		matters = ir.All
	}
	if t.listed {
		matters = matters.Without(ir.Execute)
	}
	return t.caps(to)&^t.caps(from)&matters != 0 || dir && t.escalatesBelow(from, to, matters, 2)
}

// escalatesBelow tries names of every class that the drawn patterns tell apart.
func (t *text) escalatesBelow(from, to spoken, matters ir.CapSet, depth int) bool {
	if depth == 0 || !slices.ContainsFunc(t.rules, func(r textRule) bool { return r.names != nil }) {
		return false
	}
	names := []string{"a", "b", "ab", "aa", "bb", "aab", "x", "xx", ".x", ".b"}
	return slices.ContainsFunc(names, func(name string) bool {
		was, is := from, to
		was.path, is.path = path.Join(from.path, name), path.Join(to.path, name)
		return t.caps(is)&^t.caps(was)&matters != 0 || t.escalatesBelow(was, is, matters, depth-1)
	})
}

// moves reports whether a rename may be made; over is the entry at the new name, nil for none.
func (t *text) moves(from spoken, e *entry, to spoken, over *entry) bool {
	need := []ir.Capability{ir.Create}
	if over != nil {
		need = []ir.Capability{ir.Update}
		if over.dir() {
			need = []ir.Capability{ir.Create, ir.Delete}
		}
	}
	return t.may(from, ir.Delete) && t.may(to, need...) && to.path != "" && !t.pinned(from) && !t.pinned(to) && !t.escalates(from, to, e.dir())
}

func (t *text) links(from, to spoken) bool {
	return t.may(from, ir.Read, ir.Update) && t.may(to, ir.Create) && !t.pinned(to) && !t.escalates(from, to, false)
}

// starts reports whether a file may be started with arguments, the first of which is the
// name of the file that is started or of its rule.
func (t *text) starts(at spoken, argv []string) bool {
	if !t.may(at, ir.Execute) {
		return false
	}
	if !t.listed {
		return true
	}
	for _, p := range t.programs {
		if p.file != at.path || path.Base(p.name) != path.Base(argv[0]) && path.Base(p.file) != path.Base(argv[0]) {
			continue
		}
		return p.any || slices.ContainsFunc(p.args, func(words []string) bool { return matches(words, argv[1:]) })
	}
	return false
}

func matches(words, args []string) bool {
	for i, w := range words {
		if w == "**" && i+1 == len(words) {
			return true
		}
		if i >= len(args) || args[i] != w {
			return false
		}
	}
	return len(args) == len(words)
}
