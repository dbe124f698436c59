package start

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/rmtree"
)

// remove removes the directories of a run. In a process that goes on, another process of this program
// removes trees that are deep or large: a tool may have made one so deep that removing it takes more
// descriptors or memory than this process has.
func (s *Site) remove(d *directories) {
	if !s.Lasts || d.dir == "" {
		d.discard()
		return
	}
	_ = unix.Unlink(d.tmp + contextFile)
	left := []string{d.dir}
	if d.shared != "" {
		left = append(left, d.shared)
	}
	for _, dir := range left {
		if unix.Rmdir(dir) == unix.ENOTEMPTY && rmtree.RemoveSmall(dir, smallDepth, smallEntries) != nil {
			s.sweep(dir)
		}
	}
}

// sweep has another process of this program remove a directory, and waits for it.
func (s *Site) sweep(dir string) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	p, err := os.StartProcess("/proc/self/exe", s.words(SweepCommand, dir), &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{null, null, null},
	})
	if err == nil {
		_, _ = p.Wait()
	}
}

// Bounds of a tree that is removed here.
const (
	smallDepth   = 8
	smallEntries = 4096
)
