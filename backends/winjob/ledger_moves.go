package winjob

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// move says how renames and links out of and into a rule's regions are held. Pins are
// exact: no entry gives DELETE on a path that may not move.
func (w *ledgerWriter) move(caps ir.CapSet) ir.Held {
	caps = w.moving(caps)
	held, known := w.moves[caps]
	if !known {
		held = w.moved(caps)
		w.moves[caps] = held
	}
	return held
}

func (w *ledgerWriter) moved(caps ir.CapSet) ir.Held {
	var held []ir.Held
	for _, other := range w.sets {
		if movesWithGain(caps, other) || movesWithGain(other, caps) {
			held = append(held, backends.Weaker(ir.GapFSMove, whyGain))
		}
		if linksUnread(caps, other) || linksUnread(other, caps) {
			held = append(held, backends.Weaker(ir.GapFSMove, whyLink))
		}
		if !caps.Contains(other) {
			held = append(held, backends.Weaker(ir.GapFSMove, whyOthers))
		}
	}
	replaces := caps.Contains(ir.Caps(ir.Create, ir.Delete))
	if replaces && !caps.Has(ir.Update) {
		held = append(held, backends.Weaker(ir.GapFSMove, whyReplace))
	}
	if caps.Has(ir.Update) && !replaces {
		held = append(held, backends.Stricter(whyReplaceAll))
	}
	return backends.Join(held...)
}

// movesWithGain reports whether a rename or a hard link can carry something from one
// region to another that lets more be done with it.
func movesWithGain(from, to ir.CapSet) bool {
	gain := to &^ from
	return to.Has(ir.Create) && (from.Has(ir.Delete) && gain != 0 || from.Has(ir.Update) && gain&ir.FileCaps != 0)
}

// linksUnread reports whether a hard link can be made of a file that may be updated
// but not be read.
func linksUnread(from, to ir.CapSet) bool {
	return from.Has(ir.Update) && !from.Has(ir.Read) && to.Has(ir.Create)
}
