package winjob

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// question is an operation on paths of a world.
type question struct {
	op       ir.Operation
	aspect   ir.Aspect
	src, dst string
	// kind is the kind of a node to make.
	kind ir.NodeKind
}

// ask draws a question about the nodes of the host.
func (w *world) ask(t *rapid.T, paths []string) question {
	switch rapid.IntRange(0, 9).Draw(t, "question") {
	case 0, 1, 2:
		q := question{src: w.somewhere(t, paths), dst: w.somewhere(t, paths)}
		return w.rename(q.src, q.dst)
	case 3:
		q := question{src: w.somewhere(t, paths), dst: w.somewhere(t, paths)}
		return w.link(q.src, q.dst)
	default:
		a := rapid.SampledFrom(ir.Aspects(ir.FS)[:6]).Draw(t, "aspect")
		return w.access(a, w.somewhere(t, paths), irtest.Kind(t, ir.File, ir.Dir))
	}
}

func (w *world) access(a ir.Aspect, p string, kind ir.NodeKind) question {
	c, ok := ir.ParseCapability(string(a))
	if !ok {
		c = ir.Update
	}
	q := question{op: ir.Access{Cap: c, On: w.place(p)}, aspect: a, src: p, kind: kind}
	if c == ir.Execute {
		q.op = ir.Start{On: w.place(p)}
	}
	return q
}

func (w *world) rename(src, dst string) question {
	return question{aspect: ir.AspectMove, src: src, dst: dst, op: ir.Rename{
		Src: w.place(src), Dst: w.place(dst), SrcKind: w.volume.Kind(src), DstKind: w.volume.Kind(dst),
	}}
}

func (w *world) link(src, dst string) question {
	return question{aspect: ir.AspectMove, src: src, dst: dst, op: ir.Link{Src: w.place(src), Dst: w.place(dst)}}
}

// makesSense reports whether the system would check rights at all: a read node exists, a made node does not,
// directories have no contents to update and are not started, and nothing is moved below itself or over a directory.
func (w *world) makesSense(q question) bool {
	kind := w.volume.Kind(q.src)
	if q.dst == "" {
		switch q.aspect {
		case ir.AspectCreate:
			return kind == ir.Absent && w.parent(q.src) == ir.Dir
		case ir.AspectUpdate, ir.AspectExecute:
			return kind == ir.File && !w.links[q.src]
		default:
			return kind != ir.Absent && !w.links[q.src] || w.links[q.src] && q.aspect == ir.AspectDelete
		}
	}
	to := w.volume.Kind(q.dst)
	if _, isLink := q.op.(ir.Link); isLink {
		return kind == ir.File && to == ir.Absent && w.parent(q.dst) == ir.Dir && !w.links[q.src]
	}
	return kind != ir.Absent && to != ir.Dir && w.parent(q.dst) == ir.Dir && q.src != q.dst &&
		!strings.HasPrefix(q.dst, q.src+`\`)
}

func (w *world) parent(p string) ir.NodeKind {
	return w.volume.Kind(p[:max(strings.LastIndexByte(p, '\\'), 0)])
}

// holds asks the emitted text: for a permitted operation, whether ordinary programs can do it,
// for a refused operation, whether any program can.
func (w *world) holds(q question) bool {
	w.volume.Frugal = !w.decide(q.op).Allowed()
	switch q.op.(type) {
	case ir.Rename:
		return w.volume.Rename(q.src, q.dst)
	case ir.Link:
		return w.volume.Link(q.src, q.dst)
	}
	switch q.aspect {
	case ir.AspectRead:
		return w.volume.Read(q.src)
	case ir.AspectCreate:
		return w.volume.Create(q.src, q.kind)
	case ir.AspectUpdate:
		return w.volume.Update(q.src)
	case ir.AspectDelete:
		return w.volume.Delete(q.src)
	case ir.AspectExecute:
		return w.volume.Execute(q.src)
	default:
		return w.volume.Metadata(q.src)
	}
}

// witnessed counts, per reason of the ledger, the answers that needed it.
type witnessed map[ir.CauseID]int

func (n witnessed) note(reason ir.CauseID, found bool) bool {
	if found {
		n[reason]++
	}
	return found
}

// atStart compares the emitted text with the policy as things are when the tool starts. Then
// every answer is the same except for the few that the ledger gives a reason for; the result
// names the first that is not, empty if all is well.
func (w *world) atStart(q question, n witnessed) string {
	verdict := w.decide(q.op)
	got, want := w.holds(q), verdict.Allowed()
	switch {
	case got == want:
		return ""
	case (q.dst != "" || w.volume.Kind(q.src) == ir.Absent) && w.byName(q, got):
		return "" // a name that is made or moved at this moment
	case want && w.refusedFor(q, n):
		return ""
	case got && w.permittedFor(q, verdict, n):
		return ""
	}
	return fmt.Sprintf("%s %s → %s (%T): text %v, policy %v (%s)", q.aspect, q.src, q.dst, q.op, got, want, verdict.Reason)
}

// byName reports whether the ledger says of a rule by name that an answer differs: in the cell of what is asked, or of
// a move in the cells of what it takes at both ends.
func (w *world) byName(q question, got bool) bool {
	aspects := []ir.Aspect{q.aspect}
	if q.dst != "" {
		aspects = []ir.Aspect{ir.AspectMove, ir.AspectRead, ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete}
	}
	for _, p := range []string{q.src, q.dst} {
		for _, a := range aspects {
			row := w.cell(p, a)
			if p != "" && (got && row.Is == ir.Weaker && (row.Cites(whyByName) || row.Cites(whyBrings)) || !got &&
				row.Cites(whyNameClosed)) {
				return true
			}
		}
	}
	return false
}

// refusedFor reports whether the ledger says why something is refused that the policy
// permits.
func (w *world) refusedFor(q question, n witnessed) bool {
	reason := func(p string, why ir.CauseID) bool { return n.note(why, w.cell(p, q.aspect).Cites(why)) }
	e, onEntry := w.entry(q.src)
	switch q.aspect {
	case ir.AspectDelete:
		return onEntry && reason(q.src, whySelf)
	case ir.AspectCreate:
		return onEntry && e.Absent == AbsentSkip && reason(q.src, whyAbsent)
	case ir.AspectMetadata:
		return w.volume.Kind(q.src) == ir.Dir && reason(q.src, whyMetadata)
	case ir.AspectMove:
		_, overEntry := w.entry(q.dst)
		return onEntry && reason(q.src, whyNamedHeld) || overEntry && reason(q.dst, whyNamedHeld) ||
			w.volume.Kind(q.dst) == ir.File && reason(q.dst, whyReplaceAll)
	default:
		return false
	}
}

// permittedFor reports whether the ledger says why something is permitted that the
// policy refuses. A move is a matter of both places, and both rules must say so.
func (w *world) permittedFor(q question, v ir.Verdict, n witnessed) bool {
	reason := func(why ir.CauseID, ps ...string) bool {
		for _, p := range ps {
			if row := w.cell(p, q.aspect); row.Is != ir.Weaker || !row.Cites(why) {
				return false
			}
		}
		return n.note(why, true)
	}
	switch {
	case q.aspect == ir.AspectMove && v.Reason == ir.ReasonNoGain:
		return reason(whyGain, q.src, q.dst)
	case q.aspect == ir.AspectMove && v.Need == ir.Read:
		return reason(whyLink, q.src, q.dst)
	case q.aspect == ir.AspectMove && v.Reason == ir.ReasonPinned:
		return w.volume.Kind(q.dst) == ir.Absent && reason(whyGuardless, q.dst)
	case q.aspect == ir.AspectMove && v.Need == ir.Create:
		return w.volume.Kind(q.dst) == ir.Absent && reason(whyGuardless, q.dst)
	case q.aspect == ir.AspectMove && v.Need == ir.Update:
		return w.volume.Kind(q.dst) == ir.File && reason(whyReplace, q.dst)
	case q.aspect == ir.AspectExecute && v.Reason == ir.ReasonCommand:
		row, _ := w.ledger.Cell(ir.Commands, "default", ir.AspectProgram, ir.Windows, ir.BestTier)
		return w.ambient(q.src) && n.note(whyPrograms, row.Is == ir.Weaker || w.spec.Container.ChildProcessPolicy != "")
	case q.aspect == ir.AspectRead || q.aspect == ir.AspectExecute:
		return w.ambient(q.src) && reason(whyAmbient, q.src)
	case q.aspect == ir.AspectCreate:
		return w.volume.Kind(q.src) == ir.Absent && reason(whyGuardless, q.src)
	default:
		return false
	}
}

func (w *world) ambient(p string) bool {
	for _, a := range w.spec.Files.Ambient {
		if p == a.Path || strings.HasPrefix(p, a.Path+`\`) {
			return true
		}
	}
	return false
}

// TestTextAgainstPolicyAtStart: the emitted text and the policy answer alike at the start,
// portable and resolved; and every reason that the ledger gives for a different answer is seen
// to be needed.
func TestTextAgainstPolicyAtStart(t *testing.T) {
	const per = 100
	asked, allowed := 0, 0
	seen := witnessed{}
	irtest.Check(t, 3000, per, func(rt *rapid.T) {
		if wrong := runAtStart(rt, per, fault{}, seen, func(held bool) {
			asked++
			if held {
				allowed++
			}
		}); wrong != "" {
			rt.Fatal(wrong)
		}
	})
	if allowed < asked/10 || allowed > asked*9/10 {
		t.Errorf("%d of %d questions were allowed; the generator is lopsided", allowed, asked)
	}
	counts := map[string]int{}
	for _, why := range []ir.CauseID{
		whySelf, whyMetadata, whyReplaceAll, whyGain, whyReplace, whyAmbient, whyPrograms, whyAbsent, whyLink,
	} {
		if counts[string(why)] = seen[why]; seen[why] == 0 && asked > 100_000 {
			t.Errorf("nothing asked needed the reason %q", why)
		}
	}
	// Few questions are about an absent path or a link: TestFaultsInTheLedgerAreNoticed has examples.
	for _, why := range []ir.CauseID{whySelf, whyMetadata, whyReplaceAll, whyGain, whyReplace, whyAmbient, whyPrograms} {
		irtest.Happened(t, counts, string(why))
	}
	t.Logf("%d questions, %d allowed; needed %v", asked, allowed, seen)
}

// runAtStart asks n questions in a random world and returns the first answer that
// is wrong.
func runAtStart(rt *rapid.T, n int, f fault, seen witnessed, asked func(held bool)) string {
	w, why := genWorld(rt, f)
	if why != "" {
		return why
	}
	paths := w.paths()
	for n > 0 {
		q := w.ask(rt, paths)
		if !w.makesSense(q) {
			continue
		}
		if wrong := w.atStart(q, seen); wrong != "" {
			return wrong
		}
		asked(w.holds(q))
		n--
	}
	return ""
}
