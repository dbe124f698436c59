package mnt

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// Foretold finds the cells of a ledger that must speak of operations which mounts permit against the policy. It goes by
// the policy and by the files that were there at the start, and by nothing of the backends.
type Foretold struct {
	View   *ir.View
	Ledger ir.Ledger
	Table  *Table
	// Loose is true where names are not pinned (firejail).
	Loose bool
}

// Refused is an operation that the policy refuses.
type Refused struct {
	ir.Verdict
	Src      ir.Location // the place that is moved or linked, and zero for other operations
	Metadata bool        // about the mode or times of a file
}

// Fataler is a test.
type Fataler interface{ Fatalf(string, ...any) }

// Leak returns the row that speaks of an operation which mounts permit and the policy refuses. The test fails if that very cell does
// not, or not by the gap that it must have.
func (f *Foretold) Leak(t Fataler, what string, v Refused) ir.Row {
	at, aspect, gap := v.At, ir.AspectOf(v.Need), ir.Gap("")
	switch {
	case v.Reason == ir.ReasonPinned || v.Reason == ir.ReasonLeads:
		aspect, gap = ir.AspectMove, f.gapOfName(v.At)
	case v.Reason == ir.ReasonNoGain:
		if loose := f.Cell(v.Src, ir.AspectMove); f.Loose && tells(loose.Held, ir.GapFSMove) {
			return loose
		}
		at, gap = v.Src, f.gap(v.Src, v.Need) // the tool has the capability before the move already
	default:
		if gap = f.gap(v.At, v.Need); v.Metadata {
			aspect = ir.AspectMetadata
		}
	}
	if row, ok := f.byName(at, aspect, v); ok {
		return row
	}
	row := f.Cell(at, aspect)
	if !tells(row.Held, gap) {
		t.Fatalf("%s is permitted, and refused by the policy (%+v): expected the gap %s in %+v", what, v, gap, row)
	}
	return row
}

// byName returns the row about a rule by name: of a name, or of the move of a directory in which the name may be.
func (f *Foretold) byName(at ir.Location, a ir.Aspect, v Refused) (ir.Row, bool) {
	if r := f.rule(at); r != nil && r.ByName() {
		row := f.Cell(at, a)
		return row, tells(row.Held, ir.GapFSNames)
	}
	row := f.Cell(v.Src, ir.AspectMove)
	return row, v.Reason == ir.ReasonNoGain && tells(row.Held, ir.GapFSNames)
}

// gaps are those of the causes of leaks.
var gaps = map[ir.CauseID][]ir.Gap{
	"mounts.whole": {ir.GapFSWrite}, "mounts.late": {ir.GapFSLate, ir.GapFSProtected}, "mounts.starts": {ir.GapFSExecute},
	"mounts.by-name": {ir.GapFSNames}, "mounts.brings": {ir.GapFSNames}, "mounts.loose": {ir.GapFSMove},
	"mounts.tree": {ir.GapFSDefault},
}

// tells reports whether a cell is not held and has a cause with a gap, and either this gap itself or, as a cell has a single one and may be about several
// places, that of another of its causes.
func tells(h ir.Held, gap ir.Gap) bool {
	caused, named := false, h.Gap == gap
	for _, c := range h.Causes {
		this := slices.Contains(gaps[c.ID], gap)
		caused = caused || this
		named = named || slices.Contains(gaps[c.ID], h.Gap) && (!this || len(gaps[c.ID]) > 1)
	}
	return caused && named && !h.Is.Held()
}

// Cell returns the row about an aspect of the rule that governs a place. It is empty where there is none.
func (f *Foretold) Cell(at ir.Location, a ir.Aspect) ir.Row {
	id := ir.DefaultRule
	if r := f.rule(at); r != nil {
		for _, e := range f.View.Entries() {
			if e.Rule == r {
				id = e.ID.Stated()
			}
		}
	}
	row, _ := f.Ledger.Cell(ir.FS, id, a, 0, 0)
	return row
}

func (f *Foretold) rule(at ir.Location) *ir.FSRule {
	r, _ := f.View.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}).Rule.(*ir.FSRule)
	return r
}

// gap is the gap under which a capability on a place is permitted beyond the policy.
func (f *Foretold) gap(at ir.Location, c ir.Capability) ir.Gap {
	r := f.rule(at)
	switch {
	case c == ir.Execute:
		return ir.GapFSExecute
	case r == nil || f.Loose && f.Leads(at):
		return ir.GapFSDefault
	case f.there(r.At) || f.likeAround(r):
		return ir.GapFSWrite
	case r.Guards():
		return ir.GapFSProtected
	}
	return ir.GapFSLate
}

// Leads reports whether a place is in no mount: at most in a directory that leads to mounts.
func (f *Foretold) Leads(at ir.Location) bool { return f.Table.at(at.String()) == "" }

// there reports whether a place was there when the mounts were made, or was made for one.
func (f *Foretold) there(at ir.Location) bool {
	_, mounted := f.Table.mounts[at.String()]
	return mounted || f.Table.start.Kind(at.String()) != ir.Absent
}

// likeAround reports whether a rule grants as much as the directory above its path has.
func (f *Foretold) likeAround(r *ir.FSRule) bool {
	alike := false
	for _, top := range f.View.Tree() {
		top.Walk(func(at *ir.Region) {
			alike = alike || at.At == r.At && at.Above != nil && at.Above.Caps == at.Caps
		})
	}
	return alike
}

// gapOfName is the gap under which a name that leads to rules can be moved, made or removed.
func (f *Foretold) gapOfName(at ir.Location) ir.Gap {
	if f.there(at) {
		return ir.GapFSMove
	}
	other := slices.ContainsFunc(f.View.Entries(), func(e ir.Entry) bool {
		return e.Rule.At.Root == at.Root && ir.Within(e.Rule.At.Path, at.Path) && !e.Rule.Guards()
	})
	if other {
		return ir.GapFSLate
	}
	return ir.GapFSProtected
}
