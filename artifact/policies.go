package artifact

import (
	"fmt"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// Policies returns what a manifest says of every tool, for comparison.
func (m *Manifest) Policies() ([]compare.Policy, error) {
	var out []compare.Policy
	for _, e := range m.Tools {
		p := compare.Policy{Tool: &ir.Tool{Name: e.Name, Source: foreign(e.Source)}}
		if e.Confined {
			if e.Policy == nil {
				return nil, fmt.Errorf("%w: %s has no policy", ErrManifest, e.Name)
			}
			tool, err := e.Policy.Tool()
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrManifest, e.Name, err)
			}
			p.Tool = tool
			if p.Ledger, err = ledger(e.Ledger); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrManifest, e.Name, err)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// foreign is the source of a tool that accessc does not start.
func foreign(text string) ir.Source {
	kind := ir.SourceMCP
	if text == ir.SourceBuiltin.String() {
		kind = ir.SourceBuiltin
	}
	return ir.Source{Kind: kind, Detail: text}
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
