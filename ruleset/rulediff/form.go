package rulediff

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulejson"
)

// feature is a thing about a command line, beside its words, that a rule may tell from others.
type feature struct {
	text string
	// aside is true for unusual ways to write a line.
	aside bool
	// add changes a line, and reports whether it can have the feature.
	add func(*line) bool
}

// form is a set of features.
type form []*feature

// line is a command line in its parts.
type line struct {
	before, front, name string
	words, flags        []string
	after, dir          string
}

// operation writes the line of a node in a form.
func (f form) operation(name string, t *tree) (ruleset.Operation, bool) {
	l := line{name: shellword.Quote(name), dir: Root}
	for _, w := range t.words {
		l.words = append(l.words, shellword.Quote(w))
	}
	if t.open {
		l.words = append(l.words, shellword.Quote(t.next))
	}
	for _, x := range f {
		if !x.add(&l) {
			return ruleset.Operation{}, false
		}
	}
	words := slices.Concat([]string{l.before, l.name, l.front}, l.words, l.flags, []string{l.after})
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return ruleset.Operation{Command: strings.Join(words, " "), Dir: l.dir}, true
}

// text describes the features.
func (f form) text() string {
	out := ""
	for _, x := range f {
		text := " " + x.text
		if strings.Contains(out, " with ") {
			text = strings.Replace(text, " with ", " and ", 1)
		}
		out += text
	}
	return out
}

func (f form) aside() bool { return slices.ContainsFunc(f, func(x *feature) bool { return x.aside }) }

// within reports whether another form has all features of this form.
func (f form) within(o form) bool {
	return !slices.ContainsFunc(f, func(x *feature) bool { return !slices.Contains(o, x) })
}

// forms are the combinations of features, usual and smaller combinations first: of each group at most one feature.
func (p *program) forms() []form {
	groups := [][]*feature{}
	for _, flag := range p.flags {
		groups = append(groups, []*feature{{text: "with " + flag, add: func(l *line) bool {
			l.flags = append(l.flags, shellword.Quote(flag))
			return true
		}}})
	}
	if len(p.dirs) > 0 {
		groups = append(groups, p.places())
	}
	if p.piped {
		groups = append(groups, []*feature{{text: "piped to a shell", add: func(l *line) bool {
			l.after += "| sh"
			return true
		}}})
	}
	groups = append(groups, p.asides(), p.paths())
	out := []form{nil}
	for _, g := range groups {
		to := out[:len(out):len(out)]
		if len(out) > maxLines {
			to = to[:1] // the rest of the features are not combined
		}
		for _, f := range to {
			for _, x := range g {
				out = append(out, append(slices.Clone(f), x))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b form) int {
		rank := func(f form) int { return slices.Index([]bool{false, true}, f.aside()) }
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a), len(b)))
	})
	return out
}

// places are the directories that rules name, and a directory outside of the workspace.
func (p *program) places() []*feature {
	in := func(dir string) func(*line) bool { return func(l *line) bool { l.dir = dir; return true } }
	out := []*feature{{text: "outside of the workspace", add: in("/elsewhere")}}
	for _, d := range p.dirs {
		if d != Root {
			out = append(out, &feature{text: "in " + rulejson.Below(Root, d), add: in(d)})
		}
	}
	return out
}

// paths are the ways to write the program that rules deny and do not allow, which may go with any other
// unusual way.
func (p *program) paths() []*feature {
	return []*feature{{text: "by another path", aside: true, add: func(l *line) bool {
		l.name = shellword.Quote("./" + path.Base(p.name))
		return !strings.Contains(p.name, "/")
	}}}
}

// asides are unusual ways to write a line.
func (p *program) asides() []*feature {
	word := func(text, word string) *feature {
		return &feature{text: text, add: func(l *line) bool { l.flags = append(l.flags, word); return true }}
	}
	const unknown, expands, elsewhere = "with an option that is not known", "with words that the shell expands",
		"in another directory"
	out := []*feature{
		word(unknown, "--unknown"), word(expands, `"$X"`), word(expands, "*"), word("with other words", "x"),
		{text: unknown, add: func(l *line) bool { l.front = "--unknown"; return true }},
		{text: "with a variable set", add: func(l *line) bool { l.before = "X=1"; return true }},
		{text: elsewhere, add: func(l *line) bool { l.before = "cd sub &&"; return true }},
		{text: elsewhere, add: func(l *line) bool { l.before = `cd "$X"; `; return true }},
		{text: expands, add: func(l *line) bool {
			n := len(l.words)
			if n > 0 {
				l.words[n-1] = l.words[n-1] + "*"
			}
			return n > 0
		}},
	}
	for _, j := range p.joined {
		out = append(out, word("with "+j, shellword.Quote(j)))
	}
	depth := 0
	p.root.each(func(t *tree) { depth = max(depth, len(t.words)) })
	for i := range depth {
		out = append(out, &feature{text: expands, add: func(l *line) bool {
			if i >= len(l.words) {
				return false
			}
			l.words[i] = `"$X"`
			return true
		}})
	}
	for _, x := range out {
		x.aside = true
	}
	return out
}
