package supervisor

import (
	"encoding/binary"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

// TestListed: each request of a tool is answered by whole messages of its own sequence, of which the last says so;
// only lists are read from the kernel.
func TestListed(t *testing.T) {
	irtest.Check(t, 2000, 1, func(t *rapid.T) {
		request := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "request")
		kinds := []uint16{unix.RTM_GETLINK, unix.RTM_GETADDR, unix.RTM_GETROUTE, unix.RTM_GETNEIGH, unix.RTM_NEWLINK, unix.NLMSG_DONE}
		if len(request) >= unix.SizeofNlMsghdr && rapid.Bool().Draw(t, "known") {
			binary.NativeEndian.PutUint16(request[4:], rapid.SampledFrom(kinds).Draw(t, "kind"))
			binary.NativeEndian.PutUint16(request[6:], rapid.SampledFrom([]uint16{0, unix.NLM_F_DUMP | unix.NLM_F_REQUEST}).Draw(t, "flags"))
		}
		replies := listed(request, 7)
		if len(request) < unix.SizeofNlMsghdr {
			if replies != nil {
				t.Fatalf("%v is answered", request)
			}
			return
		}
		for i, r := range replies {
			all, err := syscall.ParseNetlinkMessage(r)
			if err != nil || len(all) != 1 {
				t.Fatalf("%v, %d messages of %v", err, len(all), r)
			}
			h := all[0].Header
			last := h.Type == unix.NLMSG_DONE || h.Type == unix.NLMSG_ERROR
			if h.Seq != binary.NativeEndian.Uint32(request[8:]) || h.Pid != 7 || last != (i == len(replies)-1) {
				t.Fatalf("message %d of %d: %+v", i, len(replies), h)
			}
		}
		kind, flags := binary.NativeEndian.Uint16(request[4:]), binary.NativeEndian.Uint16(request[6:])
		lists := kind == unix.RTM_GETLINK || kind == unix.RTM_GETADDR || kind == unix.RTM_GETROUTE
		if len(replies) > 1 && !(lists && flags&unix.NLM_F_DUMP == unix.NLM_F_DUMP) {
			t.Fatalf("kind %d, flags %#x: a list", kind, flags)
		}
	})
}
