package mxc

import (
	"math"
	"net/netip"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Format identifies the document, in its comment.
const Format = "accessc/mxc"

// FormatVersion is the version of the document.
const FormatVersion = 2

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "mxc" }

// File implements backends.Backend.
func (Backend) File() string { return "mxc.json" }

// Platform implements backends.Backend: MXC runs on every system.
func (Backend) Platform() ir.Platform { return 0 }

// Compile implements backends.Backend. The ledger is in the artifact.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	p := newPlan(t, target)
	if t.Command == nil {
		return backends.Output{Refusals: []backends.Refusal{{Why: "a configuration names a command, and the tool has none"}}}, nil
	}
	line, err := commandLine(t.Command)
	if err != nil {
		return backends.Output{Refusals: []backends.Refusal{{Why: err.Error()}}}, nil
	}
	c := Config{
		Version: Version, Containment: "process",
		Process:    Process{CommandLine: line, Cwd: target.Place(ir.In("")), Env: p.environment(), Timeout: p.timeout()},
		Filesystem: p.filesystem(),
		Network: Network{
			Egress:  Egress{Default: "deny", Allow: p.egress()},
			Ingress: Ingress{Default: "deny", HostLoopback: "deny"},
		},
		Lifecycle: Lifecycle{DestroyOnExit: true},
	}
	c.Comment = Comment{
		Format: Format, Version: FormatVersion, Form: target.Form.String(), Tool: t.Name, Forward: []string{}, Ledger: backends.NewRows(p.ledger()),
	}
	for _, r := range t.Env {
		if r.Read && !ir.OwnVariable(r.Name, t.Home == ir.HomePrivate, ir.Linux) {
			c.Comment.Forward = append(c.Comment.Forward, pattern(r))
		}
	}
	for _, a := range t.Accept {
		c.Comment.Accept = append(c.Comment.Accept, string(a.Gap))
	}
	data, err := backends.JSON(c)
	return backends.Output{Data: data}, err
}

func pattern(r ir.EnvRule) string {
	if r.Prefix {
		return r.Name + "*"
	}
	return r.Name
}

// commandLine writes a command as one line. Values that only a run knows are left out: MXC has
// no placeholders.
func commandLine(c *ir.Command) (string, error) {
	if c.Shell {
		quoted, err := syntax.Quote(c.Program, syntax.LangPOSIX)
		return "/bin/sh -c " + quoted, err
	}
	var words []string
	for _, w := range append([]string{c.Program}, c.Args...) {
		quoted, err := syntax.Quote(w, syntax.LangPOSIX)
		if err != nil {
			return "", err
		}
		words = append(words, quoted)
	}
	return strings.Join(words, " "), nil
}

// plan is a policy with the target that it is compiled for.
type plan struct {
	tool   *ir.Tool
	target backends.Target
	view   *ir.View
}

// newPlan uses the policy without the base: MXC has one of its own, which the ledger states.
func newPlan(t *ir.Tool, target backends.Target) *plan {
	bare := *t
	bare.Base = ir.BaseNone
	facts := ir.Facts{}
	if target.Form == backends.Resolved {
		facts = target.Facts
		facts.Base = nil
	}
	return &plan{&bare, target, ir.NewView(&bare, ir.Linux, facts)}
}

// access is the kind of a place in the configuration.
type access uint8

const (
	denied access = iota
	readOnly
	readWrite
)

// writable are the capabilities that writing takes; MXC knows no part of it.
const writable = ir.CapSet(1<<ir.Read | 1<<ir.Create | 1<<ir.Update | 1<<ir.Delete)

// See RATIONALE D93.
func accessOf(caps ir.CapSet) access {
	switch {
	case caps.Contains(writable):
		return readWrite
	case caps.Has(ir.Read):
		return readOnly
	default:
		return denied
	}
}

// filesystem lists every place where the answer differs from that of the place above. A denied
// place outside of all granted ones needs no entry, and gets none: MXC makes a denied path that
// does not exist, as a directory.
func (p *plan) filesystem() Filesystem {
	out := Filesystem{ReadWrite: []string{}, ReadOnly: []string{}, Denied: []string{}}
	var visit func(r *ir.Region, above access)
	visit = func(r *ir.Region, above access) {
		is := accessOf(r.Caps)
		if r.Link {
			// The link leads to a place that has an entry; it is none itself.
			is = above
		}
		if is != above {
			path := p.target.Place(r.At)
			switch is {
			case readWrite:
				out.ReadWrite = append(out.ReadWrite, path)
			case readOnly:
				out.ReadOnly = append(out.ReadOnly, path)
			case denied:
				out.Denied = append(out.Denied, path)
			}
		}
		for _, b := range r.Below {
			visit(b, is)
		}
	}
	for _, root := range p.view.Roots() {
		if root.Kind == ir.Temp {
			// The temporary directory is MXC's own.
			continue
		}
		visit(p.view.Regions(root), p.outside(root))
	}
	return out
}

// outside returns the access that root inherits from the root around it, where both are known.
func (p *plan) outside(root ir.Root) access {
	b := p.target.Facts.Bindings
	if p.target.Form != backends.Resolved || b == nil {
		return denied
	}
	abs, ok := b.Path(ir.Location{Root: root})
	if !ok {
		return denied
	}
	parent := abs[:max(strings.LastIndexByte(abs, '/'), 0)]
	if parent == "" {
		return denied
	}
	at := b.Locate(parent)
	if at.Root.Kind == ir.System {
		return denied
	}
	v := p.view.Regions(at.Root)
	return accessOf(deepest(v, at).Caps)
}

// deepest returns the region that a location belongs to.
func deepest(r *ir.Region, at ir.Location) *ir.Region {
	for _, b := range r.Below {
		if at.Under(b.At) {
			return deepest(b, at)
		}
	}
	return r
}

// opens reports whether a rule is about one port of one address, and the policy lets it
// be reached whatever the scheme.
func (p *plan) opens(r *ir.NetRule) bool {
	if !r.Allow || r.Host.Kind != ir.HostAddr || r.Port == 0 || r.Scheme != "" || len(r.Path) > 0 || r.Host.Addr.IsLoopback() {
		return false
	}
	// Another rule about the address could deny a part of the targets that the port lets through.
	return !slices.ContainsFunc(p.tool.Net, func(o ir.NetRule) bool {
		return !o.Allow && (o.Port == 0 || o.Port == r.Port) && (o.Host == r.Host || o.Host.Kind == ir.HostAny)
	})
}

func (p *plan) egress() []Rule {
	var out []Rule
	for i := range p.tool.Net {
		r := &p.tool.Net[i]
		if p.opens(r) {
			prefix := netip.PrefixFrom(r.Host.Addr, r.Host.Addr.BitLen())
			out = append(out, Rule{To: []Peer{{prefix.String()}}, Ports: []Port{{"tcp", r.Port}}})
		}
	}
	return out
}

// environment returns the variables that accessc sets itself and knows. The user of the
// configuration adds the others.
func (p *plan) environment() []string {
	if p.tool.Home != ir.HomePrivate || !ir.EnvView(p.tool.Env, p.tool.Home, ir.Linux).Decide(ir.Forward{Name: "HOME"}).Allowed() {
		return []string{}
	}
	return []string{"HOME=" + p.target.Place(ir.Location{Root: ir.Root{Kind: ir.Home}})}
}

// timeout is the limit of wall time in milliseconds, 0 for none.
func (p *plan) timeout() uint32 {
	for _, l := range p.tool.Limits {
		if l.Kind == ir.LimitWallTime {
			return uint32(min(l.Value, math.MaxUint32))
		}
	}
	return 0
}
