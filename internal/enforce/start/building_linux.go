package start

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/ir"
)

// building is a ruleset that is being filled, by two goroutines where the paths are many.
type building struct {
	ruleset
	paths []landlock.Path
	next  atomic.Int32
	// own is that of the run.
	own uint64
	// turn is that of the watch in which a ruleset was made ahead of its start.
	turn uint64
	// aside gets the result of the other goroutine, and filled is closed once it was taken.
	aside  chan error
	filled chan struct{}
}

// alone is the number of paths up to which one thread adds them all: to wake another takes longer.
// See decision D104.
const alone = 256

// Places of the base that mean something else for every tool; see landlock.Path.
const (
	ownProcess   = "/" + ir.LinuxProc
	terminalPath = "/" + ir.LinuxTerminal
)

// runSymbol stands for the run's own directory.
const runSymbol = "${tmp}"

func ofRun(p landlock.Path) bool { return strings.HasPrefix(p.Path, runSymbol) }

// terminalPaths repeats a grant on the controlling terminal's common name for its own name.
func terminalPaths(p landlock.Path) []landlock.Path {
	path := supervisor.Terminal()
	if path == "" {
		return nil
	}
	p.Path = path
	return []landlock.Path{p}
}

// fill adds paths until none is left.
func (b *building) fill() error {
	for {
		i := int(b.next.Add(1)) - 1
		if i >= len(b.paths) {
			return nil
		}
		if err := b.path(b.paths[i]); err != nil {
			return fmt.Errorf("%s: %w", b.paths[i].Path, err)
		}
	}
}

// stop ends the filling of a ruleset that is not needed.
func (b *building) stop() {
	b.next.Store(int32(len(b.paths)))
	select {
	case <-b.aside:
	case <-b.filled:
	}
}
