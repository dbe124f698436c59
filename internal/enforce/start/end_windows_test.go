package start

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// TestBreakaway: a process that the tool starts stays in the job, also when it asks not to.
func TestBreakaway(t *testing.T) {
	p := newPlace(t)
	got := output(t, func() {
		p.start(p.run(p.spec(nil), "spawn", fmt.Sprint(windows.CREATE_BREAKAWAY_FROM_JOB), "ends", "exit", "0"))
	})
	if !strings.HasPrefix(got, "refused:") {
		t.Errorf("got %q", got)
	}
}

// TestWaitsForTheJob: a start is over when all processes that the tool started are.
func TestWaitsForTheJob(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.workspace, "late")
	output(t, func() { p.start(p.run(p.spec(nil), "spawn", "0", "ends", "later", file, "x")) })
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// TestWallTime: when the time is over the tool ends with all processes that it started.
func TestWallTime(t *testing.T) {
	p := newPlace(t)
	spec := p.spec(func(tool *ir.Tool) { tool.Limits = []ir.Limit{{Kind: ir.LimitWallTime, Value: 1500}} })
	var said strings.Builder
	r := p.run(spec, "spawn", "0", "stays", "stay")
	r.req.Messages = &said
	out := output(t, func() {
		if status, err := r.do(); err != nil || status != statusKilled {
			t.Errorf("got %d, %v", status, err)
		}
	})
	if !strings.Contains(said.String(), "limits.wall_time") {
		t.Errorf("said %q", said.String())
	}
	p.gone(out)
}

// gone checks that the child that a tool named has ended.
func (p *place) gone(said string) {
	p.t.Helper()
	var pid uint32
	if _, err := fmt.Sscanf(said, "child %d", &pid); err != nil {
		p.t.Fatalf("%q: %v", said, err)
	}
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, pid)
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	await.Until(p.t, fmt.Sprintf("process %d ends with the job", pid), func() bool {
		e, err := windows.WaitForSingleObject(h, 0)
		if err != nil {
			p.t.Fatal(err)
		}
		return e == windows.WAIT_OBJECT_0
	})
}

// loaderRole is a loader that a test can kill: it starts a tool that starts another, as a place
// in an existing directory.
const loaderRole = "loader"

// TestTreeEndsWithTheLoader: when the loader is killed no process of the tool stays, and the
// next start undoes the changes that the run left.
func TestTreeEndsWithTheLoader(t *testing.T) {
	p := newPlace(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, roleCommand, loaderRole, p.at)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 256)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	p.left(1)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	p.gone(string(line[:n]))
	p.left(1)
	p.start(p.run(p.spec(nil), "exit", "0"))
	p.left(0)
}

// TestSweepLeavesTheLiving: the belongings of a run that goes on stay.
func TestSweepLeavesTheLiving(t *testing.T) {
	p := newPlace(t)
	r := p.run(p.spec(nil), "exit", "0")
	r.id = "living"
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	p.left(1)
	p.start(p.run(p.spec(nil), "exit", "0"))
	p.left(1)
	if err := r.undo(); err != nil {
		t.Error(err)
	}
	p.left(0)
}

// TestSweepKeepsToRuns: a journal that names another directory than a run's does not have it
// removed, and one that was cut off does nothing.
func TestSweepKeepsToRuns(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(p.journals.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"foreign": fmt.Sprintf(`{"format":%q,"format_version":1,"directory":%q}`, journalFormat, p.workspace),
		"cut":     `{"format":"acc`, "empty": "",
	} {
		if err := os.WriteFile(filepath.Join(p.journals.dir, name+journalSuffix), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.journals.locked(func() error { return p.journals.sweep("") }); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.workspace); err != nil {
		t.Error(err)
	}
	p.left(0)
}

// TestOverlappingRuns: the list from before the first of several runs comes back with the end
// of the last, whichever that is, and until then each takes its own entries alone.
func TestOverlappingRuns(t *testing.T) {
	const before, a, b = "D:(A;;FA;;;SY)", "(A;;FR;;;S-1-15-2-1-1)", "(A;;FR;;;S-1-15-2-2-2)"
	list := func(s string) winjob.List {
		l, err := winjob.ParseList(s)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	at := func(s string) *object { return &object{id: identity{1, 2}, list: list(s)} }
	first := &journal{Package: "S-1-15-2-1-1", Objects: []change{at(before + "(A;ID;FR;;;BU)").change(nil)}}
	second := &journal{Package: "S-1-15-2-2-2", Objects: []change{at("D:P(A;;FA;;;SY)(A;;FR;;;BU)" + a).change([]*journal{first})}}
	both := list("D:P(A;;FA;;;SY)(A;;FR;;;BU)" + a + b)
	for _, order := range [][2]*journal{{first, second}, {second, first}} {
		one, other := order[0], order[1]
		left, err := one.Objects[0].back(both, one.Package, []*journal{other})
		if err != nil || left.String() != both.Without(one.Package).String() || !left.Protected {
			t.Errorf("after the first: %s, %v", left, err)
		}
		if end, err := other.Objects[0].back(left, other.Package, nil); err != nil || end.String() != before {
			t.Errorf("after the last: %s, %v", end, err)
		}
	}
	if elsewhere := (&journal{Objects: []change{{Identity: identity{1, 3}}}}); elsewhere.find(identity{1, 2}) != nil {
		t.Error("another object was taken for this one")
	}
}

// TestShell: text for a shell goes to cmd.exe as it is, and nothing is added to it.
func TestShell(t *testing.T) {
	p := newPlace(t)
	shell := p.spec(func(tool *ir.Tool) { tool.Command = &ir.Command{Program: `echo "a b" & exit 3`, Shell: true} })
	got := output(t, func() {
		if status, err := p.run(shell).do(); err != nil || status != 3 {
			t.Errorf("got %d, %v", status, err)
		}
	})
	if strings.TrimSpace(got) != `"a b"` {
		t.Errorf("got %q", got)
	}
	var e *Error
	if _, err := p.run(shell, "& more").do(); !errors.As(err, &e) || e.Code != CodeFailed {
		t.Errorf("further arguments: %v", err)
	}
	p.left(0)
}
