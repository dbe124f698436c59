package egress_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// A flow is one end of a connection of this host as the kernel has it (proc_pid_net_tcp(5)): whether it has sent its end, and how many
// bytes the other end has not taken, and this one not read.
type flow struct {
	ended          bool
	unsent, unread int
}

// flowOf is the end of a connection whose own address and port, or those of the other end, are given; nil where those are not.
func flowOf(t *testing.T, own, other net.Addr) (f flow, ok bool) {
	t.Helper()
	table, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		w := strings.Fields(line)
		if len(w) < 5 || own != nil && w[1] != entry(own) || other != nil && w[2] != entry(other) {
			continue
		}
		if _, err := fmt.Sscanf(w[4], "%X:%X", &f.unsent, &f.unread); err != nil {
			t.Fatal(err)
		}
		const finWait1, finWait2, lastAck = "04", "05", "09"
		f.ended = w[3] == finWait1 || w[3] == finWait2 || w[3] == lastAck
		return f, true
	}
	return flow{}, false
}

// entry is an address as the table has it: the bytes of IPv4 as a number of this host.
func entry(a net.Addr) string {
	at := a.(*net.TCPAddr).AddrPort()
	b := netip.AddrPortFrom(at.Addr().Unmap(), at.Port()).Addr().As4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", b[3], b[2], b[1], b[0], at.Port())
}
