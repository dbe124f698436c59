package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// TestLastAnswer: an answer that ends the run is itself answered. The run's end closed the socket first, and the
// client saw no reply ("EOF") to an answer that counted.
func TestLastAnswer(t *testing.T) {
	writing, write := make(chan struct{}), make(chan struct{})
	s := fixture(func([]ir.Operation) error {
		close(writing)
		<-write
		return nil
	})
	c, err := Listen(t.TempDir()+"/live", s, func(int) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	q, _ := waiting(t, s, always, reading("secrets/a"))
	ours, theirs := net.Pipe()
	go func() {
		c.talk(theirs)
		_ = theirs.Close()
	}()
	if _, err := fmt.Fprintf(ours, `{"command":"answer","id":%d,"answer":"write"}`+"\n", q.ID); err != nil {
		t.Fatal(err)
	}
	<-writing
	closed := make(chan struct{})
	go func() {
		c.Close()
		close(closed)
	}()
	await.Until(t, "the run ends", c.refusesMore)
	close(write)
	var r Reply
	if line, err := bufio.NewReader(ours).ReadBytes('\n'); err != nil {
		t.Errorf("no reply to the last answer: %v", err)
	} else if err := json.Unmarshal(line, &r); err != nil || r.Error != "" {
		t.Error(err, r.Error)
	}
	<-closed
	// A request after the end is neither carried out nor answered.
	next, late := net.Pipe()
	go func() { _, _ = next.Write([]byte(`{"command":"list"}` + "\n")) }()
	c.talk(late)
	_ = late.Close()
	if n, err := next.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a run answers after its end")
	}
}

// refusesMore reports whether the end of the run has begun.
func (c *Control) refusesMore() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// TestRunsElsewhere: a run in another PID namespace keeps its socket as long as it listens. A list of the runs from outside
// of the namespace removed it, and no grant of the run could be revoked any more.
func TestRunsElsewhere(t *testing.T) {
	dir := t.TempDir() + "/live"
	c, err := Listen(dir, fixture(nil), func(int) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := strconv.Itoa(math.MaxInt32) + "-x" + suffix // beyond all numbers of processes (proc(5), pid_max)
	if err := os.Rename(filepath.Join(dir, c.name), filepath.Join(dir, elsewhere)); err != nil {
		t.Fatal(err)
	}
	if runs, err := Runs(dir); len(runs) != 1 || err != nil {
		t.Errorf("while it listens: %q, %v", runs, err)
	}
	_ = c.listener.Close()
	if runs, err := Runs(dir); len(runs) != 0 || err != nil {
		t.Errorf("after its end: %q, %v", runs, err)
	}
	if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
		t.Errorf("%d sockets stay: %v", len(left), err)
	}
}
