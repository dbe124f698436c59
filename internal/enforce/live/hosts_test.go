package live

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/accessc/accessc/ir"
)

// connector keeps the orders of a session about hosts.
type connector struct{ said []string }

func (c *connector) Grant(id int, to ir.Endpoint, whole bool) {
	c.said = append(c.said, fmt.Sprint("grant ", id, " ", hostPort(to), " ", whole))
}
func (c *connector) Revoke(id int) { c.said = append(c.said, fmt.Sprint("revoke ", id)) }

// hostFixture is a session of a tool that may be granted hosts below example.com.
func hostFixture(write func([]ir.Operation) error) (*Session, *connector) {
	tool := ir.NewTool("t")
	tool.MayNet = []ir.NetRule{{Host: ir.Host{Kind: ir.HostSuffix, Name: "example.com"}, Allow: true}}
	c := &connector{}
	return New(ir.NewLive(tool, ir.Linux, ir.Facts{}), Options{
		Tool: "t", Exchange: func(change func()) { change() }, Write: write, Record: true, Hosts: c,
	}), c
}

// requesting is a request with a path, a method and maybe a secret.
func requesting(host string) ir.Operation {
	to := ir.Endpoint{Scheme: "https", Host: ir.Host{Kind: ir.HostName, Name: host}, Port: 443, Path: []string{"secret"}}
	return ir.Connect{To: to, Method: "POST"}
}

// TestHosts: answers about a host are about all of it, are told to what connects, and leave nothing of the
// request in the record.
func TestHosts(t *testing.T) {
	var written []ir.Operation
	s, c := hostFixture(func(ops []ir.Operation) error { written = ops; return nil })
	q, r := waiting(t, s, always, requesting("a.example.com"))
	answer(t, s, q.ID, Run)
	if again, once := r(); !again || once != nil || !s.View().Decide(requesting("a.example.com")).Allowed() {
		t.Error("not granted")
	}
	if err := s.Revoke(q.ID); err != nil || !refusedAtOnce(s, requesting("a.example.com")) {
		t.Error("a revoked host is asked about", err)
	}
	q2, r2 := waiting(t, s, always, requesting("b.example.com"))
	answer(t, s, q2.ID, No)
	if again, _ := r2(); again || !refusedAtOnce(s, requesting("b.example.com")) {
		t.Error("a refusal was forgotten")
	}
	q3, r3 := waiting(t, s, always, requesting("c.example.com"))
	answer(t, s, q3.ID, Once)
	if again, once := r3(); !again || once.ID() != q3.ID || s.View().Decide(requesting("c.example.com")).Allowed() {
		t.Error("once is for others")
	}
	q4, r4 := waiting(t, s, always, requesting("d.example.com"))
	answer(t, s, q4.ID, Layer)
	r4()
	if got := fmt.Sprint(written); len(written) != 1 || got == fmt.Sprint([]ir.Operation{requesting("d.example.com")}) {
		t.Error(got)
	}
	q5, r5 := waiting(t, s, always, requesting("e.example.com"))
	answer(t, s, q5.ID, Rule)
	r5()
	if !s.View().Decide(requesting("f.example.com")).Allowed() || refusedAtOnce(s, requesting("example.org")) == false {
		t.Error("the rule is not granted as it stands")
	}
	want := []string{"grant 1 a.example.com:443 false", "revoke 1", "grant 4 d.example.com:443 false", "grant 5 e.example.com:443 true"}
	if !slices.Equal(c.said, want) {
		t.Errorf("%q", c.said)
	}
	events, _ := s.Events()
	for _, e := range events {
		if e.Event == "question" && e.Operation != fmt.Sprintf("connect https://%c.example.com", 'a'+e.ID-1) {
			t.Errorf("%+v", e)
		}
	}
}

// TestHostsTimeLimit: a connection waits for a while, and a question without an answer can be asked again.
func TestHostsTimeLimit(t *testing.T) {
	s, _ := hostFixture(nil)
	ask := func() (bool, *Allowance) {
		return s.Ask(Call{Ops: []ir.Operation{requesting("a.example.com")}, Pending: always, Within: 10 * time.Millisecond})
	}
	for range 2 {
		if again, _ := ask(); again {
			t.Error("granted by silence")
		}
	}
	events, _ := s.Events()
	if len(events) != 4 || events[1].Answer != Unasked || events[3].Answer != Unasked {
		t.Errorf("%+v", events)
	}
}

// TestHostsBounded: a tool that asks about ever more hosts gets few questions at once and few in a run, and those
// about files stay possible.
func TestHostsBounded(t *testing.T) {
	s, _ := hostFixture(nil)
	asked := 0
	for asked < maxHosts {
		var ends []func() (bool, *Allowance)
		for range min(maxHostsWaiting, maxHosts-asked) {
			_, end := waiting(t, s, always, requesting(fmt.Sprintf("h%d.example.com", asked)))
			ends = append(ends, end)
			asked++
		}
		if pending, _ := s.Pending(); len(pending) == maxHostsWaiting {
			if again, _ := s.Ask(Call{Ops: []ir.Operation{requesting("more.example.com")}, Pending: always}); again {
				t.Fatal("granted")
			}
		}
		pending, _ := s.Pending()
		for _, q := range pending {
			answer(t, s, q.ID, Unasked)
		}
		for _, end := range ends {
			end()
		}
	}
	if !refusedAtOnce(s, requesting("more.example.com")) {
		t.Error("asked beyond the bound")
	}
	if events, _ := s.Events(); len(events) != 2*maxHosts {
		t.Error(len(events))
	}
}
