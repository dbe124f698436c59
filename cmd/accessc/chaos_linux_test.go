package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/seat"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// rig is a proxy between a test and a program that appends its input to the file "got".
type rig struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out chan string
	// dir is the workspace, tmp the directory for temporary files.
	dir, tmp string
}

// chaosPolicy permits docs to the server and to the tool of the agent, and nothing of secret.
const chaosPolicy = `
[servers.s]
access.fs = [{ path = "docs", read = true }, { path = "out", read = true, write = true }, { path = "secret" }]

[tools.t]
source = "local"
command = "true"
access.fs = [{ path = "docs", read = true }, { path = "secret" }]
`

// newRig starts accessc with the words, behind a shell command such as "ulimit -f 64;".
func newRig(t *testing.T, before string, words ...string) *rig {
	t.Helper()
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	r := &rig{dir: t.TempDir(), tmp: t.TempDir(), out: make(chan string, 10000)}
	for _, dir := range []string{"docs", "out", "secret"} {
		if err := os.Mkdir(filepath.Join(r.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.configure(t, chaosPolicy)
	r.cmd = exec.Command("sh", append([]string{"-c", before + ` exec accessc "$@"`, "sh"}, words...)...)
	r.cmd.Dir, r.cmd.Stderr = r.dir, os.Stderr
	r.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "TMPDIR="+r.tmp)
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	go func() {
		defer close(r.out)
		in := bufio.NewReader(out)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			r.out <- line
		}
	}()
	return r
}

func (r *rig) configure(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "accessc.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// send writes a line, and answered waits for one with a text.
func (r *rig) send(line string) { _, _ = io.WriteString(r.in, line+"\n") }

func (r *rig) answered(t *testing.T, with string) string {
	t.Helper()
	for {
		line, ok := await.Receive(t, "an answer with "+with, r.out)
		if !ok {
			t.Fatalf("the proxy ended without %s", with)
		}
		if strings.Contains(line, with) {
			return line
		}
	}
}

// killed sends lines, a few ahead of the answers, and kills the proxy after as many answers as the seed says, while it has
// more to do.
func (r *rig) killed(t *testing.T, line func(i int) string) {
	t.Helper()
	const ahead = 16
	n := epoch.Rand(t).IntN(200)
	t.Logf("killed after %d answers", n)
	for i := range n + ahead {
		r.send(line(i))
		if i >= ahead {
			r.answered(t, "")
		}
	}
	_ = r.cmd.Process.Kill()
}

// unread is how much of its input the proxy has not read.
func (r *rig) unread(t *testing.T) int {
	t.Helper()
	n, err := unix.IoctlGetInt(int(r.in.(*os.File).Fd()), unix.TIOCINQ)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// reading is a call that reads a path, with an id and further text.
func reading(id int, path, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":"%s","text":"%s"}}}`, id, path, more)
}

// got returns the input that reached the server. A refused call in it fails the test.
func (r *rig) got(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, "out", "got"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("secret")) {
		t.Errorf("the server got a call that is refused")
	}
	return string(data)
}

// copier keeps text before it repeats it, as keeper does, and reads many bytes at once, which a shell cannot. A call
// that is repeated is kept.
var copier = []string{"mcp", "--server", "s", "--", "sh", "-c", "exec tee /dev/fd/3 3>&1 >>out/got"}

// keeper is a server that keeps each line before it repeats it.
var keeper = []string{"mcp", "--server", "s", "--", "sh", "-c", `while IFS= read -r line; do printf '%s\n' "$line" >>out/got; printf '%s\n' "$line"; done`}

// TestChaosKilled: whenever a proxy is killed, no refused call has reached the server; and the next proxy removes
// the directory of the killed one, but not that of a living one.
func TestChaosKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", keeper...)
	r.send(reading(0, "docs/a", ""))
	r.answered(t, `"id":0`)
	r.killed(t, func(i int) string { return reading(i+1, []string{"secret/a", "docs/a"}[i%2], "") })
	for range r.out {
	}
	r.got(t)
	seats := func() []string {
		all, _ := filepath.Glob(filepath.Join(r.tmp, seat.Prefix+"*"))
		return all
	}
	left := seats()
	if len(left) != 1 {
		t.Fatalf("a killed proxy left %v", left)
	}
	alive := filepath.Join(r.tmp, seat.Prefix+"alive")
	foreign := filepath.Join(r.tmp, seat.Prefix+"link")
	if err := errors.Join(os.Mkdir(alive, 0o700), os.Symlink(r.dir+"/docs", foreign)); err != nil {
		t.Fatal(err)
	}
	lock, err := seat.Lock(alive)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	// The server of the killed proxy ends a little later, and clears its own directory in the proxy's,
	// which is then as new as one that is being made.
	kept := []string{alive, foreign}
	await.Until(t, "the directory of the killed proxy is removed", func() bool {
		old := time.Now().Add(-time.Minute)
		if err := errors.Join(os.Chtimes(alive, old, old), os.Chtimes(r.dir+"/docs", old, old)); err != nil {
			t.Fatal(err)
		}
		_ = os.Chtimes(left[0], old, old) // it may have gone
		next := exec.Command("accessc", "mcp", "--server", "s", "--", "true")
		next.Dir, next.Env = r.dir, r.cmd.Env
		if out, err := next.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !slices.Contains(seats(), alive) || !slices.Contains(seats(), foreign) {
			t.Fatalf("got %v", seats())
		}
		return slices.Equal(seats(), kept)
	})
}

// TestChaosStopped: while the server is stopped, calls are still refused, and when it goes on, only allowed calls
// reach it. A client that is stopped gets its answers when it goes on.
func TestChaosStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "mcp", "--server", "s", "--", "sh", "-c", `echo $$ >out/pid; exec `+"sh -c '"+strings.ReplaceAll(keeper[len(keeper)-1], "'", `'\''`)+"'")
	r.send(reading(0, "docs/a", ""))
	r.answered(t, `"id":0`)
	data, err := os.ReadFile(filepath.Join(r.dir, "out", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(data), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r.send(reading(1, "secret/a", ""))
	r.answered(t, `"id":1,"result"`)
	r.send(reading(2, "docs/b", ""))
	r.send(reading(3, "secret/b", ""))
	r.answered(t, `"id":3,"result"`)
	// A supervisor stops with its tool, as the job of a shell does. It stops itself when the kernel has told it, so to
	// let it go on before that would leave it stopped.
	supervisor := parent(t, pid)
	awaitStop(t, supervisor)
	for _, p := range []int{pid, supervisor} {
		if err := syscall.Kill(p, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	r.answered(t, `"id":2`)
	// The proxy stands for a while, as a client's process does.
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitStop(t, r.cmd.Process.Pid)
	lines := reading(4, "secret/c", "") + "\n" + reading(5, "docs/c", "")
	r.send(lines)
	// Nobody else reads what the proxy is sent, so there is nothing to wait for.
	if n := r.unread(t); n != len(lines)+1 || strings.Contains(r.got(t), "docs/c") {
		t.Errorf("%d bytes of calls lie before a proxy that is stopped, of %d", n, len(lines)+1)
	}
	if err := r.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	r.answered(t, `"id":5`)
	r.got(t)
}

// parent is the process that started another.
func parent(t *testing.T, pid int) (ppid int) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		_, err = fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %c %d", new(rune), &ppid)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}

// TestChaosFullLog: a call that the log has no room for is refused, and the proxy goes on.
func TestChaosFullLog(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ulimit -f 64;", append([]string{"mcp", "--server", "s", "--log", "log"}, keeper[3:]...)...)
	passed, refused := 0, 0
	for i := range 400 {
		r.send(reading(i, "docs/a", ""))
		if strings.Contains(r.answered(t, fmt.Sprintf(`"id":%d,`, i)), "log: file too large") {
			refused++
		} else {
			passed++
		}
	}
	log, err := os.ReadFile(filepath.Join(r.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if whole := strings.Count(string(log), `"verdict":"allow"}`+"\n"); passed == 0 || refused == 0 || passed > whole {
		t.Errorf("%d calls passed, %d were refused, %d are in the log", passed, refused, whole)
	}
	if n := strings.Count(r.got(t), "\n"); n != passed {
		t.Errorf("%d calls passed, the server got %d", passed, n)
	}
}

// TestChaosLines: lines of a megabyte are judged as short ones are, and lines that are no text are refused.
func TestChaosLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", copier...)
	long := strings.Repeat("x", 1<<20)
	r.send(reading(1, "docs/a", long))
	if line := r.answered(t, `"id":1,`); line != reading(1, "docs/a", long)+"\n" {
		t.Errorf("a long line has changed")
	}
	r.send(reading(2, "secret/a", long))
	r.answered(t, `"id":2,"result"`)
	r.send(reading(3, "docs/"+long, ""))
	r.answered(t, `"id":3,`)
	r.send(reading(4, "docs/\xff", ""))
	r.answered(t, `"id":4,"error"`)
	r.send(reading(5, "docs/a", "\xc3("))
	r.answered(t, `"id":5,"error"`)
	r.send("\x00\xff\xfe")
	r.send(reading(6, "docs/a", ""))
	r.answered(t, `"id":6,`)
	if got := r.got(t); strings.Contains(got, `"id":4`) || strings.Contains(got, `"id":5`) {
		t.Error("a line that is no text has passed")
	}
}

// TestChaosConfiguration: a configuration that breaks changes nothing for an open session and a running server;
// new sessions and servers are refused.
func TestChaosConfiguration(t *testing.T) {
	t.Parallel()
	server := newRig(t, "", keeper...)
	server.send(reading(1, "docs/a", ""))
	server.answered(t, `"id":1,`)
	server.configure(t, "servers.s.access.fs = [{ path = 1 }]")
	server.send(reading(2, "secret/a", ""))
	server.answered(t, `"id":2,"result"`)
	server.send(reading(3, "docs/a", ""))
	server.answered(t, `"id":3,`)
	server.got(t)

	agent := newRig(t, "", "acp", "--tool", "t", "--", "cat")
	session := func(id string) { agent.session(t, id) }
	ask := func(session, path, want string) {
		t.Helper()
		if line := agent.asked(t, session, path); !strings.Contains(line, want) {
			t.Errorf("%s %s: got %s, want %s", session, path, line, want)
		}
	}
	session("before")
	ask("before", "docs/a", `"method":"fs/read_text_file"`)
	agent.configure(t, "[[rulesets.r.rules]]\noutcome = 7\n"+chaosPolicy)
	session("after")
	ask("before", "docs/a", `"method":"fs/read_text_file"`)
	ask("before", "secret/a", `refused: `)
	ask("after", "docs/a", `rulesets have mistakes`)
	agent.configure(t, "[tools.t]\nsource = \"local\"\naccess.fs = 1\n")
	session("last")
	ask("last", "docs/a", `has mistakes`)
	ask("never", "docs/a", `not one that the client has opened`)
}

// session opens a session of an agent that repeats its input: the client writes the agent's part, too.
func (r *rig) session(t *testing.T, id string) {
	t.Helper()
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"session/new","params":{"cwd":"%s"}}`, id, r.dir))
	r.answered(t, `"session/new"`)
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":{"sessionId":"%s"}}`, id, id))
	r.answered(t, `"result":{"sessionId"`)
}

// asked sends the agent's request to read a file, and returns the request as passed on, or the error for the agent.
func (r *rig) asked(t *testing.T, session, path string) string {
	t.Helper()
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"sessionId":"%s","path":"%s"}}`, session, path))
	return r.answered(t, `"id":9`)
}

// TestChaosAgent: an agent's request passes only if it is written down and can be read, and a proxy that is
// killed permits nothing.
func TestChaosAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ulimit -f 64;", "acp", "--tool", "t", "--log", "log", "--", "cat")
	r.session(t, "s")
	passed, refused := 0, 0
	for range 400 {
		if line := r.asked(t, "s", "docs/a"); strings.Contains(line, `"method"`) {
			passed++
		} else if strings.Contains(line, "log: file too large") {
			refused++
		}
	}
	log, err := os.ReadFile(filepath.Join(r.dir, "log"))
	if whole := strings.Count(string(log), `"verdict":"allow"}`+"\n"); err != nil || passed == 0 || passed+refused != 400 || passed > whole {
		t.Errorf("%d requests passed, %d were refused, %d are in the log, %v", passed, refused, whole, err)
	}

	r = newRig(t, "", "acp", "--tool", "t", "--", "cat")
	r.session(t, "s")
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		path   string
		passes bool
	}{
		{"docs/a", true}, {"secret/a", false}, {"docs/a\",\"more\":\"" + long, true}, {"secret/a\",\"more\":\"" + long, false}, {"docs/\xff", false},
	} {
		if line := r.asked(t, "s", c.path); strings.Contains(line, `"error"`) == c.passes {
			t.Errorf("%.20q: got %.200s", c.path, line)
		}
	}
	r.killed(t, func(int) string {
		return `{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"sessionId":"s","path":"secret/a"}}`
	})
	for line := range r.out {
		if strings.Contains(line, `"method"`) {
			t.Errorf("the client got %s", line)
		}
	}
}
