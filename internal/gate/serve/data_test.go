package serve

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// leaving is a host whose tools end at once, and leave a process that has their standard input.
type leaving struct {
	echoing
	left chan *os.File
}

func (h *leaving) Start(s *Start) (Process, error) {
	h.left <- s.Streams[0]
	closeAll(s.Streams[1:])
	return ended{}, nil
}

// ended is a tool of leaving.
type ended struct{ *echo }

func (ended) Wait() Status { return Status{} }

// TestInputEnds: the standard input of a run ends when its client can write no more. Its pipe and a goroutine stayed for as
// long as the connection, so a client that left it open (or closed it, for the goroutine) had the server grow with each run.
func TestInputEnds(t *testing.T) {
	h := &leaving{left: make(chan *os.File, 1)}
	k := newTalk(t, &Server{Host: h})
	before := runtime.NumGoroutine()
	const runs = 40
	for i := 1; i <= runs; i++ {
		k.say(`{"id":1,"method":"start","params":{"tool":"t","stdin":"data"}}`)
		k.wants("a start", "1", fmt.Sprintf(`{"run":%d,"pid":1}`, i))
		if i%2 == 0 {
			k.say(fmt.Sprintf(`{"id":1,"method":"write","params":{"run":%d,"data":"","end":true}}`, i))
			k.wants("the end of the input", "1", "{}")
		}
		k.say(fmt.Sprintf(`{"id":1,"method":"wait","params":{"run":%d}}`, i))
		k.wants("the end", "1", fmt.Sprintf(`{"run":%d,"exit":0}`, i))
		in := <-h.left
		_ = in.SetReadDeadline(await.Deadline(t))
		if _, err := in.Read(make([]byte, 1)); err != io.EOF {
			t.Fatalf("run %d: the input goes on: %v", i, err)
		}
		_ = in.Close()
	}
	await.Until(t, "their goroutines have ended", func() bool { return runtime.NumGoroutine() <= before+runs/10 })
}

// TestInputLeft: the input that a client has written before the end of a tool reaches the process that the tool has left; and the
// connection ends with its client while such a process reads nothing. It went on for as long as that process.
func TestInputLeft(t *testing.T) {
	h := &leaving{left: make(chan *os.File, 1)}
	k := newTalk(t, &Server{Host: h})
	const size = 300 << 10 // more than a pipe takes
	data := base64.StdEncoding.EncodeToString(make([]byte, size))
	for run := 1; run <= 2; run++ {
		k.say(`{"id":1,"method":"start","params":{"tool":"t","stdin":"data"}}`)
		k.wants("a start", "1", fmt.Sprintf(`{"run":%d,"pid":1}`, run))
		k.say(fmt.Sprintf(`{"id":2,"method":"write","params":{"run":%d,"data":%q}}`, run, data))
		k.say(fmt.Sprintf(`{"id":3,"method":"wait","params":{"run":%d}}`, run))
		k.wants("the end", "3", fmt.Sprintf(`{"run":%d,"exit":0}`, run))
		k.say(fmt.Sprintf(`{"id":4,"method":"write","params":{"run":%d,"data":""}}`, run))
		k.wants("a late piece", "4", string(NoRun))
		in := <-h.left
		defer in.Close()
		if run == 1 {
			if n, err := io.Copy(io.Discard, in); n != size || err != nil {
				t.Errorf("%d of %d bytes came: %v", n, size, err)
			}
			k.wants("the piece", "2", "{}")
		}
	}
}
