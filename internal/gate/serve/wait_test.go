package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// talk is a client of a server in this process.
type talk struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func newTalk(t *testing.T, s *Server) *talk {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() { s.serve(plain(theirs), theirs, "", func() {}); close(done) }()
	t.Cleanup(func() { ours.Close(); <-done })
	_ = ours.SetDeadline(await.Deadline(t))
	k := &talk{t, ours, bufio.NewReader(ours)}
	k.say(`{"id":0,"method":"hello","params":{"versions":[1]}}`)
	k.hear()
	return k
}

func (k *talk) say(line string) {
	k.t.Helper()
	if _, err := fmt.Fprintln(k.conn, line); err != nil {
		k.t.Fatal(err)
	}
}

// hear returns the next answer, its reason included if that is an error.
func (k *talk) hear() (id, result string) {
	k.t.Helper()
	line, err := k.in.ReadBytes('\n')
	var a answered
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		k.t.Fatal(err)
	}
	if a.Error != nil {
		return string(a.ID), string(a.Error.Data.Reason)
	}
	return string(a.ID), string(a.Result)
}

func (k *talk) wants(what, id, result string) {
	k.t.Helper()
	if gotID, got := k.hear(); gotID != id || got != result {
		k.t.Errorf("%s: got %s %s, expected %s %s", what, gotID, got, id, result)
	}
}

// TestWaitWithStart: the end of a run is answered with the id that came with its start, once, after the start, and its
// room is free by then.
func TestWaitWithStart(t *testing.T) {
	s := &Server{Host: &echoing{}}
	k := newTalk(t, s)
	for i := 1; i <= 200; i++ {
		k.say(fmt.Sprintf(`{"id":%d,"method":"start","params":{"tool":"t","wait":"e%d"}}`, i, i))
		k.wants("the start", fmt.Sprint(i), fmt.Sprintf(`{"run":%d,"pid":1}`, i))
		k.wants("the end", fmt.Sprintf(`"e%d"`, i), fmt.Sprintf(`{"run":%d,"exit":0}`, i))
		s.mu.Lock()
		if s.runs != 0 {
			t.Fatalf("%d runs count when the end was answered", s.runs)
		}
		s.mu.Unlock()
	}
	k.say(`{"id":1,"method":"wait","params":{"run":200}}`)
	k.wants("a second wait", "1", "run")
}

// TestWaitIDs: the id of an end is one that no request has, is free again after a start that has failed, and does not
// count among the requests.
func TestWaitIDs(t *testing.T) {
	k := newTalk(t, &Server{Host: &echoing{}})
	for bad, reason := range map[string]Reason{
		`1`: BadRequest, `{}`: BadParams, `[1]`: BadParams, `true`: BadParams, `null`: BadParams,
		`"` + fmt.Sprintf("%0*d", maxID, 0) + `"`: BadParams,
	} {
		k.say(`{"id":1,"method":"start","params":{"tool":"t","wait":` + bad + `}}`)
		k.wants(bad, "1", string(reason))
	}
	for range 3 {
		k.say(`{"id":1,"method":"start","params":{"tool":"fails","wait":2}}`)
		k.wants("a start that fails", "1", string(Internal))
	}
	// Their input stays open, so these run on.
	for i := 1; i <= maxRuns; i++ {
		k.say(fmt.Sprintf(`{"id":1,"method":"start","params":{"tool":"t","stdin":"data","wait":%d}}`, 100+i))
		k.wants("a start", "1", fmt.Sprintf(`{"run":%d,"pid":1}`, 3+i))
	}
	k.say(`{"id":101,"method":"can","params":{}}`)
	k.wants("the id of an end", "101", string(BadRequest))
	k.say(`{"id":1,"method":"signal","params":{"run":4,"signal":"TERM"}}`)
	got := map[string]string{}
	for range 2 {
		id, result := k.hear()
		got[id] = result
	}
	if got["1"] != "{}" || got["101"] != `{"run":4,"exit":0}` {
		t.Errorf("got %v", got)
	}
	k.say(`{"id":101,"method":"wait","params":{"run":5}}`)
	k.say(`{"id":1,"method":"signal","params":{"run":5,"signal":"KILL"}}`)
	got = map[string]string{}
	for range 3 {
		id, result := k.hear()
		got[id] = result
	}
	if got["101"] != `{"run":5,"exit":0}` || got["102"] != got["101"] {
		t.Errorf("two waits: got %v", got)
	}
}

// keepsStreams is a host that notes the streams of a start, and starts nothing.
type keepsStreams struct {
	echoing
	streams [3]*os.File
}

func (h *keepsStreams) Start(s *Start) (Process, error) {
	h.streams = s.Streams
	closeAll(s.Streams[:])
	return nil, errors.New("it does not start")
}

// TestNullStreams: the null device is opened once for a start.
func TestNullStreams(t *testing.T) {
	h := &keepsStreams{}
	k := newTalk(t, &Server{Host: h})
	for params, want := range map[string][3]bool{
		`{"tool":"t"}`:                 {true, true, true},
		`{"tool":"t","stdout":"data"}`: {true, false, true},
		`{"tool":"t","stdin":"data"}`:  {false, true, true},
		`{"tool":"t","stderr":"data"}`: {true, true, false},
	} {
		k.say(`{"id":1,"method":"start","params":` + params + `}`)
		k.wants(params, "1", string(Internal))
		null := map[*os.File]bool{}
		for i, f := range h.streams {
			if (f.Name() == os.DevNull) != want[i] {
				t.Errorf("%s: descriptor %d is %s", params, i, f.Name())
			} else if want[i] {
				null[f] = true
			}
		}
		if len(null) != 1 {
			t.Errorf("%s: the null device is opened %d times", params, len(null))
		}
	}
}
