package ir

import "slices"

// commandIndex finds a program's rule by its written name and by its file.
type commandIndex struct {
	set    *CommandSet
	own    *Location
	byName map[string]int
	byFile map[Location]int
}

func indexCommands(t *Tool, f Facts) commandIndex {
	x := commandIndex{set: t.Commands, own: f.Program}
	if t.Commands == nil {
		return x
	}
	x.byName, x.byFile = map[string]int{}, map[Location]int{}
	for i := range t.Commands.Rules {
		r := &t.Commands.Rules[i]
		x.byName[r.Program] = i
		if r.File != nil {
			x.byFile[*r.File] = i
		}
	}
	return x
}

// listed decides whether a file may be started at all, whatever its arguments.
func (x *commandIndex) listed(file Location) Verdict {
	if x.set == nil {
		return Verdict{Effect: Allow, Reason: ReasonAny}
	}
	if x.own != nil && *x.own == file {
		return Verdict{Effect: Allow, Reason: ReasonAny, At: file}
	}
	if i, ok := x.byFile[file]; ok {
		return Verdict{Effect: Allow, Reason: ReasonRule, Rule: &x.set.Rules[i], At: file}
	}
	return Verdict{Reason: ReasonCommand, At: file}
}

// decide finds the rule by the written name first: two names of one file, as with
// a multi-call binary, are two rules.
func (x *commandIndex) decide(op Run) Verdict {
	if x.set == nil {
		return Verdict{Effect: Allow, Reason: ReasonAny}
	}
	i, ok := x.byName[op.Program]
	if !ok && op.File != nil {
		i, ok = x.byFile[op.File.At]
	}
	if !ok {
		if op.File != nil && x.own != nil && *x.own == op.File.At {
			return Verdict{Effect: Allow, Reason: ReasonAny}
		}
		return refuse(ReasonCommand)
	}
	r := &x.set.Rules[i]
	if r.AnyArgs || slices.ContainsFunc(r.Args, func(p ArgPattern) bool { return p.Matches(op.Args) }) {
		return Verdict{Effect: Allow, Reason: ReasonRule, Rule: r}
	}
	return Verdict{Reason: ReasonArgs, Rule: r}
}

// Matches reports whether args is one of the sequences that p allows.
func (p ArgPattern) Matches(args []string) bool {
	if len(args) < len(p.Words) || len(args) > len(p.Words) && !p.Rest {
		return false
	}
	return slices.Equal(p.Words, args[:len(p.Words)])
}
