package egress

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// zone has aliases, one through another, and one in a circle.
var zone = map[string]string{
	"www.example.test.": "CDN.example.test.", "cdn.example.test.": "edge.denied.test.", "other.example.test.": "unrelated.test.",
	"round.example.test.": "about.example.test.", "about.example.test.": "round.example.test.",
}

// TestAliases: the names that a name is an alias of are heard in the resolver's answers, whatever carries them and in
// whatever case, and those of other names are not.
func TestAliases(t *testing.T) {
	for _, truncated := range []bool{false, true} {
		address := nameServer(t, truncated)
		for name, want := range map[string][]string{
			"www.example.test.": {"cdn.example.test.", "edge.denied.test."}, "plain.example.test.": nil,
			"round.example.test.": {"about.example.test.", "round.example.test."},
		} {
			heard := &answers{of: map[string][]string{}}
			r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return heard.dial(ctx, network, address)
			}}
			found, err := r.LookupNetIP(t.Context(), "ip4", name)
			if err != nil || len(found) != 1 {
				t.Errorf("%s, truncated %v: %v, %v", name, truncated, found, err)
			}
			if got := heard.chain(strings.ToUpper(name)); !slices.Equal(got, want) {
				t.Errorf("%s, truncated %v: heard %v, want %v", name, truncated, got, want)
			}
		}
	}
}

// nameServer answers for the zone, by streams alone if datagrams are truncated, and returns its address.
func nameServer(t *testing.T, truncated bool) string {
	t.Helper()
	streams, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = streams.Close() })
	packets, err := net.ListenPacket("udp", streams.Addr().String())
	if err != nil {
		t.Skip(err) // another program has the port
	}
	t.Cleanup(func() { _ = packets.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := packets.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo(answerZone(buf[:n], truncated), from)
		}
	}()
	go func() {
		for {
			c, err := streams.Accept()
			if err != nil {
				return
			}
			var size [2]byte
			_, _ = io.ReadFull(c, size[:])
			query := make([]byte, binary.BigEndian.Uint16(size[:]))
			_, _ = io.ReadFull(c, query)
			reply := answerZone(query, false)
			_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
			_ = c.Close()
		}
	}()
	return streams.Addr().String()
}

// answerZone follows aliases to an address.
func answerZone(query []byte, truncated bool) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Response, m.Truncated, m.Additionals = true, truncated, nil
	if truncated {
		out, _ := m.Pack()
		return out
	}
	head := func(name string, t dnsmessage.Type) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Type: t, Class: dnsmessage.ClassINET}
	}
	name := m.Questions[0].Name.String()
	for range len(zone) {
		to, ok := zone[strings.ToLower(name)]
		if !ok {
			break
		}
		body := &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(to)}
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: head(name, dnsmessage.TypeCNAME), Body: body})
		name = to
	}
	unrelated := &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("unrelated.test.")}
	m.Answers = append(m.Answers,
		dnsmessage.Resource{Header: head("other.example.test.", dnsmessage.TypeCNAME), Body: unrelated},
		dnsmessage.Resource{Header: head(name, dnsmessage.TypeA), Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, 7}}})
	out, _ := m.Pack()
	return out
}
