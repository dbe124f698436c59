package edit

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/tomltext"
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

// met reports whether the list at the path changed as expected and nothing else did.
func (want expectation) met(before, after *source.Table, path []string) bool {
	was, listBefore := outline(before, path)
	is, listAfter := outline(after, path)
	return was == is && slices.Equal(want(listBefore), listAfter)
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
