package scripts

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

// Main runs the tests of a package with accessc and other programs, each a function of the test binary. Accessc is the
// program that everybody gets, except with counters or under the race detector, which are in the test binary: then it is
// own, unless that is nil.
func Main(m *testing.M, own func(), others map[string]func()) {
	interruptible()
	overlap()
	programs := maps.Clone(others)
	if programs == nil {
		programs = map[string]func(){}
	}
	counted := own != nil && (testing.CoverMode() != "" || Raced)
	if programs["accessc"] = own; own == nil {
		programs["accessc"] = func() {} // replaced below
	}
	testscript.Main(lean{m, counted}, programs)
}

// lean runs the tests with the program that everybody gets. testscript installs the test binary as accessc, whose start
// takes half as long again: it initialises packages of tests.
type lean struct {
	*testing.M
	counted bool
}

// ProgramVariable is a program for a test binary that runs where nothing can be built.
const ProgramVariable = "ACCESSC_TEST_PROGRAM"

// Run implements testscript.TestingM.
func (m lean) Run() int {
	_, err := exec.LookPath("go")
	if err == nil && !m.counted {
		dir, _, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator))
		accessc := filepath.Join(dir, "accessc")
		err := os.Remove(accessc)
		if from := os.Getenv(ProgramVariable); from != "" {
			err = errors.Join(err, os.Link(from, accessc))
		} else {
			err = errors.Join(err, testbuild.Program(accessc, "cmd/accessc"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	defer func() {
		if programsDir != "" {
			_ = os.RemoveAll(programsDir)
		}
	}()
	return m.M.Run()
}

// interruptible has the programs of the tests end at an interrupt, also where the tests run in the background of a
// script, whose shell has them ignore it: a caught signal is the default again in a new program (execve(2)), an ignored
// one stays ignored.
func interruptible() {
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
}

// overlap has more tests run at a time than there are processors, unless -parallel says otherwise: most wait for
// programs.
func overlap() {
	const least = 6
	if f := flag.Lookup("test.parallel"); f != nil && runtime.GOMAXPROCS(0) < least {
		_ = f.Value.Set(strconv.Itoa(least))
	}
}

// Raced is true under the race detector, where a process waits a second for reports when
// it ends, in a sandbox whatever GORACE says.
var Raced bool

// Run runs the scripts of directories.
func Run(t *testing.T, dirs ...string) {
	t.Parallel()
	for _, dir := range dirs {
		testscript.Run(t, params(t, dir))
	}
}

func params(t *testing.T, dir string) testscript.Params {
	return testscript.Params{
		Dir:           dir,
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			testbuild.Written() // by testscript, the files of the script
			// Home and state lie beside the script's directory, which then may be a workspace.
			user := env.WorkDir + "-user"
			for _, d := range []string{user + "/home", user + "/state", env.WorkDir + "/config", env.WorkDir + "/run"} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					return err
				}
			}
			env.Setenv("HOME", user+"/home")
			env.Setenv("XDG_STATE_HOME", user+"/state")
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "run"))
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			examples, err := filepath.Abs("../../examples")
			if _, none := os.Stat(examples); none != nil { // of a package one deeper
				examples, err = filepath.Abs("../../../examples")
			}
			env.Setenv("EXAMPLES", examples)
			env.Values[testOf{}] = t
			return err
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "landlock":
				return start.ABI() > 0, nil
			case "signals":
				// Landlock keeps signals inside of the sandbox (landlock(7), ABI 6).
				return start.ABI() >= 6, nil
			case "supervision":
				return start.ThisHost().Supervises, nil
			case "bubblewrap":
				return wraps(), nil
			case "root":
				return os.Geteuid() == 0, nil
			case "machine":
				// An /etc of the script's own.
				own := "mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w && " +
					"mount -t overlay -o lowerdir=/etc,upperdir=/mnt/u,workdir=/mnt/w overlay /etc"
				return os.Geteuid() == 0 && exec.Command("unshare", "--mount", "sh", "-c", own).Run() == nil, nil
			case "race":
				return Raced, nil
			case "full":
				// Slow scripts run where every property runs at its full count.
				return irtest.Full(), nil
			default:
				return false, fmt.Errorf("unknown condition %q", cond)
			}
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"nobody": nobody, "mkfifo": mkfifo, "empty": empty, "detached": detached, "dialog": dialog, "grants": grants, "asked": whileAsked, "meanwhile": meanwhile, "status": ended, "older": older, "example": buildExample, "loader": loader},
	}
}

// wraps reports whether bubblewrap can start tools on this host.
func wraps() bool {
	return slices.ContainsFunc(start.Examine().Findings, func(f start.Finding) bool {
		return f.Name == "bubblewrap" && f.State == start.Partial
	})
}

// older gives a document the version before its own: older FILE.
func older(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: older FILE")
	}
	text := ts.ReadFile(args[0])
	now := strings.Replace(text, `"format_version": 2`, `"format_version": 1`, 1)
	if now == text {
		ts.Fatalf("%s has no version 2", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(now), 0o644))
}

// programsDir is the directory of forEverybody, empty before.
var programsDir string

// forEverybody is a directory with the programs of the tests, which other users can start.
var forEverybody = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("/tmp", "accessc-programs-"); err != nil {
		return "", err
	}
	programsDir, err = dir, os.Chmod(dir, 0o755)
	for _, name := range []string{"accessc", "probe"} {
		file, e := exec.LookPath(name)
		if e != nil && name == "probe" {
			continue // of cmd/accessc alone
		}
		err = errors.Join(err, e, exec.Command("install", "-m", "755", file, dir).Run())
	}
	return dir, err
})

// loaders are accessc-exec, and accessc-exec-noegress without the egress proxy, beside the programs of forEverybody.
var loaders = sync.OnceValues(func() (string, error) {
	dir, err := forEverybody()
	if err != nil {
		return "", err
	}
	return dir, errors.Join(
		testbuild.Program(filepath.Join(dir, "accessc-exec"), "cmd/accessc-exec"),
		testbuild.Program(filepath.Join(dir, "accessc-exec-noegress"), "cmd/accessc-exec", "-tags=accessc_noegress"),
	)
})

// loader has the script find them: loader.
func loader(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: loader")
	}
	dir, err := loaders()
	ts.Check(err)
	ts.Setenv("PATH", ts.Getenv("PATH")+string(filepath.ListSeparator)+dir)
}

// nobody runs a command as a user without any privilege, in a copy of the current directory
// that belongs to that user and a copy of the home: nobody PROGRAM ARG... [&& PROGRAM ARG...]
func nobody(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: nobody PROGRAM ARG...")
	}
	programs, err := forEverybody()
	ts.Check(err)
	dir, err := os.MkdirTemp("/tmp", "accessc-nobody-")
	ts.Check(err)
	defer os.RemoveAll(dir)
	ts.Check(exec.Command("cp", "-a", ts.MkAbs("."), filepath.Join(dir, "ws")).Run())
	ts.Check(exec.Command("cp", "-a", ts.Getenv("HOME"), filepath.Join(dir, "home")).Run())
	ts.Check(exec.Command("chown", "-R", "65534:65534", dir).Run())
	var out, errs strings.Builder
	for line := args; line != nil && err == nil; {
		line, args = nil, line
		if i := slices.Index(args, "&&"); i >= 0 {
			line, args = args[i+1:], args[:i]
		}
		cmd := exec.Command(filepath.Join(programs, args[0]), args[1:]...)
		cmd.Dir = filepath.Join(dir, "ws")
		cmd.Env = []string{"PATH=" + programs + ":/usr/bin:/bin", "HOME=" + dir + "/home", "XDG_STATE_HOME=" + dir + "/state", "NO_COLOR=1", "TMPDIR=" + dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
	}
	fmt.Fprint(ts.Stdout(), out.String())
	fmt.Fprint(ts.Stderr(), errs.String())
	if (err != nil) != neg {
		ts.Fatalf("%v: %v", args, err)
	}
}

// ended runs a command that must end with a status: status NUMBER PROGRAM ARG...
func ended(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	var e *exec.ExitError
	if !errors.As(err, &e) || strconv.Itoa(e.ExitCode()) != args[0] {
		ts.Fatalf("%v: %v, expected status %s", args[1:], err, args[0])
	}
}

func mkfifo(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o644))
}

// empty waits until a directory is empty: the leftovers of a run are swept after its end.
func empty(ts *testscript.TestScript, _ bool, args []string) {
	await.Until(testFor(ts), args[0]+" is empty", func() bool {
		entries, err := os.ReadDir(ts.MkAbs(args[0]))
		ts.Check(err)
		return len(entries) == 0
	})
}

// testOf is the key of the test that runs a script.
type testOf struct{}

// inTest is a script for helpers of tests: it has the deadline of its test, and fails by itself.
type inTest struct {
	*testing.T
	ts *testscript.TestScript
}

func testFor(ts *testscript.TestScript) inTest {
	t, _ := ts.Value(testOf{}).(*testing.T)
	return inTest{t, ts}
}

// Fatalf implements testing.TB.
func (t inTest) Fatalf(format string, args ...any) { t.ts.Fatalf(format, args...) }
