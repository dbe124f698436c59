package egress

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Reasons for refusing a tunnel that the policy may grant.
const (
	whyNoName  = "the TLS client does not say which name it wants; a rule with opaque = true grants that"
	whyECH     = "the TLS client encrypts the name that it wants (ECH); a rule with opaque = true grants that"
	whyNotHTTP = "the connection is neither TLS nor HTTP; a rule with scheme = \"tcp\" grants that"
)

// tunnel serves a connection to a host and port. The first bytes tell the scheme unless every
// byte is granted.
func (p *Proxy) tunnel(c *client, h ir.Host, port uint16) {
	granted, refused := reach(p.config.Policy, h, port)
	if len(granted) == 0 {
		p.refused(refused)
		return
	}
	if v, ok := granted[schemeStream]; ok {
		p.join(c, ir.Endpoint{Scheme: schemeStream, Host: h, Port: port}, v)
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(p.config.Limits.Handshake))
	b, err := c.first()
	switch {
	case err != nil:
	case b[0] == recordHandshake:
		p.secure(c, ir.Endpoint{Scheme: schemeHTTPS, Host: h, Port: port})
	case 'A' <= b[0] && b[0] <= 'Z':
		c.origin = Origin{Host: h, Port: port, Upstream: c.origin.Upstream}
		p.hand(c)
	default:
		p.refused(Refusal{Op: refused.Op, Why: whyNotHTTP})
	}
}

// secure serves a connection whose first bytes are TLS.
func (p *Proxy) secure(c *client, to ir.Endpoint) {
	v := p.config.Policy.Reach(to)
	said, err := readHello(c)
	op := ir.Connect{To: to}
	switch why := p.mismatch(to, v, said); {
	case err != nil:
	case !v.Allowed():
		p.refused(Refusal{Op: op, Verdict: v})
	case why != "":
		p.refused(Refusal{Op: op, Why: why})
	case p.config.Policy.Inspects(to):
		p.terminate(c, to)
	default:
		p.join(c, to, v)
	}
}

// mismatch says why a hello does not fit the host that was judged, empty if it does.
func (p *Proxy) mismatch(to ir.Endpoint, v ir.Verdict, said hello) string {
	if r := rule(v); r != nil && r.Opaque {
		return ""
	}
	if said.ech {
		return whyECH
	}
	if said.name == "" {
		if to.Host.Kind == ir.HostAddr {
			return ""
		}
		return whyNoName
	}
	named, err := resolve.Host(said.name)
	if err != nil || named != to.Host {
		return fmt.Sprintf("the TLS client asks %s for %q", to.Host, said.name)
	}
	return ""
}

// join connects to the host and moves bytes.
func (p *Proxy) join(c *client, to ir.Endpoint, v ir.Verdict) {
	upstream := c.origin.Upstream
	if c.origin.Upstream = nil; upstream == nil {
		var err error
		if upstream, err = p.dial(p.ctx, to); err != nil {
			p.failed(to, err)
			return
		}
	}
	if !p.track(upstream) {
		_ = upstream.Close()
		return
	}
	defer func() {
		p.mu.Lock()
		delete(p.open, upstream)
		p.mu.Unlock()
	}()
	p.copyBoth(c, upstream)
}

// failed reports a host that may not be dialled. Other failures are the network's.
func (p *Proxy) failed(to ir.Endpoint, err error) {
	if errors.Is(err, errInternal) {
		p.refused(Refusal{Op: ir.Connect{To: to}, Why: fmt.Sprintf("%s: %s", net.JoinHostPort(to.Host.String(), fmt.Sprint(to.Port)), err)})
	}
}
