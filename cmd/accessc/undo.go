package main

import "github.com/accessc/accessc/internal/enforce/start"

// checkUndo refuses --undo where no originals are kept.
func (c *execCmd) checkUndo() error {
	switch {
	case !c.Undo:
		return nil
	case !start.Observes:
		return usagef("--undo is for Linux: here accessc becomes the tool and sees nothing of its changes")
	case c.Artifact != "":
		return usagef("--undo needs the configuration: an artifact says by itself whether originals are kept")
	case c.Means == meansBubblewrap:
		return usagef("--undo needs a supervisor, which --means bubblewrap does not have")
	}
	return nil
}

// changesCmd is "accessc changes".
type changesCmd struct {
	Runs   bool     `help:"List the runs that are kept."`
	All    bool     `help:"List every file in directories that the run has made."`
	Patch  bool     `help:"Print the changes as a patch, which git apply takes."`
	Format string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Words  []string `arg:"" optional:"" name:"run" help:"The run's number, the latest by default, and paths."`
}

// Help implements kong's detailed help.
func (changesCmd) Help() string {
	return `A tool that ran under accessc exec --undo has left the originals of all that it changed. This command says
what that was, as it was at the end of the run.

  accessc changes                the changes of the latest run
  accessc changes --patch src    those below src, as a patch
  accessc changes --runs         the runs that are kept, with their numbers
  accessc changes 3              the changes of run 3`
}

// undoCmd is "accessc undo".
type undoCmd struct {
	Force bool     `help:"Also where others have changed the files since, or accessc was killed during the run."`
	Words []string `arg:"" optional:"" name:"run" help:"The run's number, the latest by default, and paths."`
}

// Help implements kong's detailed help.
func (undoCmd) Help() string {
	return `Brings back the files that a run changed, as they were before: contents, names, modes, owners, times,
links and attributes. It does all of that or nothing. Files that others have changed since are named, and
then nothing is done without --force. An undo is a run itself: accessc undo with its number brings the changes again.

  accessc undo                   the latest run
  accessc undo 3 src README.md   of run 3 what is below src, and README.md
  accessc undo --force           also over later changes of others, which are kept by the undo`
}
