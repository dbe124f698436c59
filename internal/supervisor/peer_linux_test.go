package supervisor

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/irtest"
)

// TestPeerIsJudged: a connection leads to the address that was judged, and where an address stands for any, to the
// address that the kernel would have taken. What was judged was not what the kernel took for a bound socket.
func TestPeerIsJudged(t *testing.T) {
	port := everywhere(t)
	irtest.Many(t, 20_000, func(r *rand.Rand) error {
		family := pick(r, unix.AF_INET, unix.AF_INET6)
		only, reuse := r.IntN(2), r.IntN(2)
		from, to := netip.AddrPort{}, netip.AddrPortFrom(draw(r, family), port)
		if r.IntN(4) > 0 {
			from = netip.AddrPortFrom(draw(r, family), 0)
		}
		what := fmt.Sprintf("%d, only %d, reuse %d, bound to %v, connect %v", family, only, reuse, from, to)
		fd, ok := internetSocket(family, only, reuse, from)
		if !ok {
			return nil
		}
		defer unix.Close(fd)
		judged, raw, e := aimed(fd, to, sockaddr(family, to))
		if e != 0 {
			return fmt.Errorf("%s: %w", what, e)
		}
		err := connected(fd, raw)
		if peer, ok := peerOf(fd); err == nil && (!ok || peer != judged) {
			return fmt.Errorf("%s: judged %v, reached %v", what, judged, peer)
		}
		same, ok := internetSocket(family, only, reuse, from)
		if !ok {
			return nil
		}
		defer unix.Close(same)
		plain := connected(same, sockaddr(family, to))
		if peer, _ := peerOf(same); plain != err || plain == nil && peer != judged {
			return fmt.Errorf("%s: %v at %v, without a supervisor %v at %v", what, err, judged, plain, peer)
		}
		return nil
	})
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// draw is an address of this host, or one that stands for any, in all forms of a family.
func draw(r *rand.Rand, family int) netip.Addr {
	a := netip.MustParseAddr(pick(r, "0.0.0.0", "127.0.0.1", fmt.Sprintf("127.0.%d.%d", r.IntN(3), 1+r.IntN(3))))
	switch {
	case family == unix.AF_INET:
		return a
	case r.IntN(2) == 0:
		return netip.AddrFrom16(a.As16())
	}
	return netip.MustParseAddr(pick(r, "::", "::1"))
}

// everywhere listens at all addresses of both families.
func everywhere(t *testing.T) uint16 {
	t.Helper()
	fd, ok := internetSocket(unix.AF_INET6, 0, 0, netip.AddrPortFrom(netip.IPv6Unspecified(), 0))
	if !ok {
		t.Skip("this host has no IPv6")
	}
	t.Cleanup(func() { _, _ = unix.Shutdown(fd, unix.SHUT_RD), unix.Close(fd) })
	at, e := localAddress(fd)
	if err := unix.Listen(fd, 1<<12); err != nil || e != 0 {
		t.Fatal(err, e)
	}
	go func() {
		for {
			got, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
			if err != nil {
				return
			}
			_ = unix.Close(got)
		}
	}()
	return at.Port()
}

// internetSocket is a socket that is bound to an address, if it is valid. False is one that the kernel does not bind.
func internetSocket(family, only, reuse int, from netip.AddrPort) (int, bool) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	if family == unix.AF_INET6 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, reuse)
	if from.IsValid() && bound(fd, sockaddr(family, from)) != nil {
		_ = unix.Close(fd)
		return -1, false
	}
	return fd, true
}

// peerOf is the address at the other end of a socket.
func peerOf(fd int) (netip.AddrPort, bool) {
	sa, err := unix.Getpeername(fd)
	if err != nil {
		return netip.AddrPort{}, false
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), true
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)), true
	}
	return netip.AddrPort{}, false
}
