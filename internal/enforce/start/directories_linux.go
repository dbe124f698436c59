package start

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/ir"
)

// directories makes the directories of a run. It returns them also when it fails. name is that of the run where this
// process starts many; apart leaves the Context out.
func (s *Site) directories(l *backends.Launch, name string, apart bool) (directories, error) {
	if !s.Lasts {
		return makeDirectories(l)
	}
	dir := s.Base + "/" + name
	if err := unix.Mkdir(dir, 0o700); err != nil {
		return directories{}, failed("the temporary directory: %w", err)
	}
	d := directories{dir: dir, tmp: dir}
	if apart {
		return d, nil
	}
	return d, writeContext(dir+contextFile, l)
}

// writeContext makes the file of the Context.
func writeContext(file string, l *backends.Launch) error {
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return failed("the Context: %w", err)
	}
	for text := []byte(l.Context); len(text) > 0 && err == nil; {
		var n int
		n, err = unix.Write(fd, text)
		text = text[max(n, 0):]
	}
	if closed := unix.Close(fd); err == nil {
		err = closed
	}
	if err != nil {
		return failed("the Context: %w", err)
	}
	return nil
}

// share makes the directory that stands for the shared memory of the run, empty where the
// policy grants none or this host has none to share.
func (r *run) share() string {
	j := r.spec.Supervision.Judged
	var fs unix.Statfs_t
	if j == nil || !slices.ContainsFunc(j.Base, func(g landlock.Granted) bool { return g.Path == sharedMemory }) ||
		unix.Statfs(sharedMemory, &fs) != nil || fs.Type != unix.TMPFS_MAGIC {
		return ""
	}
	dir := filepath.Join(sharedMemory, filepath.Base(r.dir))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return ""
	}
	return dir
}

const sharedMemory = "/" + ir.LinuxShared

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

// RemoveRuns removes a base of runs with everything in it, and the cgroups of those runs, once no
// process that starts tools there is left.
func RemoveRuns(base string) {
	if !isRun(base) {
		return
	}
	entries, _ := os.ReadDir(base)
	if place := delegated(); place.dir != "" {
		for _, e := range entries {
			if group := filepath.Join(place.dir, e.Name()); isRun(group) && isGroup(group) {
				endGroup(group, true)
			}
		}
	}
	for _, e := range entries {
		if dir, ok := strings.CutSuffix(filepath.Join(base, e.Name()), supervisor.ListOfObjects("")); ok {
			supervisor.RemoveObjects(dir)
		}
	}
	_ = rmtree.Remove(base)
}

// MakeBase makes a directory for the directories of runs. It refuses a place in the workspace root, or
// another one where tools may write.
func MakeBase(root string) (string, error) {
	dir, err := os.MkdirTemp("", runPrefix+"*")
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		if why := Exposed(real, root); why != "" {
			err = failed("the directories of runs: %s %s, where tools may write; let TMPDIR be elsewhere", filepath.Dir(real), why)
		}
	}
	if err != nil {
		_ = os.Remove(dir)
		return "", err
	}
	return real, nil
}
