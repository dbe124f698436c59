package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/accessc/accessc/test/await"
)

// echoing is a host whose tools need no system: each copies its standard input to its standard output, and ends with it or
// by a signal. A tool named "fails" does not start.
type echoing struct {
	mu      sync.Mutex
	started []begun
	alive   atomic.Int32
}

// begun is the answer to a start, as the server and another reader of the line understand it.
type begun struct {
	Tool    string   `json:"tool"`
	Args    []string `json:"args"`
	Command []string `json:"command"`
}

func (*echoing) About() About { return About{"v", "/w"} }

func (*echoing) Can(q *Question) (any, error) { return q, nil }

func (*echoing) Decide(op *Operation) (any, error) { return op, nil }

func (h *echoing) Start(s *Start) (Process, error) {
	h.mu.Lock()
	h.started = append(h.started, begun{s.Tool, s.Args, s.Command})
	h.mu.Unlock()
	if s.Tool == "fails" {
		closeAll(s.Streams[:])
		return nil, errors.New("it does not start")
	}
	h.alive.Add(1)
	p, tell := &echo{streams: s.Streams, done: make(chan struct{})}, s.Tell // s is the server's again afterwards
	go func() {
		defer close(p.done)
		defer h.alive.Add(-1)
		if tell != nil {
			tell(Refused, map[string]string{"path": "x"})
		}
		_, _ = io.Copy(p.streams[1], p.streams[0])
		p.Kill()
	}()
	return p, nil
}

// echo is a tool of echoing.
type echo struct {
	streams [3]*os.File
	once    sync.Once
	done    chan struct{}
}

func (*echo) PID() int { return 1 }

func (p *echo) Signal(syscall.Signal) error { p.Kill(); return nil }

func (*echo) Answer(int, string) error { return errors.New("there is no question") }

func (*echo) Revoke(int) error { return errors.New("there is no grant") }

func (p *echo) Kill() { p.once.Do(func() { closeAll(p.streams[:]) }) }

func (p *echo) Wait() Status { <-p.done; return Status{} }

// answered is a line of the server.
type answered struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Reason Reason `json:"reason"`
		} `json:"data"`
	} `json:"error"`
}

// reasons are all of them.
var reasons = []Reason{
	BadLine, BadRequest, NoMethod, BadParams, NoHello, BadVersion, BadToken, Limit, Config, NotStarted, NoRun, Descriptors, Internal,
}

// answers reads the lines of the server: each is one answer that any reader understands.
func answers(t *testing.T, out string) (all []answered) {
	t.Helper()
	if !utf8.ValidString(out) || out != "" && !strings.HasSuffix(out, "\n") {
		t.Fatalf("the answers are no lines of UTF-8: %q", out)
	}
	for line := range strings.Lines(out) {
		var a answered
		var members map[string]json.RawMessage
		err := errors.Join(json.Unmarshal([]byte(line), &members), json.Unmarshal([]byte(line), &a))
		if err != nil || a.Version != "2.0" || len(members) != 3 || (a.Error == nil) == (a.Result == nil) {
			t.Fatalf("no answer: %s (%v, members %q)", line, err, slices.Collect(maps.Keys(members)))
		}
		if a.Error != nil && !slices.Contains(reasons, a.Error.Data.Reason) {
			t.Fatalf("another reason: %s", line)
		}
		all = append(all, a)
	}
	return all
}

// otherwise reads the starts of a stream by encoding/json.
func otherwise(stream []byte) (out []begun) {
	for line := range bytes.Lines(stream) {
		var r struct {
			Method string `json:"method"`
			Params begun  `json:"params"`
		}
		if json.Unmarshal(line, &r) == nil && r.Method == "start" {
			out = append(out, r.Params)
		}
	}
	return out
}

// within reports whether the starts are among those of another reader, in their order.
func within(starts, all []begun) bool {
	for _, s := range starts {
		i := slices.IndexFunc(all, func(o begun) bool {
			return s.Tool == o.Tool && slices.Equal(s.Args, o.Args) && slices.Equal(s.Command, o.Command)
		})
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}

// FuzzServe: whatever a client sends, it gets one answer to each line, or two to a start that asks for its end, which any reader understands; nothing is started
// for one that has not said hello with the token, nor otherwise than another reader of the line would; and when
// the client is gone, nothing of it is left.
func FuzzServe(f *testing.F) {
	const hello = `{"id":1,"method":"hello","params":{"versions":[1],"token":"t"}}` + "\n"
	for _, lines := range []string{
		hello + `{"id":2,"method":"can","params":{"tool":"show","operation":"read","target":"x"}}` + "\n" + `{"id":3,"method":"decide","params":{"command":"git"}}` + "\n",
		hello + `{"id":4,"method":"start","params":{"tool":"t","stdin":"data","stdout":"data","events":true}}` + "\n" +
			`{"id":"e","method":"events","params":{}}` + "\n" + `{"id":5,"method":"write","params":{"run":1,"data":"aGVsbG8=","end":true}}` + "\n" +
			`{"id":6,"method":"wait","params":{"run":1}}` + "\n" + `{"id":7,"method":"events"}` + "\n",
		hello + `{"id":4,"method":"start","params":{"tool":"t","stdin":"data"}}` + "\n" + `{"id":5,"method":"signal","params":{"run":1,"signal":"TERM"}}` + "\n" +
			`{"id":6,"method":"wait","params":{"run":1}}` + "\n" + `{"id":6,"method":"wait","params":{"run":1}}` + "\n",
		hello + `{"id":4,"method":"start","params":{"tool":"t","wait":5}}` + "\n" + `{"id":5,"method":"can"}` + "\n" + `{"id":6,"method":"start","params":{"tool":"t","wait":"e"}}` + "\n" +
			`{"id":7,"method":"start","params":{"tool":"fails","wait":8}}` + "\n" + `{"id":9,"method":"start","params":{"tool":"t","wait":9}}` + "\n",
		hello + `{"id":4,"method":"start","params":{"tool":"fails","args":["a"]}}` + "\n" + `{"id":5,"method":"answer","params":{"run":1,"question":1,"answer":"once"}}` + "\n" +
			`{"id":6,"method":"revoke","params":{"run":1,"grant":1}}` + "\n" + hello,
		`{"id":1,"method":"hello","params":{"versions":[2],"token":"t"}}` + "\n" + `{"id":4,"method":"start","params":{"tool":"t"}}` + "\n",
		`{"id":4,"method":"start","params":{"tool":"t"}}` + "\n" + hello,
		hello + `{"id":4,"method":"start","method":"can","params":{"tool":"t"}}` + "\n" + `{"id":4,"Method":"start","params":{"tool":"t","Tool":"u"}}` + "\n",
		hello + "{\"id\":\"\xff\",\"method\":\"can\"}\n[]\n\n\r\n{\n\"\n" + `{"id":{},"method":"wait"}` + "\n" + `{"id":1e400,"method":"wait","params":[]}` + "\n",
		hello + strings.Repeat("[", 300) + "\n" + `{"id":9,"method":"start","params":{"tool":"t","stdin":"descriptor","env":{"A=":"b"}}}` + "\n{\"id\":8",
	} {
		f.Add([]byte(lines), true)
		f.Add([]byte(lines), false)
	}
	f.Fuzz(func(t *testing.T, stream []byte, bytewise bool) {
		if len(stream) >= maxLine {
			t.Skip("longer lines are TestLines's")
		}
		var in io.Reader = bytes.NewReader(stream)
		if bytewise {
			in = iotest.OneByteReader(in)
		}
		host, out := &echoing{}, &bytes.Buffer{}
		s := &Server{Host: host}
		ended := make(chan struct{})
		go func() { s.serve(plain(in), out, "t", func() {}); close(ended) }()
		await.Receive(t, "the end of the connection", ended)
		all := answers(t, out.String())
		lines := bytes.Count(stream, []byte("\n"))
		if greeted := len(all) > 0 && all[0].Error == nil; !greeted {
			lines = min(lines, 1)
		}
		// A tool that was started can have an answer about its end besides.
		most := lines + len(host.started)
		if len(all) < lines || len(all) > most {
			t.Errorf("%d answers to %d lines: %s", len(all), lines, out)
		}
		if lines < 2 && len(host.started) > 0 || !within(host.started, otherwise(stream)) {
			t.Errorf("started %q, another reader %q", host.started, otherwise(stream))
		}
		if n := host.alive.Load(); n != 0 || s.runs != 0 || len(s.conns) != 0 {
			t.Errorf("left are %d tools, %d runs, %d connections", n, s.runs, len(s.conns))
		}
	})
}
