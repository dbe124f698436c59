package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// NewConfig is the configuration of a proxy that uses this host's network.
func NewConfig(s *wire.Setup, platform ir.Platform) (Config, error) {
	program, err := irjson.Unmarshal(s.Policy)
	if err != nil {
		return Config{}, err
	}
	if len(program.Tools) != 1 {
		return Config{}, errors.New("expected the policy of one tool")
	}
	tool := program.Tools[0]
	own := &ownAddresses{}
	if err := own.read(); err != nil {
		return Config{}, err
	}
	view := ir.NewView(tool, platform, ir.Facts{Base: []ir.FSRule{}})
	c := Config{
		Policy: view, Resolve: newCache(resolveName).lookup, Dial: dialAddress, Own: own.now,
		Proxy:    CallersProxy(os.Getenv),
		Sentence: func(op ir.Operation, v ir.Verdict) string { return denial.Sentence(view, op, v) },
		Limits:   DefaultLimits(),
		Tells:    s.Tells,
	}
	if len(tool.MayNet) > 0 {
		c.Live = ir.NewLive(tool, platform, ir.Facts{Base: []ir.FSRule{}})
	}
	if s.Offline {
		c.Resolve, c.Dial = offline, unreachable
	}
	if s.Secrets != nil {
		secrets := map[string]credential.Secret{}
		for source, value := range s.Secrets {
			secrets[source] = credential.Secret(value)
		}
		c.Secrets = NewSecrets(secrets)
	}
	if hosts := inspected(tool.Net); len(hosts) > 0 {
		if err := c.inspect(hosts, s); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

// inspect makes the authority of the run, and writes it where clients look. Hosts are known by the
// authorities that the caller's clients trust, too.
func (c *Config) inspect(hosts []ir.Host, s *wire.Setup) error {
	var err error
	if c.Authority, err = NewAuthority(hosts); err != nil {
		return err
	}
	bundle := HostBundle(s.Trusted)
	c.Roots = bundle.Pool()
	if s.Dir == "" {
		return nil
	}
	bundle.Add(c.Authority.PEM())
	return bundle.Write(s.Dir)
}

// inspected are the hosts of rules that say inspect.
func inspected(rules []ir.NetRule) (out []ir.Host) {
	for _, r := range rules {
		if r.Inspect {
			out = append(out, r.Host)
		}
	}
	return out
}

func dialAddress(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", to.String())
}

// offline answers for every name with an address that no host has: an address for documentation
// (RFC 5737).
func offline(context.Context, string) (Found, error) {
	return Found{Addrs: []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 1})}}, nil
}

func unreachable(context.Context, netip.AddrPort) (net.Conn, error) { return nil, syscall.ENETUNREACH }

// ownAddresses are the addresses of this host's interfaces, read again when they are old.
type ownAddresses struct {
	mu   sync.Mutex
	list []netip.Addr
	at   time.Time
}

// maxAge bounds the time in which an address that this host has got is not known.
const maxAge = time.Second

// now returns the addresses. The addresses of the last time stay if they cannot be read.
func (o *ownAddresses) now() []netip.Addr {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.at) > maxAge {
		_ = o.read()
	}
	return o.list
}

func (o *ownAddresses) read() error {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	o.list, o.at = nil, time.Now()
	for _, a := range list {
		if p, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(p.IP); ok {
				o.list = append(o.list, ip.Unmap())
			}
		}
	}
	return nil
}
