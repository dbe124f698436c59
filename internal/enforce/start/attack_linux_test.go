package start_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// fortress is a workspace whose policy revokes inside of its grants: it grants everything, but
// nothing on .env and sub/deep/.key, and src for reading except src/generated.
type fortress struct {
	t    *testing.T
	dir  string
	root string
	spec []byte
	*tool
}

const secret = "the secret"

func newFortress(t *testing.T) *fortress {
	t.Helper()
	f := layFortress(t)
	f.tool = startMode(t, "kernel-supervised", f.spec, f.dir, nil)
	t.Cleanup(f.stop)
	return f
}

// layFortress makes a fortress without its tool.
func layFortress(t *testing.T) *fortress {
	t.Helper()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	f := &fortress{t: t, dir: workspace(t)}
	f.root = filepath.Join(f.dir, "ws")
	for _, d := range []string{"home", "ws/src/generated", "ws/sub/deep", "ws/docs"} {
		f.must(os.MkdirAll(filepath.Join(f.dir, d), 0o755))
	}
	for _, p := range []string{".env", "sub/deep/.key"} {
		f.write(p, secret)
	}
	f.write("src/main.c", "kept")
	f.write("docs/a", "a")
	f.compile()
	return f
}

func (f *fortress) compile() {
	f.spec = f.compiled(
		rule("", ir.All), rule(".env", 0), rule("sub/deep/.key", 0), rule("src", ir.Caps(ir.Read)), rule("src/generated", ir.All),
	)
}

// readOnly is the specification of a tool that runs without a supervisor.
func (f *fortress) readOnly() []byte { return f.compiled(rule("", ir.Caps(ir.Read, ir.Execute))) }

func rule(p string, caps ir.CapSet) ir.FSRule { return ir.FSRule{Written: p, At: ir.In(p), Caps: caps} }

func (f *fortress) compiled(rules ...ir.FSRule) []byte {
	tool := ir.NewTool("t")
	tool.FS = rules
	own := ir.Sys(strings.TrimPrefix(binary, "/"))
	facts := ir.Facts{
		Bindings: &ir.Bindings{Workspace: f.root, Home: filepath.Join(f.dir, "home")}, Program: &own, Base: hostBase(),
	}
	out, err := landlock.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: facts})
	f.must(err)
	return out.Data
}

func (f *fortress) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fortress) at(p string) string { return filepath.Join(f.root, p) }

func (f *fortress) write(p, text string) {
	f.t.Helper()
	f.must(os.WriteFile(f.at(p), []byte(text), 0o644))
}

func (f *fortress) do(op, a, b string) syscall.Errno {
	f.t.Helper()
	return f.tool.exchange(f.t, attempt{Op: op, A: a, B: b})[0]
}

// refuses and allows state the expected result of an operation.
func (f *fortress) refuses(op, a, b string) {
	f.t.Helper()
	if e := f.do(op, a, b); !refused(e) {
		f.t.Errorf("%s %s %s: got %v, want a refusal", op, a, b, e)
	}
}

func (f *fortress) allows(op, a, b string) {
	f.t.Helper()
	if e := f.do(op, a, b); e != 0 {
		f.t.Errorf("%s %s %s: got %v", op, a, b, e)
	}
}

// intact checks the files that the tool must not have touched.
func (f *fortress) intact() {
	f.t.Helper()
	for p, want := range map[string]string{".env": secret, "sub/deep/.key": secret, "src/main.c": "kept"} {
		if got, err := os.ReadFile(f.at(p)); err != nil || string(got) != want {
			f.t.Errorf("%s: %q, %v", p, got, err)
		}
	}
}

// TestMovesCarryNothing: names that lead to a rule's path stay where they are, by any call and
// with any ancestor moved.
func TestMovesCarryNothing(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	for _, p := range []string{".env", "sub", "sub/deep", "sub/deep/.key", "src", "src/generated"} {
		f.refuses("rename", p, "docs/x")
		f.refuses("rename", p, "x")
		f.refuses("exchange", p, "docs")
		f.refuses("exchange", "docs", p)
	}
	f.refuses("rename", "docs/a", ".env")
	f.refuses("rename", "docs/a", "sub/deep/.key")
	f.refuses("rename", "docs/a", "src/a")
	f.refuses("rename", "src/main.c", "docs/main.c")
	f.refuses("link", ".env", "docs/e")
	f.refuses("link", "src/main.c", "docs/m")
	f.refuses("unlink", ".env", "")
	f.refuses("unlink", "src/main.c", "")
	f.intact()
	// A directory that is prepared elsewhere cannot be moved under a rule.
	f.allows("mkdir", "docs/deep", "")
	f.allows("create", "docs/deep/.key", "")
	f.must(os.Remove(f.at("sub/deep/.key")))
	f.must(os.Remove(f.at("sub/deep")))
	f.refuses("rename", "docs/deep", "sub/deep")
	// Files that may be moved are.
	f.allows("rename", "docs/a", "docs/b")
	f.allows("rename", "docs/deep", "sub/other")
	f.allows("rename", "sub/other/.key", "src/generated/key")
}

// TestNamesOfTheDenied: neither links nor descriptors nor later names open a denied file.
func TestNamesOfTheDenied(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.must(os.Symlink(".env", f.at("link")))
	f.must(os.Symlink("/proc/self/cwd/.env", f.at("magic")))
	f.must(os.Symlink("..", f.at("docs/up")))
	for _, p := range []string{".env", "link", "magic", "docs/up/.env", "docs/../.env", ".//.env"} {
		for _, op := range []string{"read", "write", "both", "append", "empty", "truncate", "reopen", "rewrite", "openat2", "create2", "chmod", "utimes", "setxattr"} {
			f.refuses(op, p, "")
		}
	}
	f.refuses("create", "src/new.c", "")
	f.intact()
	// A name that the rule was written for before it existed.
	f.must(os.Remove(f.at(".env")))
	for _, op := range []string{"create", "creat", "mkdir", "symlink", "fifo", "file", "bind", "createboth"} {
		f.refuses(op, ".env", "")
	}
	if _, err := os.Lstat(f.at(".env")); err == nil {
		t.Error("something was left under the denied name")
	}
	f.must(os.Symlink("docs/a", f.at(".env")))
	f.allows("read", ".env", "")
}

// TestHostReplaces: a file that the host puts into the place of another while the tool runs, as
// an editor does that saves, is judged by its name; and files that the host adds are readable.
func TestHostReplaces(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	save := func(p, text string) {
		f.must(os.WriteFile(f.at("docs/.tmp"), []byte(text), 0o644))
		f.must(os.Rename(f.at("docs/.tmp"), f.at(p)))
	}
	save(".env", secret)
	f.refuses("read", ".env", "")
	f.refuses("write", ".env", "")
	save("docs/a", "new")
	f.allows("both", "docs/a", "")
	save("top", "new")
	f.allows("read", "top", "")
	f.allows("write", "top", "")
	f.must(os.Rename(f.at("src"), f.at("docs/away")))
	f.must(os.MkdirAll(f.at("src/generated"), 0o755))
	f.write("src/main.c", "kept")
	f.refuses("write", "src/main.c", "")
	f.refuses("create", "src/x", "")
	f.allows("create", "src/generated/x", "")
	f.intact()
}

// TestRace rewrites paths, swaps links and exchanges descriptors while the supervisor works. No
// round may open a denied file.
func TestRace(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"path", "link", "descriptor"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFortress(t)
			f.race(kind, 33_000)
		})
	}
}

// race has the worker open a path that a rival changes, about n times at full count, in rounds that are met where some
// opens came through and some did not.
func (f *fortress) race(kind string, n int) {
	f.t.Helper()
	const opens = 50
	rounds := irtest.Times(n / opens)
	met := rounds / 2
	if irtest.Full() {
		met = rounds
	}
	irtest.Race(f.t, met, rounds, func(int) bool {
		e := f.do("race", kind, strconv.Itoa(opens))
		if e != 0 && e != errMet {
			f.t.Errorf("the denied was reached (%v)", e)
		}
		return e == errMet
	})
	f.intact()
}

// TestStorm: many threads that trap at once are all answered, and the supervisor stays
// small.
func TestStorm(t *testing.T) {
	t.Parallel()
	needsFiles(t)
	f := newFortress(t)
	f.allows("storm", "docs", "")
	f.allows("fifos", "docs", "")
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.cmd.Process.Pid))
	f.must(err)
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kb, _ := strconv.Atoi(strings.Fields(string(rest))[0])
	if kb > 150<<10 {
		t.Errorf("the supervisor grew to %d KiB", kb)
	}
}

// TestSignalsDoNotForgeDescriptors: an ADDFD ioctl that a signal interrupts, such as the
// Go runtime's own, would answer the tool's open with descriptor 0.
func TestSignalsDoNotForgeDescriptors(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	pid := f.cmd.Process.Pid
	done := make(chan struct{})
	stopped := make(chan struct{})
	var sent atomic.Int64
	go func() {
		defer close(stopped)
		for {
			threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
			for _, dir := range threads {
				tid, _ := strconv.Atoi(filepath.Base(dir))
				if unix.Tgkill(pid, tid, unix.SIGURG) == nil {
					sent.Add(1)
				}
			}
			select {
			case <-done:
				return
			default:
			}
		}
	}()
	const opens = 100
	rounds := irtest.Times(50_000 / opens)
	irtest.Race(t, rounds, rounds, func(int) bool {
		before := sent.Load()
		if e := f.do("numbers", "docs/a", strconv.Itoa(opens)); e != 0 {
			t.Errorf("an open came to %v", e)
		}
		return sent.Load() > before
	})
	close(done)
	<-stopped
}

// TestSupervisorKilled: the tool does not outlive its supervisor, and the processes that it
// leaves behind are bounded by the ruleset.
func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	pid := int(f.do("pid", "x", ""))
	over := endOf(t, pid)
	f.must(f.cmd.Process.Kill())
	_ = f.cmd.Wait()
	await.Receive(t, "the tool has ended", over)
}

// TestSurvivorsHaveTheRuleset: a process that has left the tool and lost the supervisor can do no
// more than before, and is ended: by the sweeper that shares the memory of a supervisor, and by
// the one that has taken a copy.
func TestSurvivorsHaveTheRuleset(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		t.Run(map[bool]string{false: "young", true: "old"}[own], func(t *testing.T) {
			t.Parallel()
			newFortress(t).survives(own)
		})
	}
}

// survives kills the supervisor, once the sweeper has memory of its own or before that, and lets the process that is left act.
func (f *fortress) survives(own bool) {
	const late = "exec 3<>docs/go; echo $$ > docs/new; mv docs/new docs/alive; read x <&3; " +
		"cat .env > docs/leak; echo x > src/main.c; mv sub away; chmod 777 src/main.c; read x <&3"
	f.must(unix.Mkfifo(f.at("docs/go"), 0o644))
	var over <-chan struct{}
	f.ended("setsid sh -c '"+late+"' & wait", func(c *exec.Cmd) {
		appears(f.t, f.at("docs/alive"))
		text, err := os.ReadFile(f.at("docs/alive"))
		f.must(err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		f.must(err)
		over = endOf(f.t, pid)
		if own {
			await.Until(f.t, "the sweeper has memory of its own", func() bool { return hasOwnSweeper(c.Process.Pid) })
		}
		f.must(c.Process.Kill())
		act, err := os.OpenFile(f.at("docs/go"), os.O_RDWR, 0)
		f.must(err)
		_, err = act.WriteString("\n")
		f.must(errors.Join(err, act.Close()))
	})
	await.Receive(f.t, "the process that is left has ended", over)
	f.intact()
	if leak, err := os.ReadFile(f.at("docs/leak")); err == nil && len(leak) > 0 {
		f.t.Errorf("leaked %q", leak)
	}
	if info, err := os.Stat(f.at("src/main.c")); err != nil || info.Mode() != 0o644 {
		f.t.Errorf("src/main.c: %v, %v", info, err)
	}
}

// startProgram runs a program under a specification.
func startProgram(t fataler, spec []byte, dir string, program ...string) *tool {
	x := &tool{cmd: exec.Command(binary, append([]string{"kernel-supervised", written(t, spec, dir)}, program...)...), errs: &strings.Builder{}}
	x.cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "GORACE=atexit_sleep_ms=0"}
	x.cmd.Stderr = x.errs
	x.in, _ = x.cmd.StdinPipe()
	return x
}

// ended runs a shell command under the policy and returns its status and output.
func (f *fortress) ended(command string, meanwhile func(*exec.Cmd)) (syscall.WaitStatus, string) {
	f.t.Helper()
	x := startProgram(f.t, f.spec, f.dir, "sh", "-c", command)
	var out bytes.Buffer
	x.cmd.Stdin, x.cmd.Stdout = nil, &out
	f.must(x.cmd.Start())
	if meanwhile != nil {
		meanwhile(x.cmd)
	}
	over := make(chan error, 1)
	go func() { over <- x.cmd.Wait() }()
	await.Receive(f.t, "the tool and all that it started have ended", over)
	return x.cmd.ProcessState.Sys().(syscall.WaitStatus), out.String() + x.errs.String()
}

// TestEnds: a supervised tool ends for its caller as it would without a supervisor.
func TestEnds(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.allows("mkdir", "docs/begun", "") // so the worker has its directory
	if ws, out := f.ended("exit 7", nil); ws.ExitStatus() != 7 {
		t.Errorf("exit 7 became %v: %s", ws, out)
	}
	for _, s := range []syscall.Signal{unix.SIGTERM, unix.SIGKILL, unix.SIGSEGV, unix.SIGQUIT, unix.SIGPIPE} {
		if ws, out := f.ended("kill -"+strconv.Itoa(int(s))+" $$", nil); !ws.Signaled() || ws.Signal() != s {
			t.Errorf("%v became %v: %s", s, ws, out)
		}
	}
	// A background process ends with the tool, also in a session of its own.
	const stays = "sleep 1000000"
	if ws, out := f.ended(stays+" & setsid "+stays+" & (setsid "+stays+" &) ; exit 3", nil); ws.ExitStatus() != 3 {
		t.Errorf("a tool with children: %v: %s", ws, out)
	}
	if left, _ := filepath.Glob(filepath.Join(f.dir, "accessc-*")); len(left) != 1 {
		// One of these is the worker's, which still runs.
		t.Errorf("directories of runs: %v", left)
	}
}

// TestSignalsReachTheTool: signals to the supervisor arrive, and calls that are interrupted
// meanwhile are not done twice.
func TestSignalsReachTheTool(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	for _, s := range []string{"TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "WINCH"} {
		if signal.Ignored(unix.SignalNum("SIG" + s)) {
			continue // as under nohup(1); a shell cannot trap a signal that it was started ignoring
		}
		command := fmt.Sprintf("trap 'echo got %s; exit 0' %s; sleep 1000000 & : > docs/ready; wait", s, s)
		_ = os.Remove(f.at("docs/ready"))
		_, out := f.ended(command, func(c *exec.Cmd) {
			appears(t, f.at("docs/ready"))
			_ = c.Process.Signal(unix.SignalNum("SIG" + s))
		})
		if !strings.Contains(out, "got "+s) {
			t.Errorf("%s: %q", s, out)
		}
	}
	f.allows("interrupted", "docs", strconv.Itoa(irtest.Times(10_000)))
}

// TestJobControl: a tool that stops itself shows as a stopped job, and goes on.
func TestJobControl(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	ws, out := f.ended("kill -STOP $$; echo on", func(c *exec.Cmd) {
		var ws syscall.WaitStatus
		if _, err := syscall.Wait4(c.Process.Pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
			t.Errorf("%v, %v", ws, err)
		}
		_ = c.Process.Signal(unix.SIGCONT)
	})
	if ws.ExitStatus() != 0 || !strings.Contains(out, "on") {
		t.Errorf("%v: %q", ws, out)
	}
}
