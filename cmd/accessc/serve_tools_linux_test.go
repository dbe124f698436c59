package main

import (
	"bufio"
	"encoding/json"
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
	"time"
)

// TestServeFromTool: a tool does not get at the socket of a server, neither by the kernel nor by its supervisor, also one
// whose policy was widened to its directory; a server starts no tool under such a policy; and a tool that connects
// all the same has no token.
func TestServeFromTool(t *testing.T) {
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
	if err != nil || os.WriteFile(filepath.Join(ws, "probe"), data, 0o755) != nil {
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
	if err := os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(ws, "out")); err != nil {
		t.Fatal(err)
	}
	if out, err := accesscCommand(t, "approve", "-C", ws, "--yes", "out").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for _, c := range []struct{ tool, want string }{
		{"alone", "hello dial unix"}, {"watched", "hello dial unix"}, {"granted", `"reason":"token"`},
	} {
		out, err := accesscCommand(t, "exec", "-C", ws, "--no-prompt", "--command", "--tool", c.tool, "--", filepath.Join(ws, "probe"), "hello="+at.path+"=guess").CombinedOutput()
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
	ws, dir := serveWorkspace(t), private(t)
	narrow := serveTools + "[tools.flips]\nsource = \"local\"\naccess.fs = [{ path = \".\", read = true }"
	wide := narrow + ", { path = \"out\", external = true, read = true, write = true }]\n"
	narrow += "]\n"
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	if os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte(wide), 0o644) != nil || os.Symlink(dir, filepath.Join(ws, "out")) != nil {
		t.Fatal("the workspace cannot be made")
	}
	if out, err := accesscCommand(t, "approve", "-C", ws, "--yes", "out").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	begun := time.Now()
	first, _ := dial(t, at.path, at.token)
	fmt.Fprintln(first, `{"id":2,"method":"start","params":{"tool":"flips"}}`)
	if line, err := bufio.NewReader(first).ReadString('\n'); !strings.Contains(line, "at the socket of this server") {
		t.Fatalf("got %s, %v", line, err)
	}
	whole := time.Since(begun) // of a start that meets no change
	// A change follows each request, once, at a time within its start: a server that met changes without an end would
	// refuse every start for that.
	asked := make(chan struct{}, 1)
	var flips sync.WaitGroup
	defer flips.Wait()
	defer close(asked)
	flips.Go(func() {
		for i := 0; ; i++ {
			if _, more := <-asked; !more {
				return
			}
			time.Sleep(whole * time.Duration(i%17) / 16)
			next := filepath.Join(ws, "next")
			_ = os.WriteFile(next, []byte([]string{narrow, wide}[i%2]), 0o644)
			_ = os.Rename(next, filepath.Join(ws, "accessc.toml"))
		}
	})
	var clients sync.WaitGroup
	var started, refused atomic.Int32
	deadline := time.Now().Add(90 * time.Second)
	for range 3 {
		c, _ := dial(t, at.path, at.token)
		in := bufio.NewReader(c)
		clients.Go(func() {
			// Refusals are answered at once, so there can be many of them before the next change.
			for i := 0; i < 25 || (started.Load() < 5 || refused.Load() < 5) && time.Now().Before(deadline); i++ {
				select {
				case asked <- struct{}{}:
				default: // the change that the last request asked for is still to come
				}
				fmt.Fprintf(c, `{"id":2,"method":"start","params":{"tool":"flips","command":["touch",%q]}}`+"\n", filepath.Join(dir, "reached"))
				line, err := in.ReadString('\n')
				if err != nil {
					t.Error(err)
					return
				}
				var a struct{ Result struct{ Run int } }
				_ = json.Unmarshal([]byte(line), &a)
				if a.Result.Run == 0 {
					if strings.Contains(line, "at the socket of this server") {
						refused.Add(1)
					}
					continue
				}
				started.Add(1)
				fmt.Fprintf(c, `{"id":3,"method":"wait","params":{"run":%d}}`+"\n", a.Result.Run)
				_, _ = in.ReadString('\n')
			}
		})
	}
	clients.Wait()
	if started.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d starts, %d refused", started.Load(), refused.Load())
	}
	t.Logf("%d starts, %d refused, one start takes %v", started.Load(), refused.Load(), whole)
	if _, err := os.Lstat(filepath.Join(dir, "reached")); err == nil {
		t.Error("a tool has written beside the socket")
	}
}

// TestServeSession: the constraints of a tool hold in a session.
func TestServeSession(t *testing.T) {
	s := serveHere(t)
	s.begin(`{"tool":"once","session":"a"}`)
	if a := s.request("start", `{"tool":"once","session":"a"}`); a.reason() != "not-started" || !strings.Contains(a.Error.Message, "1 time") {
		t.Errorf("got %+v", a.Error)
	}
	s.begin(`{"tool":"once","session":"b"}`)
}

// TestServeAsks: a question reaches the client that has started the tool, its answer the tool; no other client answers.
func TestServeAsks(t *testing.T) {
	s := serveHere(t)
	run, _ := s.begin(`{"tool":"watched","command":["sh","-c","cat secret; cat secret"],"stdout":"data","events":true,"ask":true}`)
	var asked struct {
		Events []struct {
			Event    string
			Question struct{ ID int }
		}
	}
	settles(t, "no question", func() bool {
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
	page, err := os.ReadFile("../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := serveWorkspace(t)
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	config, _, _ := strings.Cut(rest, "```")
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	ours, theirs := pair(t)
	cmd := accesscCommand(t, "serve", "-C", dir, "--stdio")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	_ = ours.SetDeadline(time.Now().Add(time.Minute))
	in, methods := bufio.NewReader(ours), map[string]bool{}
	var sent string
	for line := range strings.Lines(string(page)) {
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
		want, ok := strings.CutPrefix(line, "← ")
		if !ok {
			continue
		}
		got, err := in.ReadString('\n')
		var pattern []string
		for _, part := range strings.Split(strings.TrimSpace(want), "…") {
			pattern = append(pattern, regexp.QuoteMeta(part))
		}
		if err != nil || !regexp.MustCompile(`^`+strings.Join(pattern, `.*`)).MatchString(got) {
			t.Errorf("%sgot  %swant %s%v", sent, got, want, err)
		}
	}
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
	if os.Geteuid() != 0 {
		t.Skip("runs as an unprivileged user already")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := private(t)
	data, err := os.ReadFile(self)
	if err != nil || os.WriteFile(filepath.Join(dir, "test"), data, 0o755) != nil || os.Chown(dir, 65534, 65534) != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "test"), "-test.run=^TestServe(Starts|Refuses|Limits|ManyRuns|Ends|Socket|Reads|Descriptors|FromTool|Asks)$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: TestServe") < 10 {
		t.Errorf("%s%v", out, err)
	}
}
