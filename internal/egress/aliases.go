package egress

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Found is the result for a name: its addresses, and the names that it is an alias of, as far as the resolver
// tells.
type Found struct {
	Addrs   []netip.Addr
	Aliases []string
}

// resolveName asks the host's resolver.
func resolveName(ctx context.Context, name string) (out Found, err error) {
	if runtime.GOOS != "linux" {
		// The system's own resolver tells only the last name.
		if out.Addrs, err = net.DefaultResolver.LookupNetIP(ctx, "ip", name+"."); err != nil {
			return Found{}, err
		}
		if last, err := net.DefaultResolver.LookupCNAME(ctx, name+"."); err == nil &&
			!strings.EqualFold(last, name+".") {
			out.Aliases = []string{last}
		}
		return out, nil
	}
	heard := &answers{of: map[string][]string{}}
	r := net.Resolver{PreferGo: true, Dial: heard.dial}
	out.Addrs, err = r.LookupNetIP(ctx, "ip", name+".")
	out.Aliases = heard.chain(name + ".")
	return out, err
}

// answers are the aliases in the messages of a resolver, which package net does not tell.
type answers struct {
	mu sync.Mutex
	of map[string][]string
}

// dial connects to a name server.
func (a *answers) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	switch conn := conn.(type) {
	case *net.UDPConn:
		return datagrams{conn, a}, err
	case nil:
		return nil, err
	default:
		return &stream{Conn: conn, to: a}, err
	}
}

// datagrams is a connection whose messages are read one by one.
type datagrams struct {
	*net.UDPConn
	to *answers
}

// Read implements net.Conn.
func (d datagrams) Read(b []byte) (int, error) {
	n, err := d.UDPConn.Read(b)
	d.to.hear(b[:n])
	return n, err
}

// stream is a connection whose messages are behind their lengths.
type stream struct {
	net.Conn
	to  *answers
	got []byte
}

// Read implements net.Conn.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.got = append(s.got, b[:n]...)
	for len(s.got) > 2 && len(s.got) >= 2+int(binary.BigEndian.Uint16(s.got)) {
		size := 2 + int(binary.BigEndian.Uint16(s.got))
		s.to.hear(s.got[2:size])
		s.got = s.got[size:]
	}
	return n, err
}

// hear reads the aliases of a message. A message that is no answer, or that another host has sent, can only add
// names that a rule denies.
func (a *answers) hear(message []byte) {
	var p dnsmessage.Parser
	if _, err := p.Start(message); err != nil || p.SkipAllQuestions() != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		h, err := p.AnswerHeader()
		if err != nil {
			return
		}
		if h.Type != dnsmessage.TypeCNAME {
			if p.SkipAnswer() != nil {
				return
			}
			continue
		}
		to, err := p.CNAMEResource()
		if err != nil {
			return
		}
		from := strings.ToLower(h.Name.String())
		a.of[from] = append(a.of[from], strings.ToLower(to.CNAME.String()))
	}
}

// chain lists the names that a name leads to, by whatever answers.
func (a *answers) chain(name string) (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := map[string]bool{}
	for next := []string{strings.ToLower(name)}; len(next) > 0; next = next[1:] {
		for _, to := range a.of[next[0]] {
			if !known[to] {
				known[to] = true
				out, next = append(out, to), append(next, to)
			}
		}
	}
	return out
}
