package start

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// byWrapper is how bubblewrap meets requirements: without a supervisor.
var byWrapper = means{unsupervised, mounts.Sentences, lastLevel}

// UnmetWrapped returns the requirements of a policy that a start by bubblewrap does not meet here, and those of them
// that the policy accepts. data is the resolved artifact. An error says why no tool starts by this artifact.
func UnmetWrapped(data []byte) (gaps []Gap, accepted []string, err error) {
	spec, _, err := wrapping(data)
	if err != nil {
		return nil, nil, err
	}
	gaps, err = byWrapper.unmet(spec.Needs, Host{})
	return gaps, spec.Accept, err
}

// wrapping reads a resolved artifact and finds the program that it is for.
func wrapping(data []byte) (spec *bubblewrap.Spec, by wrapper, err error) {
	spec, err = bubblewrap.Parse(data)
	switch {
	case err != nil:
		return nil, by, failed("%w", err)
	case spec.Form != backends.Resolved.String():
		return nil, by, failed("%w", errPortable)
	}
	if !slices.Contains(spec.Args, "--proc") {
		return nil, by, failed("bubblewrap starts tools by a descriptor of /proc, which the policy grants only with base = \"system\"")
	}
	if by, err = findWrapper(wrapperPaths); err != nil {
		return nil, by, failed("%w; see accessc doctor", err)
	}
	return spec, by, nil
}

// Wrap starts a tool by bubblewrap instead of this kernel's Landlock, and ends as the tool does. data is
// the resolved artifact. It returns only when the tool did not start; the error is an *Error.
func Wrap(req Request, data []byte) error {
	if err := req.within(); err != nil {
		return err
	}
	spec, by, err := wrapping(data)
	if err != nil {
		return err
	}
	if _, err := byWrapper.agree(&req, &spec.Launch, Host{}); err != nil {
		return err
	}
	if err := checkDescriptors(0, 1, 2); err != nil {
		return err
	}
	if err := refuseDirectories(0, 1, 2); err != nil {
		return err
	}
	w := &wrapped{req: &req, spec: spec, launch: spec.Launch, by: by}
	if err := req.carry(&w.launch); err != nil {
		return err
	}
	code, err := w.run()
	w.discard()
	if w.home != nil {
		w.home.Release()
	}
	if err != nil {
		return err
	}
	req.ended(code)
	os.Exit(code)
	return nil
}

// refuseDirectories returns an error if a descriptor that the tool gets is a directory. The kernel looks names up from
// it in the mounts of this process, where nothing is covered, and Landlock is not there to judge them.
// See decision D256.
func refuseDirectories(fds ...int) error {
	for number, fd := range fds {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			return failed("descriptor %d is a directory, by which the tool would reach all of the host; use a pipe or file", number)
		}
	}
	return nil
}

// wrapped is a start by bubblewrap in progress.
type wrapped struct {
	req    *Request
	spec   *bubblewrap.Spec
	launch backends.Launch
	by     wrapper
	home   releaser
	words  int // of the arguments that bwrap reads from a descriptor
	directories
}

// The descriptors that bwrap gets beside the standard ones.
const (
	wrapperArgs   = 3 + iota // the arguments, which hold the tool's variables: other users see a command line
	wrapperFilter            // the filter
	wrapperInfo              // where bwrap writes the number of the sandbox's first process
	enterSelf                // this program, which enters the sandbox and becomes the tool
	enterReport              // where that says how far it got
	enterPlaces              // the mounts that it must find
	wrapperPlaces            // and what follows: the places themselves
)

// run runs the tool and returns its status.
func (w *wrapped) run() (int, error) {
	files, entry, err := w.prepare()
	if err != nil {
		return 0, err
	}
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	info, infoEnd, err := os.Pipe()
	if err != nil {
		return 0, failed("%w", err)
	}
	report, reportEnd, err := os.Pipe()
	if err != nil {
		return 0, failed("%w", err)
	}
	defer info.Close()
	defer report.Close()
	argv := append([]string{w.by.file, "--args", strconv.Itoa(wrapperArgs), "--info-fd", strconv.Itoa(wrapperInfo), "--"}, entry...)
	if n := w.words + len(argv); n > bubblewrap.MaxArguments {
		return 0, failed("bubblewrap takes %d arguments, and the policy, the variables and the command are %d", bubblewrap.MaxArguments, n)
	}
	// The signal of the parent's end is that of the thread that starts the child (prctl(2)).
	runtime.LockOSThread()
	points.Reach(points.Becoming)
	given := []*os.File{os.Stdin, os.Stdout, os.Stderr, files[0], files[1], infoEnd, files[2], reportEnd, files[3]}
	given = append(given, files[4:]...)
	process, err := os.StartProcess(w.by.file, argv, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: given,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL},
	})
	_ = infoEnd.Close()
	_ = reportEnd.Close()
	if err != nil {
		return 0, failed("%s: %w", w.by.file, err)
	}
	stop := w.watch(process, info)
	said, _ := io.ReadAll(report)
	state, err := process.Wait()
	limit := stop()
	if err != nil {
		return 0, failed("%s: %w", w.by.file, err)
	}
	if err := entered(string(said)); err != nil {
		return 0, err
	}
	if limit {
		_, _ = io.WriteString(w.req.Messages, "accessc: the tool was ended by its limit wall_time\n")
		return shellSignal + int(unix.SIGKILL), nil
	}
	status, _ := state.Sys().(syscall.WaitStatus)
	return exitStatus(status), nil
}

// entered says whether the tool has started, from the report of the process that becomes it.
func entered(said string) error {
	said, started := strings.CutPrefix(said, enterReady)
	code, message, failure := strings.Cut(said, " ")
	number, err := strconv.Atoi(code)
	switch {
	case started && said == "":
		return nil
	case failure && err == nil:
		return &Error{Code: number, Err: errors.New(message)}
	default:
		return failed("bubblewrap did not make the sandbox")
	}
}

// watch passes signals on to the tool and ends it at its time limit, until the returned function is
// called, which says whether the limit has ended the tool.
func (w *wrapped) watch(process *os.Process, info io.Reader) (stop func() bool) {
	first := make(chan int, 1)
	go func() {
		var doc struct {
			Child int `json:"child-pid"`
		}
		_ = json.NewDecoder(bufio.NewReader(info)).Decode(&doc)
		first <- doc.Child
	}()
	init := sync.OnceValue(func() int { return <-first })
	stopSignals := supervisor.PassOn(func(s syscall.Signal) {
		// The first process of the sandbox only waits for the others.
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", init(), init()))
		reached := false
		for _, child := range strings.Fields(string(children)) {
			if pid, err := strconv.Atoi(child); err == nil {
				reached = unix.Kill(pid, s) == nil || reached
			}
		}
		if !reached {
			_ = process.Signal(s)
		}
	})
	ended := make(chan struct{})
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for _, l := range w.spec.Limits {
		if l.Kind == ir.LimitWallTime.String() {
			timer.Reset(time.Duration(l.Value) * time.Millisecond)
		}
	}
	over := make(chan bool, 1)
	go func() {
		select {
		case <-timer.C:
			_ = process.Kill() // the sandbox dies with it
			over <- true
		case <-ended:
			over <- false
		}
	}()
	return func() bool {
		stopSignals()
		close(ended)
		return <-over
	}
}
