package allow

import (
	"path"
	"strings"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset/shell"
)

// leadsOut is the first of these reasons against a group.
func (b Bounds) leadsOut(g group) string {
	for _, a := range g.asks {
		if why := b.foreign(a); why != "" {
			return why
		}
	}
	return ""
}

// foreign is why no addition permits an operation by which something outside of the sandbox may act for the
// tool, or whose names no command can say; empty for all others.
// See decision D176.
func (b Bounds) foreign(a Ask) string {
	if op, ok := a.Operation.(ir.Dial); ok && (!a.bound || op.On.At.Root.Kind != ir.Workspace) {
		return denial.WhySocket
	}
	if why := b.closed(a); why != "" {
		return why
	}
	about := ir.Describe(a.Operation)
	for _, place := range about.Places {
		if why := unsayable(place.At.Short()); why != "" {
			return why
		}
		if abs, ok := b.asker.Bindings.Path(place.At); ok && special(abs) {
			return "it is a socket, a device or a FIFO, behind which something outside of the sandbox may act"
		}
	}
	switch op := a.Operation.(type) {
	case ir.Access:
		if op.On.At == ir.In("") && op.Cap != ir.Read {
			return "a rule that changes the whole workspace is yours to write"
		}
	case ir.Run:
		return runs(op)
	case ir.Connect, ir.Copy, ir.Dial, ir.Exchange, ir.Forward, ir.Link, ir.Listen, ir.Rename, ir.Start:
		// They reach only the objects that the rule names.
	}
	return ""
}

// closed is why no addition permits an operation on a place that a rule closes, other than one that the
// user can grant during a run: the rule is its author's decision.
func (b Bounds) closed(a Ask) string {
	v := a.denied(b.View)
	if v == nil || denial.Reserved(b.View, v.At) != "" {
		return "" // permitted, or refused for a better reason
	}
	r, ok := v.Rule.(*ir.FSRule)
	if !ok || r.Caps != 0 || r.Origin.Pos.File == "" || r.At == ir.In("") && !r.ByName() {
		return "" // a rule on all of the workspace says what holds without one
	}
	for _, may := range b.Tool.May {
		if may.Caps != 0 && v.At.Under(may.At) {
			return ""
		}
	}
	change := "change that rule"
	if r.ByName() {
		change = "write a rule with path = " + tomltext.String(v.At.Spelled()) + " behind it"
	}
	return "the rule " + r.Subject() + " closes it, " + r.Origin.Pos.String() + "; if it is meant, " + change
}

// runs is why a start of a program is not permitted: it, or a program that it starts in turn as its
// arguments say, acts outside of the sandbox.
func runs(op ir.Run) string {
	for _, word := range append([]string{op.Program}, op.Args...) {
		if why := unsayable(word); why != "" {
			return why
		}
	}
	names := []string{op.Program}
	if op.File != nil {
		names = append(names, op.File.At.Path)
	}
	line := action.Command{Words: append([]string{op.Program}, op.Args...)}.Text()
	shell.Analyze(line, shell.Bash, "").Each(func(q *shell.Part) {
		if len(q.Words) > 0 && q.Words[0].Form == shell.Literal {
			names = append(names, q.Words[0].Text)
		}
	})
	for _, name := range names {
		base := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/"))), ".exe")
		if why := leaves[base]; why != "" {
			return base + " " + why + "; if it is meant, write the rule yourself"
		}
	}
	return ""
}
