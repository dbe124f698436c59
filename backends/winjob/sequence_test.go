package winjob

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// stricterCauses are those that say what is withheld besides.
var stricterCauses = []ir.CauseID{
	whyNameClosed, whyCarried, whyAbsent, whySelf, whySymlink, whyHidden, whyLibrary, whyListed, whyMetadata,
	whyReplaceAll, whyOwnBase, whyNamedHeld,
}

// later holds the emitted text against the policy at any time of a run, modulo what
// the ledger says: where a cell is weaker, the text may permit more; where it has a
// reason to withhold, less. Nothing pinned ever moves, whatever the ledger says.
func (w *world) later(q question, others bool) string {
	v := w.decide(q.op)
	got, want := w.holds(q), v.Allowed()
	ok := got == want
	switch {
	case got && !want && v.Reason != ir.ReasonPinned && v.Reason != ir.ReasonRoot:
		ok = w.mayPermit(q, v)
	case got && !want && v.Reason == ir.ReasonPinned:
		ok = w.cell(q.src, ir.AspectMove).Cites(whyGuardless) || w.cell(q.dst, ir.AspectMove).Cites(whyGuardless)
	case want && !got:
		ok = w.mayRefuse(q)
	}
	if got && !want && others {
		ok = ok || slices.ContainsFunc([]string{q.src, q.dst, w.write(v.At)}, func(p string) bool {
			return w.cell(p, ir.AspectMove).Cites(whyOthers)
		})
	}
	if ok || w.byName(q, got) {
		return ""
	}
	return fmt.Sprintf("%s %s → %s (%T): text %v, policy %v (%s, %s at %s)",
		q.aspect, q.src, q.dst, q.op, got, want, v.Reason, v.Need, v.At)
}

// mayPermit reports whether a cell of the capability that is missing is weaker, or
// for a move the cells of both places.
func (w *world) mayPermit(q question, v ir.Verdict) bool {
	both := func(why ir.CauseID) bool {
		return w.cell(q.src, ir.AspectMove).Cites(why) && w.cell(q.dst, ir.AspectMove).Cites(why)
	}
	if q.aspect == ir.AspectMove && v.Reason == ir.ReasonNoGain {
		return both(whyGain)
	}
	if v.Reason == ir.ReasonCommand {
		row, _ := w.ledger.Cell(ir.Commands, "default", ir.AspectProgram, ir.Windows, ir.BestTier)
		return row.Is == ir.Weaker || w.spec.Container.ChildProcessPolicy != ""
	}
	aspect := q.aspect
	if aspect == ir.AspectMove {
		aspect = ir.AspectOf(v.Need)
	}
	if w.weaker(w.write(v.At), aspect) {
		return true
	}
	if aspect == ir.AspectExecute && w.spec.Container.ChildProcessPolicy != "" {
		return true
	}
	return q.aspect == ir.AspectMove && (both(whyLink) || w.cell(q.dst, ir.AspectMove).Cites(whyReplace))
}

func (w *world) weaker(p string, a ir.Aspect) bool { return w.cell(p, a).Is == ir.Weaker }

// mayRefuse reports whether a row of the operation has a reason to withhold something.
func (w *world) mayRefuse(q question) bool {
	withholds := func(p string, as ...ir.Aspect) bool {
		return slices.ContainsFunc(as, func(a ir.Aspect) bool {
			return slices.ContainsFunc(stricterCauses, func(why ir.CauseID) bool { return w.cell(p, a).Cites(why) })
		})
	}
	if q.dst == "" {
		return withholds(q.src, q.aspect)
	}
	return withholds(q.src, ir.AspectDelete, ir.AspectUpdate, ir.AspectMove) ||
		withholds(q.dst, ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete, ir.AspectMove)
}

// apply carries out an operation that the emitted text permitted. by is the maker of new
// objects.
func (w *world) apply(q question, by Maker) {
	switch q.op.(type) {
	case ir.Rename:
		w.volume.Move(q.src, q.dst)
		w.moved(q.src, q.dst)
		return
	case ir.Link:
		w.volume.Alias(q.src, q.dst)
		w.objects[q.dst] = ir.File
		return
	}
	switch q.aspect {
	case ir.AspectCreate:
		w.volume.Make(q.src, q.kind, by)
		w.objects[q.src] = q.kind
	case ir.AspectDelete:
		if !slices.ContainsFunc(w.paths(), func(p string) bool { return strings.HasPrefix(p, q.src+`\`) }) {
			w.volume.Remove(q.src)
			delete(w.objects, q.src)
		}
	}
}

func (w *world) moved(src, dst string) {
	delete(w.objects, dst)
	for p, kind := range maps.Clone(w.objects) {
		if rest, ok := strings.CutPrefix(p, src); ok && (rest == "" || rest[0] == '\\') {
			delete(w.objects, p)
			w.objects[dst+rest] = kind
		}
	}
}

// others draws an action of the user meanwhile: making something, with or without a list of its
// own, or moving something without an open handle on it or below.
func (w *world) others(t *rapid.T) {
	paths := w.paths()
	q := w.access(ir.AspectCreate, w.somewhere(t, paths), irtest.Kind(t, ir.File, ir.Dir))
	by := rapid.SampledFrom([]Maker{Plain, Closed}).Draw(t, "by")
	if rapid.Bool().Draw(t, "moves") {
		q, by = w.rename(w.somewhere(t, paths), w.somewhere(t, paths)), Plain
	}
	held := func(p string) bool {
		return w.ambient(p) || w.locate(p).Root.Kind == ir.System || slices.ContainsFunc(w.entries, func(e Entry) bool {
			return w.objects[e.Path] != 0 && (e.Path == p || strings.HasPrefix(e.Path, p+`\`))
		})
	}
	if w.makesSense(q) && !held(q.src) && !held(q.dst) {
		w.apply(q, by)
	}
}

// TestTextAgainstPolicyLater: after anything that the emitted text lets a cunning tool do, and
// with another process at work or not, the text and the policy answer alike modulo the ledger.
func TestTextAgainstPolicyLater(t *testing.T) {
	const per = 30
	for _, others := range []bool{false, true} {
		t.Run(fmt.Sprintf("others=%v", others), func(t *testing.T) {
			done := 0
			irtest.Check(t, 3400, per, func(rt *rapid.T) {
				if wrong := runLater(rt, per, others, fault{}, &done); wrong != "" {
					rt.Fatal(wrong)
				}
			})
			t.Logf("%d operations were carried out", done)
		})
	}
}

// runLater lets a tool, and others if enabled, do all that they can in one random world, and
// returns the first answer on the way that is wrong.
func runLater(rt *rapid.T, n int, others bool, f fault, done *int) string {
	w, why := genWorld(rt, f)
	if why != "" {
		return why
	}
	for n > 0 {
		if others && rapid.IntRange(0, 3).Draw(rt, "whose turn") == 0 {
			w.others(rt)
		}
		q := w.ask(rt, w.paths())
		if !w.makesSense(q) {
			continue
		}
		if wrong := w.later(q, others); wrong != "" {
			return wrong
		}
		if n--; w.holds(q) {
			w.apply(q, rapid.SampledFrom([]Maker{Plain, Cunning}).Draw(rt, "maker"))
			*done++
		}
	}
	return ""
}
