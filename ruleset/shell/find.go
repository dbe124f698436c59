package shell

import (
	"slices"
	"strings"
)

// enterFound adds the directories in which find starts a command where it finds a file: those where
// the search begins, and all below them.
func (p *Part) enterFound(o option) {
	if slices.ContainsFunc(p.Words[1:], func(w Word) bool { return w.Is("-L") || w.Is("-follow") }) {
		p.doubt(o.at, "the option "+o.name+" starts a command in directories behind symlinks")
	}
	var roots []Word
	for _, w := range p.Words[1:o.at] {
		if w.Is("-H") || w.Is("-L") || w.Is("-P") {
			continue
		}
		if w.MayBeOption() || w.Is("(") || w.Is("!") {
			break
		}
		roots = append(roots, w)
	}
	if len(roots) == 0 {
		roots = []Word{{Text: "."}}
	}
	for _, w := range roots {
		if w.Form != Literal {
			p.doubt(o.at, "the option "+o.name+" starts a command in directories that are not known")
			continue
		}
		in := &Part{Kind: Change, Text: "cd " + w.Text, Words: []Word{{Text: "cd"}, w},
			Dirs: dirs(p.Dirs).join(w.Text, false), From: o.at}
		p.add(in)
	}
}

// replaced are the words of a command that find runs: {} becomes a name below the place where the
// search begins.
func replaced(p *Part, o option) []Word {
	name := Word{Form: Pattern, Text: "."}
	roots := 0
	for _, w := range p.Words[1:o.at] {
		if w.Is("-H") || w.Is("-L") || w.Is("-P") {
			continue
		}
		if w.Form == Literal && w.MayBeOption() || w.Is("(") || w.Is("!") {
			break
		}
		name.Text = w.Text
		if roots++; roots > 1 || w.Form != Literal {
			name = Word{Form: Hidden}
		}
	}
	if strings.HasSuffix(o.name, "dir") {
		name = Word{Form: Hidden}
	}
	out := slices.Clone(o.words)
	for i, w := range out {
		switch {
		case w.Is("{}"):
			out[i] = name
		case strings.Contains(w.Text, "{}"):
			out[i] = Word{Form: Hidden}
		}
	}
	return out
}
