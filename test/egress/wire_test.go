//go:build linux

package egress_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"sync"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A packet is the beginning of an exchange that the kernel carried: a datagram, or the first
// packet of a TCP connection.
type packet struct {
	proto byte
	from  netip.AddrPort
	to    netip.AddrPort
}

func (p packet) String() string { return fmt.Sprintf("protocol %d to %s", p.proto, p.to) }

// listening reads all packets of the network. Nothing that leaves a socket escapes it, whatever
// kind of socket that is.
type listening struct {
	socket int
	mu     sync.Mutex
	counts map[packet]int // from is left out
}

// beginnings keeps the packets that leave and begin an exchange: of TCP those with SYN alone,
// all of other protocols.
var beginnings = []bpf.Instruction{
	bpf.LoadExtension{Num: bpf.ExtType},
	bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.PACKET_OUTGOING, SkipTrue: 14},
	bpf.LoadAbsolute{Off: 0, Size: 1},
	bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf0},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x60, SkipTrue: 5},
	bpf.LoadAbsolute{Off: 9, Size: 1},
	bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_TCP, SkipTrue: 8},
	bpf.LoadMemShift{Off: 0},
	bpf.LoadIndirect{Off: 13, Size: 1},
	bpf.Jump{Skip: 3},
	bpf.LoadAbsolute{Off: 6, Size: 1},
	bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_TCP, SkipTrue: 3},
	bpf.LoadAbsolute{Off: 53, Size: 1},
	bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x12},
	bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0x02, SkipTrue: 1},
	bpf.RetConstant{Val: 256},
	bpf.RetConstant{Val: 0},
}

func network(n uint16) uint16 { return n<<8 | n>>8 }

// listen opens a packet socket on every interface (packet(7)).
func listen() (*listening, error) {
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(network(unix.ETH_P_ALL)))
	if err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	filter, err := bpf.Assemble(beginnings)
	if err != nil {
		return nil, err
	}
	code := make([]unix.SockFilter, len(filter))
	for i, f := range filter {
		code[i] = unix.SockFilter{Code: f.Op, Jt: f.Jt, Jf: f.Jf, K: f.K}
	}
	if err := unix.SetsockoptSockFprog(s, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}); err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, 64<<20) // as much as the host gives
	l := &listening{socket: s, counts: map[packet]int{}}
	go l.read()
	return l, nil
}

func (l *listening) read() {
	buf := make([]byte, 256)
	for {
		n, _, err := unix.Recvfrom(l.socket, buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		l.note(buf[:n])
	}
}

// note remembers a packet that begins an exchange.
func (l *listening) note(b []byte) {
	p, rest, ok := parse(b)
	if !ok {
		return
	}
	if p.kernels(rest) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.from = netip.AddrPort{}
	l.counts[p]++
}

// kernels reports whether the kernel sends such packets by itself: errors, and those about
// multicast and neighbours (RFC 792, 4443, 3376, 3810).
func (p packet) kernels(rest []byte) bool {
	const unreachable4, unreachable6, firstMulticast, lastMulticast = 3, 1, 130, 143
	switch {
	case p.proto == unix.IPPROTO_ICMP && len(rest) > 0:
		return rest[0] == unreachable4
	case p.proto == unix.IPPROTO_ICMPV6 && len(rest) > 0:
		return rest[0] == unreachable6 || rest[0] >= firstMulticast && rest[0] <= lastMulticast
	case p.proto == unix.IPPROTO_UDP:
		return p.from == netip.MustParseAddrPort("203.0.113.53:53") // the name server's answers
	}
	return p.to.Addr() == netip.MustParseAddr("ff02::16") || p.proto == unix.IPPROTO_IGMP
}

// parse reads the headers of an IP packet.
func parse(b []byte) (p packet, rest []byte, ok bool) {
	var from, to netip.Addr
	switch {
	case len(b) >= 20 && b[0]>>4 == 4:
		p.proto = b[9]
		from, _ = netip.AddrFromSlice(b[12:16])
		to, _ = netip.AddrFromSlice(b[16:20])
		rest = b[min(len(b), int(b[0]&15)*4):]
	case len(b) >= 40 && b[0]>>4 == 6:
		p.proto = b[6]
		from, _ = netip.AddrFromSlice(b[8:24])
		to, _ = netip.AddrFromSlice(b[24:40])
		rest = b[40:]
	default:
		return p, nil, false
	}
	var source, target uint16
	switch p.proto {
	case unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_UDPLITE, unix.IPPROTO_SCTP, unix.IPPROTO_DCCP:
		if len(rest) >= 4 {
			source, target = binary.BigEndian.Uint16(rest), binary.BigEndian.Uint16(rest[2:])
		}
	}
	p.from, p.to = netip.AddrPortFrom(from, source), netip.AddrPortFrom(to, target)
	return p, rest, true
}

// seen returns the packets that were sent, with counts. It fails if the kernel dropped packets.
func (l *listening) seen() (map[packet]int, error) {
	stats, err := unix.GetsockoptTpacketStats(l.socket, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return nil, err
	}
	if stats.Drops > 0 {
		return nil, fmt.Errorf("%d of %d packets were not seen", stats.Drops, stats.Packets)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[packet]int{}
	for p, n := range l.counts {
		out[p] = n
	}
	return out, nil
}
