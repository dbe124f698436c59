package start_test

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// TestListensEverywhere: a tool that may listen at the loopback addresses alone listens there when it asks for every
// address, however it asks, and its clients find it. Most programs for tests ask so, and were refused.
func TestListensEverywhere(t *testing.T) {
	t.Parallel()
	localhost := ir.Host{Kind: ir.HostName, Name: ir.Localhost}
	x := passing(t, []ir.NetRule{{Host: localhost, Listen: true, Allow: true}, {Host: localhost, Listen: true, Port: 1}})
	defer x.stop()
	for form, clients := range map[string][]string{
		"0.0.0.0 bind": {"127.0.0.1"}, "0.0.0.0 unbound": {"127.0.0.1"}, "0.0.0.0 port": {"127.0.0.1"},
		":: bind": {"127.0.0.1", "::1"}, ":: unbound": {"127.0.0.1", "::1"}, ":: port": {"127.0.0.1", "::1"},
		"::ffff:0.0.0.0 bind": {"127.0.0.1", "::1"}, ":: alone": {"::1"},
	} {
		port := int(x.exchange(t, attempt{Op: "everywhere", A: form})[0])
		if port <= 1023 {
			t.Errorf("%s: %v", form, syscall.Errno(port))
			continue
		}
		for _, c := range clients {
			if e := x.exchange(t, attempt{Op: "passage", A: "- " + c + " " + strconv.Itoa(port)})[0]; e != 0 {
				t.Errorf("%s: the tool's client at %s: %v", form, c, e)
			}
		}
		for _, elsewhere := range []string{"127.0.0.2", "::ffff:127.0.0.2"} {
			if c, err := net.Dial("tcp", net.JoinHostPort(elsewhere, strconv.Itoa(port))); err == nil {
				_ = c.Close()
				t.Errorf("%s: it listens at %s as well", form, elsewhere)
			}
		}
	}
	if e := x.exchange(t, attempt{Op: "everywhere", A: "0.0.0.0 denied"})[0]; e != unix.EACCES {
		t.Errorf("at a port that is denied: %v", e)
	}
}

// TestAsksUntilThere: a tool that may listen is told that nobody listens yet, as clients expect that wait for a
// server of their own; it is refused a server of the host.
func TestAsksUntilThere(t *testing.T) {
	t.Parallel()
	localhost := ir.Host{Kind: ir.HostName, Name: ir.Localhost}
	x := passing(t, []ir.NetRule{{Host: localhost, Listen: true, Allow: true}, {Host: localhost, Listen: true, Port: 1}})
	defer x.stop()
	for _, host := range []string{"127.0.0.1", "::1"} {
		fd, err := boundSocket(netip.MustParseAddr(host), netip.AddrPortFrom(netip.MustParseAddr(host), 0))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		ask := func(port int) syscall.Errno {
			return x.exchange(t, attempt{Op: "passage", A: "- " + host + " " + strconv.Itoa(port)})[0]
		}
		if e := ask(portOf(fd)); e != unix.ECONNREFUSED {
			t.Errorf("%s: nobody listens: %v", host, e)
		}
		if err := unix.Listen(fd, 1); err != nil {
			t.Fatal(err)
		}
		if e := ask(portOf(fd)); e != unix.EACCES {
			t.Errorf("%s: the host listens: %v", host, e)
		}
		if e := ask(1); e != unix.EACCES {
			t.Errorf("%s: where it may not listen: %v", host, e)
		}
	}
}

func init() {
	attempts["everywhere"] = func(a, _ name) error {
		var host, how string
		if _, err := fmt.Sscan(a.path, &host, &how); err != nil {
			return err
		}
		at := netip.AddrPortFrom(netip.MustParseAddr(host), 0)
		fd, err := boundSocket(at.Addr(), netip.AddrPort{})
		if err != nil {
			return err
		}
		switch how {
		case "alone":
			err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
		case "port":
			var port uint16
			port, err = reservedPort()
			at = netip.AddrPortFrom(at.Addr(), port)
		case "denied":
			at = netip.AddrPortFrom(at.Addr(), 1)
		}
		if err == nil && how != "unbound" {
			err = unix.Bind(fd, internetAddress(at))
		}
		if err == nil {
			err = unix.Listen(fd, 8) // stays open
		}
		if err != nil {
			return err
		}
		return syscall.Errno(portOf(fd))
	}
}

// reservedPort is a port of the loopback address that only sockets with SO_REUSEADDR get until the attempt is over.
func reservedPort() (uint16, error) {
	fd, err := leave(boundSocket(netip.IPv4Unspecified(), netip.MustParseAddrPort("127.0.0.1:0")))
	return uint16(portOf(fd)), err
}
