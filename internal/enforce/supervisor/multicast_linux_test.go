package supervisor

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMulticastNames: a datagram socket reaches no group: one for the names of the local link has no route, and at the port
// of name servers the stub answers for it. The socket is one of a pair, so that nothing is sent whatever is answered.
func TestMulticastNames(t *testing.T) {
	c := calling(t, t.TempDir(), "/dev")
	c.egress = &egress{}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	defer unix.Close(pair[0])
	for at, want := range map[string]unix.Errno{
		"224.0.0.251:5353": unix.ENETUNREACH, "[ff02::fb]:5353": unix.ENETUNREACH, "224.0.0.252:5355": unix.ENETUNREACH, "239.255.255.250:1900": unix.ENETUNREACH,
		"192.168.1.255:137": unix.ENETUNREACH, "224.0.0.251:53": 0, "127.0.0.53:53": 0,
	} {
		to := netip.MustParseAddrPort(at)
		if got := (sockets{c}).inquire(pair[0], sockaddr(familyOf(to), to)); got.errno != want || got.on {
			t.Errorf("%s: %+v, want %v", at, got, want)
		}
		if kind, err := unix.GetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil || kind != unix.AF_UNIX {
			t.Errorf("%s: a socket of family %d, %v", at, kind, err)
		}
	}
}
