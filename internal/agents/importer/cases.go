package importer

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// EveryCase are the existing names that are those of some places in another case of their letters: Claude Code
// denies them as well. Where a rule is about the place itself, none can be about the other spelling, since on some
// systems they are one.
func (t *Translation) EveryCase(points []Point, opened []string) []Point {
	var out []Point
	for _, p := range points {
		if !p.Fold {
			continue
		}
		others := cased(p.Abs, opened)
		if len(others) > 0 && slices.ContainsFunc(opened, func(root string) bool { return ir.Within(p.Abs, root) }) {
			t.Faults = append(t.Faults, FaultOf(p.Entry,
				"it denies "+t.Spell(others[0])+" as well as "+t.Spell(p.Abs)+
					", and no rules can be about both: write it as the file is spelled, or rename one of them"))
			continue
		}
		for _, abs := range others {
			out = append(out, Point{Abs: t.Host.Follow(abs), Entry: p.Entry})
		}
	}
	return out
}

// otherwise is the text that the report adds to a place that is denied.
func (p Point) otherwise() string {
	if !p.Fold {
		return ""
	}
	return "; a later name that differs in case is not denied where that is another file"
}

// cased lists the existing places in some directories whose paths differ from abs in the case of letters alone,
// and the directories that such a place is around.
func cased(abs string, opened []string) []string {
	var out []string
	names := strings.Split(abs, "/")
	for _, root := range opened {
		around := strings.Split(root, "/")
		n := min(len(names), len(around))
		switch {
		case !slices.EqualFunc(names[:n], around[:n], strings.EqualFold):
		case n == len(names) && !ir.Within(root, abs):
			out = append(out, root)
		case n < len(names):
			out = append(out, spellings(root, names[n:], abs)...)
		}
	}
	return out
}

// spellings are the existing places below a directory whose names equal some others in some case, without abs. In
// a directory that folds case, both spellings of a name are one place.
func spellings(dir string, names []string, abs string) []string {
	found := []string{dir}
	for _, name := range names {
		var next []string
		for _, dir := range found {
			next = append(next, namesLike(dir, name)...)
		}
		found = next
	}
	listed := slices.Contains(found, abs)
	return slices.DeleteFunc(found, func(f string) bool { return f == abs || !listed && same(f, abs) })
}

// namesLike are the names in a directory that equal another one in some case.
func namesLike(dir, name string) []string {
	found, err := os.ReadDir(filepath.FromSlash(dir))
	if err != nil {
		return nil // there is none, or the tool's user cannot read it either
	}
	var out []string
	for _, f := range found {
		if strings.EqualFold(f.Name(), name) {
			out = append(out, path.Join(dir, f.Name()))
		}
	}
	return out
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	x, err := os.Lstat(filepath.FromSlash(a))
	if err != nil {
		return false
	}
	y, err := os.Lstat(filepath.FromSlash(b))
	return err == nil && os.SameFile(x, y)
}
