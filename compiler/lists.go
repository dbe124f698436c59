package compiler

import (
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/merge"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
)

// written is an item of a list as some layer wrote it.
type written interface {
	// value is the written value; two items are equal if their values are.
	value() *source.Value
}

// mergeList reads a layer's list, in either written form, and merges it over list. winner,
// where order matters, names the subject that an item competes for: among items with the same winner the last decides.
// removed gets the items that the layer takes away.
func mergeList[T written](
	s scope, e *source.Entry, list *merge.List[T],
	read func(scope, *source.Value) (T, bool), winner func(T) string, removed *[]ir.Removal,
) {
	next, ok := readList(s, e.Value, read)
	if !ok {
		return
	}
	if winner != nil && e.Value.Kind == source.ArrayKind && len(e.Value.Array) == 0 {
		d := s.report(diag.EmptyList, e.Value,
			"this adds nothing to other layers; where none has a rule, the default applies")
		d.Hint = "remove it, or write a rule that denies"
	}
	left := winner != nil && remove(s, list, &next, winner, removed)
	merged, drops := merge.Over(*list, next, func(item T) string { return item.value().Key() })
	*list = merged
	if left {
		checkLeft(s, e.Value, merged)
	}
	if winner == nil {
		return
	}
	for _, d := range drops {
		checkDrop(s, d, winner)
	}
}

// readList reads a plain array or { strategy = …, value = […], … }.
func readList[T written](
	s scope, v *source.Value, read func(scope, *source.Value) (T, bool),
) (merge.List[T], bool) {
	var out merge.List[T]
	//exhaustive:ignore
	switch v.Kind {
	case source.ArrayKind:
		out.After = readItems(s, v, read)
		return out, true
	case source.TableKind:
		return readWrapped(s, v, read)
	default:
		s.expect(v, `an array, or a table with "value" and "strategy"`)
		return out, false
	}
}

func readItems[T written](s scope, v *source.Value, read func(scope, *source.Value) (T, bool)) []T {
	var out []T
	for i, item := range v.Array {
		if x, ok := read(s.item(i), item); ok {
			out = append(out, x)
		}
	}
	return out
}

func readWrapped[T written](
	s scope, v *source.Value, read func(scope, *source.Value) (T, bool),
) (merge.List[T], bool) {
	var out merge.List[T]
	s.known(v.Table, "a list", "strategy", "value", "dedup", "discard_when_merged")
	value := v.Table.Get("value")
	if value == nil {
		s.missing(v, "a list", "value")
		return out, false
	}
	if value.Kind != source.ArrayKind {
		s.key("value").expect(value, source.ArrayKind.String())
		return out, false
	}
	items := readItems(s.key("value"), value, read)
	out.After = items
	if e := v.Table.Entry("strategy"); e != nil {
		word, _ := s.key("strategy").oneOf(e.Value, "append", "prepend", "replace")
		out.Stated = true
		switch word {
		case "prepend":
			out.Before, out.After = items, nil
		case "replace":
			out.Replace = true
			if len(value.Array) == 0 {
				f := s.report(diag.ReplaceEmpty, e.Value, "found an empty value, which would leave no rule at all")
				f.Hint = "write a rule that denies, or drop the list to get the default"
			}
		}
	}
	out.Dedup = s.dedup(v.Table)
	if e := v.Table.Entry("discard_when_merged"); e != nil {
		out.Default = s.key(e.Key).boolean(e.Value)
	}
	return out, true
}

// dedup reads true, false or "inherit".
func (s scope) dedup(t *source.Table) merge.Tri {
	e := t.Entry("dedup")
	if e == nil {
		return merge.Unset
	}
	in := s.key("dedup")
	switch {
	case e.Value.Kind == source.BoolKind && e.Value.Bool:
		return merge.On
	case e.Value.Kind == source.BoolKind:
		return merge.Off
	case e.Value.Kind == source.StringKind:
		in.oneOf(e.Value, "inherit")
	default:
		in.expect(e.Value, `true, false or "inherit"`)
	}
	return merge.Unset
}

// grants is how a rule of an ordered list compares with another one of the same subject.
type grants interface {
	written
	// exceeds reports whether the rule may grant something that the other rule does not.
	exceeds(other grants) bool
}

// checkDrop reports a dropped duplicate that would have won against something between it and the item that it equals.
// It is an error where more is granted without it.
// See decision D39.
func checkDrop[T written](s scope, d merge.Drop[T], winner func(T) string) {
	mine, key := winner(d.Item), d.Item.value().Key()
	for _, between := range d.List[d.Kept+1 : d.Index] {
		if winner(between) != mine || between.value().Key() == key {
			continue
		}
		f := s.report(diag.DedupChanges, d.Item.value(), "this rule would have won as the later one")
		f.Related = []diag.Related{
			{At: d.List[d.Kept].value().At, Note: "the equal rule that is kept"},
			{At: between.value().At, Note: "wins instead"},
		}
		f.Hint = "drop dedup, or remove one of the rules"
		if widened(d, winner) {
			f.Severity, f.Label = diag.Error, "this rule would have won as the later one, and grants less"
		}
		return
	}
}

// widened reports whether the rule that wins without dropped rules exceeds the rule that wins with them.
func widened[T written](d merge.Drop[T], winner func(T) string) bool {
	with, without := d.Item, d.Item
	seen := map[string]bool{}
	for _, item := range d.List {
		if winner(item) != winner(d.Item) {
			continue
		}
		if with = item; !seen[item.value().Key()] {
			without = item
		}
		seen[item.value().Key()] = true
	}
	now, ordered := any(without).(grants)
	was, _ := any(with).(grants)
	return ordered && now.value().Key() != was.value().Key() && now.exceeds(was)
}

// textDraft is an item that is a string.
type textDraft struct {
	v      *source.Value
	text   string
	origin ir.Origin
}

func (d *textDraft) value() *source.Value { return d.v }

func (s scope) sensitivePath(v *source.Value) (*textDraft, bool) {
	text, ok := s.str(v)
	if !ok {
		return nil, false
	}
	if text == "" {
		s.report(diag.BadValue, v, "found an empty pattern")
		return nil, false
	}
	return &textDraft{v, text, s.origin(v.At)}, true
}

// See decision D25.
func (s scope) acceptance(v *source.Value) (*textDraft, bool) {
	text, ok := s.str(v)
	if !ok {
		return nil, false
	}
	if ir.Gap(text).Known() {
		return &textDraft{v, text, s.origin(v.At)}, true
	}
	var names []string
	for _, g := range ir.Gaps() {
		names = append(names, string(g))
	}
	f := s.report(diag.UnknownAccept, v, `found "`+text+`"`)
	if f.Hint = suggest.Hint(text, names); f.Hint == "" {
		f.Hint = "accessc explain --why lists the requirements of a tool and the names of the gaps"
	}
	return nil, false
}
