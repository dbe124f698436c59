package compiler

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/merge"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// removable is a rule that takes rules of the layers below away, or that a layer above may take away.
type removable interface {
	written
	// removes reports whether the rule takes the rules of its subject away.
	removes() bool
	// named is the rule for a reader.
	named() (ir.Resource, string, ir.Origin)
}

func (d *fsDraft) removes() bool { return d.remove }

func (d *fsDraft) named() (ir.Resource, string, ir.Origin) {
	return ir.FS, strings.Join(append([]string{d.path.Text}, d.names...), " "), d.scope.origin(d.v.At)
}

func (d *netDraft) removes() bool { return d.remove }

func (d *netDraft) named() (ir.Resource, string, ir.Origin) {
	return ir.Net, d.rule.Subject(), d.rule.Origin
}

func (d *envDraft) removes() bool { return d.remove }

func (d *envDraft) named() (ir.Resource, string, ir.Origin) {
	return ir.Env, d.rule.Subject(), d.rule.Origin
}

// removes reads remove in a rule. With it a rule says which rules it is about, by the keys of a subject, and nothing
// else.
func (s scope) removes(t *source.Table, subject ...string) bool {
	e := t.Entry("remove")
	if e == nil || !s.key(e.Key).boolean(e.Value) {
		return false
	}
	for i := range t.Entries {
		if e := &t.Entries[i]; e.Key != "remove" && !slices.Contains(subject, e.Key) {
			f := s.key(e.Key).report(diag.BadValue, e.Value, "a rule that removes others grants and denies nothing")
			f.Hint = "leave out " + e.Key + ", or remove"
		}
	}
	return true
}

// remove takes the rules of a list away that a rule of next removes, and leaves those rules out of next. It records
// what it took away. A rule that removes nothing is an error: what it was to take away would stay.
func remove[T written](
	s scope, prev, next *merge.List[T], winner func(T) string, removed *[]ir.Removal,
) (left bool) {
	removes := func(item T) bool { r, ok := any(item).(removable); return ok && r.removes() }
	var gone []T
	for _, half := range []*[]T{&next.Before, &next.After} {
		for _, item := range *half {
			if removes(item) {
				gone = append(gone, item)
			}
		}
		*half = slices.DeleteFunc(*half, removes)
	}
	for _, g := range gone {
		subject := winner(g)
		_, _, by := any(g).(removable).named()
		before := len(prev.Before) + len(prev.After)
		take := func(item T) bool {
			if winner(item) != subject {
				return false
			}
			resource, text, was := any(item).(removable).named()
			*removed = append(*removed, ir.Removal{Resource: resource, Subject: text, Was: was, By: by})
			return true
		}
		prev.Before = slices.DeleteFunc(slices.Clone(prev.Before), take)
		prev.After = slices.DeleteFunc(slices.Clone(prev.After), take)
		if len(prev.Before)+len(prev.After) == before {
			f := s.report(diag.TakesNothing, g.value(), "no layer below has a rule that this would remove")
			f.Hint = "spell it as the layer does; a preset's rule is overridden by a rule of its own path"
			continue
		}
		left = true
	}
	return left
}

// checkLeft refuses a removal that leaves no rule: without rules the default counts, which may be wider.
func checkLeft[T written](s scope, v *source.Value, list merge.List[T]) {
	if len(list.Items()) == 0 {
		f := s.report(diag.ReplaceEmpty, v, "this would leave no rule at all")
		f.Hint = "write a rule that denies in their place"
	}
}
