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

// format identifies the document, in its comment.
const format = "accessc/mxc"

// formatVersion is the version of the document.
const formatVersion = 2

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "mxc" }

// File implements backends.Backend.
func (Backend) File() string { return "mxc.json" }

// Platform implements backends.Backend: MXC runs on every system.
func (Backend) Platform() ir.Platform { return 0 }

// Compile implements backends.Backend. The ledger is in the artifact, too.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	from := newConversion(t, target)
	if t.Command == nil {
		return backends.Output{Refusals: []backends.Refusal{{Why: "a configuration names a command, and the tool has " +
			"none"}}}, nil
	}
	line, err := commandLine(t.Command)
	if err != nil {
		return backends.Output{Refusals: []backends.Refusal{{Why: err.Error()}}}, nil
	}
	ledger := from.ledger()
	c := Config{
		Version: Version, Containment: "process",
		Process: Process{CommandLine: line, Cwd: target.Place(ir.In("")), Env: from.environment(),
			Timeout: from.timeout()},
		Filesystem: from.filesystem(),
		Network: Network{
			Egress:  Egress{Default: "deny", Allow: from.egress()},
			Ingress: Ingress{Default: "deny", HostLoopback: "deny"},
		},
		Lifecycle: Lifecycle{DestroyOnExit: true},
	}
	c.Comment = Comment{
		Format: format, Version: formatVersion, Form: target.Form.String(), Tool: t.Name, Forward: []string{},
		Ledger: backends.NewRows(ledger),
	}
	for _, r := range t.Env {
		if r.Read && r.Value == "" && !ir.OwnVariable(r.Name, t.Home == ir.HomePrivate, ir.Linux) {
			c.Comment.Forward = append(c.Comment.Forward, pattern(r))
		}
	}
	for _, a := range t.Accept {
		c.Comment.Accept = append(c.Comment.Accept, string(a.Gap))
	}
	data, err := backends.JSON(c)
	return backends.Output{Data: data, Elsewhere: ledger}, err
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

// conversion is a policy with the target that it is compiled for.
type conversion struct {
	tool   *ir.Tool
	target backends.Target
	view   *ir.View
	roots  []*ir.Region
	byName map[ir.RuleID][]backends.Named
}

// newConversion uses the policy without the base: MXC has one of its own, which the ledger states.
func newConversion(t *ir.Tool, target backends.Target) *conversion {
	bare := *t
	bare.Base = ir.BaseNone
	facts := ir.Facts{}
	if target.Form == backends.Resolved {
		facts = target.Facts
		facts.Base = nil
	}
	v := ir.NewView(&bare, ir.Linux, facts)
	p := &conversion{&bare, target, v, v.Tree(), map[ir.RuleID][]backends.Named{}}
	for _, root := range p.roots {
		if root.Above == nil {
			backends.AddNamed(p.byName, root)
		}
	}
	return p
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

// See decision D263.
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

// filesystem lists every place where the answer differs from the answer at the place above. A denied
// place outside of all granted places needs no entry, and gets none: MXC makes a denied path that
// does not exist, as a directory.
func (p *conversion) filesystem() Filesystem {
	out := Filesystem{ReadWrite: []string{}, ReadOnly: []string{}, Denied: []string{}}
	for _, root := range p.roots {
		if root.At.Root.Kind == ir.Temp {
			// The temporary directory is MXC's own.
			continue
		}
		root.WalkRoot(func(r *ir.Region) {
			is, place := accessOf(r.Caps), p.target.Place(r.At)
			switch {
			case r.Link, is == inherited(r):
				// A link leads to a place that has an entry; it is none itself.
			case is == readWrite:
				out.ReadWrite = append(out.ReadWrite, place)
			case is == readOnly:
				out.ReadOnly = append(out.ReadOnly, place)
			case is == denied:
				out.Denied = append(out.Denied, place)
			}
		})
	}
	return out
}

// inherited returns the access that a region has without an entry.
func inherited(r *ir.Region) access {
	for a := r.Above; a != nil; a = a.Above {
		if !a.Link {
			return accessOf(a.Caps)
		}
	}
	return denied
}

// opens reports whether a rule is about one port of one address, and the policy lets it
// be reached whatever the scheme.
func (p *conversion) opens(r *ir.NetRule) bool {
	if !r.Allow || r.Listen || r.Host.Kind != ir.HostAddr || r.Host.Addr.IsLoopback() {
		return false
	}
	if r.Port == 0 || r.Scheme != "" || len(r.Path) > 0 || len(r.Methods) > 0 || r.Inspect || r.Credential != nil {
		return false
	}
	// Another rule about the address could deny a part of the targets that the port lets through.
	return !slices.ContainsFunc(p.tool.Net, func(o ir.NetRule) bool {
		return !o.Allow && !o.Listen && (o.Port == 0 || o.Port == r.Port) &&
			(o.Host == r.Host || o.Host.Kind == ir.HostAny)
	})
}

func (p *conversion) egress() []Rule {
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
func (p *conversion) environment() []string {
	home := ""
	if p.tool.Home == ir.HomePrivate {
		home = p.target.Place(ir.Location{Root: ir.Root{Kind: ir.Home}})
	}
	return backends.Texts(backends.Assigned(p.tool, "", home, nil))
}

// timeout is the limit of wall time in milliseconds, 0 for none.
func (p *conversion) timeout() uint32 {
	for _, l := range p.tool.Limits {
		if l.Kind == ir.LimitWallTime {
			return uint32(min(l.Value, math.MaxUint32))
		}
	}
	return 0
}
