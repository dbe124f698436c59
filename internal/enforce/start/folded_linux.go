package start

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start/folding"
	"github.com/accessc/accessc/ir"
)

// foldedNames is the requirement of a specification whose exceptions, or rules by name, lie in directories of this host
// that fold case; nil for none. A rule is about a name: in such a directory other spellings lead
// to the same file, and they are under the rule of the directory.
// See decision D50.
func foldedNames(s *landlock.Spec) []backends.Row {
	byName := slices.Contains(s.Supervision.Gaps, string(ir.GapFSNames))
	for _, p := range slices.Concat(s.Paths, s.Supervision.Paths) {
		if (p.Entries != nil || byName) && folding.Folds(p.Path) {
			return []backends.Row{backends.NewRow(ir.Row{
				Resource: ir.FS, Levels: ir.Levels{From: 1, To: landlock.MaxABI},
				Held: ir.Held{Is: ir.Weaker, Gap: ir.GapFSNames, Causes: []ir.Cause{{ID: landlock.Folds, Place: p.Path}}},
			})}
		}
	}
	return nil
}
