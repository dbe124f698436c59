package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// call takes a simple command apart.
func (a *analysis) call(c *syntax.CallExpr, in dirs) (*Part, ends) {
	var words []Word
	var expansions []Doubt
	var inside []*Part
	for i, w := range c.Args {
		word, why := readWord(w)
		words = append(words, word)
		if why != "" {
			expansions = append(expansions, Doubt{Always, why})
			for _, p := range a.inside(w) {
				p.From = i
				inside = append(inside, p)
			}
		}
	}
	for _, s := range c.Assigns {
		inside = append(inside, a.inside(s)...)
	}
	text := a.text(c)
	if len(words) == 0 {
		p := &Part{Kind: Opaque, Text: text, Why: "a variable is set", Parts: inside}
		return a.assignments(p, c.Assigns), stays(in)
	}
	if target, ok := change(words, in); ok && len(c.Assigns) == 0 {
		p := &Part{Kind: Change, Text: text, Words: words, Dirs: target}
		return p, ends{target, in.or(target)}
	}
	p := a.program(words, in)
	p.Text = text
	p.Doubts = append(p.Doubts, expansions...)
	if len(c.Assigns) > 0 {
		p.doubt(Always, "a variable is set for the program")
		p.Assigned, p.Names = values(c.Assigns), names(c.Assigns)
	}
	if runsWords(words[0]) {
		for _, q := range inside {
			q.feedsShell()
		}
	}
	p.add(inside...)
	return p, a.after(words, in)
}

// values are the values of assignments, of which the values of arrays and of expansions are hidden.
func values(all []*syntax.Assign) []Word {
	var out []Word
	for _, s := range all {
		w := Word{Form: Hidden}
		switch {
		case s.Array != nil:
		case s.Value == nil:
			w = Word{}
		default:
			w, _ = readWord(s.Value)
		}
		out = append(out, w)
	}
	return out
}

// change reads "cd DIR", the only change of directory that is followed.
func change(words []Word, in dirs) (dirs, bool) {
	if !words[0].Is("cd") {
		return nil, false
	}
	rest := words[1:]
	if len(rest) > 0 && (rest[0].Is("--") || rest[0].Is("-L")) {
		rest = rest[1:]
	}
	if len(rest) != 1 || rest[0].Form != Literal || rest[0].Text == "" || rest[0].Text[0] == '-' {
		return nil, false
	}
	to := in.join(rest[0].Text, true)
	return to, to != nil
}

// after are the directories after a simple command.
func (a *analysis) after(words []Word, in dirs) ends {
	for _, w := range words[:min(len(words), 3)] {
		if w.Form != Literal {
			return stays(nil)
		}
		switch w.Text {
		case "cd", "pushd", "popd", "eval", "source", ".", "trap":
			return stays(nil)
		case "command", "builtin":
		default:
			return stays(in)
		}
	}
	return stays(in)
}

// runsWords reports whether the program of this name runs code that its words contain.
func runsWords(name Word) bool {
	b := base(name.Text)
	return interprets(b) || b == "eval" || b == "source" || b == "."
}

// base is the last element of a program's name, without the ending that Windows lets users leave
// out. A name that no table has loses its version, its variant and the machine that it builds for: python3.12 is
// python, vim.tiny is vim, aarch64-linux-gnu-gcc-13 is gcc. Another program may hide behind a name that is not its own
// base.
func base(name string) string {
	name = strings.TrimSuffix(path.Base(name), ".exe")
	if listed(name) {
		return name
	}
	for _, plain := range plainer(name) {
		if t := tables()[plain]; listed(plain) && !acting()[plain] && (t == nil || !t.exact) {
			return plain
		}
	}
	return name
}

// plainer are the names that a name may be a version of.
func plainer(name string) []string {
	plain := strings.TrimSuffix(strings.TrimRight(name, ".0123456789"), "-")
	if !strings.ContainsAny(name, "-.") {
		return []string{plain}
	}
	var out []string
	if host := machine.Get().FindString(name); host != "" {
		for rest := name[len(host):]; ; {
			out = append(out, rest, strings.TrimRight(strings.TrimRight(rest, ".0123456789"), "-"))
			_, after, more := strings.Cut(rest, "-")
			if !more {
				break
			}
			rest = after
		}
	}
	out = append(out, plain)
	if m := version.Get().FindStringSubmatch(name); m != nil {
		out = append(out, m[1], m[1]+m[2])
	}
	if i := strings.IndexByte(name, '.'); i > 0 && slices.Contains(variants, name[i+1:]) {
		out = append(out, name[:i])
	}
	if i := strings.IndexByte(name, '-'); i > 0 && slices.Contains(variants, name[i+1:]) {
		out = append(out, name[:i])
	}
	return out
}

var (
	// machine is the beginning of the name of a program that builds for another machine.
	machine = expression.Once{Text: `^(x86_64|amd64|i[3-6]86|arm[a-z0-9]*|aarch64[a-z_]*|riscv(32|64)[a-z]*|` +
		`mips[a-z0-9]*|powerpc[a-z0-9]*|ppc[a-z0-9]*|s390x?|sparc[a-z0-9]*|m68k|avr|xtensa[a-z0-9]*|wasm32|` +
		`loongarch64|alpha|sh4|msp430|bpf|llvm)-`}
	// version is a name with a version in the middle, such as perl5.36-x86_64-linux-gnu.
	version = expression.Once{Text: `^([a-z+]+)(\d?)[\d.]*-` +
		`(x86_64|amd64|i[3-6]86|arm|aarch64|riscv64|powerpc|s390x|mips)[a-z0-9_-]*$`}
	// variants are the ends of names by which systems tell the builds of a program apart.
	variants = []string{
		"tiny", "basic", "nox", "gtk", "gtk3", "athena", "gnome", "motif", "lucid", "pgtk",
		"bfd", "gold", "openbsd", "traditional", "original", "posix",
	}
)

// program takes the start of a program apart.
func (a *analysis) program(words []Word, in dirs) *Part {
	if a.depth >= maxDepth {
		return &Part{Kind: Opaque, Text: "…", Why: "commands are nested too deep"}
	}
	a.depth++
	defer func() { a.depth-- }()
	p := &Part{Kind: Program, Text: spelling(words), Words: words, Dirs: in, First: 1,
		Known: len(words) == 1 || !words[1].MayBeOption()}
	if words[0].Form != Literal {
		p.doubt(Always, "the name of the program is not literal")
		return p
	}
	if words[0].Text == "" {
		p.doubt(Always, "the name of the program is empty")
		return p
	}
	name := base(words[0].Text)
	if why := state()[words[0].Text]; why != "" {
		p.doubt(Always, why)
	}
	if sub, ok := strings.CutPrefix(name, "git-"); ok {
		p.Also = a.program(append([]Word{{Text: "git"}, {Text: sub}}, words[1:]...), in)
	}
	if a.dialect == POSIX {
		arithmetic(p, name)
	}
	a.known(p, name)
	return p
}

// known takes the arguments of a program apart, as far as a list has it.
func (a *analysis) known(p *Part, name string) {
	written := p.Words[0].Text
	e, l := program(name), interpreters()[name]
	if e != nil && tables()[name].exact && elsewhere(written) {
		e = nil
	}
	switch {
	case name == "eval":
		a.eval(p)
	case name == "." || name == "source":
		p.CodeOnInput = len(p.Words) > 1 && isInput(p.Words[1], p.Dirs)
	case shells()[name]:
		a.shell(p, name)
	case e != nil:
		a.tabled(p, e)
		switch name {
		case "sed", "gsed":
			p.stream()
		case "awk", "gawk", "mawk", "nawk":
			p.records()
		}
	case l != nil:
		a.interpreter(p, l)
	case starters()[name] != "":
		a.starter(p, starters()[name], 1, slices.Contains(recipes, name))
		if len(p.Words) == 1 {
			p.doubt(1, starters()[name]) // script and unshare run a shell
		}
	case acting()[name] && !elsewhere(written), state()[written] != "":
	default:
		a.starter(p, unlisted, 1, slices.Contains(recipes, name))
	}
}

// eval takes the code apart that eval puts together from its words.
func (a *analysis) eval(p *Part) {
	var code []string
	for _, w := range p.Words[1:] {
		if w.Form != Literal {
			return
		}
		code = append(code, w.Text)
	}
	p.add(a.code(strings.Join(code, " "), a.dialect, p.Dirs))
}

// tabled takes the start of a program apart that a table describes.
func (a *analysis) tabled(p *Part, e *entry) {
	s := e.scan(p, 1)
	p.Obeys = e.obeys
	if e.access != Remove && e.lead == 0 { // behind the options of rm no subcommand begins
		p.First = s.first
		p.Known = !slices.ContainsFunc(p.Doubts, func(d Doubt) bool { return d.Word <= s.first })
	}
	entered := 0
	for _, o := range s.found {
		if o.role == enters {
			entered++
		}
		a.option(p, o)
	}
	if entered > 1 && !e.obeys {
		p.doubt(Always, "the last of several directories counts")
	}
	if e.wraps {
		a.wrapper(p, e, s)
		return
	}
	a.operands(p, e, s)
}

// arguments takes the arguments of a table apart that begin behind the first word.
func (a *analysis) arguments(p *Part, e *entry, from int) {
	s := e.scan(p, from)
	for _, o := range s.found {
		a.option(p, o)
	}
	a.operands(p, e, s)
}

// operands takes the words apart that are no options.
func (a *analysis) operands(p *Part, e *entry, s *scanned) {
	if e.sub != nil {
		a.subcommand(p, e, s)
		return
	}
	s.judgeOperands(p, e)
	if len(s.strange) > 0 && (!e.target || strings.Contains(strings.Join(s.strange, " "), "t")) { // cp -t DIR FILE
		for n, i := range s.operands {
			p.perhaps(i, n > 0 || e.script == nil)
		}
	}
	if e.output || e.target {
		s.outputs(p, e)
	}
	if e.of(s) {
		s.edited(p, e)
	}
}

// outputs adds the files that operands name. A target may be a directory, in which a file of the
// source's name is written.
// See decision D131.
func (s *scanned) outputs(p *Part, e *entry) {
	writing := []Access{Write}
	if len(s.strange) > 0 && e.target {
		writing = append(writing, Replace) // a directory, perhaps, with what is in it
	}
	add := func(at int, text, name string) {
		for _, access := range writing {
			in := file(text, access, name, p.Dirs)
			in.From = at
			p.add(in)
		}
	}
	last := len(s.operands) - 1
	for n, i := range s.operands {
		w := p.Words[i]
		if e.output || n == last {
			add(i, spelling(p.Words[i:i+1]), w.Text)
		}
		if e.packs != "" {
			for _, name := range append(unpacked(w.Text), w.Text+e.packs) {
				add(i, name, name)
			}
		}
		if e.target && n < last {
			to := p.Words[s.operands[last]].Text + "/" + path.Base(w.Text) // a pattern is a doubt
			add(i, to, to)
		}
	}
}

// option adds the part that an option's value makes.
func (a *analysis) option(p *Part, o option) {
	var in *Part
	text := o.name + " " + o.value.Text
	if o.role == mayRead {
		name, ok := strings.CutPrefix(o.value.Text, "@")
		if !ok {
			return
		}
		o.role, o.value.Text = reads, name
	}
	if (o.role == reads || o.role == writes || o.role == fills) && strings.ContainsAny(o.value.Text, ":#") {
		p.doubt(o.at, "a name with a colon may be of another host, and one with # may become another")
	}
	switch o.role {
	case writes:
		in = file(text, Write, o.value.Text, p.Dirs)
	case fills:
		in = file(text, Replace, o.value.Text, p.Dirs)
	case reads:
		in = file(text, Read, o.value.Text, p.Dirs)
	case enters:
		p.Dirs = dirs(p.Dirs).join(o.value.Text, false)
		in = &Part{Kind: Change, Text: text, Words: []Word{{Text: "cd"}, o.value}, Dirs: p.Dirs}
	case runsCode:
		in = a.splits(p, o.value.Text, max(o.from, o.at)+1)
		p.doubt(o.from, "the option "+o.name+" runs a command")
	case runsWordsOf:
		if len(o.words) == 0 {
			p.doubt(o.at, "the option "+o.name+" has no command")
			return
		}
		at := dirs(p.Dirs)
		if strings.HasSuffix(o.name, "dir") {
			at = nil // the directory of each file
			p.enterFound(o)
		}
		in = a.program(replaced(p, o), at)
	case inside:
		separates := func(r rune) bool { return r == ':' || r == ';' || r == ',' }
		for _, name := range strings.FieldsFunc(o.value.Text, separates) {
			if outside(name) {
				p.doubt(o.at, "the value of the option "+o.name+" may be of another project")
			}
		}
		return
	case plain, takes, may, mayRead, family:
		return
	}
	in.From, in.Inside = o.from, o.role == runsCode
	p.add(in)
}

// wrapper takes the command apart that a wrapper runs.
func (a *analysis) wrapper(p *Part, e *entry, s *scanned) {
	p.Through = e.through && p.Words[0].Text == base(p.Words[0].Text)
	if slices.ContainsFunc(strings.Fields(e.asks), func(o string) bool { return s.option(o) >= 0 }) {
		return
	}
	if slices.ContainsFunc(strings.Fields(e.removes), func(o string) bool { return s.option(o) >= 0 }) {
		p.doubt(Always, "variables are removed for the program")
	}
	at := s.first
	if e.assigns && at < len(p.Words) && p.Words[at].Is("-") {
		p.doubt(Always, "variables are removed for the program")
		at++
	}
	for i := 0; i < e.skip && at < len(p.Words); i++ {
		if w := p.Words[at]; w.Form != Literal {
			p.doubt(Always, "an argument of the wrapper is not literal")
		} else if e.through && (w.Text == "" || w.Text[0] < '0' || w.Text[0] > '9') {
			// Some versions can do without it, and take it for the command.
			p.doubt(Always, "an argument of the wrapper is no number")
		}
		at++
	}
	for e.assigns && at < len(p.Words) && strings.Contains(p.Words[at].Text, "=") {
		p.doubt(at, "a variable is set for the program")
		at++
	}
	if at >= len(p.Words) {
		p.Through = false
		if e.alone != "" {
			p.doubt(Always, e.alone)
		}
		return
	}
	if !e.through {
		p.doubt(at, e.why)
	}
	inner := p.Words[at:]
	if e.appends {
		inner = append(inner[:len(inner):len(inner)], Word{Form: Hidden})
	}
	var in *Part
	if e.joins {
		in = a.joined(inner, p.Dirs)
	} else {
		in = a.program(inner, p.Dirs)
	}
	if e.appends {
		p.CodeOnInput = in.interprets()
	}
	in.From = at
	p.add(in)
}

// joined takes words apart that a wrapper joins and hands to a shell.
func (a *analysis) joined(words []Word, in dirs) *Part {
	var code []string
	for _, w := range words {
		if w.Form != Literal {
			return &Part{Kind: Opaque, Text: spelling(words), Why: "a word of the command is not literal"}
		}
		code = append(code, w.Text)
	}
	return a.code(strings.Join(code, " "), POSIX, in)
}

// subcommand checks the options behind a program's subcommand by the table of that subcommand.
func (a *analysis) subcommand(p *Part, e *entry, s *scanned) {
	if s.first >= len(p.Words) {
		return
	}
	if at := s.option("--help"); at >= 0 && p.Words[at].Is("--help") {
		p.doubt(Always, "before a subcommand it is another one, which starts a program")
	}
	w := p.Words[s.first]
	sub := e.sub[w.Text]
	if w.Form != Literal || sub == nil {
		const why = "this subcommand is not known; it may be an alias or start a program"
		p.doubt(s.first, why)
		a.starter(p, why, s.first+1, false)
		return
	}
	if sub.named {
		p.doubt(s.first, "this subcommand "+sub.why)
	}
	a.arguments(p, sub, s.first+1)
}

// spelling puts words together for a reader.
func spelling(words []Word) string {
	var out []string
	for _, w := range words {
		switch {
		case w.Form == Hidden:
			out = append(out, "…")
		case w.Form == Pattern:
			out = append(out, w.Text+"*")
		case w.Text == "" || strings.ContainsAny(w.Text, " \t\n'\"\\$`;&|<>(){}*?[]~#"):
			out = append(out, "'"+strings.ReplaceAll(w.Text, "'", `'\''`)+"'")
		default:
			out = append(out, w.Text)
		}
	}
	return strings.Join(out, " ")
}
