//go:build linux

package egress_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// TestStranger: the proxy of a run serves its tool alone. Any process of this host can connect to
// its port, and is not answered.
func TestStranger(t *testing.T) {
	w := need(t)
	p := newPlace(t, w, ordinary, rulesFor(clients))
	p.holds(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := p.exec(ctx, "", "stranger.jsonl", "sleep", "infinity")
	p.must(cmd.Start())
	port := proxyPort(t, cmd.Process.Pid)
	before := w.window(t)
	for _, says := range []string{
		"GET http://a.example.test/x HTTP/1.1\r\nHost: a.example.test\r\n\r\n", "CONNECT a.example.test:443 HTTP/1.1\r\nHost: a.example.test:443\r\n\r\n", "\x05\x01\x00",
	} {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(await.Deadline(t))
		_, _ = io.WriteString(c, says)
		// The connection is reset if it was closed before its bytes were read.
		if b, err := io.ReadAll(c); len(b) > 0 || err != nil && isTimeout(err) {
			t.Errorf("%.20q was answered by %q, %v", says, b, err)
		}
		c.Close()
	}
	for name, n := range w.window(t).names {
		if n > before.names[name] {
			t.Errorf("the name server was asked for %s", name)
		}
	}
	cancel()
	_ = cmd.Wait()
	await.Until(t, "the run's processes have ended", func() bool { return len(others(t)) == 0 })
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}
