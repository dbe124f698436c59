package egress_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// hosts is a listener to which the port 8080 leads.
func hosts(t *testing.T, l *lender) net.Listener {
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	l.ports[8080] = host.Addr().String()
	return host
}

// halfEnded is a tunnel to a host that has said its end, whose client has sent a megabyte and its end, of which the host
// has read nothing.
func halfEnded(t *testing.T, l *lender, host net.Listener, open func(*world, string, uint16) net.Conn) *net.TCPConn {
	c := open(l.world, "a.example.com", 8080)
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, strings.Repeat("x", 1<<20)); err != nil {
		t.Fatal(err)
	}
	conn, err := host.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	at := conn.(*net.TCPConn)
	_, _ = at.CloseWrite(), c.(*net.TCPConn).CloseWrite()
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the client's end is passed on", func() bool {
		f, ok := flowOf(t, at.RemoteAddr(), at.LocalAddr())
		return ok && f.ended
	})
	return at
}

// TestLentEnded: a tunnel that both ends have ended rests on its grant for as long as bytes of the tool wait in the
// kernel for a host that reads slowly. They went there after the revocation, which knew of the tunnel no more.
func TestLentEnded(t *testing.T) {
	stream := allow("a.example.com", func(r *ir.NetRule) { r.Scheme, r.Port = "tcp", 8080 })
	for name, form := range lentForms {
		if name == "absolute" {
			continue // its requests are no tunnel
		}
		t.Run(name, func(t *testing.T) {
			l := lend(t, []ir.NetRule{stream}, nil)
			l.answers(l.grants(1))
			at := halfEnded(t, l, hosts(t, l), form.open)
			l.revokesAll(t, at)
		})
	}
}

// TestLentTaken: such a tunnel loses nothing without a revocation, and is over when the host has taken all or has reset
// the connection: its place, the only one here, is free for another.
func TestLentTaken(t *testing.T) {
	stream := allow("a.example.com", func(r *ir.NetRule) { r.Scheme, r.Port = "tcp", 8080 })
	for name, end := range map[string]func(*testing.T, *net.TCPConn){
		"taken": func(t *testing.T, at *net.TCPConn) {
			if n, err := io.Copy(io.Discard, at); n != 1<<20 || err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		},
		"reset": func(_ *testing.T, at *net.TCPConn) { _, _ = at.SetLinger(0), at.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l := lend(t, []ir.NetRule{stream}, func(c *egress.Config) { c.Limits.Connections = 1 })
			l.answers(l.grants(1))
			host := hosts(t, l)
			end(t, halfEnded(t, l, host, announced))
			go func() {
				for {
					c, err := host.Accept()
					if err != nil {
						return
					}
					_, _ = io.WriteString(c, "x")
					defer c.Close()
				}
			}()
			await.Until(t, "the place of the tunnel is free", func() bool {
				c := announced(l.world, "a.example.com", 8080)
				defer c.Close()
				n, _ := c.Read(make([]byte, 1)) // the end where no place is free
				return n == 1
			})
		})
	}
}

// stalling are ways in which a host, its name or the caller's own proxy keeps a connection waiting.
var stalling = map[string]struct {
	by     string
	port   uint16
	change func(*egress.Config, func(context.Context))
}{
	"host": {port: 80, change: func(c *egress.Config, wait func(context.Context)) {
		c.Dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) { wait(ctx); return nil, ctx.Err() }
	}},
	"name": {port: 80, change: func(c *egress.Config, wait func(context.Context)) {
		c.Resolve = func(ctx context.Context, _ string) (egress.Found, error) { wait(ctx); return egress.Found{}, ctx.Err() }
	}},
	"CONNECT": {by: "http", port: 8080}, "CONNECT by TLS": {by: "https", port: 8080}, "SOCKS": {by: "socks5", port: 8080},
}

// TestLentDialing: a revocation ends connections that wait for a host, and those alone. It ended all connections of the
// tool, after five seconds, where one waited whose client had spoken, or for an answer of the caller's own proxy.
func TestLentDialing(t *testing.T) {
	stream := allow("a.example.com", func(r *ir.NetRule) { r.Scheme, r.Port = "tcp", 8080 })
	for name, scene := range stalling {
		t.Run(name, func(t *testing.T) {
			waiting := make(chan struct{}, 16)
			wait := func(ctx context.Context) {
				waiting <- struct{}{}
				<-ctx.Done()
			}
			l := lend(t, []ir.NetRule{stream, allow("a.example.com")}, func(c *egress.Config) {
				if scene.by != "" {
					behind(map[string]string{"HTTPS_PROXY": scene.by + "://127.0.0.1:3128"})(c)
				} else {
					scene.change(c, wait)
				}
			})
			l.listen(callersPort, func(net.Conn) { wait(t.Context()) })
			l.answers(l.grants(1))
			c := announced(l.world, "a.example.com", scene.port)
			defer c.Close()
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			await.Receive(t, "the wait", waiting)
			await.Until(t, "the proxy can read what the client says", func() bool {
				f, ok := flowOf(t, c.LocalAddr(), c.RemoteAddr())
				return ok && f.unsent == 0
			})
			if err := l.proxy.Revoke(1); err != nil { // after its patience
				t.Error(err)
			}
		})
	}
}

// TestLentUncut: a proxy with a connection that does not end is over before the supervisor hears of its end. It closed the
// supervisor's socket first, which means that no connection is left, and its connections a moment later.
func TestLentUncut(t *testing.T) {
	l := lend(t, []ir.NetRule{allow("*.example.com")}, nil)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	supervisor, control := os.NewFile(uintptr(pair[0]), "supervisor"), os.NewFile(uintptr(pair[1]), "control")
	defer supervisor.Close()
	defer control.Close()
	revoke := wire.Packet{Kind: wire.Revoke, Errno: 1}
	if _, err := supervisor.Write(revoke.Append(nil)); err != nil {
		t.Fatal(err)
	}
	if err := l.proxy.SteeredUncut(control); err == nil {
		t.Error("the proxy goes on with the connection")
	}
	if n, _, err := unix.Recvfrom(pair[0], make([]byte, wire.MaxSize), unix.MSG_DONTWAIT); err != unix.EAGAIN {
		t.Errorf("the supervisor reads %d bytes: %v", n, err)
	}
}
