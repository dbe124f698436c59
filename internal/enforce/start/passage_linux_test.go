package start_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestBoundPassages: whatever a socket is bound to and whatever it connects to, a tool that may listen reaches no
// service of its host, nor an address beside a granted one. An address that stands for any was judged as the
// loopback address, and the kernel took the one that the socket was bound to.
func TestBoundPassages(t *testing.T) {
	t.Parallel()
	beside, bare := besideTool(t, "::1", "127.0.0.1"), besideTool(t, "127.0.0.1", "127.0.0.2")
	granted, denied := twoServices(t)
	at := netip.MustParseAddrPort(granted.Addr().String())
	x := passing(t, []ir.NetRule{
		{Host: ir.Host{Kind: ir.HostName, Name: ir.Localhost}, Listen: true, Allow: true},
		{Host: ir.Host{Kind: ir.HostAddr, Addr: at.Addr()}, Port: at.Port(), Allow: true},
	})
	defer x.stop()
	const forms = "0.0.0.0 127.0.0.1 127.0.0.2 :: ::1 ::ffff:0.0.0.0 ::ffff:127.0.0.1 ::ffff:127.0.0.2"
	list := []attempt{{Op: "own", A: "[::1]:" + beside.port}, {Op: "own", A: "127.0.0.1:" + bare.port}}
	for _, port := range []string{beside.port, bare.port, granted.port} {
		for _, bind := range strings.Fields("- " + forms) {
			for _, to := range strings.Fields(forms) {
				list = append(list, attempt{Op: "passage", A: bind + " " + to + " " + port})
			}
		}
	}
	through := map[string]bool{}
	for i, e := range x.exchange(t, list...) {
		through[list[i].A] = e == 0
	}
	for _, l := range []*listening{beside, bare, denied} {
		if n := l.before(t); n > 0 {
			t.Errorf("%d connections reached the host's %s", n, l.Addr())
		}
	}
	for _, control := range []string{
		"[::1]:" + beside.port, "127.0.0.1:" + bare.port, "- :: " + beside.port, "- 0.0.0.0 " + bare.port,
		"127.0.0.2 127.0.0.1 " + granted.port, "::ffff:127.0.0.2 :: " + bare.port,
	} {
		if !through[control] {
			t.Errorf("refused what is granted: %s", control)
		}
	}
	if granted.before(t) == 0 {
		t.Errorf("the granted %s was not reached", granted.Addr())
	}
}

// passing starts a supervised worker under rules for the network.
func passing(t *testing.T, rules []ir.NetRule) *tool {
	dir := workspace(t)
	for _, p := range []string{"ws", "home"} {
		if err := os.Mkdir(filepath.Join(dir, p), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	policy := ir.NewTool("t")
	policy.Net = rules
	own := ir.Sys(strings.TrimPrefix(binary, "/"))
	b := &ir.Bindings{Workspace: filepath.Join(dir, "ws"), Home: filepath.Join(dir, "home")}
	facts := ir.Facts{Bindings: b, Program: &own, Base: hostBase()}
	out, err := landlock.Backend{}.Compile(policy, backends.Target{Form: backends.Resolved, Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	return startMode(t, "kernel-supervised", out.Data, dir, nil)
}

// A listening service is one of the host's.
type listening struct {
	net.Listener
	port string
}

// besideTool is a service of the host at one address, whose port is free for the tool at another.
func besideTool(t *testing.T, own, host string) *listening {
	t.Helper()
	for range 100 {
		// No one else gets the port while a socket is bound to it; the tool's may share it until one listens.
		fd, err := boundSocket(netip.MustParseAddr(own), netip.AddrPortFrom(netip.MustParseAddr(own), 0))
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(portOf(fd))))
		if err == nil {
			return served(t, l)
		}
	}
	t.Fatal("no port is free at both addresses")
	return nil
}

// twoServices are services of the host at one port of two addresses.
func twoServices(t *testing.T) (one, two *listening) {
	t.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		one = served(t, first)
		if second, err := net.Listen("tcp", "127.0.0.2:"+one.port); err == nil {
			return one, served(t, second)
		}
	}
	t.Fatal("no port is free at both addresses")
	return nil, nil
}

func served(t *testing.T, l net.Listener) *listening {
	t.Cleanup(func() { _ = l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return &listening{l, port}
}

func portOf(fd int) int {
	switch sa, _ := unix.Getsockname(fd); sa := sa.(type) {
	case *unix.SockaddrInet4:
		return sa.Port
	case *unix.SockaddrInet6:
		return sa.Port
	}
	return 0
}

// before counts the connections that came before one of the test's own.
func (l *listening) before(t *testing.T) (n int) {
	t.Helper()
	mine, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	for ; ; n++ {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		if c.RemoteAddr().String() == mine.LocalAddr().String() {
			return n
		}
	}
}

func init() {
	attempts["own"] = func(a, _ name) error {
		at, err := netip.ParseAddrPort(a.path)
		if err != nil {
			return err
		}
		fd, err := boundSocket(at.Addr(), at) // stays open
		if err != nil {
			return err
		}
		return unix.Listen(fd, 1024)
	}
	attempts["passage"] = func(a, _ name) error {
		var bind, to string
		var port uint16
		if _, err := fmt.Sscan(a.path, &bind, &to, &port); err != nil {
			return err
		}
		at := netip.MustParseAddr(to)
		from, family := netip.AddrPort{}, at
		if bind != "-" {
			from = netip.AddrPortFrom(netip.MustParseAddr(bind), 0)
			family = from.Addr()
		}
		fd, err := leave(boundSocket(family, from))
		if err != nil {
			return err
		}
		return unix.Connect(fd, internetAddress(netip.AddrPortFrom(at, port)))
	}
}

// boundSocket is a socket of IPv4, or of both families, that is bound to an address if it is valid.
func boundSocket(of netip.Addr, at netip.AddrPort) (int, error) {
	family := unix.AF_INET
	if of.Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err == nil && of.Is6() {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
	}
	if err == nil && at.IsValid() {
		err = unix.Bind(fd, internetAddress(at))
	}
	return fd, err
}

func internetAddress(at netip.AddrPort) unix.Sockaddr {
	if at.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
}
