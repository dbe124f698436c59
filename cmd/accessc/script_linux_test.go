package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/scripts"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == start.EnterCommand {
		main() // under a name that bubblewrap gives it
	}
	scripts.Main(m, main, map[string]func(){"probe": probe})
}

// TestScripts runs the scripts that start tools, and all where this binary, which has the counters, is accessc.
func TestScripts(t *testing.T) {
	dirs := []string{"testdata/script"}
	if testing.CoverMode() != "" {
		dirs = append(dirs, "../../test/scripts/testdata", "../../test/scripts/work/testdata")
	}
	scripts.Run(t, dirs...)
}

// TestExamples runs the repository's examples of programs that ask accessc.
func TestExamples(t *testing.T) { scripts.Run(t, "testdata/examples") }

// leaveTerminal begins a session without a terminal, so that no command asks the user that runs
// the tests. It fails for the leader of a process group, which go test does not make.
func leaveTerminal() { _, _ = syscall.Setsid() }
