// Package early starts a tool from a compiled artifact before the rest of the program is
// initialised.
//
// Go initialises packages in the order of their import paths, each after its imports. This
// package imports little and its path sorts early, so its init runs before the command-line
// parser, the TOML reader and the template engine are set up, and a start that needs none of
// them does not pay for them (docs/performance.md has the figures). It
// handles exactly
//
//	accessc exec --artifact FILE ... TOOL [-- ARG...]
//
// with the flags of direct.Parse, and what Kept says. It leaves every other command line, mistakes included, to the
// ordinary parser, which does the same for these.
package early

import (
	"os"

	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/internal/host/userdir"
)

// See decision D104.
func init() {
	// Who may sign, and what a tool may be permitted, is in files that only the ordinary start reads.
	if len(os.Args) < 2 || os.Args[1] != "exec" || userdir.Attests() || maximum.Exists() {
		return
	}
	direct.Spare()
	artifact, err := direct.Parse(os.Args[2:])
	begin := artifact.Start
	if err != nil {
		kept, ok := Kept(os.Args[2:])
		if !ok {
			return
		}
		begin = kept.Start
	}
	start.Initialising()
	os.Exit(direct.End(begin()))
}
