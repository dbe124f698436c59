package start

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
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
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// byWrapper is how bubblewrap meets requirements: without a supervisor.
var byWrapper = means{unsupervised, mounts.Sentences, lastLevel}

// UnmetWrapped returns the requirements of a policy that a start by bubblewrap does not meet here, and those of them that the policy
// accepts. data is the resolved artifact. An error says why no tool starts by this artifact.
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

// refuseDirectories returns an error if a descriptor that the tool gets is a directory. The kernel looks names up from it
// in the mounts of this process, where nothing is covered, and Landlock is not there to judge them. See decision D256.
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
	if status.Signaled() {
		return shellSignal + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// shellSignal is added to the number of the signal that ended a tool.
const shellSignal = 128

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

// prepare makes the directories of the run, and the files and arguments that bwrap gets.
func (w *wrapped) prepare() (files []*os.File, entry []string, err error) {
	site := ownSite()
	if w.home, err = site.home(&w.launch); err != nil {
		return nil, nil, err
	}
	if w.directories, err = site.directories(&w.launch, "", false); err != nil {
		return nil, nil, err
	}
	env := forwarded(&w.launch, envView(&w.launch, ir.Linux), ir.Linux, w.req.Environ, w.tmp, w.tmp+contextFile)
	argv, err := w.req.argv(&w.launch)
	if err != nil {
		return nil, nil, err
	}
	file, err := find(argv[0], w.spec.Workspace, env)
	if err != nil {
		return nil, nil, err
	}
	options, err := w.options()
	if err != nil {
		return nil, nil, err
	}
	filter, err := assemble(rules{blocks: slices.Concat(landlock.Always(), w.spec.Blocks)}, landlock.MaxABI)
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	limits, err := json.Marshal(w.spec.Limits)
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	code, err := binary.Append(nil, binary.NativeEndian, filter)
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	list, open, err := expect(options)
	if err != nil {
		return nil, nil, err
	}
	places, err := json.Marshal(list)
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	files = []*os.File{nil, nil, self, nil}
	held := slices.Collect(maps.Values(open))
	if w.by.descriptors {
		options, held = byDescriptor(options, open)
	}
	args := w.arguments(options, env)
	w.words = len(args)
	for i, text := range map[int][]byte{0: []byte(strings.Join(args, "\x00") + "\x00"), 1: code, 3: places} {
		if files[i], err = inMemory(text); err != nil {
			return nil, nil, failed("%w", err)
		}
	}
	files = append(files, held...)
	_, pwd := lookupEnv(env, "PWD")
	entry = []string{
		"/proc/self/fd/" + strconv.Itoa(enterSelf), EnterCommand, w.canary(), w.req.place(w.spec.Workspace), strconv.FormatBool(pwd), string(limits), file,
	}
	return files, append(entry, argv...), nil
}

// canary is a directory that the tool must not be able to list; empty where it may list all.
func (w *wrapped) canary() string {
	for i, a := range w.spec.Args {
		if strings.HasSuffix(a, "bind") && i+2 < len(w.spec.Args) && w.spec.Args[i+2] == "/" {
			return ""
		}
	}
	return "/"
}

// inMemory is a file that is nowhere on the disk.
func inMemory(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("accessc", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "accessc")
	if _, err = f.Write(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return f, err
}

// options are those of the artifact with the symbols replaced.
func (w *wrapped) options() ([]bubblewrap.Option, error) {
	options, err := w.spec.Options()
	if err != nil {
		return nil, failed("%w", err)
	}
	for _, o := range options {
		for i, v := range o.Values {
			switch {
			case strings.HasPrefix(v, bubblewrap.Temp):
				o.Values[i] = w.tmp + strings.TrimPrefix(v, bubblewrap.Temp)
			case v == bubblewrap.Filter:
				o.Values[i] = strconv.Itoa(wrapperFilter)
			case strings.HasPrefix(v, "${"):
				return nil, failed("this host does not say what is at %s", v)
			}
		}
	}
	return options, nil
}

// arguments are those of the options, and the tool's variables.
func (w *wrapped) arguments(options []bubblewrap.Option, env []string) []string {
	var out []string
	for _, o := range options {
		if strings.HasPrefix(o.Name, "--bind") && o.Values[1] == w.tmp {
			out = append(out, leading(w.tmp)...)
		}
		out = append(append(out, o.Name), o.Values...)
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		out = append(out, "--setenv", name, value)
	}
	return out
}

// leading makes the directories that lead to one, which cannot be listed. Where they are there
// already nothing is made (bwrap(1), --dir).
func leading(dir string) []string {
	var out []string
	for at := path.Dir(dir); at != "/"; at = path.Dir(at) {
		out = append([]string{"--perms", "0111", "--dir", at}, out...)
	}
	return out
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
