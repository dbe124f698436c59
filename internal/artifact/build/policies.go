package build

import (
	"errors"
	"fmt"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/ir/irjson"
)

// Policies returns the policies in a manifest, for comparison.
func (m *Manifest) Policies() ([]compare.Policy, error) {
	var out []compare.Policy
	for i := range m.Tools {
		e := &m.Tools[i]
		t, err := e.tool()
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errManifest, e.Name, err)
		}
		p := compare.Policy{Tool: t}
		if p.Ledger, err = backends.Ledger(e.Ledger); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errManifest, e.Name, err)
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
	t := &ir.Tool{Name: e.Name, Base: ir.BaseNone, Home: ir.HomeReal, Disabled: e.Disabled}
	var err, cerr error
	t.Source, err = irjson.ParseSource(e.Source)
	t.Constraints, cerr = e.Constraints.Constraints()
	return t, errors.Join(err, cerr)
}
