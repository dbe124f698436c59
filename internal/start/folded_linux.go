package start

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/start/folding"
	"github.com/accessc/accessc/ir"
)

// foldedNames is the need of a specification whose exceptions lie in directories of this host
// that fold case; nil for none. A rule is about a name: in such a directory other spellings lead
// to the same file, and they are under the rule of the directory.
func foldedNames(s *landlock.Spec) []backends.Need {
	for _, p := range s.Paths {
		if p.Entries != nil && folding.Folds(p.Path) {
			return []backends.Need{{
				Cell: ir.AcceptNames, Is: ir.Coarser.String(), From: 1, To: landlock.MaxABI,
				Why: "in " + p.Path + " upper and lower case lead to the same file, and other spellings of a rule's name are not under it",
			}}
		}
	}
	return nil
}
