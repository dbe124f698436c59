package compiler

import (
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
)

// testDraft is a table of access.tests.
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
		words, err := split.Words(text)
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

// See decision D12.
