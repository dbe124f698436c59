package rulediff

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// usual are programs of each kind that the analysis of command lines tells apart: rules that name no
// program are compared by them.
var usual = []string{"ls", "nice", "sudo", "xargs", "sh", "python3", "make", "sort", "tee", "git", "npm", "export",
	"cd"}

// others stands for the programs that no rule names.
const others = "other programs"

// programs compares the command lines of every program about which the rules differ.
func (c *comparison) programs() {
	names := c.named()
	free := "other"
	for slices.ContainsFunc(names, func(n string) bool { return ruleset.Alike(n, free) }) {
		free += "2"
	}
	if !equal(rules(c.old, free), rules(c.new, free)) {
		c.sampled("rules that name no program")
		p := c.learned(free)
		p.root.where, p.root.below[0].where = others, others
		p.compare()
		for _, name := range usual {
			if !slices.Contains(names, name) {
				p := c.learned(name)
				p.unnamed = true
				p.compare()
			}
		}
	}
	for _, name := range names {
		p := c.learned(name)
		if p.changed(name) || slices.ContainsFunc(p.inner, p.changed) {
			p.compare()
		}
	}
}

// changed reports whether other rules than before are about a program.
func (c *comparison) changed(name string) bool { return !equal(rules(c.old, name), rules(c.new, name)) }

// maxLines bounds the command lines of a program that are compared.
const maxLines = 8000

// maxAsked bounds the command lines of all programs.
const maxAsked = 100_000

// compare compares the command lines of the program. The tree of the words that rules name is asked
// in every form that some rule may tell from others; a form adds a region where the class is not the class without it.
func (p *program) compare() {
	if p.asked > maxAsked {
		p.sampled(p.name + ": too many rules")
		return
	}
	p.plant()
	nodes := 0
	p.root.each(func(t *tree) {
		nodes++
		if t.open {
			t.next = p.free(t)
		}
	})
	forms := p.forms()
	if most := max(maxLines/nodes, 1); len(forms) > most {
		// Of unusual forms, the simpler forms are enough.
		if !forms[most].aside() {
			p.sampled(p.name + ": too many combinations of words and options")
		}
		forms = simplest(forms, most)
	}
	p.reduce()
	before := map[place][]form{}
	for _, f := range forms {
		p.root.each(func(t *tree) { t.label = p.label(t, f, before) })
		p.root.describe(f)
	}
}

// simplest takes some of many forms. Each feature by itself is worth more than the combinations of usual features: by
// only these, no class of unusual forms would be found.
func simplest(forms []form, most int) []form {
	combined := func(f form) bool { return len(f) > 1 }
	var out []form
	room := most - len(slices.DeleteFunc(slices.Clone(forms), combined))
	for _, f := range forms {
		if combined(f) {
			if room <= 0 {
				continue
			}
			room--
		}
		out = append(out, f)
	}
	return out[:min(most, len(out))]
}

// program has the words, options and places that the rules about a program tell apart.
type program struct {
	*comparison
	was, is     *ruleset.Set // the rules that may be about the lines
	name        string
	unnamed     bool // no rule names the program
	root        *tree
	sequences   [][]string // beginnings of argument lists
	subcommands [][]string
	flags       []string
	joined      []string // options in one word
	dirs        []string
	piped       bool
	// inner are the programs that the words of rules start inside of this program.
	inner []string
}

// learned learns from the rules about a program, and from those about the programs that the words
// in them start: a rule for a program allows the words that it spells out.
func (c *comparison) learned(name string) *program {
	p := &program{comparison: c, name: name, root: newNode(shellword.Quote(name), nil)}
	for _, r := range slices.Concat(rules(c.old, name), rules(c.new, name)) {
		walk(r.Matcher, p.learn)
	}
	for _, seq := range slices.Clone(p.sequences) {
		p.enter(shell.Analyze(spelled(shellword.Quote(name), seq), c.new.Shell, Root), seq, 0)
	}
	return p
}

// enter learns from the rules about the programs that a list of words starts.
func (p *program) enter(part *shell.Part, seq []string, at int) {
	for _, in := range part.Parts {
		in.Each(func(x *shell.Part) {
			if x.Kind == shell.Program {
				p.inner = union(p.inner, x.Words[0].Text)
			}
		})
		if in.Kind != shell.Program || in.Inside || in.From == 0 {
			continue
		}
		q := &program{comparison: p.comparison, name: in.Words[0].Text}
		for _, r := range slices.Concat(rules(p.old, q.name), rules(p.new, q.name)) {
			walk(r.Matcher, q.learn)
		}
		for _, more := range append(q.sequences, q.subcommands...) {
			p.sequences = append(p.sequences, slices.Concat(seq[:at+in.From], more))
		}
		p.piped = p.piped || q.piped
		p.flags, p.joined, p.dirs = union(p.flags, q.flags...), union(p.joined, q.joined...), union(p.dirs, q.dirs...)
		p.enter(in, seq, at+in.From)
	}
}

// learn collects the words, options and places that a matcher tells apart.
func (p *program) learn(m ruleset.Matcher) {
	switch m := m.(type) {
	case ruleset.Command:
		if slices.ContainsFunc(m.Names, func(n string) bool { return ruleset.Alike(n, p.name) }) {
			for _, s := range m.Subcommands {
				p.subcommands = append(p.subcommands, strings.Fields(s))
			}
		}
	case ruleset.Prefix, ruleset.Group:
		for _, seq := range sequences(m) {
			if ruleset.Alike(seq[0], p.name) {
				p.sequences = append(p.sequences, seq[1:])
			}
		}
	case ruleset.Args:
		for _, seq := range m {
			if n := len(seq); n > 0 && seq[n-1] == "**" {
				seq = seq[:n-1]
			}
			p.sequences = append(p.sequences, seq)
		}
	case ruleset.Flags:
		p.options(m)
	case ruleset.Within:
		p.dirs = union(p.dirs, string(m))
	case ruleset.PipedToShell:
		p.piped = true
	case ruleset.All, ruleset.Any, ruleset.Not, ruleset.Hosts:
	}
}

// options collects options, and the words that several of them may be written as.
func (p *program) options(m ruleset.Flags) {
	letters := ""
	for _, f := range m {
		p.flags = union(p.flags, f)
		switch {
		case len(f) == 2 && f[1] != '-':
			letters += f[1:]
			p.joined = union(p.joined, "-Z"+f[1:])
		case strings.HasPrefix(f, "--") && len(f) > 4:
			p.joined = union(p.joined, f[:len(f)-1])
		}
	}
	if len(letters) > 1 {
		p.joined = union(p.joined, "-"+letters)
	}
}

// union adds texts that a list lacks.
func union(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// plant grows the tree. Subcommands follow options as well.
func (p *program) plant() {
	name := shellword.Quote(p.name)
	for _, seq := range p.sequences {
		p.root.grow(name, seq)
	}
	var before [][]string
	p.root.each(func(t *tree) {
		if t.open && !slices.ContainsFunc(t.words, func(w string) bool { return !strings.HasPrefix(w, "-") }) {
			before = append(before, t.words)
		}
	})
	for _, b := range before {
		for _, sub := range p.subcommands {
			p.root.grow(name, slices.Concat(b, sub))
		}
	}
}

// free returns a word that no rule names at a node, without a doubt if there is such a word.
func (p *program) free(t *tree) string {
	taken := func(w string) bool {
		return slices.ContainsFunc(t.below, func(b *tree) bool { return b.open && b.words[len(b.words)-1] == w })
	}
	words := append([]string{"x"}, shell.Harmless(p.name)...)
	for _, w := range words {
		if !taken(w) && !p.doubted(append(slices.Clone(t.words), w)) {
			return w
		}
	}
	for w := "x"; ; w += "x" {
		if !taken(w) {
			return w
		}
	}
}

// doubted reports whether the program is not covered by just its name with some words.
func (p *program) doubted(words []string) bool {
	part := shell.Analyze(spelled(shellword.Quote(p.name), words), p.new.Shell, Root)
	return len(part.Doubts) > 0
}

// reduce takes the rules that may be about the programs of the lines.
func (p *program) reduce() {
	of := func(s *ruleset.Set) *ruleset.Set {
		out := *s
		out.Rules = slices.DeleteFunc(slices.Clone(s.Rules), func(r *ruleset.Rule) bool {
			return !slices.ContainsFunc(append(p.inner, p.name, "cd", "sh"), func(n string) bool {
				return mayBeAbout(r.Matcher, n)
			})
		})
		return &out
	}
	p.was, p.is = of(p.old), of(p.new)
}

// place is a node that is of a class.
type place struct {
	*tree
	*Class
}

// label asks about a node in a form. Where a form with less in it is of the same class, the
// class has the node already.
func (p *program) label(t *tree, f form, before map[place][]form) *Class {
	op, ok := f.operation(p.name, t)
	if !ok {
		return nil
	}
	found := p.askOf(p.was, p.is, op, path.Base(p.name), f.aside())
	if found == nil {
		return nil
	}
	if p.unnamed && slices.ContainsFunc(found.Regions, func(r Region) bool { return r.Where == others }) {
		return nil
	}
	at := place{t, found}
	if slices.ContainsFunc(before[at], func(o form) bool { return o.within(f) }) {
		return nil
	}
	before[at] = append(before[at], f)
	return found
}
