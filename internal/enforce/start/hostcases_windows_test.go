package start

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// looks opens a path with the rights of a number.
func looks(a []string) error { return opens(preparation{path: a[0], access: uint32(number(a[1]))}) }

func makesPipe(a []string) error {
	name, err := windows.UTF16PtrFromString(a[0])
	if err != nil {
		return err
	}
	h, err := windows.CreateNamedPipe(name, windows.PIPE_ACCESS_DUPLEX, windows.PIPE_TYPE_BYTE, 1, 512, 512, 0, nil)
	if err != nil {
		return err
	}
	return windows.CloseHandle(h)
}

// attaches leaves the tool's console for that of a process.
func attaches(a []string) error {
	_, _, _ = kernel32.NewProc("FreeConsole").Call()
	if r, _, err := kernel32.NewProc("AttachConsole").Call(uintptr(number(a[0]))); r == 0 {
		return err
	}
	return nil
}

// breaks sends Ctrl+Break to every process of the tool's console, itself left out.
func breaks([]string) error {
	signal.Ignore(os.Interrupt)
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, 0)
}

// consoleCase: the tool cannot attach to the console of its loader, and its events do not come there.
func consoleCase(p *place) {
	f, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		p.t.Skip("this process has no console, so that nothing can be shown: ", err)
	}
	_ = f.Close()
	p.want(false, p.contained(nil, nil, "try", "attach", fmt.Sprint(os.Getpid())), "attaching")
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt)
	defer signal.Stop(got)
	// The event of one tool would come while the next one starts.
	for range 3 {
		p.t.Logf("the event: %+v", p.contained(nil, nil, "try", "break"))
	}
	select {
	case <-got:
		p.t.Error("an event of the tool's console came here")
	default:
	}
}

// preparationCase: a tool is refused exactly the places that doctor says are still to be prepared on the host.
func preparationCase(p *place) {
	all := preparations(p.workspace, os.Getenv("PATH"))
	refused, err := missing(all)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, one := range all {
		is := false
		for _, r := range refused {
			is = is || r.path == one.path
		}
		p.t.Logf("%s refused: %v", one.path, is)
		p.want(!is, p.contained(nil, nil, "try", "look", one.path, fmt.Sprint(one.access)), one.path)
	}
}

// childPipesCase: a named pipe can be made in the container's own part of the names alone.
func childPipesCase(p *place) {
	name := fmt.Sprintf("accessc-%d", os.Getpid())
	p.want(false, p.contained(nil, nil, "try", "pipe", `\\.\pipe\`+name), "a pipe")
	p.want(true, p.contained(nil, nil, "try", "pipe", strings.Join([]string{`\\.\pipe\LOCAL`, name}, `\`)), "a pipe of its own")
}

// msysCase: a program of Git for Windows that is built for MSYS fails, one of the system runs.
func msysCase(p *place) {
	git, err := exec.LookPath("git.exe")
	if err != nil {
		p.t.Skip("there is no git here, whose programs are built for MSYS: ", err)
	}
	posix := filepath.Join(filepath.Dir(filepath.Dir(git)), `usr\bin\true.exe`)
	var e *Error
	if err := refusePosix(posix); !errors.As(err, &e) {
		p.t.Fatalf("%s is not known as a program of MSYS: %v", posix, err)
	}
	p.want(true, p.contained(nil, nil, "try", "program", filepath.Join(os.Getenv("SystemRoot"), `System32\cmd.exe`), "/d", "/c", "exit 0"), "a program of the system")
	p.want(false, p.contained(nil, nil, "try", "program", posix), posix)
}

// TestStanding: doctor says how a tool's job stands to the loader's, by the way that a start would go.
func TestStanding(t *testing.T) {
	for _, c := range []struct {
		s     standing
		state State
		said  string
	}{
		{standing{}, Present, "there is none"},
		{standing{nested: true, way: way{flags: windows.CREATE_BREAKAWAY_FROM_JOB}}, Present, "tools leave it"},
		{standing{nested: true}, Present, "with all restrictions"},
		{standing{nested: true, way: way{bare: true}}, Partial, "the clipboard"},
		{standing{nested: true, refused: windows.ERROR_ACCESS_DENIED}, Missing, "cannot be made"},
	} {
		f := c.s.finding()
		if f.State != c.state || !strings.Contains(f.Detail, c.said) || (f.Fix == "") != (c.state == Present) || (c.s.refused != nil) != (tierOf(c.s.obstacles()) == tierNone) {
			t.Errorf("%+v: got %+v", c.s, f)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[uint32]string{windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK: "true 0x1000000 false <nil> 1", 0: "true 0x0 false <nil> 2"} {
		said, err := exec.Command(exe, roleCommand, "standing", fmt.Sprint(flags)).CombinedOutput()
		if got := strings.TrimSpace(string(said)); err != nil || got != want && onWine() || !strings.HasPrefix(got, "true") {
			t.Errorf("%#x: got %q, %v; want %q", flags, got, err, want)
		}
	}
}

// standRole stands in a job: FLAGS.
func standRole(args []string) int {
	j := enterJob(uint32(number(args[0])))
	s := stand()
	var count basicAccounting
	if err := queryJob(j, jobBasicAccounting, &count); err != nil {
		panic(err)
	}
	fmt.Printf("%v %#x %v %v %d\n", s.nested, s.way.flags, s.way.bare, s.refused, count.TotalProcesses)
	return 0
}

// TestUpdated: doctor compares the revision of the system with that of the update.
func TestUpdated(t *testing.T) {
	if f := updated(); f.State == Missing || f.Name != "console update" || (f.State == Present) != strings.Contains(f.Detail, "has the one") {
		t.Errorf("got %+v", f)
	}
}

// TestAtStart: the task runs a program where administrators alone write.
func TestAtStart(t *testing.T) {
	for _, c := range []struct{ exe, programs, want string }{
		{`C:\Program Files\accessc\bin\accessc.exe`, `C:\Program Files`, `"\"C:\Program Files\accessc\bin\accessc.exe\" doctor --prepare"`},
		{`c:\program files\a.exe`, `C:\Program Files`, `"\"c:\program files\a.exe\" doctor --prepare"`},
		{`C:\Users\u\accessc.exe`, `D:\Program Files`, `"\"D:\Program Files\accessc\accessc.exe\" doctor --prepare" (with a copy of accessc there: the task has all rights)`},
		{`C:\Program Files (x86)\accessc.exe`, `C:\Program Files`, `"\"C:\Program Files\accessc\accessc.exe\" doctor --prepare" (with a copy of accessc there: the task has all rights)`},
		{`C:\x.exe`, "", `"\"C:\Program Files\accessc\accessc.exe\" doctor --prepare" (with a copy of accessc there: the task has all rights)`},
	} {
		if got, want := atStart(c.exe, c.programs), `schtasks /create /tn "accessc NUL" /sc onstart /ru SYSTEM /tr `+c.want; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
