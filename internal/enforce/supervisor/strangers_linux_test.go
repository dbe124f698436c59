package supervisor

import (
	"net"
	"net/netip"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOtherProcesses: a tool changes limits and priorities of itself and of its own processes, and of no other ones.
func TestOtherProcesses(t *testing.T) {
	c := calling(t, t.TempDir(), "/dev")
	for id, want := range map[uint64]unix.Errno{0: 0, uint64(c.tid): 0, 1: unix.EPERM,
		uint64(os.Getpid()): unix.EPERM, 1<<32 - 1: unix.EPERM} {
		if a := (processes{c}).other(id); a.errno != want || want == 0 && !a.on {
			t.Errorf("%d: %+v, want %v", id, a, want)
		}
	}
}

// TestForeignListener: a loopback port is the tool's own if it listens there and nothing else does.
func TestForeignListener(t *testing.T) {
	listen := func() (*net.TCPListener, netip.AddrPort, int) {
		l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		f, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return l, l.Addr().(*net.TCPAddr).AddrPort(), int(f.Fd())
	}
	_, ours, fd := listen()
	_, theirs, _ := listen()
	l := &listeners{}
	if l.own(os.Getpid(), ours) {
		t.Error("a tool that listens nowhere has a port")
	}
	l.add(fd)
	if !l.own(os.Getpid(), ours) {
		t.Error("its own port is not the tool's")
	}
	if l.own(os.Getpid(), theirs) {
		t.Error("the port of another program is the tool's")
	}
}

// TestForeignListenerMapped: a socket that listens at all addresses in the form of IPv4 inside of IPv6 counts, too.
// It was compared as an address of its own.
func TestForeignListenerMapped(t *testing.T) {
	fd, ok := internetSocket(unix.AF_INET, 0, 0, netip.AddrPort{})
	foreign, ok6 := internetSocket(unix.AF_INET6, 0, 0, netip.AddrPort{})
	if !ok || !ok6 {
		t.Skip("this host has no IPv6")
	}
	defer unix.Close(fd)
	defer unix.Close(foreign)
	for _, fd := range []int{fd, foreign} {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			t.Fatal(err)
		}
	}
	err := bound(fd, sockaddr(unix.AF_INET, netip.MustParseAddrPort("127.0.0.1:0")))
	at, _ := localAddress(fd)
	err2 := bound(foreign, sockaddr(unix.AF_INET6, netip.AddrPortFrom(netip.MustParseAddr("::ffff:0.0.0.0"), at.Port())))
	if err != nil || err2 != nil || unix.Listen(fd, 1) != nil {
		t.Fatal(err, err2)
	}
	l := &listeners{}
	l.add(fd)
	if !l.own(os.Getpid(), at) {
		t.Error("its own port is not the tool's")
	}
	if err := unix.Listen(foreign, 1); err != nil {
		t.Fatal(err)
	}
	if l.own(os.Getpid(), at) {
		t.Error("a port at which another program listens as well is the tool's")
	}
}

// TestUnchanged: a file counts as unchanged by all that tells a change; its owner sets the time of its contents at
// will.
func TestUnchanged(t *testing.T) {
	old := unix.Stat_t{Dev: 1, Ino: 2, Size: 3, Mtim: unix.Timespec{Sec: 4}, Ctim: unix.Timespec{Sec: 5}}
	for what, change := range map[string]func(*unix.Stat_t){
		"nothing": func(*unix.Stat_t) {}, "device": func(s *unix.Stat_t) { s.Dev++ },
		"number": func(s *unix.Stat_t) { s.Ino++ }, "size": func(s *unix.Stat_t) { s.Size++ },
		"time of the contents": func(s *unix.Stat_t) { s.Mtim.Nsec++ },
		"time of the change":   func(s *unix.Stat_t) { s.Ctim.Nsec++ },
	} {
		other := old
		change(&other)
		if unchanged(&other, &old) != (what == "nothing") {
			t.Errorf("another %s", what)
		}
	}
}
