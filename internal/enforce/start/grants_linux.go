package start

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// grants are the rules that the two goroutines have added to a ruleset.
type grants struct {
	mu sync.Mutex
	by supervisor.Grants
	// of are the directories that rules are written about; placements are the grants below
	// them, absent the paths of those that are not there.
	of         []string
	placements []supervisor.Placement
	absent     []string
}

func (g *grants) add(st *unix.Stat_t, access uint64) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.by[supervisor.Inode{Dev: st.Dev, Ino: st.Ino}] |= access
}

// place remembers where a directory or file is that is granted as a whole, or that it is not
// there (a negative descriptor).
func (g *grants) place(path string, fd int) {
	if g == nil || !slices.ContainsFunc(g.of, func(dir string) bool { return strings.HasPrefix(path+"/", dir) }) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	kept, err := -1, error(nil)
	if fd >= 0 {
		kept, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	if kept < 0 || err != nil {
		g.absent = append(g.absent, path)
		return
	}
	g.placements = append(g.placements, supervisor.Placement{FD: kept, Path: path})
}
