package allow

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
)

// Read is a place of the workspace that runs have read.
type Read struct {
	At ir.Location
	// Files is how many files were read there, First one of them. Listed is true for a directory that was listed.
	Files  int
	First  string
	Listed bool
	// Unread is how many further files are there.
	Unread int
}

// maxReads bounds the places that have rules of their own, maxUnread the files that are looked at.
const (
	maxReads  = 40
	maxUnread = 10_000
)

// Reads are the places of the workspace that recorded operations have read, without those that they have made or
// changed, which have rules for that. A directory stands for its files if it was listed, or if several of its files
// were read that are at least half of all. It is false where the workspace itself was opened, or where there are
// very many places.
// See decision D177.
func (p *Policy) Reads(entries []denial.Entry) ([]Read, bool) {
	files, dirs, own := p.readFiles(entries)
	counts := map[ir.Location]int{}
	for _, at := range files {
		for dir, ok := at.Parent(); ok; dir, ok = dir.Parent() {
			counts[dir]++
		}
	}
	whole := slices.Clone(dirs)
	for dir, n := range counts {
		if dir != ir.In("") && n >= few && !slices.Contains(whole, dir) && n*2 >= p.count(dir, own) {
			whole = append(whole, dir)
		}
	}
	var out []Read
	slices.SortFunc(whole, func(a, b ir.Location) int { return strings.Compare(a.Path, b.Path) })
	covered := func(at ir.Location) bool {
		return slices.ContainsFunc(out, func(r Read) bool { return at.Under(r.At) })
	}
	for _, dir := range whole {
		if dir == ir.In("") {
			return nil, false
		}
		if !covered(dir) {
			n := counts[dir]
			unread := max(p.count(dir, own)-n, 0)
			out = append(out, Read{At: dir, Files: n, Listed: slices.Contains(dirs, dir), Unread: unread})
		}
	}
	for i, at := range files {
		if j := slices.IndexFunc(out, func(r Read) bool { return at.Under(r.At) }); j < 0 {
			out = append(out, Read{At: at, Files: 1, First: at.Path})
		} else if out[j].First == "" {
			out[j].First = files[i].Path
		}
	}
	slices.SortFunc(out, func(a, b Read) int { return strings.Compare(a.At.Path, b.At.Path) })
	return out, len(out) <= maxReads
}

// readFiles are the files of the workspace that operations have read and left as they are, the directories that they
// have read and not made, and whether a file is of those that they have made or changed.
func (p *Policy) readFiles(entries []denial.Entry) (files, dirs []ir.Location, own func(ir.Location) bool) {
	changed, fresh := map[ir.Location]bool{}, map[ir.Location]bool{}
	var read []ir.Location
	for i, e := range entries {
		if e.Probe != "" || e.Sought {
			continue
		}
		g := p.single(i, e)
		if g.broken != "" {
			continue
		}
		about := ir.Describe(g.asks[0].Operation)
		for i, on := range about.Places {
			needs := about.Needs[i] | g.asks[0].own
			switch {
			case on.Fault != 0 || on.At.Root.Kind != ir.Workspace:
			case needs&ir.Write != 0:
				changed[on.At] = true
				op, ok := g.asks[0].Operation.(ir.Access)
				fresh[on.At] = fresh[on.At] || ok && op.Cap == ir.Create && op.Name == ir.NameDir
			case needs.Has(ir.Read) && !slices.Contains(read, on.At):
				read = append(read, on.At)
			}
		}
	}
	own = func(at ir.Location) bool { return changed[at] || made(fresh, at) }
	for _, at := range read {
		abs, ok := p.asker.Bindings.Path(at)
		if !ok || !exists(abs) || p.sensitive(at) || made(fresh, at) {
			continue
		}
		switch {
		case directory(abs):
			dirs = append(dirs, at)
		case !changed[at]:
			files = append(files, at)
		}
	}
	return files, dirs, own
}

// made reports whether a place is one of those directories, or lies in one.
func made(places map[ir.Location]bool, at ir.Location) bool {
	for ok := true; ok; at, ok = at.Parent() {
		if places[at] {
			return true
		}
	}
	return false
}

// count is how many files are in a directory, up to one more than are looked at, without some.
func (p *Policy) count(dir ir.Location, without func(ir.Location) bool) int {
	abs, _ := p.asker.Bindings.Path(dir)
	n := 0
	_ = filepath.WalkDir(filepath.FromSlash(abs), func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !without(p.asker.Bindings.Locate(filepath.ToSlash(name))) {
			n++
		}
		if n > maxUnread {
			return filepath.SkipAll
		}
		return nil
	})
	return n
}
