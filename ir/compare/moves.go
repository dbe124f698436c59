package compare

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// moves compares renames, links and exchanges where both policies grant the needed capabilities
// at either end, so that only a pin or the check for escalation decides. Where a capability
// decides, files has reported it. Between fresh names only the capabilities of the two cells
// count, so one cell stands for all of the same capabilities. The system's own files take no
// part: the base lets only devices be updated, which no link or rename takes to another
// filesystem.
// See decision D34.
func (c *comparison) moves(trees []*placeTree) []Difference {
	var all []*place
	for _, t := range trees {
		all = append(all, flatten(t)...)
	}
	kinds := representatives(all)
	// A commands table changes which capabilities count as escalation, so all moves are asked
	// again.
	same := (c.old.Tool.Commands == nil) == (c.new.Tool.Commands == nil)
	var out []Difference
	for _, a := range kinds {
		for _, b := range kinds {
			if same && a.old == a.new && b.old == b.new && sameNames(a.rules) && sameNames(b.rules) {
				continue
			}
			if d, ok := c.move(a.text(), a.ends[0], b.text(), other(b, a)); ok {
				d.Beside = a.old == a.new && b.old == b.new // of directories that could hold such names
				out = append(out, d)
			}
		}
	}
	var pins []Difference
	for _, p := range all {
		if p.named && p.pinned[0] != p.pinned[1] {
			pins = append(pins, c.pin(p, kinds)...)
		}
	}
	return append(out, gather(pins)...)
}

// aside leaves moves aside only where a difference between the capabilities says the same.
func aside(moves, files []Difference) []Difference {
	for i := range moves {
		said := func(d Difference) bool { return d.Wider == moves[i].Wider }
		moves[i].Beside = moves[i].Beside && slices.ContainsFunc(files, said)
	}
	return moves
}

func flatten(t *placeTree) []*place {
	out := []*place{t.item}
	for _, n := range t.item.byName {
		out = append(out, n.place)
	}
	for _, b := range t.below {
		out = append(out, flatten(b)...)
	}
	return out
}

// representatives keeps a cell of each pair of capability sets and of each pair of lists of rules by name.
func representatives(all []*place) []*place {
	var out []*place
	for _, p := range all {
		known := func(o *place) bool {
			return o.old == p.old && o.new == p.new &&
				sameEntries(o.rules[0], p.rules[0]) && sameEntries(o.rules[1], p.rules[1])
		}
		if !slices.ContainsFunc(out, known) {
			out = append(out, p)
		}
	}
	return out
}

// other is a second free place where both ends lie in the same cell.
func other(p, taken *place) ir.Location {
	if p.ends[0] != taken.ends[0] {
		return p.ends[0]
	}
	return p.ends[1]
}

// pin compares the moves of a name that one policy pins: the first move of each direction that
// is judged differently.
func (c *comparison) pin(p *place, kinds []*place) []Difference {
	var out [2]*Difference
	for _, k := range kinds {
		if out[0] != nil && out[1] != nil {
			break
		}
		from, left := c.move(p.text(), p.at, k.text(), k.ends[0])
		to, came := c.move(k.text(), k.ends[0], p.text(), p.at)
		for i, wider := range []bool{true, false} {
			switch {
			case out[i] != nil:
			case left && from.Wider == wider:
				out[i] = &from
			case came && to.Wider == wider:
				out[i] = &to
			}
		}
	}
	var ds []Difference
	for _, d := range out {
		if d != nil {
			d.What, d.Where = "move or replace", p.text()
			if p.guarded {
				d.Protected = []string{d.Where}
			}
			ds = append(ds, *d)
		}
	}
	return ds
}

// move asks all ways to bring a name from one place to another. It returns one difference for the moves that the two
// policies judge differently in the direction of the first.
func (c *comparison) move(fromCell string, from ir.Location, toCell string, to ir.Location) (Difference, bool) {
	src, dst := ir.Direct(from), ir.Direct(to)
	var out Difference
	var verbs []string
	as := asked(src, dst)
	for _, op := range ways(src, dst) {
		old, new, differs := c.ask(op.asked)
		denied := old
		if !new.Allowed() {
			denied = new
		}
		if !differs || denied.Reason != ir.ReasonNoGain && denied.Reason != ir.ReasonPinned {
			continue
		}
		if verbs == nil {
			out = Difference{
				Resource: ir.FS, Wider: new.Allowed(), Where: fromCell + " → " + toCell,
				Old: side(old), New: side(new),
			}
		}
		if _, is, turns := c.ask(as[op.verb]); out.Example == "" && turns && is.Allowed() == out.Wider {
			out.Example = spell(op.verb, from.Short(), to.Short())
		}
		if out.Wider == new.Allowed() && !slices.Contains(verbs, op.verb) {
			verbs = append(verbs, op.verb)
		}
	}
	out.What = strings.Join(verbs, ", ")
	return out, verbs != nil
}

type way struct {
	verb  string
	asked ir.Operation
}

// asked are the moves in the form of accessc can, for places where nothing exists.
func asked(src, dst ir.Place) map[string]ir.Operation {
	return map[string]ir.Operation{
		"rename":   ir.Rename{Src: src, Dst: dst, SrcKind: ir.Unknown, DstKind: ir.Absent},
		"link":     ir.Link{Src: src, Dst: dst},
		"exchange": ir.Exchange{A: src, B: dst, AKind: ir.Unknown, BKind: ir.Unknown},
	}
}

// ways are the operations that bring a name from place to place.
func ways(src, dst ir.Place) []way {
	var out []way
	for _, k := range []ir.NodeKind{ir.File, ir.Dir} {
		for _, there := range []ir.NodeKind{ir.Absent, k} {
			out = append(out, way{"rename", ir.Rename{Src: src, Dst: dst, SrcKind: k, DstKind: there}})
		}
	}
	out = append(out, way{"link", ir.Link{Src: src, Dst: dst}})
	for _, a := range []ir.NodeKind{ir.File, ir.Dir} {
		for _, b := range []ir.NodeKind{ir.File, ir.Dir} {
			out = append(out, way{"exchange", ir.Exchange{A: src, B: dst, AKind: a, BKind: b}})
		}
	}
	return out
}
