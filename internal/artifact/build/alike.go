package build

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/artifact/entry"
)

// Document is the text form of a manifest.
type Document struct {
	Manifest
	Tools []EntryDoc `json:"tools"`
}

// EntryDoc is an entry in the text form.
type EntryDoc struct {
	Entry
	entry.Shared[backends.Row]
}

// manifest gives every tool of a document what it has like an earlier tool. A policy that is
// nowhere is absent.
func (d *Document) manifest() *Manifest {
	m := d.Manifest
	m.Tools = []Entry{}
	earlier := map[string]Entry{}
	for _, t := range d.Tools {
		e := t.Entry
		e.Policy, e.Ledger = t.Shared.Policy, t.Shared.Ledger
		if of := earlier[t.PolicyAs].Policy; of != nil && t.Identity != nil {
			policy := of.Of(*t.Identity)
			e.Policy = &policy
		}
		if t.LedgerAs != "" {
			e.Ledger = earlier[t.LedgerAs].Ledger
		}
		earlier[e.Name] = e
		m.Tools = append(m.Tools, e)
	}
	return &m
}
