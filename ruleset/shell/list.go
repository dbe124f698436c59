package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dirs are the working directories that are possible at a place, nil where they are not known.
type dirs []string

// or joins the possible states after two ways.
func (d dirs) or(e dirs) dirs {
	if d == nil || e == nil {
		return nil
	}
	out := slices.Clone(d)
	for _, x := range e {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}

// join returns where a path leads from each directory. Its ".." are removed only by cd.
func (d dirs) join(p string, clean bool) dirs {
	if path.IsAbs(p) {
		d = dirs{""}
	}
	var out dirs
	for _, x := range d {
		whole := x + "/" + p
		if x == "" {
			whole = p
		}
		if clean {
			whole = path.Clean(whole)
		}
		out = append(out, whole)
	}
	return out
}

// ends are the working directories after a statement: where it succeeded, and in any case.
type ends struct{ success, any dirs }

func stays(in dirs) ends { return ends{in, in} }

// list takes statements apart that run in sequence.
func (a *analysis) list(stmts []*syntax.Stmt, in dirs) ([]*Part, ends) {
	var out []*Part
	at := stays(in)
	for _, s := range stmts {
		var p *Part
		p, at = a.stmt(s, at.any)
		out = append(out, p)
	}
	return out, at
}

// stmt takes a statement apart.
func (a *analysis) stmt(s *syntax.Stmt, in dirs) (*Part, ends) {
	p, out := a.command(s, in)
	files := a.redirects(s.Redirs, in)
	if slices.ContainsFunc(s.Redirs, reading) {
		p.feeds()
	}
	if p.runsInput() {
		for _, f := range files {
			f.feedsShell()
		}
	}
	if len(files) > 0 {
		p = &Part{Kind: Group, Text: strings.TrimRight(a.text(s), " \n;&"), Parts: append([]*Part{p}, files...)}
	}
	switch {
	case s.Coprocess || s.Disown:
		p = &Part{Kind: Opaque, Text: a.text(s), Why: "another shell's way to run it apart", Parts: []*Part{p}}
	case s.Background:
		out = stays(in)
	case s.Negated:
		out.success = out.any
	}
	return p, out
}

// reading reports whether a redirection gives a program its standard input.
func reading(r *syntax.Redirect) bool {
	//exhaustive:ignore
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		w, why := readWord(r.Word)
		return why != "" || !w.Is("/dev/null")
	default:
		return false
	}
}

// command takes the command of a statement apart, without its redirections.
func (a *analysis) command(s *syntax.Stmt, in dirs) (*Part, ends) {
	switch c := s.Cmd.(type) {
	case nil:
		return &Part{Kind: Group, Text: a.text(s)}, stays(in)
	case *syntax.CallExpr:
		return a.call(c, in)
	case *syntax.BinaryCmd:
		return a.binary(c, in)
	case *syntax.Subshell:
		parts, _ := a.list(c.Stmts, in)
		return &Part{Kind: Group, Text: a.text(c), Parts: parts}, stays(in)
	case *syntax.Block:
		parts, out := a.list(c.Stmts, in)
		return &Part{Kind: Group, Text: a.text(c), Parts: parts}, out
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return &Part{Kind: Group, Text: a.text(c)}, stays(in)
		}
		return a.stmt(c.Stmt, in)
	default:
		return a.flow(c), stays(nil)
	}
}

func (a *analysis) binary(c *syntax.BinaryCmd, in dirs) (*Part, ends) {
	out := &Part{Kind: Group, Text: a.text(c)}
	x, first := a.stmt(c.X, in)
	at := first.any
	switch c.Op {
	case syntax.AndStmt:
		at = first.success
	case syntax.OrStmt:
	case syntax.Pipe, syntax.PipeAll:
		at = in // each end of a pipe is a shell of its own
	}
	y, second := a.stmt(c.Y, at)
	out.add(x, y)
	after := ends{any: first.any.or(second.any)}
	switch c.Op {
	case syntax.AndStmt:
		after.success = second.success
	case syntax.OrStmt:
		after.success = first.success.or(second.success)
	case syntax.Pipe, syntax.PipeAll:
		// Some shells run the last command themselves.
		after = stays(in.or(second.any))
		y.feeds()
		if y.runsInput() {
			x.feedsShell()
		}
	}
	return out, after
}

// opaque is a construct that is not seen through. The statements inside are parts, so that a rule
// that denies one of them is heard.
func (a *analysis) opaque(n syntax.Node, why string) *Part {
	return &Part{Kind: Opaque, Text: a.text(n), Why: why, Parts: a.inside(n)}
}

// inside takes the statements apart that stand in a node.
func (a *analysis) inside(n syntax.Node) []*Part {
	var out []*Part
	syntax.Walk(n, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if ok {
			p, _ := a.stmt(s, nil)
			out = append(out, p)
		}
		return !ok
	})
	return out
}

// construct names a command that is not seen through.
func construct(c syntax.Command) string {
	switch c.(type) {
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return "control flow is not followed"
	case *syntax.FuncDecl:
		return "a function changes the meaning of a name"
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		return "an expression of the shell can run commands"
	case *syntax.DeclClause:
		return "a variable is set"
	default:
		return "this construct is not known"
	}
}

// redirects takes redirections apart.
func (a *analysis) redirects(all []*syntax.Redirect, in dirs) []*Part {
	var out []*Part
	for _, r := range all {
		if p := a.redirect(r, in); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// redirect takes a redirection apart; nil if it opens nothing.
func (a *analysis) redirect(r *syntax.Redirect, in dirs) *Part {
	if n := r.N; n != nil && (len(n.Value) != 1 || n.Value[0] < '0' || n.Value[0] > '9') {
		return a.opaque(r, "shells differ about the number of a descriptor")
	}
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		return a.document(r)
	}
	w, why := readWord(r.Word)
	if why == "" && w.Form != Literal {
		why = "a pattern is no file name"
	}
	if why != "" {
		return a.opaque(r, why)
	}
	//exhaustive:ignore
	switch r.Op {
	case syntax.WordHdoc:
		return nil
	case syntax.DplIn, syntax.DplOut:
		// For bash, a word of its own begins behind "<&-".
		plain := w.Text == "-" || len(w.Text) == 1 && w.Text[0] >= '0' && w.Text[0] <= '9'
		if plain && a.text(r.Word) == w.Text {
			return nil
		}
		return a.opaque(r, "the target of a descriptor may be a file")
	case syntax.RdrIn:
		return file(a.text(r), Read, w.Text, in)
	case syntax.RdrInOut:
		return file(a.text(r), ReadWrite, w.Text, in)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return file(a.text(r), Write, w.Text, in)
	default:
		return a.opaque(r, "a redirection of another shell")
	}
}

// document checks the text behind <<: expansions in it are not seen through.
func (a *analysis) document(r *syntax.Redirect) *Part {
	expands := ""
	if r.Hdoc != nil {
		for _, p := range r.Hdoc.Parts {
			if _, ok := p.(*syntax.Lit); !ok {
				expands = expansion(p)
			}
		}
	}
	if _, why := readWord(r.Word); why != "" && expands == "" {
		expands = "the end of a here-document is not literal"
	}
	if expands == "" {
		return nil
	}
	out := &Part{Kind: Opaque, Text: a.text(r), Why: expands}
	if r.Hdoc != nil {
		out.Parts = a.inside(r.Hdoc)
	}
	return out
}

// file is a file that is opened in one of several working directories.
func file(text string, access Access, name string, in dirs) *Part {
	switch {
	case name == "/dev/null":
		return &Part{Kind: Group, Text: text}
	case strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/"):
		return &Part{Kind: Opaque, Text: text, Why: "bash connects to a host"}
	case name == "":
		return &Part{Kind: Opaque, Text: text, Why: "there is no file name"}
	}
	at := in.join(name, false)
	if at == nil {
		return &Part{Kind: Opaque, Text: text, Why: "the working directory is not known", Seen: true}
	}
	if len(at) == 1 {
		return &Part{Kind: File, Text: text, Access: access, Path: at[0]}
	}
	out := &Part{Kind: Group, Text: text}
	for _, p := range at {
		out.add(&Part{Kind: File, Text: text, Access: access, Path: p})
	}
	return out
}
