//go:build accessc_points

package egress_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/process/points"
	atpoints "github.com/accessc/accessc/internal/process/points/held"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// holder holds this process, whose proxies are those of the tests.
func holder(t *testing.T) *atpoints.Holder {
	h := atpoints.New(t)
	points.Connect(h.Address())
	return h
}

// begun has a function run meanwhile, and returns the wait for its result.
func begun[T any](t *testing.T, what string, do func() T) (end func() T) {
	done := make(chan T, 1)
	go func() { done <- do() }()
	return func() T {
		v, _ := await.Receive(t, what, done)
		return v
	}
}

// TestHeldDialing: a grant is revoked when a connection has been judged by it, and its host has not been called. No byte of the tool
// reaches the host once the connection is cut. Before that a request may arrive that is judged as a whole.
func TestHeldDialing(t *testing.T) {
	for name, form := range lentForms {
		for _, at := range []points.Name{points.Revoked, points.Cut} {
			t.Run(name+" "+string(at), func(t *testing.T) {
				h := holder(t)
				l := lend(t, []ir.NetRule{allow("*.example.com")}, nil)
				l.answers(l.grants(1))
				dials := h.At(points.Dialing)
				code := begun(t, "the answer", func() int {
					return send(form.open(l.world, "a.example.com", 80), form.target, "a.example.com")
				})
				dials.Reached(t)
				l.answers(func(egress.Refusal) egress.Answer { return egress.Answer{} })
				revokes := h.At(at)
				over := begun(t, "the revocation", func() error { return l.proxy.Revoke(1) })
				revokes.Reached(t)
				dials.Open()
				code()
				revokes.Open()
				if err := over(); err != nil {
					t.Error(err)
				}
				want := 0
				if name == "absolute" && at == points.Revoked {
					want = 1
				}
				if reached, _, _ := l.saw(); reached != want {
					t.Errorf("%d requests arrived", reached)
				}
			})
		}
	}
}

// TestHeldRevoked: a grant is no longer in force, and its connections are still open. One that comes now is refused; what a host is
// sent on an open one may arrive until Revoke returns, and nothing after that.
func TestHeldRevoked(t *testing.T) {
	stream := allow("*.example.com", func(r *ir.NetRule) { r.Scheme, r.Port = "tcp", 8080 })
	h := holder(t)
	l := lend(t, []ir.NetRule{stream}, nil)
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	l.ports[8080] = host.Addr().String()
	l.answers(l.grants(1))
	c := announced(l.world, "a.example.com", 8080)
	defer c.Close()
	if _, err := io.WriteString(c, "before"); err != nil {
		t.Fatal(err)
	}
	at, err := host.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if _, err := io.ReadFull(at, make([]byte, len("before"))); err != nil {
		t.Fatal(err)
	}
	stop := h.At(points.Revoked)
	over := begun(t, "the revocation", func() error { return l.proxy.Revoke(1) })
	stop.Reached(t)
	l.answers(func(egress.Refusal) egress.Answer { return egress.Answer{} })
	late := announced(l.world, "a.example.com", 8080)
	if n, err := late.Read(make([]byte, 1)); err == nil || l.questions() != 1 {
		t.Errorf("a new connection reads %d bytes, asked %d", n, l.questions())
	}
	if _, err := io.WriteString(c, "during"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(at, make([]byte, len("during"))); err != nil {
		t.Errorf("the open connection: %v", err)
	}
	stop.Open()
	if err := over(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "after")
	if rest, _ := io.ReadAll(at); len(rest) > 0 {
		t.Errorf("%q arrived after the revocation", rest)
	}
	if _, dials, _ := l.saw(); dials != 1 {
		t.Errorf("%d connections", dials)
	}
}

// TestHeldUpload: bytes that wait in the kernel when a grant loses its force do not arrive once Revoke has returned, although
// the host begins to read just before the connection is cut.
func TestHeldUpload(t *testing.T) {
	stream := allow("a.example.com", func(r *ir.NetRule) { r.Scheme, r.Port = "tcp", 8080 })
	h := holder(t)
	l := lend(t, []ir.NetRule{stream}, nil)
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	l.ports[8080] = host.Addr().String()
	l.answers(l.grants(1))
	c := announced(l.world, "a.example.com", 8080)
	defer c.Close()
	sent := begun(t, "the end of the upload", func() error {
		_, err := io.Copy(c, endless{})
		return err
	})
	at, err := host.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	stop := h.At(points.Revoked)
	over := begun(t, "the revocation", func() error { return l.proxy.Revoke(1) })
	stop.Reached(t)
	if _, err := io.CopyN(io.Discard, at, 1<<20); err != nil {
		t.Error(err)
	}
	stop.Open()
	if err := over(); err != nil {
		t.Fatal(err)
	}
	before := arrived(t, at)
	if after, err := io.Copy(io.Discard, at); int(after) != before {
		t.Errorf("%d bytes had arrived at the revocation, and then %d (%v)", before, after, err)
	}
	if sent() == nil {
		t.Error("the upload ended")
	}
}

// endless is text without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, strings.Repeat("x", len(b))), nil }

// TestHeldAnswer: the supervisor hears of a revocation when the connections have ended, and not before.
func TestHeldAnswer(t *testing.T) {
	h := holder(t)
	l := lend(t, []ir.NetRule{allow("*.example.com")}, nil)
	l.answers(l.grants(1))
	open := announced(l.world, "a.example.com", 80)
	if code := send(open, "/x", "a.example.com"); code != 200 {
		t.Fatal(code)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	supervisor, control := os.NewFile(uintptr(pair[0]), "supervisor"), os.NewFile(uintptr(pair[1]), "control")
	defer control.Close()
	served := begun(t, "the end of the proxy", func() error { return l.proxy.Steered(control) })
	cut, stop := h.At(points.Revoked), h.At(points.Ended)
	revoke := wire.Packet{Kind: wire.Revoke, Errno: 1, ID: 9}
	if _, err := supervisor.Write(revoke.Append(nil)); err != nil {
		t.Fatal(err)
	}
	cut.Reached(t)
	silent := func(when string) {
		t.Helper()
		if n, _, err := unix.Recvfrom(pair[0], make([]byte, wire.MaxSize), unix.MSG_DONTWAIT); err != unix.EAGAIN {
			t.Errorf("%s the supervisor reads %d bytes: %v", when, n, err)
		}
	}
	silent("before the cut")
	cut.Open()
	stop.Reached(t)
	silent("before the answer")
	if _, err := fmt.Fprint(open, "GET /y HTTP/1.1\r\nHost: a.example.com\r\n\r\n"); err == nil {
		if n, err := open.Read(make([]byte, 1)); err == nil {
			t.Errorf("the connection of the grant reads %d bytes", n)
		}
	}
	stop.Open()
	buf := make([]byte, wire.MaxSize)
	n, err := supervisor.Read(buf)
	p, malformed := wire.Parse(buf[:max(n, 0)])
	if err != nil || malformed != nil || p.Kind != wire.Answer || p.ID != 9 {
		t.Errorf("%+v, %v, %v", p, err, malformed)
	}
	_ = supervisor.Close()
	if err := served(); err != nil {
		t.Error(err)
	}
}
