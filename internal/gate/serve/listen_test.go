//go:build linux || darwin

package serve

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/accessc/accessc/test/await"
)

// listenShortly is a listener with little patience, in a directory with a short name.
func listenShortly(t *testing.T, patience time.Duration) *Listener {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "accessc-serve-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := Listen(filepath.Join(dir, "s"), "token")
	if err != nil {
		t.Fatal(err)
	}
	l.patience = patience
	served := make(chan error, 1)
	go func() { served <- l.Serve(&Server{}) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l
}

// TestPatience: a client that has not said hello in time is cut off, whatever of a line it has sent, and the server
// goes on.
func TestPatience(t *testing.T) {
	l := listenShortly(t, 50*time.Millisecond)
	for range 3 {
		for _, sent := range []string{"", `{"id":1,"meth`} {
			c, err := net.Dial("unix", l.Path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, sent)
			_ = c.SetDeadline(await.Deadline(t))
			if n, err := c.Read(make([]byte, 1)); n > 0 || os.IsTimeout(err) {
				t.Errorf("sent %q: got %d bytes, %v", sent, n, err)
			}
		}
	}
}
