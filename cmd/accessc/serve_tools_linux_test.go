package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
	"github.com/accessc/accessc/test/scripts"
	"github.com/accessc/accessc/test/testbuild"
)

// TestServeFromTool: a tool does not get at the socket of a server, neither by the kernel nor by its supervisor, also one
// whose policy was widened to its directory; a server starts no tool under such a policy; and a tool that connects
// all the same has no token.
func TestServeFromTool(t *testing.T) {
	t.Parallel()
	ws, dir := serveWorkspace(t), private(t)
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	tool, err := exec.LookPath("probe")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(tool)
	if err != nil || testbuild.WriteFile(filepath.Join(ws.dir, "probe"), data, 0o755) != nil {
		t.Fatal(err)
	}
	granted := `
[tools.granted]
source = "local"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = "out", external = true, read = true, write = true }]
[tools.reaches]
source = "local"
command = "true"
access.fs = [{ path = ".", read = true, execute = true }, { path = "out", external = true, read = true, write = true }]
`
	config := strings.ReplaceAll(serveTools, "read = true", "read = true, execute = true") + granted
	if err := os.WriteFile(filepath.Join(ws.dir, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(ws.dir, "out")); err != nil {
		t.Fatal(err)
	}
	if out, err := ws.command(t, "approve", "-C", ws.dir, "--yes", "out").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for _, c := range []struct{ tool, want string }{
		{"alone", "hello dial unix"}, {"watched", "hello dial unix"}, {"granted", `"reason":"token"`},
	} {
		out, err := ws.command(t, "exec", "-C", ws.dir, "--no-prompt", "--command", "--tool", c.tool, "--", filepath.Join(ws.dir, "probe"), "hello="+at.path+"=guess").CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("%s: got %s, %v", c.tool, out, err)
		}
	}
	c, _ := dial(t, at.path, at.token)
	fmt.Fprintln(c, `{"id":2,"method":"start","params":{"tool":"reaches"}}`)
	if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, "at the socket of this server") {
		t.Errorf("got %s, %v", line, err)
	}
}

// TestServeJudged: a tool starts under the policy that was judged for it, also while the configuration changes: one that
// comes and goes grants the socket's directory, and no start has it.
func TestServeJudged(t *testing.T) {
	t.Parallel()
	ws, dir := serveWorkspace(t), private(t)
	narrow := serveTools + "[tools.flips]\nsource = \"local\"\naccess.fs = [{ path = \".\", read = true }"
	wide := narrow + ", { path = \"out\", external = true, read = true, write = true }]\n"
	narrow += "]\n"
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	if os.WriteFile(filepath.Join(ws.dir, "accessc.toml"), []byte(wide), 0o644) != nil || os.Symlink(dir, filepath.Join(ws.dir, "out")) != nil {
		t.Fatal("the workspace cannot be made")
	}
	if out, err := ws.command(t, "approve", "-C", ws.dir, "--yes", "out").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	first, _ := dial(t, at.path, at.token)
	fmt.Fprintln(first, `{"id":2,"method":"start","params":{"tool":"flips"}}`)
	if line, err := bufio.NewReader(first).ReadString('\n'); !strings.Contains(line, "at the socket of this server") {
		t.Fatalf("got %s, %v", line, err)
	}
	asked, answered, stop := flipping(t, filepath.Join(ws.dir, "accessc.toml"), narrow, wide)
	var clients [3]*judgedClient
	for i := range clients {
		c, _ := dial(t, at.path, at.token)
		clients[i] = &judgedClient{t: t, in: bufio.NewReader(c), out: c}
	}
	var started, refused atomic.Int32
	// A round is met where a client is answered otherwise than the time before.
	irtest.Race(t, 5, 200, func(int) bool {
		var all sync.WaitGroup
		var met atomic.Bool
		for _, c := range clients {
			all.Go(func() {
				asked()
				was := c.outcome
				c.start(filepath.Join(dir, "reached"))
				answered()
				switch c.outcome {
				case outcomeStarted:
					started.Add(1)
				case outcomeRefused:
					refused.Add(1)
				}
				if was != "" && was != c.outcome {
					met.Store(true)
				}
			})
		}
		all.Wait()
		return met.Load()
	})
	stop()
	t.Logf("%d starts, %d refused", started.Load(), refused.Load())
	if _, err := os.Lstat(filepath.Join(dir, "reached")); err == nil {
		t.Error("a tool has written beside the socket")
	}
	// With nothing that changes, the tool starts.
	if err := os.WriteFile(filepath.Join(ws.dir, "accessc.toml"), []byte(narrow), 0o644); err != nil {
		t.Fatal(err)
	}
	if clients[0].start("/dev/null"); clients[0].outcome != outcomeStarted {
		t.Errorf("in the end the start is answered %s", clients[0].outcome)
	}
}

// flipping changes a file to one text and another. A change follows the call of asked, once, when the seed says: after the
// file has been opened a few times, which the next start after a change does, or when a start was answered. A server that
// met changes without an end would refuse every start for that.
func flipping(t *testing.T, file, narrow, wide string) (asked, answered, stop func()) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	opened := os.NewFile(uintptr(fd), "inotify")
	watch := func() error {
		_, err := unix.InotifyAddWatch(fd, file, unix.IN_OPEN|unix.IN_CLOSE)
		return err
	}
	if err := watch(); err != nil {
		t.Fatal(err)
	}
	turns, answers, looks := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	tell := func(c chan struct{}) {
		select {
		case c <- struct{}{}:
		default: // there is word of the last time
		}
	}
	r := epoch.Rand(t)
	over := make(chan struct{})
	var flips, reads sync.WaitGroup
	reads.Go(func() {
		for buf := make([]byte, 4096); ; tell(looks) {
			if _, err := opened.Read(buf); err != nil {
				return
			}
		}
	})
	flips.Go(func() {
		for i := 0; ; i++ {
			if _, more := <-turns; !more {
				return
			}
			for n := r.IntN(4); n > 0; n-- {
				select {
				case <-looks:
				case <-answers:
					n = 0
				case <-over:
					return
				}
			}
			next := filepath.Join(filepath.Dir(file), "next")
			if err := errors.Join(os.WriteFile(next, []byte([]string{narrow, wide}[i%2]), 0o644), os.Rename(next, file), watch()); err != nil {
				t.Error(err)
			}
		}
	})
	return func() { tell(turns) }, func() { tell(answers) }, func() {
		close(over)
		close(turns)
		flips.Wait()
		_ = opened.Close()
		reads.Wait()
	}
}

// judgedClient starts a tool, time after time.
type judgedClient struct {
	t       *testing.T
	in      *bufio.Reader
	out     io.Writer
	outcome string
}

const (
	outcomeStarted = "started"
	outcomeRefused = "refused for the socket"
)

// start has the tool write a file, and waits for its end.
func (c *judgedClient) start(file string) {
	fmt.Fprintf(c.out, `{"id":2,"method":"start","params":{"tool":"flips","command":["touch",%q]}}`+"\n", file)
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Error(err)
		return
	}
	var a struct{ Result struct{ Run int } }
	_ = json.Unmarshal([]byte(line), &a)
	switch {
	case a.Result.Run != 0:
		c.outcome = outcomeStarted
		fmt.Fprintf(c.out, `{"id":3,"method":"wait","params":{"run":%d}}`+"\n", a.Result.Run)
		_, _ = c.in.ReadString('\n')
	case strings.Contains(line, "at the socket of this server"):
		c.outcome = outcomeRefused
	default:
		c.outcome = line
	}
}

// TestServeSession: the constraints of a tool hold in a session.
func TestServeSession(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	s.begin(`{"tool":"once","session":"a"}`)
	if a := s.request("start", `{"tool":"once","session":"a"}`); a.reason() != "not-started" || !strings.Contains(a.Error.Message, "1 time") {
		t.Errorf("got %+v", a.Error)
	}
	s.begin(`{"tool":"once","session":"b"}`)
}

// TestServeAsks: a question reaches the client that has started the tool, its answer the tool; no other client answers.
func TestServeAsks(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	run, _ := s.begin(`{"tool":"watched","command":["sh","-c","cat secret; cat secret"],"stdout":"data","events":true,"ask":true}`)
	var asked struct {
		Events []struct {
			Event    string
			Question struct{ ID int }
		}
	}
	await.Until(t, "there is a question", func() bool {
		return json.Unmarshal([]byte(s.must("events", "{}")), &asked) == nil && asked.Events[0].Event == "asks"
	})
	if got := s.request("answer", fmt.Sprintf(`{"run":%d,"question":99,"answer":"run"}`, run)); got.reason() != "run" {
		t.Errorf("an answer to no question: %+v", got)
	}
	if got := s.request("answer", fmt.Sprintf(`{"run":%d,"question":%d,"answer":"yes"}`, run, asked.Events[0].Question.ID)); got.Error == nil {
		t.Error("an answer that is none")
	}
	s.must("answer", fmt.Sprintf(`{"run":%d,"question":%d,"answer":"run"}`, run, asked.Events[0].Question.ID))
	if out, _ := s.output(run); out != "kept\nkept\n" {
		t.Errorf("got %q", out)
	}
}

// TestServePage: the answers on the protocol's page are those of the server.
func TestServePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/hosts.md")
	if err != nil {
		t.Fatal(err)
	}
	ws := serveWorkspace(t)
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	config, _, _ := strings.Cut(rest, "```")
	if err := os.WriteFile(filepath.Join(ws.dir, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	ours, theirs := pair(t)
	cmd := ws.command(t, "serve", "-C", ws.dir, "--stdio")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	_ = ours.SetDeadline(await.Deadline(t))
	in, methods := bufio.NewReader(ours), map[string]bool{}
	var sent string
	wanted := map[string]*regexp.Regexp{} // by id: what is answered when it is done comes in no order
	id := func(line string) string {
		_, rest, _ := strings.Cut(line, `"id":`)
		n, _, _ := strings.Cut(rest, ",")
		return n
	}
	answered := func() {
		for len(wanted) > 0 {
			got, err := in.ReadString('\n')
			if err != nil {
				t.Fatalf("%sgot  %swant %s%v", sent, got, wanted, err)
			}
			if want := wanted[id(got)]; want == nil || !want.MatchString(got) {
				t.Errorf("%sgot  %swant %s", sent, got, want)
			}
			delete(wanted, id(got))
		}
	}
	for line := range strings.Lines(string(page)) {
		if want, ok := strings.CutPrefix(line, "← "); ok {
			var pattern []string
			for _, part := range strings.Split(strings.TrimSpace(want), "…") {
				pattern = append(pattern, regexp.QuoteMeta(part))
			}
			wanted[id(want)] = regexp.MustCompile(`^` + strings.Join(pattern, `.*`))
			continue
		}
		answered()
		if request, ok := strings.CutPrefix(line, "→ "); ok {
			var r struct{ Method string }
			if err := json.Unmarshal([]byte(request), &r); err != nil {
				t.Fatal(err)
			}
			sent, methods[r.Method] = request, true
			if _, err := io.WriteString(ours, request); err != nil {
				t.Fatal(err)
			}
		}
	}
	answered()
	for _, m := range []string{"hello", "answer", "can", "decide", "events", "revoke", "signal", "start", "wait", "write"} {
		if !methods[m] {
			t.Errorf("the page has no example of %s", m)
		}
	}
	ours.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServeTypes: the TypeScript compiler finds no mistake in the types of the example for Node.
func TestServeTypes(t *testing.T) {
	t.Parallel()
	tsc, err := filepath.Abs("../../.cache/npm/node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tsc); err != nil {
		t.Skip("needs typescript in .cache/npm: task npm")
	}
	cmd := exec.Command(tsc, "-p", "../../examples/serve/typescript", "--typeRoots", "../../.cache/npm/node_modules/@types")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v", out, err)
	}
}

// TestServeUnprivileged: the same as a user without privileges.
func TestServeUnprivileged(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("runs as an unprivileged user already")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := private(t)
	for name, file := range map[string]string{"test": self, "accessc": ""} {
		if file == "" {
			if file, err = exec.LookPath(name); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command("install", "-o", "65534", file, filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "test"), "-test.run=^TestServe(Starts|Refuses|Limits|ManyRuns|Ends|Socket|Reads|Descriptors|FromTool|Asks)$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, scripts.ProgramVariable+"="+dir+"/accessc")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: TestServe") < 10 {
		t.Errorf("%s%v", out, err)
	}
}
