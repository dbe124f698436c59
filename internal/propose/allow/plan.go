package allow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/ir"
)

// Plan is an addition to a layer. It has passed every check and changed nothing.
type Plan struct {
	// Name is the file of the layer, Old and New are its text; a nil Old is no file.
	Name     string
	Old, New []byte
	// Reach describes the grants beyond the operations.
	Reach Reach
	// Rules are the grants in words, Added the same with the operations that they are for.
	Rules []string
	Added []Added
	// Approve maps the paths of external rules to their targets: they take effect once these are
	// approved.
	Approve map[string]string
	// Waiting are those of them that the layer has by now.
	Waiting []string
	// Presets are those that the tool extends by the plan.
	Presets []string
	p       *Planner
	// unserved is true where the tool would have no supervisor that its runs needed.
	unserved bool
}

// Added is one rule of a plan.
type Added struct {
	Rule string `json:"rule"`
	// Entries are the indices of the operations that it is for.
	Entries []int `json:"operations"`
	Reach   Reach `json:"reach"`
	// External is the path of an external rule, Target where it leads.
	External string `json:"external,omitempty"`
	Target   string `json:"target,omitempty"`
}

// Plan finds the additions that permit operations. A *Refusal says why there should be none, and
// any other error why there is none. A plan for operations that are permitted already is empty.
func (p *Planner) Plan(asks ...Ask) (*Plan, error) { return p.noted(nil, asks) }

// noted is Plan with the comments that note writes about each addition.
func (p *Planner) noted(note func(Added) []string, asks []Ask) (*Plan, error) {
	d := &draft{p: p, tool: *p.Tool, planned: map[string]string{}}
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
		if err := d.supervise(); err != nil {
			return nil, err
		}
	}
	out, v, err := p.prove(d, asks)
	if err != nil || out.Empty() {
		return out, err
	}
	s := &survey{p: p, view: v.View, bindings: v.asker.Bindings, asks: asks, asked: map[ir.Location]bool{}}
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
func (p *Planner) prove(d *draft, asks []Ask) (*Plan, *Planner, error) {
	var err error
	d.rules = nil
	if d.text, err = layerfile.Parse(p.Name, p.old); err != nil {
		return nil, nil, err
	}
	if err := d.write(); err != nil {
		return nil, nil, err
	}
	out := &Plan{Name: p.Name, Old: p.disk, New: d.text.Bytes, Rules: d.rules, Approve: d.planned, p: p}
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
		return out, p, p.stillDenied(asks)
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
	return out, then, p.harmless(then.Now, then.Tool, then.View)
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

// Other begins with another layer, and the same configuration.
func (p *Planner) Other(layer ir.Layer) (*Planner, error) {
	return Begin(Request{Compile: p.req.Compile, Layer: layer, Tool: p.req.Tool})
}

// After is the planner of the configuration as some plans would have it.
func (p *Planner) After(plans ...*Plan) (*Planner, error) {
	opts := p.req.Compile
	edited, planned := maps.Clone(opts.Layers.Edited), maps.Clone(opts.Planned)
	if edited == nil {
		edited = map[string][]byte{}
	}
	if planned == nil {
		planned = map[string]string{}
	}
	for _, x := range plans {
		edited[filepath.Join(x.p.root, x.p.dir, x.p.name)] = x.New
		maps.Copy(planned, x.Approve)
	}
	opts.Layers.Edited, opts.Planned = edited, planned
	out := &Planner{req: p.req}
	out.req.Compile = opts
	return out, out.begin(true)
}

// Empty reports whether there is nothing to be written.
func (p *Plan) Empty() bool { return bytes.Equal(p.Old, p.New) }

func stillDenied(a Ask, v *ir.Verdict) error {
	about := ir.Describe(a.Operation)
	if v.Rule == nil {
		return fmt.Errorf("%s %s: no rule in this layer permits it (%s)", about.Verb, about.Subject, v.Reason)
	}
	return fmt.Errorf("%s %s: the rule %s (%s) still decides (%s)", about.Verb, about.Subject, v.Rule.Subject(), v.Rule.Source(), v.Reason)
}

// Apply writes the layer, whole or not at all. layerfile.ErrChanged says that another process has
// written it meanwhile.
func (p *Plan) Apply(ctx context.Context) error {
	if p.Empty() {
		return nil
	}
	store, err := p.p.Now.Approvals()
	if err != nil {
		return fmt.Errorf("%s %w", store, err)
	}
	// All writers of layers have the lock of the approvals.
	_, err = approvals.Update(store, func(*approvals.Store) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.write()
	})
	return err
}

func (p *Plan) write() error {
	if p.p.req.Layer == ir.LayerUser {
		if err := os.MkdirAll(p.p.root, 0o700); err != nil {
			return err
		}
	}
	f, err := p.p.open()
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	if f.Dir == nil {
		if f, err = p.p.makeDir(); err != nil {
			return err
		}
	}
	if !bytes.Equal(f.Data, p.Old) {
		return layerfile.ErrChanged
	}
	return errors.Join(f.Write(p.New), layerfile.SyncDir(f.Dir))
}

// makeDir makes the directory of the local layer, which is for this checkout alone.
func (p *Planner) makeDir() (*layerfile.File, error) {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(p.dir, 0o777); err != nil {
		return nil, err
	}
	f, err := layerfile.Open(root, p.dir, p.name)
	if err == nil {
		err = layerfile.Ignore(f.Dir)
	}
	return f, err
}

// Change is the change of the file by lines: from a line, counted from 1, as many as are replaced
// give way to others.
// See decision D177.
func (p *Plan) Change() (line, replaced int, changed []string) {
	old, now := lines(p.Old), lines(p.New)
	same := 0
	for same < len(old) && same < len(now) && old[same] == now[same] {
		same++
	}
	end := 0
	for end < len(old)-same && end < len(now)-same && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	return same + 1, len(old) - same - end, now[same : len(now)-end]
}

func lines(text []byte) []string {
	s := strings.ReplaceAll(string(text), "\r\n", "\n")
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
