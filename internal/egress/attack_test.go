package egress_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
)

// A form is one way to have the proxy connect to a host and port. Its connection then carries
// what the client wants, and is nil if the proxy refused.
type form struct {
	name string
	open func(w *world, host string, port uint16) net.Conn
	// parsed is set where something else has parsed the host already.
	parsed bool
}

var forms = []form{
	{"announced", announced, true},
	{"address of the pool", pooled, false},
	{"CONNECT", connected, false},
	{"CONNECT to the pool", connectedPool, false},
	{"SOCKS5", socksed, false},
	{"SOCKS5 to the pool", socksedPool, false},
}

func announced(w *world, host string, port uint16) net.Conn {
	h, err := resolve.Host(host)
	if err != nil {
		return nil
	}
	return w.connect(egress.Origin{Host: h, Port: port})
}

// standIn asks the stub for a name, false if it has no address for it. Addresses need no stub.
func (w *world) standIn(host string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return a, true
	}
	m := w.ask(host+".", dnsmessage.TypeA)
	if m == nil || len(m.Answers) != 1 {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4(m.Answers[0].Body.(*dnsmessage.AResource).A), true
}

// ask asks the stub, nil for names that no question can have.
func (w *world) ask(name string, t dnsmessage.Type) *dnsmessage.Message {
	w.Helper()
	n, err := dnsmessage.NewName(name)
	if err != nil {
		return nil
	}
	var opt dnsmessage.ResourceHeader
	_ = opt.SetEDNS0(1232, dnsmessage.RCodeSuccess, false)
	q := dnsmessage.Message{
		Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{{Name: n, Type: t, Class: dnsmessage.ClassINET}},
		Additionals: []dnsmessage.Resource{{Header: opt, Body: &dnsmessage.OPTResource{}}},
	}
	b, err := q.Pack()
	if err != nil {
		return nil
	}
	var out dnsmessage.Message
	if err := out.Unpack(w.proxy.Answer(context.Background(), b)); err != nil {
		w.Fatal(err)
	}
	return &out
}

func pooled(w *world, host string, port uint16) net.Conn {
	a, ok := w.standIn(host)
	if !ok {
		return nil
	}
	o, e := w.proxy.Route(netip.AddrPortFrom(a, port), true)
	if e != 0 {
		return nil
	}
	return w.connect(o)
}

func connected(w *world, host string, port uint16) net.Conn {
	c := w.connect(egress.Origin{})
	if r, _ := request(w, c, fmt.Sprintf("CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n\r\n", host, port)); r.StatusCode != 200 {
		c.Close()
		return nil
	}
	return c
}

func connectedPool(w *world, host string, port uint16) net.Conn {
	a, ok := w.standIn(host)
	if !ok {
		return nil
	}
	return connected(w, ir.Host{Kind: ir.HostAddr, Addr: a}.String(), port)
}

// socksRequest is a request to SOCKS5.
func socksRequest(kind byte, host []byte, port uint16) []byte {
	b := []byte{5, 1, 0, 5, 1, 0, kind}
	if kind == 3 {
		b = append(b, byte(len(host)))
	}
	return binary.BigEndian.AppendUint16(append(b, host...), port)
}

func socksAnswer(c net.Conn, request []byte) byte {
	_, _ = c.Write(request)
	var answer [12]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return 255
	}
	return answer[3]
}

func socksed(w *world, host string, port uint16) net.Conn {
	c := w.connect(egress.Origin{})
	if socksAnswer(c, socksRequest(3, []byte(host), port)) != 0 {
		c.Close()
		return nil
	}
	return c
}

func socksedPool(w *world, host string, port uint16) net.Conn {
	a, ok := w.standIn(host)
	if !ok {
		return nil
	}
	c, kind := w.connect(egress.Origin{}), byte(1)
	if a.Is6() {
		kind = 4
	}
	if socksAnswer(c, socksRequest(kind, a.AsSlice(), port)) != 0 {
		c.Close()
		return nil
	}
	return c
}

// nothing reports the traffic that reached a server, a resolver or a network since the last call.
func (w *world) nothing() (reached, looks, dials []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	reached, looks, dials = w.reached, w.looks, w.dials
	w.reached, w.looks, w.dials = nil, nil, nil
	return reached, looks, dials
}

// spellings are names that lead to a denied host, or that programs read in different ways.
var spellings = []string{
	"secret.example", "SECRET.example", "secret.example.", "secret.example..", "secret.example\x00.ok.example", "ok.example\x00", "\x00ok.example",
	"ok.example\x00.secret.example", "ok\x7f.example", "ok\x1b.example", "xn--bcher-kva.example", "XN--BCHER-KVA.example.", "bücher.example",
	"BÜCHER.example", "bu\u0308cher.example", "\uff53ecret.example", "secret\u3002example", "secret%2eexample", "secret.example%00.ok.example",
	"%73ecret.example", "secret.example#.ok.example", "ok.example@secret.example", "ok.example:80@secret.example", "xn--a.example", "*.example", "ok..example", ".ok.example",
	strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 126) + "example", "ok.example\xff", "127.1", "0x7f.0.0.1", "017700000001", "2130706433", "127.0.0.1.", "1.2.3.4.5",
	"[::ffff:127.0.0.1]", "[::1", "[fe80::1%25eth0]", "fe80::1", "\u2488.ok.example.", "ok.example\\.secret.example", "sec\u200bret.example", "sec\u00adret.example", "\u017fecret.example",
}

// TestSpellings: no form reaches a denied host under another spelling, and none of the spellings
// is looked up.
func TestSpellings(t *testing.T) {
	w := newWorld(t, allow("*"), allow("*.example"), allow("secret.example", deny), allow("bücher.example", deny))
	for _, name := range spellings {
		for _, f := range forms {
			if c := f.open(w, name, 80); c != nil && exchange(c, "GET / HTTP/1.1\r\nHost: "+name+"\r\nConnection: close\r\n\r\n") != "" && len(w.reached) > 0 {
				t.Errorf("%s: %q is served", f.name, name)
			}
		}
		for _, text := range []string{
			"GET http://" + name + "/ HTTP/1.1\r\nHost: ok.example\r\n\r\n", "GET http://" + name + ":80/ HTTP/1.1\r\nHost: ok.example\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: " + name + "\r\n\r\n",
		} {
			if r, body := request(t, w.connect(egress.Origin{}), text); r.StatusCode < 400 || r.StatusCode > 403 {
				t.Errorf("%q: %s %s", text, r.Status, body)
			}
		}
		if reached, looks, dials := w.nothing(); len(reached)+len(looks)+len(dials) > 0 {
			t.Errorf("%q reached %q %q %q", name, reached, looks, dials)
		}
	}
	// The same names inside of a granted connection.
	w.names["ok.example"] = "203.0.113.1"
	for _, name := range spellings {
		for _, f := range forms {
			c := f.open(w, "ok.example", 80)
			if r, body := request(t, c, "GET / HTTP/1.1\r\nHost: "+name+"\r\n\r\n"); r.StatusCode/100 != 4 {
				t.Errorf("%s: Host %q: %s %s", f.name, name, r.Status, body)
			}
			if tls.Client(f.open(w, "ok.example", 443), &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake() == nil {
				t.Errorf("%s: a hello for %q", f.name, name)
			}
		}
		if reached, looks, _ := w.nothing(); len(reached) > 0 || slices.ContainsFunc(looks, func(l string) bool { return l != "ok.example" }) {
			t.Errorf("%q reached %q %q", name, reached, looks)
		}
	}
}

// addresses are those that a granted name must not lead to.
var addresses = strings.Fields(`0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.9.9.9 168.63.129.16 169.254.169.254 169.254.0.1
	172.16.0.1 172.31.255.255 192.0.0.192 192.168.1.1 198.18.0.1 198.19.255.255 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 203.0.113.77
	:: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 ::169.254.169.254 ::ffff:0:10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::127.0.0.1
	64:ff9b:1::1 2002:7f00:1::1 2002:a9fe:a9fe::1 2002:c0a8:101::1 2001:0:1:2:3:4:5601:5601 2001:0:1:2:3:4:80ff:fffe 2001:db8::5efe:10.0.0.1
	fc00::1 fd00::1 fd00:ec2::254 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42 fd61:6363:6573:7363::1 fe80::1 fec0::1 ff02::1 ff05::1:3 2001:db8::77`)

// TestAddresses: no form reaches such an address by a name or a wildcard, a rule for the address
// does. Two of the addresses are this host's.
func TestAddresses(t *testing.T) {
	own := func(c *egress.Config) {
		c.Own = func() []netip.Addr {
			return []netip.Addr{netip.MustParseAddr("203.0.113.77"), netip.MustParseAddr("2001:db8::77")}
		}
	}
	for _, address := range addresses {
		t.Run(address, func(t *testing.T) {
			a := netip.MustParseAddr(address)
			literal := ir.Host{Kind: ir.HostAddr, Addr: a.Unmap()}.String()
			w := newWorldOf(t, own, allow("*"), allow("inner.example"))
			w.names["inner.example"] = address
			for _, host := range []string{"inner.example", literal} {
				for _, f := range forms {
					c := f.open(w, host, 80)
					if c == nil {
						continue
					}
					if exchange(c, "GET / HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n") != "" {
						t.Errorf("%s: %s leads to %s", f.name, host, address)
					}
					c.Close()
				}
				if code, body := w.get(w.client(false, ""), "http://"+host+"/"); code != 403 {
					t.Errorf("%s leads to %s: %d %s", host, address, code, body)
				}
			}
			if _, _, dials := w.nothing(); len(dials) > 0 {
				t.Error(address, "was dialled:", dials)
			}
			if w.proxy.Pool().Holds(a) {
				return // stands for a name, whatever the rules
			}
			w = newWorldOf(t, own, allow(literal), allow("inner.example"))
			w.names["inner.example"] = address
			if code, body := w.get(w.client(false, ""), "http://inner.example/"); code != 200 {
				t.Errorf("with a rule for %s: %d %s", address, code, body)
			}
		})
	}
}

// TestDeniedAddress: no name leads to an address that a rule denies. Rules for addresses were not
// asked about the addresses of names.
func TestDeniedAddress(t *testing.T) {
	w := newWorld(t, allow("*"), allow("203.0.113.9", deny))
	w.names["inner.example"] = "203.0.113.9"
	for _, host := range []string{"inner.example", "203.0.113.9"} {
		if code, body := w.get(w.client(false, ""), "http://"+host+"/"); code != 403 {
			t.Errorf("%s: %d %s", host, code, body)
		}
	}
	if _, _, dials := w.nothing(); len(dials) > 0 {
		t.Error("dialled", dials)
	}
}

// TestRebinding: a connection is made to an address that was filtered, although the name has
// another one a moment later.
func TestRebinding(t *testing.T) {
	turn := 0
	w := newWorldOf(t, func(c *egress.Config) {
		c.Resolve = func(context.Context, string) (egress.Found, error) {
			turn++
			return egress.Found{Addrs: []netip.Addr{netip.MustParseAddr([]string{"127.0.0.1", "203.0.113.1", "10.0.0.1"}[turn%3])}}, nil
		}
	}, allow("rebind.example"))
	for range 9 {
		for _, f := range forms {
			if c := f.open(w, "rebind.example", 80); c != nil {
				_ = exchange(c, "GET / HTTP/1.1\r\nHost: rebind.example\r\nConnection: close\r\n\r\n")
			}
		}
		w.get(w.client(false, ""), "http://rebind.example/")
	}
	_, _, dials := w.nothing()
	if len(dials) == 0 {
		t.Error("nothing was dialled")
	}
	for _, d := range dials {
		if d != "203.0.113.1:80" {
			t.Error("dialled", d)
		}
	}
}

// TestPorts: a rule without a port is about the default port of a scheme, and a denied port stays
// denied below a granted wildcard.
func TestPorts(t *testing.T) {
	w := newWorld(t, allow("ok.example"), allow("*.wild.example", port(80)), allow("*.wild.example", port(8080)), allow("a.wild.example", port(8080), deny))
	w.names = map[string]string{"ok.example": "203.0.113.1", "a.wild.example": "203.0.113.2", "b.wild.example": "203.0.113.3"}
	w.ports = map[uint16]string{8080: w.plain.Listener.Addr().String(), 22: w.plain.Listener.Addr().String(), 81: w.plain.Listener.Addr().String()}
	for at, want := range map[string]bool{
		"ok.example:80": true, "ok.example:81": false, "ok.example:22": false, "ok.example:8080": false, "a.wild.example:8080": false, "b.wild.example:8080": true, "b.wild.example:81": false,
	} {
		host, text, _ := strings.Cut(at, ":")
		var n uint16
		fmt.Sscan(text, &n)
		for _, f := range forms {
			served := false
			if c := f.open(w, host, n); c != nil {
				served = strings.HasSuffix(exchange(c, "GET /x HTTP/1.1\r\nHost: "+at+"\r\nConnection: close\r\n\r\n"), " /x")
			}
			if served != want {
				t.Errorf("%s: %s: %v", f.name, at, served)
			}
		}
		if code, _ := w.get(w.client(false, ""), "http://"+at+"/x"); (code == 200) != want {
			t.Errorf("%s: %d", at, code)
		}
	}
}

// TestSentence: one sentence says a refusal in every form.
func TestSentence(t *testing.T) {
	w := newWorldOf(t, func(c *egress.Config) {
		c.Sentence = func(op ir.Operation, _ ir.Verdict) string {
			return "the policy does not allow " + op.(ir.Connect).To.Host.String()
		}
	}, allow("ok.example"))
	const sentence = "accessc: the policy does not allow secret.example"
	for _, text := range []string{
		"GET http://secret.example/ HTTP/1.1\r\nHost: secret.example\r\n\r\n", "CONNECT secret.example:443 HTTP/1.1\r\nHost: secret.example:443\r\n\r\n",
	} {
		r, body := request(t, w.connect(egress.Origin{}), text)
		if r.StatusCode != 403 || body != sentence+"\n" || r.Header.Get("X-Proxy-Error") != sentence {
			t.Errorf("%s: %q %q", r.Status, body, r.Header)
		}
		if r.Status != "403 "+sentence {
			t.Errorf("%q", r.Status)
		}
	}
	if code := socksAnswer(w.connect(egress.Origin{}), socksRequest(3, []byte("secret.example"), 443)); code != 2 {
		t.Error("SOCKS5:", code)
	}
	m := w.ask("secret.example.", dnsmessage.TypeA)
	if m.RCode != dnsmessage.RCodeRefused || len(m.Additionals) != 1 {
		t.Fatal(m)
	}
	o := m.Additionals[0].Body.(*dnsmessage.OPTResource).Options
	if len(o) != 1 || o[0].Code != 15 || string(o[0].Data) != "\x00\x0f"+sentence {
		t.Errorf("%v", o)
	}
}

// TestSocksCommands: BIND and UDP ASSOCIATE, SOCKS4, other methods and broken requests are refused.
func TestSocksCommands(t *testing.T) {
	w := newWorld(t, allow("*"))
	w.names["ok.example"] = "203.0.113.1"
	good := socksRequest(3, []byte("ok.example"), 80)
	change := func(at int, b byte) []byte {
		out := slices.Clone(good)
		out[at] = b
		return out
	}
	for name, test := range map[string]struct {
		send []byte
		want string
	}{
		"BIND":            {change(4, 2), "\x05\x00\x05\x07"},
		"UDP ASSOCIATE":   {change(4, 3), "\x05\x00\x05\x07"},
		"no command":      {change(4, 0), "\x05\x00\x05\x07"},
		"kind of address": {change(6, 9), "\x05\x00\x05\x08"},
		"version":         {change(3, 4), "\x05\x00\x05\x01"},
		"only passwords":  {[]byte{5, 1, 2}, "\x05\xff"},
		"no methods":      {[]byte{5, 0}, "\x05\xff"},
		"SOCKS4":          {[]byte{4, 1, 0, 80, 127, 0, 0, 1, 0}, "\x00\x5b"},
		"SOCKS4a":         {[]byte("\x04\x01\x00\x50\x00\x00\x00\x01\x00ok.example\x00"), "\x00\x5b"},
		"port 0":          {socksRequest(3, []byte("ok.example"), 0), "\x05\x00\x05\x02"},
		"empty name":      {socksRequest(3, nil, 80), "\x05\x00\x05\x02"},
		"mapped loopback": {socksRequest(4, netip.MustParseAddr("::ffff:127.0.0.1").AsSlice(), 80), "\x05\x00\x05\x02"},
	} {
		c := w.connect(egress.Origin{})
		_, _ = c.Write(test.send)
		_ = c.(*net.TCPConn).CloseWrite()
		b, _ := io.ReadAll(c)
		if !strings.HasPrefix(string(b), test.want) {
			t.Errorf("%s: %q, want %q", name, b, test.want)
		}
	}
	if _, _, dials := w.nothing(); len(dials) > 0 {
		t.Error("dialled", dials)
	}
}

// TestDeniedAlias: no name leads to a name that a rule denies, however many aliases are between; a name that only the rule about
// all hosts denies is no obstacle.
func TestDeniedAlias(t *testing.T) {
	w := newWorld(t, allow("*", deny), allow("*.ok.example"), allow("secret.example", deny), allow("*.secret.example", deny))
	w.aliases = map[string][]string{}
	for i, test := range []struct {
		aliases []string
		granted bool
	}{
		{nil, true}, {[]string{"edge.cdn.example."}, true}, {[]string{"b.ok.example."}, true}, {[]string{"_x.cdn.example."}, true},
		{[]string{"secret.example."}, false}, {[]string{"SECRET.example."}, false}, {[]string{"a.secret.example."}, false},
		{[]string{"edge.cdn.example.", "secret.example.", "other.example."}, false},
	} {
		name := fmt.Sprintf("n%d.ok.example", i)
		w.names[name], w.aliases[name] = "203.0.113.9", test.aliases
		for _, f := range forms {
			c := f.open(w, name, 80)
			got := ""
			if c != nil {
				got = exchange(c, "GET / HTTP/1.1\r\nHost: "+name+"\r\nConnection: close\r\n\r\n")
				c.Close()
			}
			reached, _, dials := w.nothing()
			if test.granted != strings.Contains(got, "GET "+name) || test.granted != (len(dials) > 0) {
				t.Errorf("%s to %s: %q, dialled %q, reached %q", f.name, test.aliases, got, dials, reached)
			}
		}
	}
}
