package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// serveTools are the tools of the tests: one that the kernel confines alone, one with a supervisor.
const serveTools = `
[tools.alone]
source = "local"
command = "cat note"
access.fs = [{ path = ".", read = true }]
[tools.watched]
source = "local"
command = "cat note"
access.fs = [{ path = ".", read = true, write = true }, { path = "secret" }]
access.may = [{ path = "secret", read = true }]
[tools.once]
source = "local"
command = "true"
constraints.max_invocations = 1
`

// served is accessc serve --stdio in a workspace of its own, at one end of a pair of sockets.
type servedHere struct {
	*site
	t    *testing.T
	cmd  *exec.Cmd
	conn *net.UnixConn
	in   *bufio.Reader
	next int
}

// site is a workspace, with all else that accessc has of its user.
type site struct {
	dir, state, tmp string
	env             []string
}

// serveWorkspace lets the test run beside others.
func serveWorkspace(t *testing.T) *site {
	t.Helper()
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	s := &site{dir: t.TempDir(), state: t.TempDir(), tmp: t.TempDir()}
	s.env = append(os.Environ(), "XDG_STATE_HOME="+s.state, "TMPDIR="+s.tmp, "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	dir := s.dir
	for name, text := range map[string]string{"accessc.toml": serveTools, "note": "noted\n", "secret": "kept\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// command is a command of accessc with the site's environment.
func (s *site) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := accesscCommand(t, args...)
	cmd.Env = s.env
	return cmd
}

func accesscCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(accessc, args...)
}

// pair are two connected sockets.
func pair(t *testing.T) (ours *net.UnixConn, theirs *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	mine := os.NewFile(uintptr(fds[0]), "ours")
	defer mine.Close()
	c, err := net.FileConn(mine)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*net.UnixConn), os.NewFile(uintptr(fds[1]), "theirs")
}

func serveHere(t *testing.T) *servedHere {
	t.Helper()
	s := &servedHere{site: serveWorkspace(t), t: t}
	var theirs *os.File
	s.conn, theirs = pair(t)
	s.cmd = s.command(t, "serve", "-C", s.dir, "--stdio")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = theirs, theirs, os.Stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	t.Cleanup(func() {
		s.conn.Close()
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	s.in = bufio.NewReader(s.conn)
	s.must("hello", `{"versions":[1]}`)
	return s
}

// answered is the answer to a request.
type answered struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
		Data    struct {
			Reason   string          `json:"reason"`
			Findings json.RawMessage `json:"findings"`
		} `json:"data"`
	} `json:"error"`
}

func (a answered) reason() string {
	if a.Error == nil {
		return ""
	}
	return a.Error.Data.Reason
}

// send sends bytes, with descriptors.
func (s *servedHere) send(text string, fds ...int) {
	s.t.Helper()
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	n, _, err := s.conn.WriteMsgUnix([]byte(text), rights, nil)
	if err == nil {
		_, err = s.conn.Write([]byte(text[n:]))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// read reads an answer.
func (s *servedHere) read() answered {
	s.t.Helper()
	_ = s.conn.SetReadDeadline(await.Deadline(s.t))
	line, err := s.in.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("no answer: %v", err)
	}
	var a answered
	if err := json.Unmarshal(line, &a); err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	return a
}

// request sends a request and reads the answer, which is the next one.
func (s *servedHere) request(method, params string, fds ...int) answered {
	s.t.Helper()
	s.next++
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.next, method, params), fds...)
	return s.read()
}

// must is a request that succeeds.
func (s *servedHere) must(method, params string, fds ...int) string {
	s.t.Helper()
	a := s.request(method, params, fds...)
	if a.Error != nil {
		s.t.Fatalf("%s %s: %s: %s", method, params, a.reason(), a.Error.Message)
	}
	return string(a.Result)
}

// begin starts a tool.
func (s *servedHere) begin(params string, fds ...int) (run, pid int) {
	s.t.Helper()
	var out struct{ Run, PID int }
	if err := json.Unmarshal([]byte(s.must("start", params, fds...)), &out); err != nil {
		s.t.Fatal(err)
	}
	return out.Run, out.PID
}

// output takes the events of a run until its end and that of its output, and returns the output.
func (s *servedHere) output(run int) (out string, others []string) {
	s.t.Helper()
	ended, closed := false, false
	for !ended || !closed {
		var list struct {
			Events []struct {
				Event, Data string
				Run         int
				End         bool
			}
		}
		text := s.must("events", "{}")
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			s.t.Fatal(err)
		}
		for _, e := range list.Events {
			data, err := base64.StdEncoding.DecodeString(e.Data)
			if err != nil || e.Run != run {
				s.t.Fatalf("run %d: %s", run, text)
			}
			out += string(data)
			ended, closed = ended || e.Event == "ended", closed || e.End
			if e.Event != "output" {
				others = append(others, text)
			}
		}
	}
	return out, others
}

// files is how many descriptors the server has.
func (s *servedHere) files() int {
	s.t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}

// TestServeStarts: a client starts tools with descriptors of its own and with data in messages, under the policy,
// and is told how they end, and the refusals.
func TestServeStarts(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"alone", "watched"} {
		run, _ := s.begin(`{"tool":"`+tool+`","stdout":"descriptor"}`, int(write.Fd()))
		if got, want := s.must("wait", fmt.Sprintf(`{"run":%d}`, run)), fmt.Sprintf(`{"run":%d,"exit":0}`, run); got != want {
			t.Errorf("%s: got %s, want %s", tool, got, want)
		}
		line := make([]byte, 100)
		if n, err := read.Read(line); err != nil || string(line[:n]) != "noted\n" {
			t.Errorf("%s: got %q, %v", tool, line[:n], err)
		}
	}
	run, _ := s.begin(`{"tool":"watched","command":["sh","-c","cat; cat secret 2>/dev/null; exit 7"],"stdin":"data","stdout":"data","events":true}`)
	for i, piece := range []string{"one ", "two "} {
		s.must("write", fmt.Sprintf(`{"run":%d,"data":%q,"end":%v}`, run, base64.StdEncoding.EncodeToString([]byte(piece)), i == 1))
	}
	out, others := s.output(run)
	told := strings.Join(others, "\n")
	if out != "one two " || !strings.Contains(told, `"event":"refused"`) || !strings.Contains(told, "secret") || !strings.Contains(told, `"exit":7`) {
		t.Errorf("got %q, %s", out, told)
	}
	run, _ = s.begin(`{"tool":"alone","command":["sh","-c","cat \"$ACCESSC_CONTEXT\""],"stdout":"data","events":true,` +
		`"call":{"action":"format_arguments","conversation_id":"c9","answers":{"sure":true}}}`)
	if out, _ := s.output(run); !strings.Contains(out, `"action": "format_arguments"`) || !strings.Contains(out, `"conversation_id": "c9"`) {
		t.Errorf("got %s", out)
	}
	for _, sig := range []string{"TERM", "KILL"} {
		run, _ = s.begin(`{"tool":"watched","command":["sleep","60"]}`)
		s.must("signal", fmt.Sprintf(`{"run":%d,"signal":%q}`, run, sig))
		if got := s.must("wait", fmt.Sprintf(`{"run":%d}`, run)); !strings.Contains(got, `"signal":"`+sig+`"`) {
			t.Errorf("%s: got %s", sig, got)
		}
		if got := s.request("signal", fmt.Sprintf(`{"run":%d,"signal":%q}`, run, sig)); got.reason() != "run" {
			t.Errorf("a signal to a run that was waited for: %+v", got)
		}
	}
}

// TestServeFollows: answers and starts are those of the configuration as it is, and of none where it has mistakes.
func TestServeFollows(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	ask := func() string {
		a := s.request("can", `{"tool":"alone","operation":"read","target":"note"}`)
		if a.Error != nil {
			return a.reason() + string(a.Error.Data.Findings)
		}
		return string(a.Result)
	}
	begin := func() string {
		a := s.request("start", `{"tool":"alone"}`)
		if a.Error != nil {
			return a.reason()
		}
		var out struct{ Run int }
		_ = json.Unmarshal(a.Result, &out)
		return s.must("wait", fmt.Sprintf(`{"run":%d}`, out.Run))
	}
	for i, step := range []struct{ text, can, start string }{
		{serveTools, `"verdict":"allow"`, `"exit":0`},
		{strings.Replace(serveTools, `{ path = "."`, `{ path = "x"`, 1), `"verdict":"deny"`, `"exit":1`},
		{serveTools + "[tools.", "config", "config"},
		{serveTools + "\n", `"verdict":"allow"`, `"exit":0`},
		{strings.Replace(serveTools, `{ path = "."`, `{ pth = "."`, 1), `pth`, "config"},
		{serveTools, `"verdict":"allow"`, `"exit":0`},
	} {
		if err := os.WriteFile(filepath.Join(s.dir, "accessc.toml"), []byte(step.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := ask(); !strings.Contains(got, step.can) {
			t.Errorf("step %d: can: got %s, want %s", i, got, step.can)
		}
		if got := begin(); !strings.Contains(got, step.start) {
			t.Errorf("step %d: start: got %s, want %s", i, got, step.start)
		}
	}
	// Edits that a size and a time do not show: each is seen by the question after it.
	path := filepath.Join(s.dir, "accessc.toml")
	edits := 40
	if irtest.Full() {
		edits = 200
	}
	for i := range edits {
		text, want := strings.Replace(serveTools, `{ path = "."`, `{ path = "x"`, 1), "deny"
		if i%2 == 1 {
			text, want = serveTools, "allow"
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if got := ask(); !strings.Contains(got, `"verdict":"`+want) {
			t.Fatalf("edit %d: got %s, want %s", i, got, want)
		}
	}
}

// TestServeRefuses: lines that are no requests of the protocol are answered with their reason, and change nothing;
// descriptors that no one asked for are closed.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	before := s.files()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd := int(null.Fd())
	for _, c := range []struct {
		line   string
		files  int
		reason string
	}{
		{"", 0, "request"}, {"[]", 0, "line"}, {`[{"id":1,"method":"can"}]`, 0, "request"}, {"x", 0, "line"}, {`{"id":1`, 0, "line"},
		{`{"id":1,"method":"can","params":{"tool":"` + "\xff" + `"}}`, 0, "line"},
		{`{"id":1,"id":2,"method":"can"}`, 0, "line"}, {`{"id":1,"Method":"can"}`, 0, "line"}, {"{\"id\":1,\r\"method\":\"can\"}", 0, "line"},
		{`{"method":"can"}`, 0, "request"}, {`{"id":null,"method":"can"}`, 0, "request"}, {`{"id":{},"method":"can"}`, 0, "line"},
		{`{"id":1,"method":"can","extra":1}`, 0, "request"}, {`{"jsonrpc":"1.0","id":1,"method":"can"}`, 0, "request"}, {`{"id":1}`, 0, "request"},
		{`{"id":1,"method":"nothing"}`, 0, "method"}, {`{"id":1,"method":"hello","params":{"versions":[1]}}`, 0, "hello"},
		{`{"id":1,"method":"can","params":[]}`, 0, "params"}, {`{"id":1,"method":"can","params":{"tool":"alone","tool":"alone"}}`, 0, "params"},
		{`{"id":1,"method":"can","params":{"tool":"alone","colour":1}}`, 0, "params"}, {`{"id":1,"method":"can","params":{"tool":1}}`, 0, "params"},
		{`{"id":1,"method":"can","params":{"tool":"none","operation":"read","target":"x"}}`, 0, "config"},
		{`{"id":1,"method":"can","params":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}", 0, "line"},
		{`{"id":1,"method":"can","params":{"tool":"` + strings.Repeat("x", 1<<20) + `"}}`, 0, "line"},
		{`{"id":1,"method":"start","params":{}}`, 0, "params"}, {`{"id":1,"method":"start","params":{"tool":"none"}}`, 0, "config"},
		{`{"id":1,"method":"start","params":{"tool":"alone","stdout":"file"}}`, 0, "params"},
		{`{"id":1,"method":"start","params":{"tool":"alone","accept":["net.host"]}}`, 0, "params"}, // serve --accept is for all starts
		{`{"id":1,"method":"start","params":{"tool":"alone","dir":"x"}}`, 0, "params"}, {`{"id":1,"method":"start","params":{"tool":"alone","command":[]}}`, 0, "params"},
		{`{"id":1,"method":"start","params":{"tool":"alone","args":["a\u0000b"]}}`, 0, "params"},
		{`{"id":1,"method":"start","params":{"tool":"alone","ask":true}}`, 0, "params"},
		{`{"id":1,"method":"start","params":{"tool":"alone","call":{"answers":{"a":1,"a":2}}}}`, 0, "params"},
		{`{"id":1,"method":"start","params":{"tool":"alone","stdout":"descriptor"}}`, 0, "descriptors"},
		{`{"id":1,"method":"start","params":{"tool":"alone","stdout":"descriptor"}}`, 2, "descriptors"},
		{`{"id":1,"method":"start","params":{"tool":"alone"}}`, 1, "descriptors"},
		{`{"id":1,"method":"can","params":{"tool":"alone","operation":"read","target":"x"}}`, 1, "descriptors"},
		{"x", 3, "line"}, {`{"id":1,"method":"start","params":{"tool":"none","stdout":"descriptor"}}`, 1, "config"},
		{`{"id":1,"method":"signal","params":{"run":1,"signal":"TERM"}}`, 0, "run"}, {`{"id":1,"method":"wait","params":{"run":-1}}`, 0, "run"},
		{fmt.Sprintf(`{"id":1,"method":"signal","params":{"run":%d,"signal":"TERM"}}`, os.Getpid()), 0, "run"},
		{`{"id":1,"method":"decide","params":{"command":"ls","ruleset":"none"}}`, 0, "config"},
	} {
		var fds []int
		for range c.files {
			fds = append(fds, fd)
		}
		s.send(c.line+"\n", fds...)
		if got := s.read(); got.reason() != c.reason {
			t.Errorf("%.80q with %d descriptors: got %q (%s), want %q", c.line, c.files, got.reason(), got.Result, c.reason)
		}
	}
	await.Until(t, "the descriptors are closed", func() bool { return s.files() <= before })
	s.must("can", `{"tool":"alone","operation":"read","target":"note"}`)

	// The descriptors of a line that comes in pieces, between others, are its own.
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	question := `{"id":%d,"method":"can","params":{"tool":"alone","operation":"read","target":"note"}}` + "\n"
	line := `{"id":902,"method":"start","params":{"tool":"alone","stdout":"descriptor"}}` + "\n"
	s.send(fmt.Sprintf(question, 901))
	s.send(line[:20], int(write.Fd()))
	s.send(line[20:] + fmt.Sprintf(question, 903))
	for _, id := range []string{"901", "902", "903"} {
		if got := s.read(); string(got.ID) != id || got.Error != nil {
			t.Errorf("got %+v, want the answer to %s", got, id)
		}
	}
	write.Close()
	if out, err := io.ReadAll(read); err != nil || string(out) != "noted\n" {
		t.Errorf("got %q, %v", out, err)
	}
}
