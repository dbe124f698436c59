package build

import (
	"slices"

	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
)

// CasesOf names the cases of test/conformance that show a row, as evidence has them. None shows a row that nothing
// holds, a row of a level below the best, on which the cases run, or a row about a limit that no case reaches.
func CasesOf(r ir.Row) []string {
	openFiles := ir.Limit{Kind: ir.LimitOpenFiles}.ID()
	switch {
	case r.Is == ir.Unenforced, r.Platform == ir.Windows && !r.Levels.Holds(ir.BestTier),
		r.Resource == ir.Limits && !slices.Equal(r.Rules, []ir.RuleID{openFiles}):
		return nil
	}
	var out []string
	for _, a := range r.Aspects {
		if name := CaseOf(r.Platform, r.Resource, a); name != "" {
			out = append(out, "conformance/"+name)
		}
	}
	if r.Platform == ir.Darwin {
		for _, c := range macCases {
			if c.shows(r) {
				out = append(out, "conformance/"+c.name)
			}
		}
	}
	return out
}

// CaseOf names the case of test/conformance that shows on a real system whether an aspect of a
// resource is enforced as the ledger says. No case is about a grant while the tool runs, nor about listening on
// Windows: a tool may listen there, and cannot see that no connection comes.
// See decision D76.
func CaseOf(p ir.Platform, r ir.Resource, a ir.Aspect) string {
	if a == ir.AspectAsk || a == ir.AspectListen && p == ir.Windows {
		return ""
	}
	return r.String() + "-" + string(a)
}

// macCases are the cases about the behaviour that this project assumes of macOS, each with the rows that would be false
// if macOS did otherwise: the rows of a cause, or of an aspect of all rules on files.
// See decision D76.
var macCases = []struct {
	name  string
	shows func(ir.Row) bool
}{
	{"mac-access", because(start.WhySearch)},
	{"mac-arguments", because(start.WhyProcArgs)},
	{"mac-case", ofRules(ir.AspectRead, ir.AspectCreate)},
	{"mac-clone", ofRules(ir.AspectRead)},
	{"mac-image", because(start.WhyImage)},
	{"mac-map", func(r ir.Row) bool { return because(start.WhyMap)(r) || ofRules(ir.AspectExecute)(r) }},
	{"mac-minimal", func(r ir.Row) bool {
		return of(r, ir.AspectRead, ir.AspectExecute) && slices.Contains(r.Rules, ir.BaseRule)
	}},
	{"mac-mktemp", func(r ir.Row) bool { return of(r, ir.AspectCreate) && slices.Contains(r.Rules, "tmp") }},
	{"mac-new-file", because(start.WhyFill)},
	{"mac-rename-over", because(start.WhyEmptyDir, start.WhyAtomic)},
	{"mac-set-id", because(start.WhySetID)},
	{"mac-swap", func(r ir.Row) bool { return because(start.WhyPin)(r) || ofRules(ir.AspectMove)(r) }},
	{"mac-times", ofRules(ir.AspectMetadata)},
	{"mac-unicode", ofRules(ir.AspectRead)},
}

// because tells rows that have any of some causes.
func because(causes ...ir.CauseID) func(ir.Row) bool {
	return func(r ir.Row) bool { return slices.ContainsFunc(causes, r.Cites) }
}

// of tells rows about some aspects of files.
func of(r ir.Row, aspects ...ir.Aspect) bool {
	return r.Resource == ir.FS && slices.ContainsFunc(aspects, func(a ir.Aspect) bool {
		return slices.Contains(r.Aspects, a)
	})
}

// ofRules tells rows about an aspect of rules, and not only of the base or of the other files: their places are matched
// by name.
func ofRules(aspects ...ir.Aspect) func(ir.Row) bool {
	return func(r ir.Row) bool {
		return of(r, aspects...) && slices.ContainsFunc(r.Rules, func(id ir.RuleID) bool {
			return id != ir.BaseRule && id != ir.DefaultRule
		})
	}
}
