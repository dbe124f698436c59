package egress_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
)

// dial makes a connection as the supervisor makes it: the address is chosen and announced before.
func (w *world) dial(o egress.Origin) net.Conn {
	w.Helper()
	to, _ := w.proxy.Listener(false)
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			if failed = unix.Bind(int(fd), &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); failed != nil {
				return
			}
			var at unix.Sockaddr
			if at, failed = unix.Getsockname(int(fd)); failed == nil {
				w.proxy.Expect(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(at.(*unix.SockaddrInet4).Port)), o)
			}
		})
		if err == nil {
			err = failed
		}
		return err
	}}
	c, err := d.Dial("tcp", to.String())
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// benchWorld has an echo server at port 9 of tcp.example, and the hosts of pathWorld.
func benchWorld(b *testing.B) (*world, *x509.CertPool) {
	authority, err := egress.NewAuthority([]ir.Host{{Kind: ir.HostAny}})
	if err != nil {
		b.Fatal(err)
	}
	w := newWorldWith(b, authority, allow("tcp.example", port(9), scheme("tcp")), allow("example.com"), allow("inspect.example", inspect))
	w.names = map[string]string{"tcp.example": "203.0.113.1", "example.com": "203.0.113.2", "inspect.example": "203.0.113.3"}
	w.handle = func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "ok") }
	w.listen(9, func(c net.Conn) { _, _ = io.Copy(c, c) })
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM())
	return w, roots
}

// pairs times two ways in turn and reports how many times as long the second takes.
func pairs(b *testing.B, direct, proxied func()) {
	direct()
	proxied()
	took := [2][]time.Duration{}
	for b.Loop() {
		for i, f := range []func(){direct, proxied} {
			begun := time.Now()
			f()
			took[i] = append(took[i], time.Since(begun))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	middle := func(i int) float64 { return float64(took[i][len(took[i])/2]) / 1e3 }
	late := func(i int) float64 { return float64(took[i][len(took[i])*99/100]) / 1e3 }
	b.ReportMetric(middle(0), "µs-direct")
	b.ReportMetric(middle(1), "µs-proxied")
	b.ReportMetric(late(1), "µs-p99")
	b.ReportMetric(middle(1)/middle(0), "ratio")
}

// echo sends a byte and waits for it.
func echo(b *testing.B, c net.Conn) {
	buf := []byte{1}
	if _, err := c.Write(buf); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(c, buf); err != nil {
		b.Fatal(err)
	}
	forget(c)
}

// forget ends a connection without a trace: thousands that wait for late packets take the ports.
func forget(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// BenchmarkConnect is the time for a new connection and the first byte of an answer.
func BenchmarkConnect(b *testing.B) {
	w, _ := benchWorld(b)
	direct := func() {
		c, err := net.Dial("tcp", w.ports[9])
		if err != nil {
			b.Fatal(err)
		}
		echo(b, c)
	}
	b.Run("announced", func(b *testing.B) {
		pairs(b, direct, func() { echo(b, w.dial(egress.Origin{Host: host("tcp.example"), Port: 9})) })
	})
	b.Run("connected", func(b *testing.B) {
		a, _, _ := w.proxy.Pool().Addresses("tcp.example")
		pairs(b, direct, func() {
			o, e := w.proxy.Route(netip.AddrPortFrom(a, 9), true)
			if e != 0 {
				b.Fatal(e)
			}
			echo(b, w.dial(o))
		})
	})
	b.Run("CONNECT", func(b *testing.B) {
		pairs(b, direct, func() {
			c := w.dial(egress.Origin{})
			if r, _ := request(b, c, "CONNECT tcp.example:9 HTTP/1.1\r\nHost: tcp.example:9\r\n\r\n"); r.StatusCode != 200 {
				b.Fatal(r.Status)
			}
			echo(b, c)
		})
	})
	b.Run("SOCKS5", func(b *testing.B) {
		ask := socksRequest(3, []byte("tcp.example"), 9)
		pairs(b, direct, func() {
			c := w.dial(egress.Origin{})
			if code := socksAnswer(c, ask); code != 0 {
				b.Fatal(code)
			}
			echo(b, c)
		})
	})
}

// BenchmarkHandshake is the time for a new connection and its TLS handshake.
func BenchmarkHandshake(b *testing.B) {
	w, roots := benchWorld(b)
	shake := func(c net.Conn, name string, insecure bool) {
		if err := tls.Client(c, &tls.Config{RootCAs: roots, ServerName: name, InsecureSkipVerify: insecure}).Handshake(); err != nil {
			b.Fatal(err)
		}
		forget(c)
	}
	direct := func() {
		c, err := net.Dial("tcp", w.tls.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		shake(c, "example.com", true)
	}
	for _, name := range []string{"example.com", "inspect.example"} {
		b.Run(name, func(b *testing.B) {
			pairs(b, direct, func() { shake(w.dial(egress.Origin{Host: host(name), Port: 443}), name, name == "example.com") })
		})
	}
}

// BenchmarkRequest is the time for a request by a connection that is open.
func BenchmarkRequest(b *testing.B) {
	w, roots := benchWorld(b)
	client := func(dial func() net.Conn) func() {
		c := &http.Client{Transport: &http.Transport{
			DialContext:     func(context.Context, string, string) (net.Conn, error) { return dial(), nil },
			TLSClientConfig: &tls.Config{RootCAs: roots, InsecureSkipVerify: true},
		}}
		return func() {
			if code, body := w.get(c, "http://example.com/x"); code != 200 {
				b.Fatal(code, body)
			}
		}
	}
	direct := client(func() net.Conn {
		c, err := net.Dial("tcp", w.plain.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		return c
	})
	pairs(b, direct, client(func() net.Conn { return w.dial(egress.Origin{Host: host("example.com"), Port: 80}) }))
}

// BenchmarkThroughput is the rate of one stream of bytes: a part of 64 MB per turn.
func BenchmarkThroughput(b *testing.B) {
	const size = 64 << 20
	w, _ := benchWorld(b)
	part := make([]byte, 256<<10)
	w.listen(10, func(c net.Conn) {
		for range size / len(part) {
			if _, err := c.Write(part); err != nil {
				return
			}
		}
	})
	drain := func(c net.Conn) {
		defer c.Close()
		if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, 256<<10)); n != size || err != nil {
			b.Fatal(n, err)
		}
	}
	direct := func() {
		c, err := net.Dial("tcp", w.ports[10])
		if err != nil {
			b.Fatal(err)
		}
		drain(c)
	}
	v := newWorld(b, allow("tcp.example", port(10), scheme("tcp")))
	v.names, v.ports = w.names, w.ports
	b.SetBytes(2 * size)
	pairs(b, direct, func() { drain(v.dial(egress.Origin{Host: host("tcp.example"), Port: 10})) })
}
