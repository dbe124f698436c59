//go:build linux || darwin

package serve

import (
	"bufio"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
)

// reading reports whether a server of this process waits for bytes.
func reading() bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for one := range strings.SplitSeq(string(stacks), "\n\n") {
		state, calls, _ := strings.Cut(one, "\n")
		waits := strings.Contains(state, "[IO wait") || strings.Contains(state, "[syscall")
		if waits && strings.Contains(calls, "serve.(*Server).serve(") {
			return true
		}
	}
	return false
}

// TestServeSocketWaits: a socket that its maker has set not to wait is served like another one, also while nothing comes. What is
// no stream socket of this system is none to be served.
func TestServeSocketWaits(t *testing.T) {
	pair := func(kind int) (ours, theirs *os.File) {
		t.Helper()
		fds, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.SetNonblock(fds[1], true)
		ours, theirs = os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
		t.Cleanup(func() { ours.Close(); theirs.Close() })
		return ours, theirs
	}
	ours, theirs := pair(unix.SOCK_STREAM)
	served := make(chan bool, 1)
	go func() {
		served <- (&Server{Host: &echoing{}}).ServeSocket(theirs, theirs)
		theirs.Close() // and a read waits no more
	}()
	in := bufio.NewReader(ours)
	for _, c := range []struct{ line, want string }{
		{`{"id":1,"method":"hello","params":{"versions":[1]}}`, `"version":1`},
		{`{"id":2,"method":"start","params":{"tool":"t","wait":3}}`, `"id":2,"result":{"run":1`},
		{"", `"id":3,"result":{"run":1,"exit":0}`},
	} {
		await.Until(t, "the server waits for a line", func() bool { return reading() || len(served) > 0 })
		if c.line != "" {
			if _, err := ours.WriteString(c.line + "\n"); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, c.want) {
			t.Fatalf("got %q, %v, want %s", got, err, c.want)
		}
	}
	ours.Close()
	if !<-served {
		t.Error("the socket was not served")
	}
	datagrams, _ := pair(unix.SOCK_DGRAM)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	for _, f := range []*os.File{datagrams, r} {
		if (&Server{Host: &echoing{}}).ServeSocket(f, f) {
			t.Errorf("%s was served", f.Name())
		}
	}
}
