package undo

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"time"
)

// Change is what a run did to a file.
type Change struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"`
	// To is where it was moved.
	To string `json:"to,omitempty"`
	// What says what of a directory or of the metadata.
	What string `json:"what,omitempty"`
	// then and now are the file before and after the run.
	then *kept
	was  *print
	now  *print
	at   string // where it is now
}

// Kind is a kind of change.
type Kind string

// The kinds: mode is about mode, owner or times.
const (
	made    Kind = "made"
	changed Kind = "changed"
	removed Kind = "removed"
	moved   Kind = "moved"
	mode    Kind = "mode"
)

// changes lists what a run did, by its end, by path.
func (j *journal) changes() []Change {
	l := newLayout(j, j.left)
	var out []Change
	seen := map[string]bool{} // by ID
	for _, p := range l.order() {
		out = append(out, l.ofName(p, seen)...)
	}
	for id, k := range j.files {
		at := l.stays(id, k)
		if at != "" && !seen[id] {
			out = append(out, ofFile(at, l.at(at), k, l.now[l.at(at)])...)
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// ofName is what became of a name. seen gets the files about which all is said.
func (l *layout) ofName(p string, seen map[string]bool) (out []Change) {
	was, now := l.names[p].Was, l.now[l.slot(p)]
	if l.held(p) {
		seen[was.ID] = true
		if k := l.files[was.ID]; k != nil {
			return ofFile(p, l.slot(p), k, now)
		}
		return nil
	}
	if was != nil {
		k := l.files[was.ID]
		switch to := l.at(p); {
		case to != "" && !seen[was.ID] && l.stands(was.ID) == "":
			out = append(out, Change{Kind: moved, Path: p, To: to, then: k, was: was, now: l.now[to], at: to})
		case now != nil && !now.dir() && !was.dir() && !l.original(now.ID):
			return append(out, Change{Kind: changed, Path: p, then: k, was: was, now: now, at: l.slot(p)})
		default:
			out = append(out, Change{Kind: removed, Path: p, then: k, was: was})
		}
		seen[was.ID] = true
	}
	if now == nil || l.original(now.ID) {
		return out
	}
	out = append(out, Change{Kind: made, Path: l.slot(p), now: now, at: l.slot(p)})
	if now.dir() {
		for below, f := range l.now {
			if below != p && within(below, l.slot(p)) && !l.original(f.ID) {
				out = append(out, Change{Kind: made, Path: below, now: f, at: below})
			}
		}
	}
	return out
}

// original reports whether a file stood at a name of the journal when the run began.
func (l *layout) original(id string) bool {
	if l.originals == nil {
		l.originals = map[string]bool{}
		for _, n := range l.names {
			if n.Was != nil {
				l.originals[n.Was.ID] = true
			}
		}
	}
	return l.originals[id]
}

// ofFile is what became of a file that has kept its name.
func ofFile(p, at string, k *kept, now *print) []Change {
	switch {
	case now.Mode&typeMask == typeFile && (now.Size != k.Size || k.Blob != "" && !k.Linked && now.MTime != k.MTime):
		return []Change{{Kind: changed, Path: p, then: k, was: &k.print, now: now, at: at}}
	case now.Mode != k.Mode:
		return []Change{{Kind: mode, Path: p, What: fmt.Sprintf("%04o to %04o", k.Mode&0o7777, now.Mode&0o7777)}}
	case now.UID != k.UID || now.GID != k.GID:
		return []Change{{Kind: mode, Path: p, What: fmt.Sprintf("%d:%d to %d:%d", k.UID, k.GID, now.UID, now.GID)}}
	case !now.dir() && now.CTime != k.CTime && now.MTime != k.MTime:
		return []Change{{Kind: mode, Path: p, What: "times"}}
	}
	return nil
}

// Short leaves out what lies in directories that the run has made, and counts it.
func Short(list []Change) (out []Change) {
	var in string
	count := 0
	flush := func() {
		if in != "" && count > 0 {
			for i := range out {
				if out[i].Path == in && out[i].Kind == made {
					out[i].What = fmt.Sprintf("and %d in it", count)
				}
			}
		}
		count = 0
	}
	for _, c := range list {
		if in != "" && c.Kind == made && c.Path != in && within(c.Path, in) {
			count++
			continue
		}
		if in == "" || !within(c.Path, in) {
			flush()
			in = ""
		}
		if c.Kind == made && c.now.dir() && in == "" {
			in = c.Path
		}
		out = append(out, c)
	}
	flush()
	return out
}

// Relative is a path for people: from a directory, where it lies below that.
func Relative(from, p string) string {
	if p != from && within(p, from) {
		return p[len(path.Clean(from))+1:]
	}
	return p
}

// Summary is a run in a list.
type Summary struct {
	Run   int       `json:"run"`
	Tool  string    `json:"tool"`
	Begun time.Time `json:"begun"`
	// Undoes is the number of the run that it has taken back, 0 for a run of a tool.
	Undoes int `json:"undoes,omitempty"`
	// State says in words whether it was undone, goes on, was killed or cannot be read.
	State string `json:"state,omitempty"`
}
