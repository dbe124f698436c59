package start

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/enforce/undo"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// originals are the files as they were before the tool changed them, kept in the state directory.
type originals struct {
	*run
	keeper *undo.Keeper
}

// Bounds on what is kept for undo, unless the request says otherwise: bytes of contents per run, and runs per
// workspace.
const (
	undoSize = 1 << 30
	undoRuns = 20
)

// keep begins to keep, where the specification asks for it.
func (o *originals) keep() error {
	if !undoes(o.spec) {
		return nil
	}
	state, err := userdir.For(filepath.ToSlash(o.spec.Workspace))
	if err != nil {
		return failed("undo: %w", err)
	}
	dir := state.Undo()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed("undo: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return failed("undo: %w", err)
	}
	if by := o.grantOn(dir, changing()|reading(), ir.Write.With(ir.Read)); by != "" {
		return failed("undo: originals are kept in %s, which the tool may reach by %s", dir, by)
	}
	places := []string{o.spec.Workspace}
	for _, at := range o.spec.Supervision.Judged.External {
		places = append(places, at)
	}
	slices.Sort(places)
	how := undo.Options{Tool: o.spec.Tool, Places: slices.Compact(places), Size: undoSize, Runs: undoRuns}
	if o.keeper, err = undo.Store(dir).Keep(how); err != nil {
		return failed("undo: %w", err)
	}
	return nil
}

// end ends the run, and says how its changes are undone.
func (o *originals) end() {
	if o.keeper == nil {
		return
	}
	n, err := o.keeper.End()
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(o.req.Messages,
			"accessc: the end of run %d was not noted, so accessc undo needs --force: %s\n",
			o.keeper.Number(), visible.Text(err.Error()))
	case n > 0 && !o.req.Quiet:
		_, _ = fmt.Fprintf(o.req.Messages,
			"accessc: run %d made %s: accessc changes shows them, accessc undo takes them back\n",
			o.keeper.Number(), plural.Count(n, "change"))
	}
	o.keeper = nil
}

// drop forgets a run whose tool did not start.
func (o *originals) drop() {
	if o.keeper != nil {
		o.keeper.Drop()
		o.keeper = nil
	}
}
