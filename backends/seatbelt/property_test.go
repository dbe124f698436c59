package seatbelt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/sbpl"
)

// judge compares a profile's text with the policy that it was compiled from.
type judge struct {
	*scenario
	view    *ir.View
	profile *sbpl.Profile
	ledger  ir.Ledger
	err     error
	// seen counts the questions by answer, to show that a test asked something, used the rows
	// of the ledger that explained a difference.
	seen map[string]int
	used map[claim]bool
}

// newJudge reads a text as the profile of a scenario in one form.
func newJudge(s *scenario, form backends.Form, text string, ledger ir.Ledger) (*judge, error) {
	target := s.target(form)
	j := &judge{scenario: s, view: ir.NewView(s.tool, ir.Darwin, firstNames(target.Facts)), ledger: ledger, seen: map[string]int{}, used: map[claim]bool{}}
	profile, err := sbpl.Parse(text, Parameters(s.tool, s.full, proxyPort))
	j.profile = profile
	return j, err
}

// ask puts an operation to the profile, with and without regard to case. Without, the
// path comes in another spelling than the policy's.
func (j *judge) ask(op string, at ir.Location, kind string) bool {
	abs, _ := j.full.Path(at)
	r := sbpl.Request{Path: start.FirstName(abs), Kind: kind, Target: "others"}
	exactly, err := j.profile.Allows(op, r)
	r.Fold, r.Path = true, norm.NFD.String(strings.ToUpper(r.Path))
	folded, err2 := j.profile.Allows(op, r)
	switch {
	case err != nil:
		j.err = err
	case err2 != nil:
		j.err = err2
	case exactly != folded:
		j.err = fmt.Errorf("%s on %s depends on case", op, abs)
	}
	return exactly && j.err == nil
}

// answer asks the profile for everything that a call needs.
func (j *judge) answer(q question) bool {
	all := func(at ir.Location, ops ...string) bool {
		return !slices.ContainsFunc(ops, func(op string) bool { return !j.ask(op, at, "REGULAR-FILE") })
	}
	switch q.call {
	case callRead:
		return all(q.on, opReadData)
	case callCreate:
		return all(q.on, opCreate, "file-write-data")
	case callUpdate:
		return all(q.on, "file-write-data")
	case callMetadata:
		return all(q.on, q.leaf)
	case callDelete:
		return all(q.on, opUnlink)
	case callStart:
		return all(q.on, opExec, opInterpreter, opMetadata)
	case callRename:
		return all(q.on, opUnlink) && all(q.to, opCreate)
	case callExchange:
		return all(q.on, opUnlink, opCreate) && all(q.to, opUnlink, opCreate)
	case callLink:
		return all(q.on, opLink) && all(q.to, opCreate)
	case callCopy:
		if q.at == ir.Absent {
			return all(q.on, opReadData) && all(q.to, opCreate, "file-write-data")
		}
		return all(q.on, opReadData) && all(q.to, "file-write-data")
	case callClone:
		return all(q.on, opClone) && all(q.to, opCreate)
	case callDial:
		return all(q.on, opConnect)
	default:
		return false
	}
}

// decide puts the same call to the policy.
func (j *judge) decide(q question) ir.Verdict {
	on, to := ir.Direct(q.on), ir.Direct(q.to)
	access := func(c ir.Capability) ir.Verdict { return j.view.Decide(ir.Access{Cap: c, On: on}) }
	switch q.call {
	case callRead:
		return access(ir.Read)
	case callCreate:
		return access(ir.Create)
	case callUpdate, callMetadata:
		return access(ir.Update)
	case callDelete:
		return access(ir.Delete)
	case callStart:
		return j.view.Decide(ir.Start{On: on})
	case callRename:
		return j.view.Decide(ir.Rename{Src: on, Dst: to, SrcKind: q.kind, DstKind: q.at})
	case callExchange:
		return j.view.Decide(ir.Exchange{A: on, B: to, AKind: ir.File, BKind: ir.File})
	case callLink:
		return j.view.Decide(ir.Link{Src: on, Dst: to})
	case callCopy:
		return j.view.Decide(ir.Copy{Src: on, Dst: to, DstKind: q.at})
	case callClone:
		return j.view.Decide(ir.Copy{Src: on, Dst: to, DstKind: ir.Absent})
	case callDial:
		return j.view.Decide(ir.Dial{On: on})
	default:
		return ir.Verdict{}
	}
}

// excuse is a row of the ledger that may explain a difference, and the reason that it must give
// for that.
type excuse struct {
	at     ir.Location
	aspect ir.Aspect
	why    ir.CauseID
}

// excuses lists what may explain that a call gets another answer than the policy's:
// exactly the reasons that the ledger has for that kind of call, and only where they
// apply. Everything else must be equal.
func (j *judge) excuses(q question, v ir.Verdict) (wider, narrower []excuse) {
	fill := excuse{q.to, ir.AspectCreate, start.WhyFill}
	switch q.call {
	case callCreate:
		narrower = []excuse{{q.on, ir.AspectCreate, start.WhyFill}}
		if j.pinned(q.on) {
			narrower = append(narrower, excuse{q.on, ir.AspectCreate, start.WhyPin})
		}
	case callDelete:
		if j.pinned(q.on) {
			narrower = []excuse{{q.on, ir.AspectDelete, start.WhyPin}}
		}
	case callMetadata:
		narrower = []excuse{{q.on, ir.AspectMetadata, start.WhyDevice}}
		switch q.leaf {
		case opWrite:
			narrower = append(narrower, excuse{q.on, ir.AspectMetadata, start.WhyTimes})
		case opSetID:
			narrower = append(narrower, excuse{q.on, ir.AspectMetadata, start.WhySetID})
		}
	case callRename, callExchange:
		narrower = []excuse{fill, {q.to, ir.AspectUpdate, start.WhyAtomic}, {q.on, ir.AspectUpdate, start.WhyAtomic}}
		switch {
		case v.Reason == ir.ReasonNoGain:
			wider = []excuse{{q.on, ir.AspectMove, start.WhyGain}, {q.to, ir.AspectMove, start.WhyGain}}
		case q.at == ir.Dir && v.Need == ir.Delete && v.At == q.to:
			wider = []excuse{{q.to, ir.AspectDelete, start.WhyEmptyDir}}
		}
	case callLink:
		narrower = []excuse{fill, {q.on, ir.AspectMove, start.WhyLinks}}
		if v.Reason == ir.ReasonNoGain {
			wider = []excuse{{q.on, ir.AspectMove, start.WhyGain}}
		}
	case callCopy, callClone:
		narrower = []excuse{fill}
		if j.pinned(q.to) {
			narrower = append(narrower, excuse{q.to, ir.AspectCreate, start.WhyPin})
		}
	case callDial:
		narrower = []excuse{{q.on, ir.AspectSocket, start.WhySocket}}
	case callRead, callUpdate, callStart:
	}
	return wider, narrower
}

// pinned reports whether the policy lets nothing be moved over or away from a place.
func (j *judge) pinned(at ir.Location) bool {
	pinned := false
	for _, root := range j.view.Roots() {
		if r := j.view.Regions(root); r != nil {
			r.Walk(func(n *ir.Region) { pinned = pinned || n.At == at && n.Pinned })
		}
	}
	return pinned
}

// guarded reports whether a place is protected or in a protected directory.
func (j *judge) guarded(at ir.Location) bool {
	guarded := false
	for _, root := range j.view.Tree() {
		root.WalkRoot(func(n *ir.Region) { guarded = guarded || n.Guard.Rule != nil && at.Under(n.At) })
	}
	return guarded
}

// leadsOn reports whether a place is a directory for rules of other places, rules of a root that lies in it among them.
func (j *judge) leadsOn(at ir.Location) bool {
	leads := false
	for _, root := range j.view.Tree() {
		root.WalkRoot(func(n *ir.Region) { leads = leads || n.At == at && len(n.Below) > 0 })
	}
	return leads
}

// governor returns the identifier of the rule that governs a place, as ledgers have it.
func (j *judge) governor(at ir.Location) ir.RuleID {
	return j.ruled(j.view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}))
}

// ruled returns the identifier of the rule of a verdict, as ledgers have it.
func (j *judge) ruled(v ir.Verdict) ir.RuleID {
	rule := v.Rule
	for _, e := range j.view.Entries() {
		if rule == ir.Rule(e.Rule) {
			if e.Rule.Origin.Layer == ir.LayerBase {
				return ir.BaseRule
			}
			return e.ID
		}
	}
	return ir.DefaultRule
}

// claim is a cause of a cell.
type claim struct {
	rule   ir.RuleID
	aspect ir.Aspect
	why    ir.CauseID
}

// explains reports whether the ledger has the row of an excuse.
func (j *judge) explains(e excuse, is ir.Enforcement) bool {
	id := j.governor(e.at)
	row, ok := j.ledger.Cell(ir.FS, id, e.aspect, ir.Darwin, 0)
	if !ok {
		j.err = fmt.Errorf("the ledger has no cell for %s %s", id, e.aspect)
	}
	found := (row.Is == is || row.Cites(start.WhyBytes)) && row.Cites(e.why)
	if found {
		j.used[claim{id, e.aspect, e.why}] = true
	}
	return found
}

// exception reports whether a question is about the one place that a profile allows beyond the
// policy: reading the root directory, without which the loader aborts. The row of the default
// says so.
func exception(q question) bool {
	return (q.call == callRead || q.call == callCopy) && q.on == ir.Sys("")
}

// compare asks every question of both and returns the first difference that the
// ledger does not state.
func (j *judge) compare() error {
	for _, q := range j.questions {
		v, allows := j.decide(q), j.answer(q)
		if j.err != nil {
			return j.err
		}
		j.seen[fmt.Sprintf("%d %v %v", q.call, v.Allowed(), allows)]++
		if err := j.named(q, v); err != nil {
			return err
		}
		if v.Allowed() == allows || exception(q) || q.call == callClone && j.leadsOn(q.on) && !allows {
			continue
		}
		wider, narrower := j.excuses(q, v)
		is, list := ir.Stricter, narrower
		if allows {
			is, list = ir.Weaker, wider
		}
		if !slices.ContainsFunc(list, func(e excuse) bool { return j.explains(e, is) }) {
			return fmt.Errorf("call %d on %v (%v) to %v (%v) %s: policy %v (%v), profile %v",
				q.call, q.on, q.kind, q.to, q.at, q.leaf, v.Allowed(), v.Reason, allows)
		}
	}
	return j.err
}

// named asserts that the report of a denial names the rule that the policy denies by.
func (j *judge) named(q question, v ir.Verdict) error {
	ops := map[call]string{callRead: opReadData, callUpdate: "file-write-data", callDelete: opUnlink, callMetadata: q.leaf}
	if op, ok := ops[q.call]; ok && v.Reason == ir.ReasonRule && !v.Allowed() && !exception(q) {
		abs, _ := j.full.Path(q.on)
		got, err := j.profile.Message(op, sbpl.Request{Path: start.FirstName(abs), Kind: "REGULAR-FILE"})
		want := "accessc t " + string(j.ruled(v))
		if want == "accessc t base" && got != want {
			want = "accessc t default"
		}
		if q.call == callDelete && got == "accessc t pin" && (j.pinned(q.on) || q.on.Path == "") {
			want = got
		}
		byName := slices.ContainsFunc(j.tool.FS, func(r ir.FSRule) bool { return r.ByName() })
		if byName && j.guarded(q.on) && strings.HasPrefix(got, "accessc t ") {
			want = got // the protection, the rule around it and rules by name deny parts of it
		}
		if err != nil || got != want {
			return fmt.Errorf("%s on %v is reported as %q, %v; want %q", op, q.on, got, err, want)
		}
	}
	return nil
}

// trees checks that no clone of a directory contains unreadable files. Cause: a directory of
// the base was cloned with a workspace that lies in it.
func (j *judge) trees() error {
	var err error
	for _, root := range j.view.Tree() {
		root.WalkRoot(func(n *ir.Region) {
			if namesAt(n) && j.ask(opClone, n.At.Child("fresh name"), "DIRECTORY") {
				for _, name := range classes(n) {
					if at := n.At.Child("fresh name").Child(name); !j.view.Decide(ir.Access{Cap: ir.Read,
						On: ir.Direct(at)}).Allowed() {
						err = fmt.Errorf("cloning a directory in %v carries %s", n.At, name)
					}
				}
			}
			if len(n.Below) == 0 || !j.ask(opClone, n.At, "DIRECTORY") {
				return
			}
			n.Walk(func(below *ir.Region) {
				if !j.view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(below.At)}).Allowed() {
					err = fmt.Errorf("cloning %v carries %v", n.At, below.At)
				}
			})
		})
	}
	return cmp.Or(err, j.err)
}

// TestProfileAgainstPolicy compiles random policies for random hosts in both forms and puts the
// same questions to the policy and to the emitted text: a million pairs of a policy and an
// operation at full scale, each to two readings of the text, with and without regard to case,
// and the portable form besides where it applies.
func TestProfileAgainstPolicy(t *testing.T) {
	const per = 100
	seen := map[string]int{}
	irtest.Check(t, 10_000, per, func(rt *rapid.T) {
		s := drawScenario(rt, per)
		for _, form := range []backends.Form{backends.Portable, backends.Resolved} {
			if form == backends.Portable && !s.apart() {
				continue
			}
			out, err := Backend{}.Compile(s.tool, s.target(form))
			if err != nil || out.Data == nil {
				rt.Fatalf("%v: not compiled: %v %v", form, err, out.Refusals)
			}
			j, err := newJudge(&s, form, string(out.Data), out.Ledger)
			if err == nil {
				err = j.compare()
			}
			if err == nil {
				err = j.trees()
			}
			if err != nil {
				rt.Fatalf("%v: %v\n%s\n%s", form, err, s.String(), out.Data)
			}
			for k, n := range j.seen {
				seen[k] += n
				seen[form.String()] += n
			}
		}
	})
	t.Logf("%d questions to resolved profiles, %d to portable ones", seen["resolved"], seen["portable"])
	if seen["portable"] == 0 {
		t.Error("no portable profile was asked")
	}
	for i := range calls {
		c := call(i)
		granted := fmt.Sprintf("%d true true", c)
		if c != callDial && seen[granted] == 0 || seen[fmt.Sprintf("%d false false", c)] == 0 {
			t.Errorf("call %d was never granted or never denied by both: %v", c, seen)
		}
	}
}

// everywhere lists the places where rules begin, and a fresh name in each region.
func (j *judge) everywhere() []ir.Location {
	var out []ir.Location
	for _, root := range j.view.Roots() {
		j.view.Regions(root).Walk(func(n *ir.Region) {
			places := []ir.Location{n.At, n.At.Child("fresh name")}
			for _, name := range classes(n) {
				places = append(places, n.At.Child(name))
			}
			for _, at := range places {
				abs, _ := j.full.Path(at)
				out = append(out, j.full.Locate(strings.TrimSuffix(abs, "/")))
			}
		})
	}
	return out
}

// classes are names in a region that its rules by name tell apart, where they begin.
func classes(n *ir.Region) []string {
	if !beginsNames(n) {
		return nil
	}
	var lists [][]string
	for _, e := range n.ByName {
		lists = append(lists, ir.FoldNames(e.Rule.Names))
	}
	names, _ := ir.NameClasses(lists, nil)
	return names
}

// everything lists every question about every pair of places.
func everything(places []ir.Location) []question {
	var out []question
	for _, a := range places {
		for _, c := range []call{callCreate, callDelete, callDial} {
			out = append(out, question{call: c, on: a})
		}
		for _, leaf := range []string{"file-write-mode", opWrite, opSetID} {
			out = append(out, question{call: callMetadata, on: a, leaf: leaf})
		}
		for _, b := range places {
			out = append(out,
				question{call: callRename, on: a, to: b, kind: ir.File, at: ir.Absent}, question{call: callRename, on: a, to: b, kind: ir.File, at: ir.File},
				question{call: callRename, on: a, to: b, kind: ir.Dir, at: ir.Absent}, question{call: callRename, on: a, to: b, kind: ir.Dir, at: ir.Dir},
				question{call: callLink, on: a, to: b})
		}
	}
	return out
}

// smallBase is a base with one place of each kind, so that all pairs are few.
var smallBase = []ir.FSRule{
	{At: ir.Sys("usr/lib"), Caps: ir.Caps(ir.Read, ir.Execute), Origin: ir.Origin{Layer: ir.LayerBase}},
	{At: ir.Sys("private/etc/ssl"), Caps: ir.Caps(ir.Read), Origin: ir.Origin{Layer: ir.LayerBase}},
	{At: ir.Sys("dev/null"), Caps: ir.Caps(ir.Read, ir.Update), Origin: ir.Origin{Layer: ir.LayerBase}},
}

// TestLedgerIsEarned checks that the ledger claims no difference that is not there: for every
// row that names one of the reasons below, some call gets another answer than the policy's for
// that reason. It asks all calls on all pairs of places that a policy tells apart.
func TestLedgerIsEarned(t *testing.T) {
	earned := []ir.CauseID{start.WhyGain, start.WhyEmptyDir, start.WhyPin, start.WhyFill, start.WhyAtomic, start.WhyLinks, start.WhySocket, start.WhyDevice, start.WhySetID, start.WhyTimes}
	irtest.Check(t, 150, 1000, func(rt *rapid.T) {
		s := drawScenario(rt, 0)
		s.facts.Base = smallBase
		out, err := Backend{}.Compile(s.tool, s.target(backends.Resolved))
		if err != nil {
			rt.Fatal(err)
		}
		j, err := newJudge(&s, backends.Resolved, string(out.Data), out.Ledger)
		if err != nil {
			rt.Fatal(err)
		}
		j.questions = everything(j.everywhere())
		if err := j.compare(); err != nil {
			rt.Fatalf("%v\n%s\n%s", err, s.String(), out.Data)
		}
		for _, row := range out.Ledger {
			for _, why := range earned {
				for _, id := range row.Rules {
					for _, a := range row.Aspects {
						if row.Cites(why) && !j.used[claim{id, a, why}] {
							rt.Fatalf("%s %s claims %s for nothing\n%s\n%s", id, a, why, s.String(), out.Data)
						}
					}
				}
			}
		}
	})
}
