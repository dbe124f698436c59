package start

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/test/await"
)

// converse asks a question on its console, reads a line there and repeats it.
func converse([]string) int {
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	fmt.Fprint(out, "asked\n")
	line, err := bufio.NewReader(in).ReadString('\n')
	fmt.Fprintf(out, "heard %s %v\n", strings.TrimSpace(line), err)
	return 5
}

// heard is text that a console wrote so far.
type heard struct {
	mu  sync.Mutex
	buf bytes.Buffer
	// more is closed when something comes, nil while nobody waits for that.
	more chan struct{}
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.more != nil {
		close(h.more)
		h.more = nil
	}
	return h.buf.Write(p)
}

// has waits until a text has come.
func (h *heard) has(t *testing.T, text string) {
	t.Helper()
	for {
		h.mu.Lock()
		found := strings.Contains(h.buf.String(), text)
		if h.more == nil {
			h.more = make(chan struct{})
		}
		more := h.more
		h.mu.Unlock()
		if found {
			return
		}
		await.Receive(t, fmt.Sprintf("%q on the console", text), more)
	}
}

// said is all that has come.
func (h *heard) said() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}

// mutter writes to its console, if it has one.
func mutter([]string) int {
	if out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0); err == nil {
		fmt.Fprint(out, "muttered\n")
	}
	return 0
}

// within is a loader that has a console, and its standard handles elsewhere: DIRECTORY.
func within(args []string) int {
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	fmt.Fprint(out, "before\n")
	p := &place{t: &testing.T{}, at: args[0], workspace: args[0] + `\ws`, home: args[0] + `\home`, journals: journals{args[0] + `\journal`}}
	status, err := p.run(p.spec(nil), "mutter").do()
	fmt.Fprintln(out, "after", status, err)
	return 5
}

// converses starts a tool on a pseudo console, has the test talk to it, and wants the status 5.
func converses(t *testing.T, talk func(c *console, text *heard), words ...string) {
	t.Helper()
	p := newPlace(t)
	if words[0] == "within" {
		words = append(words, newPlace(t).at)
	}
	var text heard
	c, err := newConsole(windows.Coord{X: 80, Y: 25}, 0, &text)
	if err != nil {
		t.Fatal(err)
	}
	r := p.run(p.spec(nil), words...)
	r.id, r.console = "console", c
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.undo(); err != nil {
			t.Error(err)
		}
	}()
	tool, err := r.suspended(r.container)
	if err != nil {
		t.Fatal(err)
	}
	defer tool.close()
	if err := tool.resume(); err != nil {
		t.Fatal(err)
	}
	talk(c, &text)
	if status, err := tool.status(); err != nil || status != 5 {
		t.Errorf("the tool ended with %d, %v", status, err)
	}
}

// TestConsole: the tool's console is the one of its run: its text comes to the loader, and the
// loader's keys reach it.
func TestConsole(t *testing.T) {
	converses(t, func(c *console, text *heard) {
		text.has(t, "asked")
		if _, err := c.keys.WriteString("something\r"); err != nil {
			t.Fatal(err)
		}
		text.has(t, "heard something")
	}, "converse")
}

// TestConsoleIsNotShared: a tool whose handles are no consoles does not write to that of its loader.
func TestConsoleIsNotShared(t *testing.T) {
	converses(t, func(_ *console, text *heard) {
		text.has(t, "before")
		text.has(t, "after 0 <nil>")
		if said := text.said(); strings.Contains(said, "muttered") {
			t.Errorf("on the loader's console stands %q", said)
		}
	}, "within")
}

// nestRole is a loader within a job: FLAGS DIRECTORY.
const nestRole = "nest"

func nest(args []string) int {
	j := enterJob(uint32(number(args[0])))
	p := &place{t: &testing.T{}, at: args[1], workspace: args[1] + `\ws`, home: args[1] + `\home`, journals: journals{args[1] + `\journal`}}
	status, err := p.run(p.spec(nil), "exit", "7").do()
	var count basicAccounting
	if e := queryJob(j, jobBasicAccounting, &count); e != nil {
		panic(e)
	}
	fmt.Println(status, err, count.TotalProcesses)
	return 0
}

// enterJob puts this process into a job with flags of limits.
func enterJob(flags uint32) windows.Handle {
	j, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		panic(err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = flags
	if err := setJob(j, windows.JobObjectExtendedLimitInformation, &limits); err != nil {
		panic(err)
	}
	if err := windows.AssignProcessToJobObject(j, windows.CurrentProcess()); err != nil {
		panic(err)
	}
	return j
}

// TestNestedJobs: where the loader is in a job, the tool leaves that if it may, and else starts in it.
func TestNestedJobs(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for flags, leaves := range map[uint32]bool{windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK: true, 0: false} {
		p := newPlace(t)
		said, err := exec.Command(exe, roleCommand, nestRole, fmt.Sprint(flags), p.at).CombinedOutput()
		// The loader alone is in its job, or the tool as well, with a console of the system.
		if got := string(said); err != nil || !strings.HasPrefix(got, "7 <nil> ") || strings.HasPrefix(got, "7 <nil> 1\n") != leaves {
			t.Errorf("%#x: got %q, %v; want the tool outside: %v", flags, got, err, leaves)
		}
	}
	if first, last := ways(false), ways(true); len(first) != 1 || first[0].bare || len(last) != 3 || !last[2].bare || last[1].bare {
		t.Errorf("the ways are %+v, %+v", first, last)
	}
}
