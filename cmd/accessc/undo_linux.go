package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/accessc/accessc/internal/enforce/undo"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// store is that of the workspace, and its root.
func (g *globals) store() (undo.Store, string, error) {
	state, err := g.state()
	if err != nil {
		return "", "", err
	}
	root, err := g.root()
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	return undo.Store(state.Undo()), root, err
}

// runAndPaths divides the words of a command line: a number first, then paths, which become absolute.
func runAndPaths(words []string) (run int, paths []string, err error) {
	if len(words) > 0 {
		if n, err := strconv.Atoi(words[0]); err == nil && n > 0 {
			run, words = n, words[1:]
		}
	}
	for _, w := range words {
		abs, err := filepath.Abs(w)
		if err != nil {
			return 0, nil, err
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			abs = filepath.Join(dir, filepath.Base(abs))
		}
		paths = append(paths, abs)
	}
	return run, paths, nil
}

// changesDoc is the list for programs.
type changesDoc struct {
	Version int           `json:"format_version"`
	Run     undo.Summary  `json:"run"`
	Changes []undo.Change `json:"changes"`
}

// runsDoc is the list of runs for programs.
type runsDoc struct {
	Version int            `json:"format_version"`
	Runs    []undo.Summary `json:"runs"`
}

// Run implements the command.
func (c *changesCmd) Run(g *globals) error {
	store, root, err := g.store()
	if err != nil {
		return err
	}
	if c.Runs {
		return c.runs(g, store)
	}
	number, paths, err := runAndPaths(c.Words)
	if err != nil {
		return err
	}
	run, err := store.Changes(number, paths)
	if err != nil {
		return usageError{Err: err}
	}
	list := run.List
	switch {
	case c.Patch:
		return run.Patch(g.stdout, root)
	case c.Format == "json":
		return g.writeJSON(changesDoc{1, run.Summary, append([]undo.Change{}, list...)})
	}
	if !c.All {
		list = undo.Short(list)
	}
	var rows [][]string
	for _, x := range list {
		what := x.What
		if x.To != "" {
			what = "to " + visible.Text(undo.Relative(root, x.To))
		}
		rows = append(rows, []string{string(x.Kind), visible.Text(undo.Relative(root, x.Path)), what})
	}
	fmt.Fprintf(g.stderr, "run %s\n", summary(run.Summary))
	fmt.Fprint(g.stdout, explain.Table(rows))
	return nil
}

func (c *changesCmd) runs(g *globals, store undo.Store) error {
	list, err := store.List()
	if err != nil {
		return err
	}
	if c.Format == "json" {
		return g.writeJSON(runsDoc{1, append([]undo.Summary{}, list...)})
	}
	if len(list) == 0 {
		fmt.Fprintln(g.stderr, undo.ErrNone)
	}
	for _, s := range list {
		fmt.Fprintln(g.stdout, summary(s))
	}
	return nil
}

// summary is a run in a line.
func summary(s undo.Summary) string {
	who := visible.Text(s.Tool)
	if s.Undoes != 0 {
		who = fmt.Sprintf("undo of %d", s.Undoes)
	}
	out := fmt.Sprintf("%d  %s  %s", s.Run, s.Begun.Local().Format("2006-01-02 15:04:05"), who)
	if s.State != "" {
		out += "  " + s.State
	}
	return out
}

// Run implements the command.
func (c *undoCmd) Run(g *globals) error {
	store, root, err := g.store()
	if err != nil {
		return err
	}
	number, paths, err := runAndPaths(c.Words)
	if err != nil {
		return err
	}
	out, err := store.Undo(number, paths, c.Force)
	var refused *undo.Refusal
	switch {
	case errors.As(err, &refused):
		for _, x := range refused.Conflicts {
			fmt.Fprintf(g.stderr, "  %s %s\n", visible.Text(undo.Relative(root, x.Path)), x.Why)
		}
		fmt.Fprintf(g.stderr, "accessc: %s; nothing was changed; --force undoes it all the same\n", err)
		return exit(exitFindings)
	case err != nil:
		return usageError{Err: err}
	}
	for _, x := range out.Lost {
		fmt.Fprintf(g.stderr, "  %s %s\n", visible.Text(undo.Relative(root, x.Path)), x.Why)
	}
	fmt.Fprintf(g.stderr, "undone: run %d, %s; accessc undo %d brings that again\n", out.Of,
		plural.Count(out.Changes, "change"), out.Run)
	return nil
}
