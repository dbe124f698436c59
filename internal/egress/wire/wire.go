// Package wire is the protocol between the supervisor of a run and its egress proxy: packets on
// a unix socket that keeps their bounds (SOCK_SEQPACKET, unix(7)).
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/netip"
)

// Command is the hidden command of accessc that serves the proxy of one run. Its descriptors 3
// and 4 are the socket and the Setup.
const Command = "__egress"

// A Setup is the document that a proxy process reads first.
type Setup struct {
	// Policy is the canonical document of package irjson, with one tool.
	Policy json.RawMessage `json:"policy"`
	// Offline has the proxy look up no names and reach no hosts.
	Offline bool `json:"offline,omitempty"`
	// Tells has the proxy tell of granted requests as well.
	Tells bool `json:"tells,omitempty"`
	// Secrets are the values of credentials by their sources.
	Secrets map[string]Secret `json:"secrets,omitempty"`
	// Dir is the directory in which the proxy writes its authorities for clients, empty where nothing
	// is inspected. Trusted are files of authorities that the caller's clients use.
	Dir     string   `json:"dir,omitempty"`
	Trusted []string `json:"trusted,omitempty"`
}

// A Secret is the value of a credential, and the text that the tool has in its place.
type Secret struct{ Value, StandIn []byte }

// Kind is the first byte of a packet.
type Kind byte

// Kinds of packets. The proxy sends Hello, Answer, Refused, Ask, Withdraw, Used and Granted, the
// supervisor the others.
const (
	// Hello carries the addresses at which the proxy listens.
	Hello Kind = iota + 1
	// Route asks for a connection of the tool to be expected.
	Route
	// Answer answers Route.
	Answer
	// Forget takes a Route back whose connection does not come.
	Forget
	// Flush asks for an answer behind all refusals that the tool knows of.
	Flush
	// Resolver hands over one end of a pair of sockets (SCM_RIGHTS) that carries DNS messages.
	Resolver
	// Refused tells of a request that the proxy refused.
	Refused
	// Ask has the user decide about a refused request: ID is the process as in Refused, Errno the number
	// that Permit answers. Withdraw takes the question back.
	Ask
	Withdraw
	// Permit answers Ask: Errno is 0 for a refusal, Again, or Once with the number of the question as its
	// text.
	Permit
	// Grant puts a grant with the number Errno in force, about a scheme, host and port, or all that
	// its rule covers. Revoke takes it back. Both are answered once that is in force.
	Grant
	Revoke
	// Used tells of a use of the grant with the number Errno.
	Used
	// Granted tells of a request or connection that the proxy carries, before it does: ID is the process as in Refused,
	// Errno the number of the question whose answer permits it alone, 0 for none.
	Granted
)

// Answers of Permit.
const (
	Again = iota + 1
	Once
)

// Whole is the last text of a Grant about all that its rule covers.
const Whole = "whole"

// A Packet is one message. Its fields are used as its kind needs them.
type Packet struct {
	Kind Kind
	// ID joins an answer to its question.
	ID uint64
	// Want is the address that the tool named, From the local address that it will come from.
	// In Hello they are the listeners for IPv4 and IPv6; the second may be invalid.
	Want, From netip.AddrPort
	// Blocking is set where the caller waits for the host to answer.
	Blocking bool
	// Errno is the error number of an answer (errno(3)), 0 for success.
	Errno uint32
	// Text are the parts of a refusal: scheme, host, port, path, method and reason.
	Text []string
}

// MaxSize bounds a packet in bytes.
const MaxSize = 64 << 10

// ErrPacket is a packet that does not follow the format.
var ErrPacket = errors.New("malformed packet")

// Append writes a packet behind b.
func (p *Packet) Append(b []byte) []byte {
	flags := byte(0)
	if p.Blocking {
		flags = 1
	}
	b = append(b, byte(p.Kind), flags)
	b = binary.LittleEndian.AppendUint64(b, p.ID)
	b = binary.LittleEndian.AppendUint32(b, p.Errno)
	for _, a := range []netip.AddrPort{p.Want, p.From} {
		addr := a.Addr().As16
		if !a.IsValid() {
			addr = netip.IPv6Unspecified().As16
		}
		raw := addr()
		b = append(b, raw[:]...)
		b = binary.LittleEndian.AppendUint16(b, a.Port())
	}
	b = append(b, byte(len(p.Text)))
	for _, t := range p.Text {
		t = t[:min(len(t), MaxSize/8)]
		b = binary.LittleEndian.AppendUint16(b, uint16(len(t)))
		b = append(b, t...)
	}
	return b
}

const (
	addressSize = 18
	fixedSize   = 2 + 8 + 4 + 2*addressSize + 1
	maxTexts    = 7
)

// Parse reads a packet.
func Parse(b []byte) (p Packet, err error) {
	if len(b) < fixedSize {
		return p, ErrPacket
	}
	p.Kind, p.Blocking = Kind(b[0]), b[1] == 1
	if p.Kind < Hello || p.Kind > Granted || b[1] > 1 {
		return p, ErrPacket
	}
	p.ID, p.Errno = binary.LittleEndian.Uint64(b[2:]), binary.LittleEndian.Uint32(b[10:])
	p.Want, p.From = address(b[14:]), address(b[14+addressSize:])
	count, rest := int(b[fixedSize-1]), b[fixedSize:]
	if count > maxTexts {
		return p, ErrPacket
	}
	for range count {
		if len(rest) < 2 {
			return p, ErrPacket
		}
		n := int(binary.LittleEndian.Uint16(rest))
		if rest = rest[2:]; len(rest) < n {
			return p, ErrPacket
		}
		p.Text, rest = append(p.Text, string(rest[:n])), rest[n:]
	}
	if len(rest) > 0 {
		return p, ErrPacket
	}
	return p, nil
}

// address reads an address; the unspecified address with port 0 stands for none.
func address(b []byte) netip.AddrPort {
	a := netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[:16])).Unmap(), binary.LittleEndian.Uint16(b[16:]))
	if a.Port() == 0 && a.Addr() == netip.IPv6Unspecified() {
		return netip.AddrPort{}
	}
	return a
}
