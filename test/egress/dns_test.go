//go:build linux

package egress_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers for the names of the world and remembers the questions.
type nameServer struct {
	mu    sync.Mutex
	asked map[string]int
	// late is closed when slow.example.test is to be answered, nil to answer at once.
	late chan struct{}
}

// zone are the names with answers of their own. Others below example.test, denied.test and
// wild.test lead to the address of their first label.
var zone = map[string][]string{
	"loop.example.test":     {"127.0.0.1"},
	"loop6.example.test":    {"::1"},
	"private.example.test":  {"10.0.0.1"},
	"metadata.example.test": {"169.254.169.254"},
	"mapped.example.test":   {"::ffff:127.0.0.1"},
	"sixtofour.example.test": {
		"2002:7f00:1::1", // 127.0.0.1 in a 6to4 address
	},
	"nat64.example.test": {"64:ff9b::a00:1"},
	"only4.example.test": {"203.0.113.90"},
	"only6.example.test": {"2001:db8:1::90"},
	"dead.example.test":  {"203.0.113.91"}, // its ports are closed, but for those of every address
}

// labels are the first labels that have addresses of their own.
var labels = []string{"a", "b", "git", "ssh", "npm", "pypi", "goproxy", "crates", "pg", "echo", "smtp", "slow"}

// addresses returns the addresses of a name in the world, none for a name that does not exist.
func addresses(name string) (out []netip.Addr) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	for _, s := range zone[name] {
		out = append(out, netip.MustParseAddr(s))
	}
	label, parent, _ := strings.Cut(name, ".")
	base := map[string]byte{"example.test": 10, "denied.test": 110, "wild.test": 210}[parent]
	if out != nil || base == 0 {
		return out
	}
	for i, l := range labels {
		if l == label {
			n := base + byte(i)
			return []netip.Addr{
				netip.AddrFrom4([4]byte{203, 0, 113, n}),
				netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, 1, 15: n}),
			}
		}
	}
	return nil
}

// count notes a question and returns how often the name was asked for before.
func (s *nameServer) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[name]++
	return s.asked[name] - 1
}

// questions returns the names that were asked for.
func (s *nameServer) questions() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for name, n := range s.asked {
		out[name] = n
	}
	return out
}

// question notes the question of a message, and returns its answer when that is called for; nil if it is no question.
func (s *nameServer) question(query []byte) func() []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(m.Questions[0].Name.String(), "."))
	before := s.count(name)
	return func() []byte { return s.answer(m, name, before) }
}

// holdSlow has slow.example.test wait for its answer until the returned function is called.
func (s *nameServer) holdSlow() (answer func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := make(chan struct{})
	s.late = late
	return func() { close(late) }
}

// answer answers a message about a name that was asked for some times before, nil if that fails.
func (s *nameServer) answer(m dnsmessage.Message, name string, before int) []byte {
	q := m.Questions[0]
	m.Header.Response, m.Header.RecursionAvailable, m.Additionals = true, true, nil
	found := addresses(name)
	switch name {
	case "slow.example.test":
		s.mu.Lock()
		late := s.late
		s.mu.Unlock()
		if late != nil {
			<-late
		}
	case "broken.example.test":
		m.Header.RCode = dnsmessage.RCodeServerFailure
	case "alias.example.test":
		// An alias of a name that has the addresses of a denied host.
		to := dnsmessage.MustNewName("B.denied.test.")
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: dnsmessage.TypeCNAME}, Body: &dnsmessage.CNAMEResource{CNAME: to},
		})
		q.Name, found = to, addresses("b.denied.test")
	case "rebind.example.test":
		// Every second question gets the address of this machine.
		found = []netip.Addr{netip.MustParseAddr([]string{"203.0.113.92", "127.0.0.1"}[before/2%2])}
	default:
		if found == nil {
			m.Header.RCode = dnsmessage.RCodeNameError
		}
	}
	for _, a := range found {
		if r := record(q, a); r != nil {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}, Body: r})
		}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

// record is the record of a question's type for an address.
func record(q dnsmessage.Question, a netip.Addr) dnsmessage.ResourceBody {
	switch {
	case q.Type == dnsmessage.TypeA && a.Is4():
		return &dnsmessage.AResource{A: a.As4()}
	case q.Type == dnsmessage.TypeAAAA && a.Is6():
		return &dnsmessage.AAAAResource{AAAA: a.As16()}
	}
	return nil
}

// serveDatagrams answers questions by UDP.
func (s *nameServer) serveDatagrams(c net.PacketConn) {
	buf := make([]byte, 4096)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		answer := s.question(buf[:n])
		if answer == nil {
			continue
		}
		go func() {
			if b := answer(); b != nil {
				_, _ = c.WriteTo(b, from)
			}
		}()
	}
}

// serveStream answers the questions of one TCP connection.
func (s *nameServer) serveStream(c net.Conn) {
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		answer := s.question(query)
		if answer == nil {
			return
		}
		b := answer()
		if b == nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)); err != nil {
			return
		}
	}
}
