package egress_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// A lender is a world whose user answers questions.
type lender struct {
	*world
	mu     sync.Mutex
	answer func(egress.Refusal) egress.Answer
	asked  []string
	used   []int
	tries  atomic.Int64 // connections of open
}

// lend makes a world in which a list may be granted beside rules.
func lend(t *testing.T, may []ir.NetRule, change func(*egress.Config), rules ...ir.NetRule) *lender {
	l := &lender{answer: func(egress.Refusal) egress.Answer { return egress.Answer{} }}
	tool := &ir.Tool{Name: "t", Net: rules, MayNet: may}
	l.world = newWorldOf(t, func(c *egress.Config) {
		c.Live = ir.NewLive(tool, ir.Linux, ir.Facts{Base: []ir.FSRule{}})
		c.Used = func(id int, _ ir.Connect, _ uint64) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.used = append(l.used, id)
		}
		c.Ask = func(_ context.Context, r egress.Refusal) egress.Answer {
			to := r.Op.(ir.Connect).To
			l.mu.Lock()
			l.asked = append(l.asked, fmt.Sprintf("%s://%s:%d", to.Scheme, to.Host, to.Port))
			answer := l.answer
			l.mu.Unlock()
			return answer(r)
		}
		if change != nil {
			change(c)
		}
	}, rules...)
	for _, name := range []string{"a.example.com", "b.example.com"} {
		l.names[name] = "93.184.216.34"
	}
	return l
}

// grants has the user grant a host and port for the run, by a number.
func (l *lender) grants(id int) func(egress.Refusal) egress.Answer {
	return func(r egress.Refusal) egress.Answer {
		l.proxy.Grant(id, r.Op.(ir.Connect).To, false)
		return egress.Answer{Again: true}
	}
}

func once(id int) func(egress.Refusal) egress.Answer {
	return func(egress.Refusal) egress.Answer { return egress.Answer{Once: id} }
}

func (l *lender) answers(f func(egress.Refusal) egress.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer, l.asked, l.used = f, nil, nil
}

// saw counts the requests that arrived, the connections that were begun and the names that were looked up.
func (l *lender) saw() (reached, dials, looks int) {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	return len(l.reached), len(l.dials), len(l.looks)
}

// uses reports whether a grant was used.
func (l *lender) uses(id int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.used, id)
}

func (l *lender) questions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked)
}

// absolute is a connection on which requests in absolute form are sent.
func absolute(w *world, _ string, _ uint16) net.Conn { return w.connect(egress.Origin{}) }

// send sends a request by a connection, and returns the status of the answer, 0 for none.
func send(c net.Conn, target, host string) int {
	if c == nil {
		return 0
	}
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host); err != nil {
		return 0
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, r.Body)
	return r.StatusCode
}

// lentForms are the forms in which a connection arrives, and the target that a request in them names.
var lentForms = map[string]struct {
	open   func(*world, string, uint16) net.Conn
	target string
}{
	"announced": {announced, "/x"}, "CONNECT": {connected, "/x"}, "SOCKS": {socksed, "/x"},
	"absolute": {absolute, "http://a.example.com/x"},
}

// TestLent: in every form a connection is refused, permitted once, permitted until a revocation, and ended by
// that.
func TestLent(t *testing.T) {
	for name, form := range lentForms {
		t.Run(name, func(t *testing.T) {
			l := lend(t, []ir.NetRule{allow("*.example.com")}, nil, allow("other.com"))
			request := func() (net.Conn, int) {
				c := form.open(l.world, "a.example.com", 80)
				return c, send(c, form.target, "a.example.com")
			}
			_, code := request()
			if _, dials, _ := l.saw(); code == http.StatusOK || l.questions() != 1 || dials != 0 {
				t.Errorf("refused: %d, %d asked, %d dialed", code, l.questions(), dials)
			}
			for range 2 {
				l.answers(once(7))
				if _, code := request(); code != http.StatusOK || l.questions() != 1 || !l.uses(7) {
					t.Errorf("once: %d, %d asked, used %v", code, l.questions(), l.uses(7))
				}
			}
			l.answers(l.grants(3))
			request()
			open, code := request()
			if code != http.StatusOK || l.questions() != 1 || !l.uses(3) {
				t.Errorf("granted: %d, %d asked, used %v", code, l.questions(), l.uses(3))
			}
			l.answers(func(egress.Refusal) egress.Answer { return egress.Answer{} })
			if err := l.proxy.Revoke(3); err != nil {
				t.Fatal(err)
			}
			_, before, _ := l.saw()
			if code := send(open, form.target, "a.example.com"); code == http.StatusOK {
				t.Error("an open connection serves after the revocation")
			}
			_, code = request()
			if _, dials, _ := l.saw(); code == http.StatusOK || dials != before {
				t.Errorf("after the revocation: %d", code)
			}
		})
	}
}

// TestLentBeyond: nothing that the list does not cover is asked about: another port, another name, an address that
// the name leads to, a host that the list takes out.
func TestLentBeyond(t *testing.T) {
	l := lend(t, []ir.NetRule{allow("*.example.com"), {Host: allow("no.example.com").Host}}, nil)
	l.answers(func(r egress.Refusal) egress.Answer {
		l.proxy.Grant(1, r.Op.(ir.Connect).To, true)
		return egress.Answer{Again: true}
	})
	l.ports[8080] = l.plain.Listener.Addr().String()
	for _, to := range []struct {
		host string
		port uint16
	}{{"a.example.com", 8080}, {"example.com", 80}, {"no.example.com", 80}, {"93.184.216.34", 80}, {"example.org", 80}} {
		for name, form := range lentForms {
			target := strings.ReplaceAll(form.target, "a.example.com", fmt.Sprintf("%s:%d", to.host, to.port))
			c := form.open(l.world, to.host, to.port)
			if code := send(c, target, fmt.Sprintf("%s:%d", to.host, to.port)); code == http.StatusOK || l.questions() != 0 {
				t.Errorf("%s: %v: %d, asked %d", name, to, code, l.questions())
			}
		}
	}
	// A granted name that leads to an address of this host is refused behind the answer.
	l.world.mu.Lock()
	l.names["a.example.com"] = "127.0.0.1"
	l.world.mu.Unlock()
	if code := send(announced(l.world, "a.example.com", 80), "/", "a.example.com"); code == http.StatusOK || l.questions() != 1 {
		t.Errorf("rebound: %d, asked %d", code, l.questions())
	}
	if reached, _, _ := l.saw(); reached > 0 {
		t.Errorf("%d requests arrived", reached)
	}
	// Nor is an address reached that the list takes out.
	l = lend(t, []ir.NetRule{allow("*.example.com"), {Host: allow("93.184.216.34").Host}}, nil)
	l.answers(l.grants(1))
	code := send(announced(l.world, "a.example.com", 80), "/", "a.example.com")
	if reached, _, _ := l.saw(); code == http.StatusOK || l.questions() != 1 || reached > 0 {
		t.Errorf("an address that is taken out: %d, asked %d", code, l.questions())
	}
}

// TestLentGone: a question goes away with the connection that it is about.
func TestLentGone(t *testing.T) {
	for name, sent := range map[string]string{
		"announced": "GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n", "CONNECT": "CONNECT a.example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n",
		"SOCKS": string(socksRequest(3, []byte("a.example.com"), 80)), "absolute": "GET http://a.example.com/ HTTP/1.1\r\nHost: a.example.com\r\n\r\n",
	} {
		asked, over := make(chan struct{}), make(chan struct{})
		l := lend(t, []ir.NetRule{allow("*.example.com")}, func(c *egress.Config) {
			c.Ask = func(ctx context.Context, _ egress.Refusal) egress.Answer {
				close(asked)
				<-ctx.Done()
				close(over)
				return egress.Answer{}
			}
		})
		o := egress.Origin{}
		if name == "announced" {
			o.Host, o.Port = allow("a.example.com").Host, 80
		}
		c := l.connect(o)
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		<-asked
		_ = c.Close()
		await.Receive(t, "the end of the question by "+name, over)
	}
}

// TestLentNames: the stub gives a name of the list an address without looking it up, and asks nothing.
func TestLentNames(t *testing.T) {
	l := lend(t, []ir.NetRule{allow("*.example.com"), {Host: allow("no.example.com").Host}}, nil)
	for name, want := range map[string]dnsmessage.RCode{
		"a.example.com.": dnsmessage.RCodeSuccess, "no.example.com.": dnsmessage.RCodeRefused, "example.org.": dnsmessage.RCodeRefused,
	} {
		m := l.ask(name, dnsmessage.TypeA)
		if m.RCode != want || want == dnsmessage.RCodeSuccess && len(m.Answers) != 1 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, _, looks := l.saw(); looks != 0 || l.questions() != 0 {
		t.Errorf("%d names looked up, %d asked", looks, l.questions())
	}
	l.answers(l.grants(1))
	if code := send(pooled(l.world, "a.example.com", 80), "/", "a.example.com"); code != http.StatusOK || l.questions() != 1 {
		t.Errorf("%d, asked %d", code, l.questions())
	}
	for i := range 300 {
		l.ask(fmt.Sprintf("x%d.example.com.", i), dnsmessage.TypeA)
	}
	if m := l.ask("more.example.com.", dnsmessage.TypeA); m.RCode != dnsmessage.RCodeRefused {
		t.Errorf("names are not bounded: %+v", m)
	}
}

// TestLentRest: a grant takes nothing away from the rules, and a revocation ends nothing that they permit. It ended
// the client's connection where the answer to the granted request had arrived and its handler had not returned yet.
func TestLentRest(t *testing.T) {
	own := allow("a.example.com", func(r *ir.NetRule) { r.Scheme, r.Path = "http", []string{"own"} })
	l := lend(t, []ir.NetRule{allow("a.example.com")}, nil, own)
	for id := 1; id <= 40 && !t.Failed(); id++ {
		l.answers(l.grants(id))
		c := l.to("a.example.com", 80)
		if code := send(c, "/own", "a.example.com"); code != http.StatusOK || l.questions() != 0 {
			t.Fatalf("%d, asked %d", code, l.questions())
		}
		if code := send(c, "/more", "a.example.com"); code != http.StatusOK || l.questions() != 1 {
			t.Fatalf("%d, asked %d", code, l.questions())
		}
		l.answers(func(egress.Refusal) egress.Answer { return egress.Answer{} })
		if err := l.proxy.Revoke(id); err != nil {
			t.Fatal(err)
		}
		if code := send(c, "/own", "a.example.com"); code != http.StatusOK {
			t.Errorf("what a rule permits ended with the grant: %d", code)
		}
		if code := send(l.to("a.example.com", 80), "/more", "a.example.com"); code != http.StatusForbidden {
			t.Errorf("after the revocation: %d", code)
		}
	}
}

// guarded is a connection to a host that notes bytes of the tool that come while nothing is granted.
type guarded struct {
	net.Conn
	closed  *atomic.Bool
	late    *atomic.Int64
	written *atomic.Int64
}

func (g *guarded) Write(b []byte) (int, error) {
	if g.closed.Load() {
		g.late.Add(1)
	}
	g.written.Add(1)
	n, err := g.Conn.Write(b)
	if g.closed.Load() {
		g.late.Add(1)
	}
	return n, err
}

// open is one connection after another in a form, each with requests for as long as they are answered.
func (l *lender) open(name string, port uint16, stop <-chan struct{}) {
	form := lentForms[name]
	for ; ; l.tries.Add(1) {
		select {
		case <-stop:
			return
		default:
		}
		if c := form.open(l.world, "a.example.com", port); c != nil {
			for send(c, form.target, "a.example.com") == http.StatusOK {
			}
			_ = c.Close()
		}
	}
}

// TestLentRaces grants and revokes while connections of all forms come and go: from the end of a revocation to the
// beginning of the next grant no byte is sent to the host, and no connection is begun.
func TestLentRaces(t *testing.T) {
	var closed atomic.Bool
	var late, written atomic.Int64
	closed.Store(true)
	var l *lender
	stream := allow("*.example.com", func(r *ir.NetRule) { r.Scheme, r.Port = "tcp", 81 })
	l = lend(t, []ir.NetRule{allow("*.example.com"), stream}, func(c *egress.Config) {
		c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			if closed.Load() {
				late.Add(1)
			}
			conn, err := l.reach(ctx, to)
			return &guarded{conn, &closed, &late, &written}, err
		}
	})
	l.ports[81] = l.plain.Listener.Addr().String()
	host, stop := allow("a.example.com").Host, make(chan struct{})
	var all sync.WaitGroup
	for name := range lentForms {
		all.Go(func() { l.open(name, 80, stop) })
		if name != "absolute" {
			all.Go(func() { l.open(name, 81, stop) })
		}
	}
	rounds := irtest.Times(10_000) / 4
	after := func(n int, what string, count *atomic.Int64) {
		least := count.Load() + int64(n)
		await.Until(t, what, func() bool { return count.Load() >= least })
	}
	for i := 1; i <= rounds; i++ {
		closed.Store(false)
		l.proxy.Grant(2*i, ir.Endpoint{Scheme: "http", Host: host, Port: 80}, i%2 == 0)
		l.proxy.Grant(2*i+1, ir.Endpoint{Scheme: "tcp", Host: host, Port: 81}, i%2 == 0)
		after(i%5, "the host is sent more", &written)
		for n := 2 * i; n <= 2*i+1; n++ {
			if err := l.proxy.Revoke(n); err != nil {
				t.Fatal(err)
			}
		}
		closed.Store(true)
		after(3*(i%3), "more connections are tried", &l.tries)
	}
	close(stop)
	all.Wait()
	t.Logf("%d grants and revocations, %d writes to hosts", 2*rounds, written.Load())
	if late.Load() > 0 || written.Load() == 0 {
		t.Errorf("%d bytes or connections after a revocation, %d before", late.Load(), written.Load())
	}
}
