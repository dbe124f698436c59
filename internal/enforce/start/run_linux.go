package start

import (
	"crypto/rand"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/ir"
)

// run is one start of a tool, as all of its parts know it.
type run struct {
	settled
	req    *Request
	site   *Site
	launch backends.Launch
	// id has the supervisor's mark on the processes of the tool, and a name where this process starts many.
	id Identity
	directories
	// context is the file of the Context, empty for one in the temporary directory.
	context string
	// files are the standard descriptors that the tool gets, nil for those of this process.
	files *[3]int
	begun time.Time
	// by is the supervisor of the tool, nil before it is there.
	by *supervisor.Supervisor
}

// Identity tells a run from the others of a process that starts many. The process that has the run started finds the
// remains of the run by it, should the supervisor die.
type Identity struct {
	// Name is that of the directories of the run and of its cgroup.
	Name string
	// Mark is that of its processes, nil where nothing marks them.
	Mark *supervisor.Mark
}

// NewIdentity draws the name of a run that is not marked.
func NewIdentity() Identity { return Identity{Name: runPrefix + rand.Text()} }

// stays reports whether this process waits for the tool.
// See decision D63.
func (r *run) stays() bool {
	says := r.req.Again != "" && !r.req.Quiet
	return r.supervised || says || r.req.Record != nil || r.req.EvidenceLog != nil || r.req.Ended != nil || r.site.Lasts
}

// reading are the rights with which a tool could read a file.
func reading() uint64 { return landlock.FSMask([]landlock.Right{landlock.ReadFile, landlock.ReadDir}) }

// changing are the rights with which a tool could change a file, or put another one in its
// place.
func changing() uint64 {
	return landlock.FSMask([]landlock.Right{
		landlock.WriteFile, landlock.Truncate, landlock.RemoveFile, landlock.RemoveDir,
		landlock.MakeReg, landlock.MakeSym, landlock.MakeSock, landlock.MakeFifo, landlock.MakeDir,
	})
}

// writes names the grant that lets the tool change a path or put something in its place, empty
// for none.
func (r *run) writes(abs string) string { return r.grantOn(abs, changing(), ir.Write) }

// grantOn names the grant that gives the tool one of some rights on a path, empty for none: a
// grant of the ruleset, or one of the policy that the supervisor asks.
func (r *run) grantOn(abs string, rights uint64, caps ir.CapSet) string {
	for _, p := range r.spec.Paths {
		below, ok := strings.CutPrefix(abs, strings.TrimSuffix(p.Path, "/")+"/")
		if abs != p.Path && !ok || landlock.FSMask(p.Access)&rights == 0 {
			continue
		}
		first, _, _ := strings.Cut(below, "/")
		if p.Entries == nil || !slices.Contains(p.Entries.Except, first) {
			return "the grant on " + p.Path
		}
	}
	switch {
	case r.by != nil:
		return r.by.GrantOn(abs, caps)
	case r.supervised:
		return supervisor.GrantOn(r.spec, r.tmp, abs, caps)
	}
	return ""
}

// shellSignal is added to the number of the signal that ended a program, as shells do.
const shellSignal = 128

// exitStatus is the status of a run as a shell gives it.
func exitStatus(status syscall.WaitStatus) int {
	if status.Signaled() {
		return shellSignal + int(status.Signal())
	}
	return status.ExitStatus()
}
