package start

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/host/userdir"
)

// remains are what a run leaves behind, and who removes it: this process where it sees the end of the tool, and
// otherwise the sweeper.
type remains struct {
	*run
	limits *limits
	// home is held until the tool has ended.
	home releaser
	// sweeper is kept for its clone, whose memory may be this process's.
	sweeper *sweeper
}

// sweepAfter leaves a process behind that waits until the tool is gone and then removes the
// run's directory. It is cloned without an exit signal, so that the tool's wait(2) never sees
// it (__WCLONE in wait(2)), in a session of its own, with no descriptor of the tool's. After
// the wait it removes the files of an ordinary run by plain system calls, since the clone of a
// Go process can do nothing else; where the tool has left more, it starts accessc anew for the
// rest. A supervisor removes the directory itself: if the directory is still there when the
// supervisor is gone, the supervisor was killed, and the sweeper kills its remaining processes,
// too.
// See decision D63.
func (r *remains) sweepAfter() error {
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return err
	}
	defer unix.Close(pidfd)
	s := &sweeper{pidfd: uintptr(pidfd), home: -1, supervised: r.stays()}
	if file := r.homeFile(); file != nil {
		s.home = int(file.Fd())
	}
	s.waits(r.supervised && !r.limits.ends().IsZero(), time.Until(r.limits.ends()))
	paths := map[string]**byte{
		"/proc/self/exe": &s.file, r.tmp + contextFile: &s.context, r.dir: &s.dir,
	}
	if r.limits.group != nil {
		paths[r.limits.group.dir] = &s.group
	}
	argv, err := syscall.SlicePtrFromStrings(append(r.site.words(SweepCommand, r.dir), r.words()...))
	if err != nil {
		return err
	}
	for path, at := range paths {
		if *at, err = syscall.BytePtrFromString(path); err != nil {
			return err
		}
	}
	s.argv = &argv[0]
	s.envv = &[]*byte{nil}[0]
	r.sweeper = s
	if e := s.clone(); e != 0 {
		return e
	}
	return nil
}

// words are those that tell Sweep of processes and groups that may remain beside the directory.
func (r *remains) words() []string {
	var out []string
	if r.stays() {
		out = append(out, survivors)
	}
	group := ""
	if r.limits.group != nil {
		group = r.limits.group.dir
	}
	return append(out, beside(group, r.shared, r.id.Mark)...)
}

// discard removes the group and directories of a run that did not start, or whose end this
// process sees.
func (r *remains) discard() {
	r.limits.group.remove()
	r.site.remove(&r.directories)
}

// over removes the remains of a run in a process that goes on.
func (r *remains) over() {
	if group := r.limits.group; group != nil {
		_ = group.procs.Close()
	}
	r.discard()
	r.release()
}

// release gives the home of the run free.
func (r *remains) release() {
	if r.home != nil {
		r.home.Release()
	}
}

// homeFile is the lock of the home, nil for none.
func (r *remains) homeFile() *os.File {
	if hold, ok := r.home.(*userdir.Hold); ok {
		return hold.File()
	}
	return nil
}
