package supervisor

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/irtest"
)

// TestPeerIsJudged: a connection leads to the address that was judged, and where an address stands for any, to the
// address that the kernel would have taken. What was judged was not what the kernel took for a bound socket.
func TestPeerIsJudged(t *testing.T) {
	port := everywhere(t)
	var mu sync.Mutex
	reached := map[string]int{} // by kind
	irtest.Many(t, 60_000, func(r *rand.Rand) error {
		family := pick(r, unix.AF_INET, unix.AF_INET6, unix.AF_INET6)
		only, reuse := pick(r, 0, 0, 0, 1), r.IntN(2)
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
		if err == nil {
			mu.Lock()
			reached[formOf(from.Addr())+" to "+formOf(to.Addr())]++
			mu.Unlock()
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
	for _, from := range []string{"unbound", "any of IPv4", "IPv4", "any of IPv6", "IPv6", "any of IPv4 in IPv6", "IPv4 in IPv6"} {
		for _, to := range []string{"any of IPv4", "IPv4", "any of IPv6", "IPv6", "any of IPv4 in IPv6", "IPv4 in IPv6"} {
			kind := from + " to " + to
			// A socket of one family has no address of the other, and from one in the other form it connects to none but any.
			four := strings.HasSuffix(from, "of IPv4") || from == "IPv4"
			if from != "unbound" && four != (strings.HasSuffix(to, "of IPv4") || to == "IPv4") ||
				from == "IPv6" && strings.Contains(to, "IPv4") || strings.HasSuffix(from, "IPv4 in IPv6") && to == "IPv6" {
				continue
			}
			if reached[kind] == 0 {
				t.Errorf("no connection from %s", kind)
			}
		}
	}
}

// formOf names the form of an address.
func formOf(a netip.Addr) string {
	out := "IPv6"
	switch {
	case !a.IsValid():
		return "unbound"
	case a.Is4():
		out = "IPv4"
	case a.Is4In6():
		out = "IPv4 in IPv6"
	}
	if a.Unmap().IsUnspecified() {
		out = "any of " + out
	}
	return out
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// draw is an address of this host, or one that stands for any, in all forms of a family.
func draw(r *rand.Rand, family int) netip.Addr {
	a := netip.MustParseAddr(pick(r, "0.0.0.0", "0.0.0.0", "127.0.0.1", fmt.Sprintf("127.0.%d.%d", r.IntN(3), 1+r.IntN(3))))
	switch {
	case family == unix.AF_INET:
		return a
	case r.IntN(3) > 0:
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
	// A peer that is reset is no peer any more.
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{})
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
	// Connections that linger would use up the ports, or have their numbers wait.
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
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
