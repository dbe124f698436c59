package allow

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// Request is one tool and the layer that its grants go to.
type Request struct {
	Compile hostfacts.Options // how the configuration is read
	Layer   ir.Layer          // local, workspace or user
	Tool    string
	// Fresh is text that the layer gets first: the table of a tool that no layer has.
	Fresh string
	// Wide is true where runs were under the default policy, which lets a tool change the workspace: a
	// rule that lets it may follow from such a run.
	Wide bool
}

// Planner plans additions to a layer for a tool whose policy it knows.
type Planner struct {
	Bounds
	layer
	wide bool
	// written is false for a tool that the layer gets first.
	written bool
	// served is a recorded operation on a place that the tool has under a supervisor alone.
	served string
	mounts mounts
}

// Begin compiles the configuration and reads the layer.
func Begin(req Request) (*Planner, error) {
	p := &Planner{layer: layer{kind: req.Layer}, wide: req.Wide, written: req.Fresh == "", mounts: mounts{}}
	if req.Fresh != "" {
		return p, p.fresh(req)
	}
	var err error
	if p.Policy, err = newPolicy(req.Compile, req.Tool, false); err != nil {
		return nil, err
	}
	if err := p.place(p.Now.Resolver.Root, p.Policy); err != nil {
		return nil, err
	}
	return p, p.read()
}

// fresh begins with a tool that the layer does not have yet.
func (p *Planner) fresh(req Request) error {
	resolver, err := resolve.New(req.Compile.Root, resolve.Through(hostview.Now))
	if err != nil {
		return err
	}
	if err := p.place(resolver.Root, nil); err != nil {
		return err
	}
	if err := p.read(); err != nil {
		return err
	}
	if len(p.disk) > 0 {
		p.old = append(append([]byte{}, bytes.TrimRight(p.disk, "\n")...), "\n\n"...)
	}
	p.old = append(p.old, req.Fresh...)
	req.Compile.Layers.Edited = map[string][]byte{p.path(): p.old}
	p.Policy, err = newPolicy(req.Compile, req.Tool, true)
	return err
}

// Plan finds the additions that permit operations. A *Refusal says why there should be none, and
// any other error why there is none. A plan for operations that are permitted already is empty.
func (p *Planner) Plan(asks ...Ask) (*Plan, error) { return p.noted(nil, asks) }

// noted is Plan with the comments that note writes about each addition.
func (p *Planner) noted(note func(Added) []string, asks []Ask) (*Plan, error) {
	d := &draft{Bounds: p.Bounds, layer: &p.layer, tool: *p.Tool, planned: map[string]string{}}
	asks = slices.Clone(asks)
	for i, a := range asks {
		var err error
		if asks[i], err = p.beyond(a); err != nil {
			return nil, err
		}
		d.ask = i
		if err := d.add(asks[i]); err != nil {
			return nil, err
		}
	}
	if p.unserved(&d.tool) {
		d.supervise()
	}
	out, v, err := p.prove(d, asks)
	if err != nil || out.Empty() {
		return out, err
	}
	s := &survey{p: p.Policy, view: v.View, bindings: v.asker.Bindings, asks: asks, asked: map[ir.Location]bool{}}
	s.begin()
	for _, a := range d.adds {
		if a.idle {
			continue
		}
		r := s.rule(a)
		out.Reach.join(r)
		added := Added{Rule: a.words(), Reach: r}
		for _, i := range a.asks {
			if n := asks[i].entry; !slices.Contains(added.Entries, n) {
				added.Entries = append(added.Entries, n)
			}
		}
		if a.fs != nil && a.fs.External {
			added.External, added.Target = a.fs.At.Root.Name, d.planned[a.fs.At.Root.Name]
		}
		if note != nil {
			a.notes = note(added)
		}
		out.Added = append(out.Added, added)
	}
	if note != nil {
		reach, added := out.Reach, out.Added
		if out, _, err = p.prove(d, asks); err == nil {
			out.Reach, out.Added = reach, added
		}
	}
	return out, err
}

// prove writes the additions into the text of the layer, compiles the changed configuration and asks
// it.
func (p *Planner) prove(d *draft, asks []Ask) (*Plan, *Policy, error) {
	w, err := p.write(p.Tool, d.adds)
	if err != nil {
		return nil, nil, err
	}
	out := &Plan{Name: p.Name, Old: p.disk, New: w.text.Bytes, Rules: w.rules, Approve: d.planned, p: p}
	for _, a := range d.adds {
		switch {
		case a.idle && a.extends != nil:
			out.Waiting = append(out.Waiting, a.presets()...)
		case a.extends != nil:
			out.Presets = a.extends
		case a.idle && a.fs.External:
			out.Waiting = append(out.Waiting, a.fs.At.Root.Name)
		}
	}
	out.unserved = p.unserved(p.Tool)
	if out.Empty() {
		return out, p.Policy, p.stillDenied(asks)
	}
	then, err := p.After(out)
	if err != nil {
		return nil, nil, err
	}
	out.unserved = p.unserved(then.Tool)
	for _, a := range asks {
		if a, err = a.again(then); err != nil {
			return nil, nil, err
		}
		if verdict := a.denied(then.View); verdict != nil {
			return nil, nil, stillDenied(a, verdict)
		}
	}
	return out, then, p.harmless(then)
}

// stillDenied is an operation that the layer has a rule for by now, and that another layer's rule decides on. External
// rules and presets may wait for their approval.
func (p *Planner) stillDenied(asks []Ask) error {
	for _, a := range asks {
		if v := a.denied(p.View); v != nil && a.external == nil && a.extends == "" {
			return stillDenied(a, v)
		}
	}
	return nil
}

func stillDenied(a Ask, v *ir.Verdict) error {
	about := ir.Describe(a.Operation)
	if v.Rule == nil {
		return fmt.Errorf("%s %s: no rule in this layer permits it (%s)", about.Verb, about.Subject, v.Reason)
	}
	return fmt.Errorf("%s %s: the rule %s (%s) still decides (%s)", about.Verb, about.Subject, v.Rule.Subject(),
		v.Rule.Source(), v.Reason)
}

// Other begins with another layer, and the same configuration.
func (p *Planner) Other(layer ir.Layer) (*Planner, error) {
	return Begin(Request{Compile: p.opts, Layer: layer, Tool: p.Tool.Name})
}

// After is the policy as some plans would have it.
func (p *Planner) After(plans ...*Plan) (*Policy, error) {
	opts := p.opts
	edited, planned := maps.Clone(opts.Layers.Edited), maps.Clone(opts.Planned)
	if edited == nil {
		edited = map[string][]byte{}
	}
	if planned == nil {
		planned = map[string]string{}
	}
	for _, x := range plans {
		edited[x.p.path()] = x.New
		maps.Copy(planned, x.Approve)
	}
	opts.Layers.Edited, opts.Planned = edited, planned
	return newPolicy(opts, p.Tool.Name, true)
}

// Refusal is the reason why an operation is not to be granted so.
type Refusal struct{ Why string }

// Error implements error.
func (r *Refusal) Error() string { return r.Why }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }
