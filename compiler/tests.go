package compiler

import (
	"fmt"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// testDraft is one table of access.tests.
type testDraft struct {
	v          *source.Value
	assertions []ir.Assertion
}

func (d *testDraft) value() *source.Value { return d.v }

func (s scope) test(v *source.Value) (*testDraft, bool) {
	t := s.table(v, `a table such as { deny = ["read .env"] }`)
	if t == nil {
		return nil, false
	}
	s.known(t, "a test", "allow", "deny")
	d := &testDraft{v: v}
	for i := range t.Entries {
		e := &t.Entries[i]
		if e.Key != "allow" && e.Key != "deny" {
			continue
		}
		d.assertions = append(d.assertions, s.key(e.Key).assertions(e)...)
	}
	return d, true
}

func (s scope) assertions(e *source.Entry) []ir.Assertion {
	if e.Value.Kind != source.ArrayKind {
		s.expect(e.Value, "an array of strings")
		return nil
	}
	var out []ir.Assertion
	for i, item := range e.Value.Array {
		in := s.item(i)
		text, ok := in.str(item)
		if !ok {
			continue
		}
		words, err := Words(text)
		if err == nil {
			_, err = resolve.ParseQuestion(words)
		}
		if err != nil {
			in.report(diag.BadTest, item, err.Error())
			continue
		}
		out = append(out, ir.Assertion{Allow: e.Key == "allow", Question: text, Origin: in.origin(item.At)})
	}
	return out
}

// runTests asks a finished policy its own questions. They are asked as a tool's
// arguments are judged, on the tree as it is here.
func (c *compilation) runTests(t *ir.Tool) {
	if len(t.Tests) == 0 {
		return
	}
	facts := c.res.Facts(t)
	view := ir.NewView(t, HostPlatform(), facts)
	asker := resolve.Asker{Resolver: c.res.Resolver, Bindings: facts.Bindings, Lookup: c.res.Lookup(t)}
	for _, a := range t.Tests {
		c.runTest(view, asker, a)
	}
}

func (c *compilation) runTest(view *ir.View, asker resolve.Asker, a ir.Assertion) {
	fail := func(code diag.Code, label string, related ...diag.Related) {
		d := diag.New(code, a.Origin.Pos, len(a.Question)+2)
		d.Path, d.Label, d.Related = a.Origin.Path, label, related
		c.findings.Add(d)
	}
	// The form was checked when the test was read.
	words, _ := Words(a.Question)
	q, _ := resolve.ParseQuestion(words)
	op, err := asker.Operation(q)
	if err != nil {
		fail(diag.BadTest, err.Error())
		return
	}
	v := view.Decide(op)
	if v.Allowed() == a.Allow {
		return
	}
	want := ir.Deny
	if a.Allow {
		want = ir.Allow
	}
	label := fmt.Sprintf("found %s (%s), expected %s", v.Effect, v.Reason, want)
	if v.Rule == nil || v.Rule.Source().Pos.File == "" {
		fail(diag.TestFailed, label)
		return
	}
	fail(diag.TestFailed, label, diag.Related{At: v.Rule.Source().Pos, Note: "the rule on " + v.Rule.Subject() + " decides"})
}
