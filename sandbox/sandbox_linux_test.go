package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/sandbox"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

// config has a tool that the kernel confines alone, and one that needs a supervisor.
const config = `
[tools.alone]
source = "local"
command = "/bin/sh"
access.fs = [{ path = ".", read = true }]
access.accept = ["fs.metadata"] # no supervisor

[tools.supervised]
source = "local"
command = "/bin/sh"
access.fs = [{ path = ".", read = true, write = true }, { path = "secret" }]

[tools.asks]
source = "local"
command = "/bin/sh"
access.fs = [{ path = ".", read = true }, { path = "secret" }]
access.may = [{ path = "secret", read = true }]

[tools.limited]
source = "local"
command = "/bin/sh"
access.fs = [{ path = ".", read = true }]
access.limits = { open_files = 20, file_size = "4KiB" }

[tools.timed]
source = "local"
command = "/bin/sh"
access.fs = [{ path = ".", read = true }]
access.limits = { wall_time = "300ms" }

[tools.wrong]
source = "local"
command = "/bin/sh"
access.fs = [{ path = "/absolute" }]
`

var both = []string{"alone", "supervised"}

// open makes a workspace and opens a host there.
func open(t testing.TB) (*sandbox.Host, string) {
	t.Helper()
	return openWith(t, config)
}

// rootToo are tests that TestAsNobody does not run, and those of what root alone could do.
var rootToo = map[string]bool{
	"TestNoGrowth": true, "TestElevated": true, "TestUserChanged": true, "TestDescriptors": true, "TestApart": true,
	"TestHostKilled": true, "TestDeepTree": true, "TestTraced": true,
}

// openWith is open with another configuration.
func openWith(t testing.TB, config string) (*sandbox.Host, string) {
	t.Helper()
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	if os.Getuid() == 0 && !irtest.Full() && !rootToo[t.Name()] {
		t.Skip("TestAsNobody runs it; root runs it at full count")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	tmp := filepath.Join(dir, "tmp")
	ws := filepath.Join(dir, "ws")
	for _, d := range []string{tmp, ws} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", tmp)
	t.Setenv("PATH", "/usr/bin:/bin")
	for name, text := range map[string]string{"accessc.toml": config, "secret": "hidden\n", "plain": "shown\n"} {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h, err := sandbox.Open(sandbox.Config{Dir: ws})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	return h, ws
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestOutput: a tool's output, status and arguments, alone and supervised.
func TestOutput(t *testing.T) {
	h, ws := open(t)
	for _, tool := range both {
		out, err := h.Command(tool, "-c", `pwd; cat plain; echo "$1"`, "sh", "a word").Output()
		if want := ws + "\nshown\na word\n"; err != nil || string(out) != want {
			t.Errorf("%s: %q %v, want %q", tool, out, err, want)
		}
		out, err = h.Command(tool, "-c", "echo said >&2; exit 7").Output()
		var exit *sandbox.ExitError
		if !errors.As(err, &exit) || exit.Status != 7 || string(exit.Stderr) != "said\n" || len(out) > 0 {
			t.Errorf("%s: %q %v", tool, out, err)
		}
		c := h.Command(tool, "-c", "cat; kill -9 $$")
		c.Stdin = strings.NewReader("in")
		out, err = c.CombinedOutput()
		if !errors.As(err, &exit) || exit.Signal != unix.SIGKILL || string(out) != "in" {
			t.Errorf("%s: %q %v", tool, out, err)
		}
	}
}

// TestContextFile: a tool reads its Context, and an unsupervised one cannot change the file that it shares
// with others.
func TestContextFile(t *testing.T) {
	h, ws := open(t)
	for _, tool := range both {
		out, err := h.Command(tool, "-c", `cat "$ACCESSC_CONTEXT"`).Output()
		if err != nil || !strings.Contains(string(out), ws) {
			t.Errorf("%s: %q %v", tool, out, err)
		}
	}
	for _, change := range []string{`echo x > "$ACCESSC_CONTEXT"`, `rm -f "$ACCESSC_CONTEXT"`, `mv "$ACCESSC_CONTEXT" $TMPDIR/x`, `ls "${ACCESSC_CONTEXT%/*}"`} {
		if out, err := h.Command("alone", "-c", change).Output(); err == nil || len(out) > 0 {
			t.Errorf("%s: %q %v", change, out, err)
		}
	}
}

// TestCall: a call reaches the tool by its Context, and no other tool of the same policy.
func TestCall(t *testing.T) {
	h, _ := open(t)
	for _, tool := range both {
		c := h.Command(tool, "-c", `cat "$ACCESSC_CONTEXT"`)
		c.Arguments, c.ConversationID = json.RawMessage(`{"path":"src/a"}`), "c1"
		out, err := c.Output()
		if err != nil || !strings.Contains(string(out), "src/a") || !strings.Contains(string(out), `"c1"`) {
			t.Errorf("%s: %q %v", tool, out, err)
		}
		if out, err := h.Command(tool, "-c", `cat "$ACCESSC_CONTEXT"`).Output(); err != nil || strings.Contains(string(out), "src/a") {
			t.Errorf("%s, the next one: %q %v", tool, out, err)
		}
		c = h.Command(tool)
		c.Arguments = json.RawMessage(`[1]`)
		if err := c.Run(); err == nil {
			t.Errorf("%s: arguments that are no object were taken", tool)
		}
	}
}

// TestDenied: files that the policy denies stay denied, and refusals are told.
func TestDenied(t *testing.T) {
	h, _ := open(t)
	for _, tool := range both {
		var events []sandbox.Event
		c := h.Command(tool, "-c", "cat secret; cat /etc/shadow; true")
		if tool == "alone" {
			c = h.Command(tool, "-c", "echo x > new; cat /etc/shadow; true")
		}
		c.Events = func(e sandbox.Event) { events = append(events, e) }
		out, err := c.CombinedOutput()
		if err != nil || strings.Contains(string(out), "hidden") || strings.Contains(string(out), "root:") {
			t.Fatalf("%s: %q %v", tool, out, err)
		}
		refused := 0
		for _, e := range events {
			if e.Process != c.Process || e.Process.Tool() != tool {
				t.Errorf("%s: %+v", tool, e)
			}
			if e.Kind == sandbox.Refused && strings.Contains(string(e.Refusal), "secret") {
				refused++
			}
		}
		if last := events[len(events)-1]; last.Kind != sandbox.Ended || last.State != c.State {
			t.Errorf("%s: the last event is %+v", tool, last)
		}
		if supervised := tool == "supervised"; c.Process.Supervised() != supervised || (refused == 1) != supervised || (c.State.Refused > 0) != supervised {
			t.Errorf("%s: supervised %v, %d refusals told, %d counted", tool, c.Process.Supervised(), refused, c.State.Refused)
		}
	}
}

// TestNotStarted: an error of Start means that nothing has run.
func TestNotStarted(t *testing.T) {
	h, ws := open(t)
	var refused *sandbox.StartError
	for _, tool := range both {
		_, err := h.Start(t.Context(), sandbox.Request{Tool: tool, Program: "no-such-program"})
		if !errors.As(err, &refused) || refused.Code != 127 {
			t.Errorf("%s: %v", tool, err)
		}
		_, err = h.Start(t.Context(), sandbox.Request{Tool: tool, Program: ws + "/plain"})
		if !errors.As(err, &refused) || refused.Code != 126 {
			t.Errorf("%s: %v", tool, err)
		}
	}
	var policy *sandbox.PolicyError
	if err := h.Command("wrong").Run(); !errors.As(err, &policy) {
		t.Errorf("wrong: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		err error
		is  error
	}{
		"a tool that no layer names": {h.Command("missing").Run(), sandbox.ErrNoTool},
		"no tool and no program":     {h.Command("").Run(), nil},
		"a policy with mistakes":     {h.Command("wrong").Run(), nil},
		"an argument with a zero":    {h.Command("alone", "\x00").Run(), nil},
		"a context that is done":     {h.CommandContext(cancelled, "alone").Run(), context.Canceled},
	} {
		if !errors.As(c.err, &refused) || refused.Code != 125 || c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("%s: %#v", name, c.err)
		}
	}
}

// TestContext: a context that is done kills the tool.
func TestContext(t *testing.T) {
	h, _ := open(t)
	for _, tool := range both {
		ctx := &late{Context: t.Context(), over: make(chan struct{})}
		c := h.CommandContext(ctx, tool, "-c", "echo begun; exec sleep 1000")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Error(err)
		}
		close(ctx.over)
		if err := c.Wait(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// late is a context whose deadline the test says.
type late struct {
	context.Context
	over chan struct{}
}

func (l *late) Done() <-chan struct{} { return l.over }

func (l *late) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestUnapproved: a script whose place waits for an approval does not start.
func TestUnapproved(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	script := filepath.Join(home, "place", "script")
	if err := os.Mkdir(filepath.Dir(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := testbuild.WriteFile(script, []byte("#!/bin/sh\necho started\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h, _ := openWith(t, `[tools.script]
source = "local"
command = "`+script+`"
access.fs = [{ path = ".", read = true }, { path = "~/place", external = true, read = true, execute = true }]
`)
	var refused *sandbox.StartError
	out, err := h.Command("script").Output()
	if !errors.As(err, &refused) || refused.Code != 126 || !strings.Contains(err.Error(), "accessc approve") {
		t.Errorf("got %q, %v", out, err)
	}
}
