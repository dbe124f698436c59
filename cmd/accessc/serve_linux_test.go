package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/start"
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
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	conn *net.UnixConn
	in   *bufio.Reader
	next int
}

func serveWorkspace(t *testing.T) string {
	t.Helper()
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"accessc.toml": serveTools, "note": "noted\n", "secret": "kept\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"} {
		t.Setenv(k, t.TempDir())
	}
	return dir
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
	s := &servedHere{t: t, dir: serveWorkspace(t)}
	var theirs *os.File
	s.conn, theirs = pair(t)
	s.cmd = accesscCommand(t, "serve", "-C", s.dir, "--stdio")
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
	_ = s.conn.SetReadDeadline(time.Now().Add(time.Minute))
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

// settles waits until a condition holds.
func settles(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// TestServeStarts: a client starts tools with descriptors of its own and with data in messages, under the policy,
// and is told how they end, and the refusals.
func TestServeStarts(t *testing.T) {
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
	for i := range 200 {
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
	settles(t, "descriptors are left", func() bool { return s.files() <= before })
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

// TestServeTooManyDescriptors: a client whose descriptors the kernel drops is cut off, and leaves none.
func TestServeTooManyDescriptors(t *testing.T) {
	s := serveHere(t)
	fds := make([]int, 40)
	s.send(`{"id":1,"method":"start","params":{"tool":"alone"}}`+"\n", fds...)
	if _, err := s.in.ReadByte(); err == nil {
		t.Error("the client was answered")
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServeLimits: a client that asks for too much is told so, and one that takes no events stops its tool and nothing else.
func TestServeLimits(t *testing.T) {
	s := serveHere(t)
	run, pid := s.begin(`{"tool":"alone","command":["sh","-c","while :; do echo 0123456789012345678901234567890123456789; done"],"stdout":"data"}`)
	var used int64 = -1
	settles(t, "the tool does not wait for its client", func() bool {
		time.Sleep(200 * time.Millisecond)
		was := used
		used = processorTime(t, pid)
		return used == was
	})
	if rss := resident(t, s.cmd.Process.Pid); rss > 200<<20 {
		t.Errorf("the server has %d MB", rss>>20)
	}
	if got := s.must("events", "{}"); len(got) < 10000 || len(got) > 4<<20 {
		t.Errorf("got %d bytes of events", len(got))
	}
	for i := range 65 {
		s.send(fmt.Sprintf(`{"id":"w%d","method":"wait","params":{"run":%d}}`+"\n", i, run))
	}
	if got := s.read(); got.reason() != "limit" || string(got.ID) != `"w64"` {
		t.Errorf("got %+v", got)
	}
	s.send(`{"id":"w0","method":"can","params":{}}` + "\n")
	if got := s.read(); got.reason() != "request" {
		t.Errorf("an id twice: got %+v", got)
	}
	s.send(fmt.Sprintf(`{"id":"k","method":"signal","params":{"run":%d,"signal":"KILL"}}`+"\n", run))
	if got := s.read(); got.reason() != "limit" {
		t.Errorf("got %+v", got) // 64 requests wait
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 64 {
		if got := s.read(); !strings.Contains(string(got.Result), `"signal":"KILL"`) {
			t.Fatalf("got %+v", got)
		}
	}
}

// TestServeManyRuns: a connection has so many runs, and room again when one was waited for.
func TestServeManyRuns(t *testing.T) {
	s := serveHere(t)
	children := func() int {
		left, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
		n := 0
		for _, f := range left {
			text, _ := os.ReadFile(f)
			n += len(strings.Fields(string(text)))
		}
		if err != nil || len(left) == 0 {
			t.Fatal(err)
		}
		return n
	}
	s.begin(`{"tool":"watched"}`)
	s.must("wait", `{"run":1}`)
	s.begin(`{"tool":"alone"}`)
	s.must("wait", `{"run":2}`)
	// The helper stays, with its socket.
	before, kept := s.files(), children()
	for range 64 {
		s.begin(`{"tool":"alone","command":["sleep","60"]}`)
	}
	if got := s.request("start", `{"tool":"alone"}`); got.reason() != "limit" {
		t.Errorf("got %+v", got)
	}
	s.must("signal", `{"run":3,"signal":"KILL"}`)
	s.must("wait", `{"run":3}`)
	settles(t, "no room", func() bool { return s.request("start", `{"tool":"alone","command":["true"]}`).Error == nil })
	for run := 4; run <= 67; run++ {
		s.request("signal", fmt.Sprintf(`{"run":%d,"signal":"KILL"}`, run))
		s.must("wait", fmt.Sprintf(`{"run":%d}`, run))
	}
	settles(t, "descriptors are left", func() bool { return s.files() <= before })
	if n := children(); n != kept {
		t.Errorf("%d children are left, %d before", n, kept)
	}
}

// TestServeLost: a tool that is refused more than a run may tell of does not wait, and its client learns how much it lacks.
func TestServeLost(t *testing.T) {
	s := serveHere(t)
	const tries = 5000
	path := strings.Repeat("./", 2000) + "secret"
	run, pid := s.begin(fmt.Sprintf(`{"tool":"watched","command":["sh","-c","i=0; while [ $i -lt %d ]; do true <%s; i=$((i+1)); done; exit 3"],"events":true}`, tries, path))
	settles(t, "the tool waits for its client", func() bool { return !running(pid) })
	denied, lost, ended := 0, 0, false
	for !ended {
		var list struct {
			Events []struct {
				Event   string
				Refusal struct {
					Event string
					Count int
				}
			}
		}
		if err := json.Unmarshal([]byte(s.must("events", "{}")), &list); err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Events {
			ended = ended || e.Event == "ended"
			lost += e.Refusal.Count
			if e.Refusal.Event == "denied" {
				denied++
			}
		}
	}
	if got := s.must("wait", fmt.Sprintf(`{"run":%d}`, run)); !strings.Contains(got, `"exit":3`) {
		t.Errorf("got %s", got)
	}
	if denied < 1000 || lost == 0 || denied+lost != tries {
		t.Errorf("%d denied, %d lost, %d tried", denied, lost, tries)
	}
}

func processorTime(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var user, system int64
	_, _ = fmt.Sscan(fields[11], &user)
	_, _ = fmt.Sscan(fields[12], &system)
	return user + system
}

func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	_, _ = fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}

// TestServeEnds: the tools of a client that is gone end, and those of a server that is killed, also tools that ignore
// signals and have children; nothing of a run is left behind.
func TestServeEnds(t *testing.T) {
	for name, end := range map[string]func(s *servedHere){
		"client gone":   func(s *servedHere) { s.conn.Close() },
		"client half":   func(s *servedHere) { s.send(`{"id":77,"method":"st`); s.conn.Close() },
		"server told":   func(s *servedHere) { _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"server killed": func(s *servedHere) { _ = s.cmd.Process.Kill() },
		"client deaf": func(s *servedHere) {
			_ = s.conn.CloseRead()
			s.send(`{"id":78,"method":"can","params":{}}` + "\n")
			s.conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveHere(t)
			var pids []int
			for _, tool := range []string{"alone", "watched"} {
				_, pid := s.begin(`{"tool":"` + tool + `","command":["sh","-c","trap '' TERM HUP INT; echo ready; while :; do sleep 1; done"],"stdout":"data"}`)
				pids = append(pids, pid)
				s.must("events", "{}")
			}
			end(s)
			for _, pid := range pids {
				settles(t, "a tool is left", func() bool { return !running(pid) })
			}
			_ = s.cmd.Wait()
			settles(t, "a directory is left", func() bool {
				left, err := os.ReadDir(os.Getenv("TMPDIR"))
				return err == nil && len(left) == 0
			})
		})
	}
}

// atSocket is accessc serve --socket.
type atSocket struct {
	path, token string
	cmd         *exec.Cmd
}

func listenAt(t *testing.T, ws, path string) (*atSocket, error) {
	t.Helper()
	cmd := accesscCommand(t, "serve", "-C", ws, "--socket", path)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		_ = cmd.Wait()
		return nil, fmt.Errorf("%s", said.String())
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var r ready
	if err := json.Unmarshal(line, &r); err != nil || r.PID != cmd.Process.Pid || len(r.Token) < 26 {
		t.Fatalf("%s: %v", line, err)
	}
	return &atSocket{r.Socket, r.Token, cmd}, nil
}

// dial connects, and says hello with a token. It returns the answer, empty where there was none.
func dial(t *testing.T, path, token string) (net.Conn, string) {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, err.Error()
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute)) // far beyond any test here, on a busy machine with the race detector
	fmt.Fprintf(c, `{"id":1,"method":"hello","params":{"versions":[1],"token":%q}}`+"\n", token)
	line, _ := bufio.NewReader(c).ReadString('\n')
	return c, line
}

// private is a directory of this user's alone, outside of any workspace.
func private(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "accessc-serve-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestServeSocket: a socket has mode 0600 and serves those who know the token; where another could replace it, or
// something else is, it is not made; one that a killed server left is replaced, one in use is not.
func TestServeSocket(t *testing.T) {
	ws, dir := serveWorkspace(t), private(t)
	path := filepath.Join(dir, "s")
	at, err := listenAt(t, ws, path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if _, got := dial(t, path, at.token); !strings.Contains(got, `"version":1`) {
		t.Errorf("got %s", got)
	}
	for _, token := range []string{"", "x", at.token + "x", at.token[:25], strings.ToLower(at.token)} {
		c, got := dial(t, path, token)
		if !strings.Contains(got, `"reason":"token"`) {
			t.Errorf("token %q: got %s", token, got)
		}
		if n, err := c.Read(make([]byte, 1)); err == nil || n > 0 {
			t.Error("the connection is still open")
		}
	}
	if _, err := listenAt(t, ws, path); err == nil || !strings.Contains(err.Error(), "another accessc serve has") {
		t.Errorf("a second server: %v", err)
	}
	_ = at.cmd.Process.Kill()
	_ = at.cmd.Wait()
	if at, err = listenAt(t, ws, path); err != nil {
		t.Fatalf("a socket that was left: %v", err)
	}
	_ = at.cmd.Process.Signal(syscall.SIGTERM)
	if err := at.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}

	for name, c := range map[string]struct {
		make func(dir string) string
		want string
	}{
		"a symlink":     {func(dir string) string { os.Symlink("/nowhere", dir+"/s"); return dir + "/s" }, "no socket"},
		"a file":        {func(dir string) string { os.WriteFile(dir+"/s", nil, 0o600); return dir + "/s" }, "no socket"},
		"in use":        {func(dir string) string { _, _ = net.Listen("unix", dir+"/s"); return dir + "/s" }, "a program listens at"},
		"others write":  {func(dir string) string { os.Chmod(dir, 0o777); return dir + "/s" }, "others can write there"},
		"around others": {func(dir string) string { os.Chmod(dir, 0o777); os.Mkdir(dir+"/d", 0o700); return dir + "/d/s" }, "others can write there"},
		"long":          {func(dir string) string { return dir + "/" + strings.Repeat("s", 100) }, "at most 103 bytes"},
		"no directory":  {func(dir string) string { return dir + "/d/s" }, "no such file"},
		"workspace":     {func(dir string) string { return ws + "/s" }, "lies in the workspace"},
		"other workspace": {func(dir string) string {
			os.WriteFile(dir+"/accessc.toml", nil, 0o600)
			return dir + "/s"
		}, "lies in the workspace"},
		"state": {func(dir string) string {
			os.MkdirAll(os.Getenv("XDG_STATE_HOME")+"/accessc", 0o700)
			return os.Getenv("XDG_STATE_HOME") + "/accessc/s"
		}, "accessc's state"},
		"foreign": {func(dir string) string { os.Chown(dir, 65534, 65534); return dir + "/s" }, "another user"},
	} {
		if name == "foreign" && os.Geteuid() != 0 {
			continue
		}
		if _, err := listenAt(t, ws, c.make(private(t))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	out, err := os.Create(filepath.Join(private(t), "out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := accesscCommand(t, "serve", "-C", ws, "--socket", path)
	cmd.Stdout = out
	if err := cmd.Run(); err == nil {
		t.Error("the token was written to a file")
	}
}

// TestServeStrangers: processes of other users are not heard whatever the mode of the socket is, and clients that say
// nothing keep no others out for long.
func TestServeStrangers(t *testing.T) {
	ws, dir := serveWorkspace(t), private(t)
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	var silent []net.Conn
	for range 16 {
		c, err := net.Dial("unix", at.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	settles(t, "17 strangers were heard", func() bool { _, got := dial(t, at.path, at.token); return got == "" })
	silent[0].Close()
	settles(t, "no room for a client", func() bool { _, got := dial(t, at.path, at.token); return strings.Contains(got, `"version":1`) })
	if os.Geteuid() != 0 {
		t.Skip("another user needs root")
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at.path, 0o666); err != nil {
		t.Fatal(err)
	}
	tool, err := exec.LookPath("probe")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "probe")
	if data, err := os.ReadFile(tool); err != nil || os.WriteFile(copied, data, 0o755) != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "hello="+at.path+"="+at.token)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "hello closed") {
		t.Errorf("another user: got %s, %v", out, err)
	}
}

// TestServeReads: a client that goes with an answer unread, or stays until the server is told to end, costs the others
// nothing, and the server leaves nothing behind.
func TestServeReads(t *testing.T) {
	ws, dir := serveWorkspace(t), private(t)
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	known, _ := dial(t, at.path, at.token)
	for range 20 {
		c, got := dial(t, at.path, at.token)
		if got == "" {
			t.Fatal("the server serves no more")
		}
		leaveUnread(t, c.(*net.UnixConn))
	}
	fmt.Fprintln(known, `{"id":2,"method":"start","params":{"tool":"watched","command":["sleep","60"]}}`)
	if got, err := bufio.NewReader(known).ReadString('\n'); !strings.Contains(got, `"run":1`) {
		t.Fatalf("got %s, %v", got, err)
	}
	half, _ := dial(t, at.path, at.token)
	fmt.Fprint(half, `{"id":3,"meth`)
	_ = at.cmd.Process.Signal(syscall.SIGTERM)
	if err := at.cmd.Wait(); err != nil {
		t.Error(err)
	}
	leavesNothing(t, dir)
	leavesNothing(t, os.Getenv("TMPDIR"))

	for name, end := range map[string]func(s *servedHere){
		"unread": func(s *servedHere) { leaveUnread(t, s.conn) },
		"told":   func(s *servedHere) { _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"told within a line": func(s *servedHere) {
			s.send(`{"id":3,"meth`)
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		},
	} {
		s := serveHere(t)
		s.begin(`{"tool":"watched","command":["sleep","60"]}`)
		end(s)
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		leavesNothing(t, os.Getenv("TMPDIR"))
	}
}

// TestServeDescriptors: descriptors that come without the end of a line are closed with their connection as soon as they
// are more than a line may have, which is none before hello; others go on.
func TestServeDescriptors(t *testing.T) {
	ws, dir := serveWorkspace(t), private(t)
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		known bool
		sends []int
		ends  bool
	}{
		"of a stranger":   {false, []int{1}, true},
		"at once":         {true, []int{4}, true},
		"one by one":      {true, []int{1, 1, 1, 1}, true},
		"two by two":      {true, []int{0, 2, 0, 2}, true},
		"as many as may":  {true, []int{1, 0, 2}, false},
		"a byte, and all": {true, []int{0, 3}, false},
	} {
		conn, err := net.Dial("unix", at.path)
		if err != nil {
			t.Fatal(err)
		}
		if c.known {
			conn, _ = dial(t, at.path, at.token)
		}
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range c.sends {
			var rights []byte
			if n > 0 {
				rights = unix.UnixRights(slices.Repeat([]int{int(write.Fd())}, n)...)
			}
			if _, _, err := conn.(*net.UnixConn).WriteMsgUnix([]byte("x"), rights, nil); err != nil {
				break // the server has closed it already
			}
		}
		write.Close()
		patience := 20 * time.Second
		if !c.ends {
			patience = 200 * time.Millisecond
		}
		_ = read.SetReadDeadline(time.Now().Add(patience))
		if _, err := read.Read(make([]byte, 1)); (err == io.EOF) != c.ends {
			t.Errorf("%s: reading the pipe: %v", name, err)
		}
		if !c.ends {
			fmt.Fprintln(conn)
			if got, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(got, `"reason":"line"`) {
				t.Errorf("%s: got %s, %v", name, got, err)
			}
		}
		conn.Close()
		read.Close()
	}
	// A client may send start before it has read the answer to hello.
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("unix", at.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	lines := fmt.Sprintf(`{"id":1,"method":"hello","params":{"versions":[1],"token":%q}}`+"\n"+
		`{"id":2,"method":"start","params":{"tool":"alone","stdout":"descriptor"}}`+"\n", at.token)
	if _, _, err := c.(*net.UnixConn).WriteMsgUnix([]byte(lines), unix.UnixRights(int(write.Fd())), nil); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if out, err := io.ReadAll(read); err != nil || string(out) != "noted\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// leaveUnread closes a connection while an answer lies in it, so that the server's next read fails.
func leaveUnread(t *testing.T, c *net.UnixConn) {
	t.Helper()
	fmt.Fprintln(c, `{"id":9,"method":"can","params":{}}`)
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	settles(t, "no answer", func() bool {
		n := 0
		_ = raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
		return err == nil && n > 0
	})
	c.Close()
}

func leavesNothing(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left in %s, %v", left, dir, err)
	}
}

// stranger says hello to a server: PATH=TOKEN.
func stranger(arg string) error {
	path, token, _ := strings.Cut(arg, "=")
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(c, `{"id":1,"method":"hello","params":{"versions":[1],"token":%q}}`+"\n", token)
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return fmt.Errorf("closed")
	}
	return fmt.Errorf("answer %s", strings.TrimSpace(line))
}

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
