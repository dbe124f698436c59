package hostview

import (
	"os"
	"path/filepath"
	"strings"
)

// Again asks earlier questions anew, in their order.
type Again struct {
	// Approvals answers a question about the store of approvals.
	Approvals func(path string) string

	roots map[string]from
}

// Close frees the directories that questions count from.
func (a *Again) Close() {
	for _, f := range a.roots {
		if f.root != nil {
			_ = f.root.Close()
		}
	}
}

// Holds reports whether every question has its answer still, and every search its result. listed
// counts the directories that searches had to list; seen then has the identities by which they list fewer.
func (a *Again) Holds(seen *Seen) (holds bool, listed int) {
	for _, l := range seen.Looks {
		if a.answer(l) != l.Answer {
			return false, 0
		}
	}
	for _, s := range seen.Searches {
		same, n := a.finds(s)
		if !same {
			return false, 0
		}
		listed += n
	}
	return true, listed
}

// finds reports whether a search has its result still, and how many directories it listed.
func (a *Again) finds(s *Search) (same bool, listed int) {
	found, directories, listed := s.run(true)
	if len(found) != len(s.Found) {
		return false, listed
	}
	for i := range found {
		if found[i] != s.Found[i] {
			return false, listed
		}
	}
	s.Directories = directories
	return true, listed
}

func (a *Again) answer(l Look) string {
	f, ok := a.from(l.Root)
	if !ok {
		return ""
	}
	switch l.Kind {
	case lstat:
		return saidMode(f.lstat(l.Path))
	case readlink:
		return saidText(f.readlink(l.Path))
	case list:
		return saidEntries(f.list(l.Path))
	case read:
		return saidFile(f.open(l.Path))
	case stat:
		return saidMode(statMode(l.Path))
	case evaluate:
		return saidText(filepath.EvalSymlinks(l.Path))
	case head:
		data, err := readHead(l.Path)
		return saidText(string(data), err)
	case madeUp:
		return fileSystem(l.Path)
	case shown:
		base, roots, _ := strings.Cut(l.Path, parts)
		return saidKernels(kernels(split(roots), split(base)))
	case named:
		return saidText(strings.Join(Names(l.Path), separator), nil)
	case owned:
		return saidOwned(isOwned(l.Path))
	case variable:
		return saidVariable(os.LookupEnv(l.Path))
	case approvals:
		return a.Approvals(l.Path)
	case opened:
		return a.open(l.Path)
	}
	return ""
}

// open opens a directory for the questions that count from it.
func (a *Again) open(dir string) string {
	f, err := rooted(dir)
	if err != nil {
		return saidRoot(f, err)
	}
	if a.roots == nil {
		a.roots = map[string]from{}
	}
	if old := a.roots[dir]; old.root != nil {
		_ = old.root.Close()
	}
	a.roots[dir] = f
	return saidRoot(f, nil)
}

// from is where names count from. A directory was opened before: a question without that is none
// of a View's.
func (a *Again) from(dir string) (from, bool) {
	if dir == "" {
		return from{}, true
	}
	f, ok := a.roots[dir]
	return f, ok
}
