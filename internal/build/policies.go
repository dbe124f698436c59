package build

import (
	"errors"
	"fmt"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/ir/irjson"
)

// Policies returns what a manifest says of every tool, for comparison.
func (m *Manifest) Policies() ([]compare.Policy, error) {
	var out []compare.Policy
	for i := range m.Tools {
		e := &m.Tools[i]
		t, err := e.tool()
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrManifest, e.Name, err)
		}
		p := compare.Policy{Tool: t}
		if p.Ledger, err = ledger(e.Ledger); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrManifest, e.Name, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// tool is the tool that an entry describes.
func (e *Entry) tool() (*ir.Tool, error) {
	switch {
	case e.Confined && e.Policy == nil:
		return nil, errors.New("no policy")
	case e.Confined:
		return e.Policy.Tool()
	}
	t := &ir.Tool{Name: e.Name, Base: ir.BaseNone, Home: ir.HomeReal}
	var err, cerr error
	t.Source, err = irjson.ParseSource(e.Source)
	t.Constraints, cerr = e.Constraints.Constraints()
	return t, errors.Join(err, cerr)
}

// ledger is the inverse of rows.
func ledger(rows []Row) (ir.Ledger, error) {
	var out ir.Ledger
	for _, r := range rows {
		row := ir.Row{Rules: r.Rules, Levels: ir.Levels{From: r.From, To: r.To}, Why: r.Why, Accept: r.Accept}
		var ok [3]bool
		for _, res := range ir.Resources {
			if res.String() == r.Resource {
				row.Resource, ok[0] = res, true
			}
		}
		row.Platform, ok[1] = ir.ParsePlatform(r.Platform)
		row.Is, ok[2] = ir.ParseEnforcement(r.Is)
		if ok != [3]bool{true, true, true} {
			return nil, fmt.Errorf("ledger row %s %s %s", r.Resource, r.Platform, r.Is)
		}
		for _, a := range r.Aspects {
			row.Aspects = append(row.Aspects, ir.Aspect(a))
		}
		out = append(out, row)
	}
	return out, nil
}
