package signers

import (
	"path/filepath"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// Misplaced finds the keys that sign and lie where tools or commits could take them. A tool that has read such a
// key signs in the name of its owner. root and exposed are as in Read. See decision D278.
func Misplaced(keys []string, root string, exposed func(file string) string) diag.List {
	var out diag.List
	for _, key := range keys {
		real, err := filepath.EvalSymlinks(key)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			continue // to read it fails as well, and says why
		}
		if why := open(real, root, exposed); why != "" {
			d := diag.New(diag.OpenKey, ir.Pos{File: filepath.ToSlash(real)}, 0)
			d.Label = why
			d.Hint = "move it to a directory that no policy is about; " +
				"if it was committed, or tools have run, make a new one"
			out.Add(d)
		}
	}
	out.Sort()
	return out
}

// open says why tools could read a file with a canonical path; empty if they could not.
func open(file, root string, exposed func(file string) string) string {
	if rel, err := filepath.Rel(root, file); root != "" && err == nil && filepath.IsLocal(rel) {
		return "found it in the workspace, whose files tools read and commits take"
	}
	if exposed != nil {
		if why := exposed(file); why != "" {
			return "it " + why + ", where a tool could read it"
		}
	}
	return ""
}
