package supervisor

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/ir"
)

// Grant implements live.Hosts.
func (e *egress) Grant(id int, to ir.Endpoint, whole bool) {
	p := wire.Packet{Kind: wire.Grant, Errno: uint32(id), Text: []string{to.Scheme, to.Host.String(), ""},
		Want: netip.AddrPortFrom(netip.IPv4Unspecified(), to.Port)}
	if whole {
		p.Text[2] = wire.Whole
	}
	e.ask(p, process{})
}

// Revoke implements live.Hosts. A proxy that has ended has closed all connections.
func (e *egress) Revoke(id int) { e.ask(wire.Packet{Kind: wire.Revoke, Errno: uint32(id)}, process{}) }

// askHost has the user decide about a request that the proxy has refused. The question goes away with the
// process that connects.
func (s *Supervisor) askHost(p wire.Packet) {
	by := s.egress.caller(p)
	pending := func() bool {
		return s.egress.asks(p.Errno) && (by.current == nil || by.current()) &&
			(by.pid == 0 || unix.Kill(by.pid, 0) != unix.ESRCH)
	}
	out := wire.Packet{Kind: wire.Permit, ID: uint64(p.Errno)}
	if session := s.policy.session; session != nil {
		again, once := session.Ask(live.Call{
			Ops: []ir.Operation{requested(p)}, PID: by.pid, Name: by.name, Pending: pending, Within: live.HostWait,
		})
		switch {
		case once != nil:
			out.Errno, out.Text = wire.Once, []string{strconv.Itoa(once.ID())}
		case again:
			out.Errno = wire.Again
		}
	}
	s.egress.ended(p.Errno)
	_ = s.egress.send(&out, nil)
}

// asks reports whether the proxy waits for the answer to a question.
func (e *egress) asks(number uint32) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asking[number] && !e.down
}

// ended forgets a question.
func (e *egress) ended(number uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.asking, number)
}

// usedHost notes the use of a grant.
func (s *Supervisor) usedHost(p wire.Packet) {
	if session := s.policy.session; session != nil {
		by := s.egress.caller(p)
		session.Used([]live.Use{{ID: int(p.Errno), Op: requested(p)}}, by.pid, by.name)
	}
}

// requested is the request that a packet is about.
func requested(p wire.Packet) ir.Connect {
	t := append(p.Text, make([]string, texts)...)
	op := ir.Connect{To: ir.Endpoint{Scheme: t[textScheme], Host: host(t[textHost]), Port: p.Want.Port()},
		Method: t[textMethod]}
	if path := strings.TrimPrefix(t[textPath], "/"); path != "" {
		op.To.Path = strings.Split(path, "/")
	}
	return op
}
