package hostview

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// maxNames bounds how many names a search looks at, the nearest first.
const maxNames = 50_000

// Search is a search below a directory for names that sensitive patterns cover.
//
// It is asked again without listing unchanged directories: a directory that is still the same, with the same times of
// change, has the same names (inode(7)).
type Search struct {
	// Top is the directory, and Prefix what patterns know it by, with a slash at its end or empty.
	Top, Prefix string
	// Patterns are the sensitive patterns.
	Patterns []string
	// Found are the covered names, slash-separated from the top.
	Found []string
	// Directories are the directories that were listed, by their names from the top.
	Directories map[string]Directory
}

// Directory is a listed directory.
type Directory struct {
	// Identity tells whether the directory has changed.
	Identity Identity
	// Names counts all entries, Covered are the entries that a pattern covers, and Below the other
	// directories.
	Names          int
	Covered, Below []string
}

// Identity changes with the names in a directory; it is zero for a directory that is always listed.
type Identity struct {
	// Device and Inode are the file's own (inode(7)).
	Device, Inode uint64
	// Modified and Changed are mtime and ctime, in nanoseconds since 1970.
	Modified, Changed int64
}

// devices are the devices whose directories tell of each change of their names. All mounts of a device are of one file
// system, which is written to if one of them is.
type devices map[uint64]bool

// Search searches below a directory, level by level, for names that a pattern covers. Symlinks
// count as names and are not followed; a directory that cannot be listed has no names.
func (v *View) Search(top, prefix string, patterns []ir.SensitivePattern) []string {
	s := &Search{Top: top, Prefix: prefix}
	for _, p := range patterns {
		s.Patterns = append(s.Patterns, p.Pattern)
	}
	s.Found, s.Directories, _ = s.run(v != nil)
	if v != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.searches = append(v.searches, s)
	}
	return s.Found
}

// run searches, and counts the directories that it had to list. Their identities are of use only to a later run.
func (s *Search) run(again bool) (found []string, directories map[string]Directory, anew int) {
	patterns := make([]ir.SensitivePattern, len(s.Patterns))
	for i, p := range s.Patterns {
		patterns[i].Pattern = p
	}
	directories = map[string]Directory{}
	steady, seen := devices{}, 0
	for queue := []string{""}; len(queue) > 0 && seen < maxNames; queue = queue[1:] {
		at := queue[0]
		d, known := Directory{}, false
		if again {
			d, known = s.known(at, steady)
		}
		if !known {
			d = listed(s.path(at), steady, func(name string) bool {
				return slices.ContainsFunc(patterns, func(p ir.SensitivePattern) bool {
					return p.Covers(s.Prefix + join(at, name))
				})
			})
			anew++
		}
		if again {
			directories[at] = d
		}
		seen += d.Names
		for _, name := range d.Covered {
			// Everything in a covered directory is covered with it.
			found = append(found, join(at, name))
		}
		for _, name := range d.Below {
			queue = append(queue, join(at, name))
		}
	}
	return found, directories, anew
}

// known returns a directory that was listed before and has not changed.
func (s *Search) known(at string, steady devices) (Directory, bool) {
	was := s.Directories[at]
	return was, was.Identity != Identity{} && was.Identity == steady.identify(s.path(at))
}

func (s *Search) path(at string) string {
	if at == "" {
		return filepath.FromSlash(s.Top)
	}
	return filepath.FromSlash(s.Top + "/" + at)
}

// listed lists a directory. Its identity and its names come from one descriptor: by its path, another
// directory could come to stand there in between. A directory that could not be read to its end has no identity,
// so that a moment without descriptors is not taken for a directory without names.
func listed(path string, steady devices, covers func(name string) bool) Directory {
	var d Directory
	dir, err := openDirectory(path)
	if err != nil {
		return d
	}
	defer func() { _ = dir.Close() }()
	identity := steady.identifyOpen(dir)
	entries, err := dir.ReadDir(-1)
	if err == nil {
		d.Identity = identity
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	d.Names = len(entries)
	for _, e := range entries {
		switch {
		case covers(e.Name()):
			d.Covered = append(d.Covered, e.Name())
		case e.IsDir():
			d.Below = append(d.Below, e.Name())
		}
	}
	return d
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Base are the directories of a base's rules at which mounts count, in order and without the directories of the
// kernel's own mounts, of which a base lists what a tool may use.
func Base(rules []ir.FSRule) (out []string) {
	for _, rule := range rules {
		switch first, _, _ := strings.Cut(rule.At.Path, "/"); first {
		case "dev", "proc":
		case "etc":
			out = append(out, "/etc") // in place of a hundred names in it
		default:
			out = append(out, "/"+rule.At.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
