package edit

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
)

// expectation turns the keys of a list's items into those after an edit.
type expectation func(items []string) []string

func appended(item Item) expectation {
	return func(items []string) []string {
		t, finding := source.Parse("", []byte("x = "+item.inline()))
		if finding != nil {
			return nil
		}
		return append(items, t.Get("x").Key())
	}
}

func removed(index int) expectation {
	return func(items []string) []string { return slices.Delete(items, index, index+1) }
}

// check reports whether an edit made the expected change and no other.
type check func(before, after *source.Table) bool

// at is the check that the list at a path changed as expected.
func (want expectation) at(path []string) check {
	return func(before, after *source.Table) bool {
		was, listBefore := outline(before, path)
		is, listAfter := outline(after, path)
		return was == is && slices.Equal(want(listBefore), listAfter)
	}
}

// extended is the check that an item of the list at a path has further fields.
func extended(path []string, index int, fields Item) check {
	return func(before, after *source.Table) bool {
		list := walk(after, path)
		if list == nil || index >= len(list.Array) || !take(list.Array[index], fields...) {
			return false
		}
		return expectation(func(items []string) []string { return items }).at(path)(before, after)
	}
}

// keyed is the check that the table at a path has a further key.
func keyed(path []string, field Field) check {
	return func(before, after *source.Table) bool {
		if !take(walk(after, path), field) {
			return false
		}
		// No list is left out of the outline, only tables that have become empty.
		was, _ := outline(before, append(slices.Clone(path), "\x00"))
		is, _ := outline(after, append(slices.Clone(path), "\x00"))
		return was == is
	}
}

// walk returns the value at a path, nil for none.
func walk(t *source.Table, path []string) *source.Value {
	var v *source.Value
	for _, key := range path {
		if t == nil {
			return nil
		}
		if v = t.Get(key); v == nil {
			return nil
		}
		t = v.Table
	}
	return v
}

// take removes fields from a table, and reports whether it had all of them.
func take(v *source.Value, fields ...Field) bool {
	if v == nil || v.Table == nil {
		return false
	}
	for _, f := range fields {
		want, finding := source.Parse("", []byte("x = "+f.Value))
		has := v.Table.Get(f.Key)
		if finding != nil || has == nil || has.Key() != want.Get("x").Key() {
			return false
		}
	}
	v.Table.Entries = slices.DeleteFunc(v.Table.Entries, func(e source.Entry) bool {
		return slices.ContainsFunc(fields, func(f Field) bool { return f.Key == e.Key })
	})
	return true
}

// outline returns the content of a table without the list at a path and the tables that contain
// nothing else, and the keys of the list's items.
func outline(t *source.Table, path []string) (string, []string) {
	var list []string
	var lines []string
	for i := range t.Entries {
		e := &t.Entries[i]
		switch {
		case e.Key != path[0]:
			lines = append(lines, tomltext.String(e.Key)+"="+e.Value.Key())
		case len(path) == 1 && e.Value.Kind == source.ArrayKind:
			for _, item := range e.Value.Array {
				list = append(list, item.Key())
			}
		case len(path) > 1 && e.Value.Kind == source.TableKind:
			var rest string
			if rest, list = outline(e.Value.Table, path[1:]); rest != "" {
				lines = append(lines, tomltext.String(e.Key)+"={"+rest+"}")
			}
		default:
			lines = append(lines, tomltext.String(e.Key)+"="+e.Value.Key())
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, ","), list
}
