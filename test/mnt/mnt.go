// Package mnt evaluates the artifacts of backends that confine files by mounts, and compares them with
// the policy. A backend hands in the mounts of its artifact and their places, as far as the tool can tell.
// Only tests import it.
package mnt

import (
	"path"
	"strings"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// Entry is one mount, as the kernel has it.
type Entry struct {
	Place string // where it is
	// Gives are the capabilities that it gives a tool for everything below, also for files that are made there later.
	Gives ir.CapSet
	// Exists is true where the mount is made only if there is something at the place.
	Exists bool
}

// Artifact has the mounts and the ledger that a backend makes of a policy.
type Artifact struct {
	View    *ir.View  // of the policy
	Entries []Entry   // in the order in which they are made
	Ledger  ir.Ledger // of no platform
	Loose   bool      // as in Foretold
}

// Table is the mounts of an artifact in a world that goes on after they were made.
type Table struct {
	mounts     map[string]ir.CapSet
	start, now irtest.World
}

// NewTable makes the mounts of an artifact in the world of the start.
func NewTable(entries []Entry, start, now irtest.World) *Table {
	t := &Table{map[string]ir.CapSet{}, start, now}
	for _, e := range entries {
		if !e.Exists || start.Kind(e.Place) != ir.Absent {
			t.mounts[e.Place] = e.Gives
		}
	}
	return t
}

// at returns the place of the mount that shows a place.
func (t *Table) at(place string) string {
	for ; place != "." && place != "/"; place = parent(place) {
		if _, ok := t.mounts[place]; ok {
			return place
		}
	}
	return ""
}

func parent(place string) string {
	i := strings.LastIndexByte(place, '/')
	if i < 0 {
		return "."
	}
	return place[:i]
}

func (t *Table) gives(place string) ir.CapSet { return t.mounts[t.at(place)] }

// free reports whether the name of a place can be made, removed and moved.
func (t *Table) free(place string) bool {
	_, mounted := t.mounts[place]
	return !mounted && t.gives(parent(place)).Contains(ir.Write)
}

// Access reports whether the mounts let a tool do one operation.
func (t *Table) Access(c ir.Capability, place string) bool {
	switch c {
	case ir.Create:
		return t.now.Kind(place) == ir.Absent && t.now.Kind(parent(place)) == ir.Dir && t.free(place)
	case ir.Delete:
		return t.now.Kind(place) != ir.Absent && t.free(place) && !t.holdsMounts(place)
	case ir.Read, ir.Update, ir.Execute:
		return t.now.Kind(place) != ir.Absent && t.gives(place).Has(c)
	}
	return false
}

func (t *Table) holdsMounts(place string) bool {
	for p := range t.mounts {
		if strings.HasPrefix(p, place+"/") {
			return true
		}
	}
	return false
}

// Rename reports whether they let it move a name.
func (t *Table) Rename(src, dst string) bool {
	return t.free(src) && t.free(dst) && t.at(parent(src)) == t.at(parent(dst)) && !(t.now.Kind(dst) != ir.Absent && t.holdsMounts(dst))
}

// Link reports whether they let it give a file a further name.
func (t *Table) Link(src, dst string) bool {
	return t.now.Kind(src) == ir.File && t.now.Kind(dst) == ir.Absent && t.free(src) && t.free(dst) && t.at(parent(src)) == t.at(parent(dst))
}

// trial is a policy with its plan, its mounts and the ledger.
type trial struct {
	*Foretold
	places []ir.Location
	given  []situation
	seen   map[string]int
}

func newTrial(t *rapid.T, compile func(*ir.Tool, backends.Target) Artifact, seen map[string]int) *trial {
	tool := irtest.ToolByName(t, irtest.Plain, 6)
	start := irtest.DrawWorld(t, 12, "${home}", "${tmp}", irtest.Elsewhere.String())
	if rapid.IntRange(0, 7).Draw(t, "grants in each other") == 0 {
		nest(t, tool, start)
	}
	var given []situation
	if rapid.Bool().Draw(t, "situations") {
		given = situations
	}
	begin(given, tool, start)
	now := start.Later(t)
	goOn(given, now)
	target := backends.Target{Form: backends.Portable}
	if rapid.Bool().Draw(t, "host is known") {
		target.Node = func(place string) (ir.NodeKind, string) { return start.Kind(place), place }
	}
	a := compile(tool, target)
	f := &Foretold{View: a.View, Ledger: a.Ledger, Table: NewTable(a.Entries, start, now), Loose: a.Loose}
	return &trial{Foretold: f, places: now.Places(), given: given, seen: seen}
}

// nest grants something in a closed directory, which is in a directory with a grant. All three are there:
// drawn apart from each other they hardly ever are.
func nest(t *rapid.T, tool *ir.Tool, start irtest.World) {
	var at string
	for _, caps := range []ir.CapSet{irtest.Caps(t), 0, irtest.Caps(t)} {
		at = path.Join(at, rapid.SampledFrom(irtest.Plain).Draw(t, "name"))
		tool.FS = append(tool.FS, ir.FSRule{Written: at, At: ir.In(at), Caps: caps, Origin: ir.Origin{Layer: ir.LayerWorkspace}})
		start.Grow("${workspace}/"+at, ir.Dir)
	}
}

// compare compares the answer of the mounts about one operation with that of the policy. The ledger must
// speak of a difference: of a leak in the cell that Foretold says.
func (x *trial) compare(t *rapid.T, what string, mounts bool, v Refused, rows ...ir.Row) {
	if mounts == v.Allowed() {
		x.seen["alike"]++
		return
	}
	if mounts {
		rows = []ir.Row{x.Leak(t, what, v)}
	}
	for _, r := range rows {
		if mounts || r.Is != ir.Exact && r.Is != ir.Assumed {
			for _, c := range r.Causes {
				x.seen[string(c.ID)]++
			}
			return
		}
	}
	t.Fatalf("%s: the mounts permit it: %v, the policy: %v, and the ledger says\n%+v\nmounts %+v", what, mounts, v, rows, x.Table.mounts)
}

func (x *trial) single(t *rapid.T) {
	x.access(t, rapid.SampledFrom(ir.Capabilities[:]).Draw(t, "capability"), rapid.SampledFrom(x.places).Draw(t, "place"))
}

func (x *trial) access(t *rapid.T, c ir.Capability, at ir.Location) {
	kind := x.Table.now.Kind(at.String())
	if (kind == ir.Absent) != (c == ir.Create) || c == ir.Create && x.Table.now.Kind(parent(at.String())) != ir.Dir {
		return // there is nothing to compare
	}
	name := ir.NameFile
	if kind == ir.Dir {
		name = ir.NameDir
	}
	v := x.View.Decide(ir.Access{Cap: c, On: ir.Direct(at), Name: name})
	x.compare(t, c.String()+" "+at.String(), x.Table.Access(c, at.String()), Refused{Verdict: v}, x.Cell(at, ir.AspectOf(c)))
}

// rowsOfMove are the rows that a move or link between two places is about.
func (x *trial) rowsOfMove(src, dst ir.Location) []ir.Row {
	var out []ir.Row
	for _, a := range []ir.Aspect{ir.AspectRead, ir.AspectUpdate, ir.AspectDelete, ir.AspectMove} {
		out = append(out, x.Cell(src, a))
	}
	for _, a := range []ir.Aspect{ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete, ir.AspectMove} {
		out = append(out, x.Cell(dst, a))
	}
	return out
}

func (x *trial) move(t *rapid.T) {
	x.rename(t, rapid.SampledFrom(x.places).Draw(t, "src"), rapid.SampledFrom(x.places).Draw(t, "dst"))
}

func (x *trial) rename(t *rapid.T, src, dst ir.Location) {
	s, d := src.String(), dst.String()
	now := x.Table.now
	if now.Kind(parent(d)) != ir.Dir || !now.Movable(s, d) {
		return
	}
	v := x.View.Decide(ir.Rename{Src: ir.Direct(src), Dst: ir.Direct(dst), SrcKind: now.Kind(s), DstKind: now.Kind(d)})
	x.compare(t, "rename "+s+" "+d, x.Table.Rename(s, d), Refused{v, src, false}, x.rowsOfMove(src, dst)...)
	if now.Kind(s) == ir.File && now.Kind(d) == ir.Absent {
		v := x.View.Decide(ir.Link{Src: ir.Direct(src), Dst: ir.Direct(dst)})
		x.compare(t, "link "+s+" "+d, x.Table.Link(s, d), Refused{v, src, false}, x.rowsOfMove(src, dst)...)
	}
}

// Cases is how many questions one run of Compare draws.
const Cases = 25

// Compare draws a policy and a world, and asks about single operations and moves. The mounts permit the
// operations that the policy permits, or the ledger states the difference. It counts in seen the causes
// that were stated.
func Compare(t *rapid.T, compile func(*ir.Tool, backends.Target) Artifact, seen map[string]int) {
	x := newTrial(t, compile, seen)
	if len(x.places) == 0 {
		return
	}
	for _, s := range x.given {
		x.ask(t, s)
	}
	for range Cases - 5 {
		x.single(t)
	}
	for range 5 {
		x.move(t)
	}
}
