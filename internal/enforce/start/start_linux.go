package start

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/start/inherited"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// Start applies the sandbox to this process and becomes the tool, or starts it under
// the supervision of this process and ends as the tool does. It returns only when the
// tool did not start; the error is an *Error.
func Start(req Request) error { return req.Advised(begin(req)) }

func begin(req Request) error {
	if req.Spec.Form != backends.Resolved.String() {
		return failed("%w", errPortable)
	}
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return failed("this kernel has no Landlock (%v); see accessc doctor", err)
	}
	host, place := plainHost(), delegation{}
	if slices.ContainsFunc(req.Spec.Limits, func(l backends.Limit) bool { return controller(l.Kind) != "" }) {
		place = delegated()
		host.Groups = place.controllers
	}
	terms, err := settle(&req, host)
	if err != nil {
		return err
	}
	if req.Trace {
		if !host.Supervises {
			return failed("--trace needs a supervisor, which this host cannot have; see accessc doctor")
		}
		terms.supervised = true
		_, _ = io.WriteString(req.Messages, "accessc: every call that could be refused is judged, which is slower\n")
	}
	if req.Ask != nil {
		if !host.Supervises {
			return failed("--ask needs a supervisor, which this host cannot have; see accessc doctor")
		}
		terms.supervised = true
	}
	if terms.supervised {
		if err := supervisable(req.Spec); err != nil {
			return err
		}
	}
	if err := checkDescriptors(0, 1, 2); err != nil {
		return err
	}
	r := &run{req: &req, site: ownSite(), spec: req.Spec, launch: req.Spec.Launch, abi: min(abi, landlock.MaxABI), terms: terms, place: place}
	defer func() { r.release() }()
	if r.supervised {
		r.id.Mark = supervisor.NewMark()
	}
	if err := req.carry(&r.launch); err != nil {
		return err
	}
	if err := r.prepare(); err != nil {
		r.egress.end()
		r.discard()
		return r.notRecorded(err)
	}
	if err := os.Chdir(r.req.place(r.spec.Workspace)); err != nil {
		r.egress.end()
		r.discard()
		return r.notRecorded(failed("the working directory: %w", err))
	}
	if !r.supervised {
		r.unwatched()
	}
	if r.stays() {
		err := r.supervise()
		r.discard()
		return r.notRecorded(err)
	}
	// Everything from here on concerns this thread alone; execve(2) ends the others.
	keepThread()
	err = r.confine()
	r.discard()
	return err
}

// run is a start in progress.
type run struct {
	req    *Request
	site   *Site
	spec   *landlock.Spec
	launch backends.Launch
	abi    int
	terms

	// home is held until the tool has ended.
	home releaser
	directories
	argv []string
	env  []string
	file string
	// building is the ruleset until it is complete.
	building *building
	ruleset  int
	// id has the supervisor's mark on the processes of the tool, and a name where this process starts many.
	id Identity
	// ahead has a ruleset that was made before the start, nil where none can be.
	ahead *ahead
	// grants are the rules of the ruleset, for a supervisor.
	grants *grants
	// own are the rights that the tool gets on its own directory of /proc where this process
	// stays: the child, whose directory is not there yet, grants them to itself.
	own    uint64
	filter []unix.SockFilter
	// canary is a path that the ruleset must refuse to open; empty for none.
	canary string
	// context is the file of the Context, empty for one in the temporary directory.
	context string
	// view is the part of the policy about variables, nil where it is still to be made.
	view *ir.View
	// passed are the variables that the policy forwards, nil where they are still to be found.
	passed []string
	// policy is that of the specification, nil where it is still to be read.
	policy *supervisor.Policy
	// report gets a line for every denial, record describes the run, evidence lists its used and
	// refused operations; nil for none.
	report, record, evidence *os.File
	begun                    time.Time
	// session has the grants of the run, nil where none are given.
	session *live.Session
	// place is where cgroups can be made, group the one of this run, nil for none.
	place delegation
	group *group
	// by is the supervisor of the tool, nil before it is there.
	by *supervisor.Supervisor
	// egress is the proxy of the run, nil where no rule names a host.
	egress *egress
	// files are the standard descriptors that the tool gets, nil for those of this process.
	files *[3]int
	// sweeper is kept for its clone, whose memory may be this process's.
	sweeper *sweeper
}

// stays reports whether this process waits for the tool.
// See decision D63.
func (r *run) stays() bool {
	says := r.req.Again != "" && !r.req.Quiet
	return r.supervised || says || r.req.Record != nil || r.req.Ended != nil || r.site.Lasts
}

// prepare does everything that does not need privileges to be dropped first, and leaves nothing
// behind when it fails.
func (r *run) prepare() error {
	// The ruleset is about files that exist, so the home comes first.
	var err error
	if r.home, err = r.site.home(&r.launch); err != nil {
		return err
	}
	if r.building, err = r.buildRuleset(); err != nil {
		return failed("%w", err)
	}
	if r.directories, err = r.site.directories(&r.launch, r.id.Name, r.context != ""); err != nil {
		return err
	}
	if err := r.startEgress(); err != nil {
		return failed("the egress proxy: %w", err)
	}
	if r.supervised {
		r.shared = r.makeShared()
	}
	if err := r.outputs(); err != nil {
		return err
	}
	if r.view == nil {
		r.view = envView(&r.launch, ir.Linux)
	}
	if r.passed == nil {
		r.passed = letThrough(&r.launch, r.view, ir.Linux, r.req.Environ)
	}
	r.env = completed(&r.launch, r.view, ir.Linux, r.passed, r.tmp, cmp.Or(r.context, r.tmp+contextFile))
	if r.egress != nil {
		r.env = r.egress.environ(r.env, nil)
		r.egress.wipe()
	}
	if r.argv, err = r.req.argv(&r.launch); err != nil {
		return err
	}
	if r.file, err = find(r.argv[0], r.spec.Workspace, r.env); err != nil {
		return err
	}
	if r.group, err = makeGroup(r.place, filepath.Base(r.dir), r.spec.Limits); err != nil {
		return failed("the cgroup: %w", err)
	}
	if r.filter == nil {
		if r.filter, err = assemble(r.rules(), r.abi); err != nil {
			return failed("%w", err)
		}
		r.canary = findCanary(r.paths())
	}
	if err := r.complete(r.building); err != nil {
		return failed("%w", err)
	}
	return nil
}

// makeShared makes the directory that stands for the shared memory of the run, empty where the
// policy grants none or this host has none to share.
func (r *run) makeShared() string {
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

func (r *run) opens(gap ir.Gap) bool {
	for _, a := range r.accepted {
		if a == string(gap) && len(r.spec.Ports) > 0 {
			return true
		}
	}
	return false
}

// confine applies the sandbox to this process and becomes the tool.
func (r *run) confine() error {
	if err := r.sweepAfter(); err != nil {
		return failed("%w", err)
	}
	c, err := r.child()
	if err == nil {
		err = dropPrivileges()
	}
	if err != nil {
		return err
	}
	if err := keepDeathSignal(); err != nil {
		return failed("the signal for the end of the parent: %w", err)
	}
	// The runtime puts back the limit that it has raised when it executes the tool, unless it is
	// told that the limit was set.
	files := inherited.Files()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return failed("limits: %w", err)
	}
	if len(r.perProcess()) > 0 {
		// They bind this process before it is the tool: a garbage collection would die of memory
		// that it does not get.
		debug.SetGCPercent(-1)
		runtime.GC()
	}
	if r.group != nil {
		r.group.joined = true
	}
	points.Reach(points.Becoming)
	return r.childFailed(supervisor.Become(c))
}

// notStarted explains why execve(2) failed.
func (r *run) notStarted(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: the file or the interpreter that it names does not exist", r.file)}
	case errors.Is(err, fs.ErrPermission) && r.unlisted():
		return &Error{Code: CodeNotRunnable, Err: fmt.Errorf(
			"%s: the policy of %s lists the programs that start, and not this one; add it to access.commands", r.file, r.spec.Tool)}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Code: CodeNotRunnable, Err: fmt.Errorf(
			"%s: the policy of %s does not let it or its interpreter be read and executed", r.file, r.spec.Tool)}
	default:
		return notRunnable(r.file, err)
	}
}

// notRunnable is the error of a program that the system does not run.
func notRunnable(file string, err error) *Error {
	if errors.Is(err, syscall.ENOEXEC) {
		err = fmt.Errorf("%w: it has no first line such as #!/bin/sh, and is no program for this machine", err)
	}
	return &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: %w", file, err)}
}

// unlisted reports whether a table of programs lacks the tool's own, as it does where a shell
// runs the text of a command. The lookup still works here: Landlock restricts no path
// resolution.
func (r *run) unlisted() bool {
	file, err := filepath.EvalSymlinks(r.file)
	return err == nil && r.spec.Programs != nil && !slices.ContainsFunc(r.spec.Programs, func(p landlock.Program) bool { return p.File == file })
}

// findCanary returns a path that the ruleset refuses and nothing else does; none where
// the policy grants all or this host does not let its root be listed.
// See decision D67.
func findCanary(granted []landlock.Path) string {
	const root = "/"
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	_ = unix.Close(fd)
	if slices.ContainsFunc(granted, func(p landlock.Path) bool { return p.Path == root && p.Entries == nil }) {
		return ""
	}
	return root
}

// checkDescriptors refuses standard descriptors that would reach the network under any filter:
// a datagram socket can send without connecting, and a stream socket that is not connected yet
// takes an address with its first data (MSG_FASTOPEN), or can be made to wait for connections.
func checkDescriptors(fds ...int) error {
	for number, fd := range fds {
		if slices.Contains(fds[:number], fd) {
			continue
		}
		domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		if err != nil {
			continue
		}
		kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		stream := kind == unix.SOCK_STREAM || kind == unix.SOCK_SEQPACKET
		// One that others connect to would let the tool be reached.
		waits, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		_, unconnected := unix.Getpeername(fd)
		if err != nil || !stream || waits != 0 || unconnected != nil || domain != unix.AF_UNIX && domain != unix.AF_INET && domain != unix.AF_INET6 {
			return failed("descriptor %d is a socket that reaches beyond a peer; connect it, or use a pipe or file", number)
		}
	}
	return nil
}
