package landlock

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "landlock" }

// File implements backends.Backend.
func (Backend) File() string { return "landlock.json" }

// Platform implements backends.Backend.
func (Backend) Platform() ir.Platform { return ir.Linux }

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	spec, ledger, err := Build(t, target)
	if err != nil {
		return backends.Output{}, err
	}
	data, err := backends.JSON(spec)
	return backends.Output{Data: data, Ledger: ledger}, err
}

// Refusals implements backends.Refuser: every policy can be written.
func (Backend) Refusals(*ir.Tool, backends.Target) []backends.Refusal { return nil }

// Build compiles a tool to the value that the artifact is the text of.
func Build(t *ir.Tool, target backends.Target) (*Spec, ir.Ledger, error) {
	rules := newRuleset(target.View(t, ir.Linux))
	ledger := rules.ledger()
	// A loader can do nothing about the rows of kernels without Landlock.
	open := slices.DeleteFunc(slices.Clone(ledger), func(r ir.Row) bool { return r.Levels.To == 0 })
	s := &Spec{
		Header: backends.Header{Format: format, Version: formatVersion, Form: target.Form.String()},
		Launch: backends.NewLaunch(t, target, open),
		Levels: Levels(), Paths: rules.paths(target), Programs: rules.programs(target), Ports: ports(t),
		Calls: callsVersion, Filter: rules.filter(),
	}
	var err error
	s.Supervision, err = rules.supervision(ledger, target)
	return s, ledger, err
}

// programs lists the startable files where a policy lists programs. A listed file whose place
// grants no execute, or no reading, which starting needs, still gets neither.
func (s *ruleset) programs(target backends.Target) []Program {
	if s.view.Tool.Commands == nil {
		return nil
	}
	out := []Program{}
	if own := target.Facts.Program; own != nil {
		out = append(out, Program{File: target.Place(*own)})
	}
	for _, r := range s.view.Tool.Commands.Rules {
		p := Program{Name: r.Program}
		if r.File != nil {
			on := ir.Direct(*r.File)
			if !s.view.Decide(ir.Start{On: on}).Allowed() || !s.view.Decide(ir.Access{Cap: ir.Read, On: on}).Allowed() {
				continue
			}
			p.File = target.Place(*r.File)
		}
		out = append(out, p)
	}
	return out
}

// ports lists the TCP ports that rules about hosts would open if that were
// accepted: the default port of the scheme where a rule names none.
func ports(t *ir.Tool) []Port {
	var out []Port
	add := func(n uint16) {
		if n != 0 && !slices.ContainsFunc(out, func(p Port) bool { return p.Port == n }) {
			out = append(out, Port{n, []Right{ConnectTCP}, "net.host"})
		}
	}
	for i := range t.Net {
		r := &t.Net[i]
		switch {
		case !r.Allow || r.Listen || literal(r, t.Net):
		case r.Port != 0:
			add(r.Port)
		case r.Scheme != "":
			add(ir.DefaultPort(r.Scheme))
		default:
			add(80)
			add(443)
		}
	}
	slices.SortFunc(out, func(a, b Port) int { return int(a.Port) - int(b.Port) })
	return out
}
