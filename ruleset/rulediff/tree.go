package rulediff

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
)

// tree is a partition: a node represents everything below it that is not below one of its
// children. The label is the class of its operations, nil where the rulesets agree.
type tree struct {
	where string
	// words are the words behind the program; open is true for the lines that go on with a word that no
	// rule names, such as next.
	words []string
	open  bool
	next  string
	label *Class
	below []*tree
}

// grow adds the nodes of a list of words. The list that ends at a node is a leaf below it.
func (t *tree) grow(program string, words []string) {
	for i := range words {
		j := slices.IndexFunc(t.below, func(b *tree) bool { return b.open && b.words[i] == words[i] })
		if j < 0 {
			j = len(t.below)
			t.below = append(t.below, newNode(program, words[:i+1]))
		}
		t = t.below[j]
	}
}

func newNode(program string, words []string) *tree {
	line := spelled(program, words)
	return &tree{where: line + " …", words: words, open: true, below: []*tree{{where: line, words: words}}}
}

func spelled(program string, words []string) string {
	out := []string{program}
	for _, w := range words {
		out = append(out, shellword.Quote(w))
	}
	return strings.Join(out, " ")
}

func (t *tree) each(f func(*tree)) {
	f(t)
	for _, b := range t.below {
		b.each(f)
	}
}

// describe adds the largest connected parts of one class to that class, with the parts inside
// that are not of it.
func (t *tree) describe(f form) { t.collect(nil, nil, f) }

func (t *tree) collect(above *Class, part *Region, f form) {
	begins := t.label != above && t.label != nil
	if t.label != above {
		if part != nil {
			part.Except = append(part.Except, t.where)
		}
		part = nil
	}
	if begins {
		part = &Region{Where: t.where + f.text()}
	}
	for _, b := range t.below {
		b.collect(t.label, part, f)
	}
	if begins {
		t.label.add(*part, f.aside())
	}
}
