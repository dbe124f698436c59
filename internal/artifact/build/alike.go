package build

import (
	"encoding/json"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir/irjson"
)

// Repeats finds the values that several tools of a document have alike.
type Repeats map[string]string

// Of returns the first tool that had an equal value, empty if tool is the first.
func (r Repeats) Of(tool string, value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	first, known := r[string(data)]
	if !known {
		r[string(data)] = tool
	}
	return first, nil
}

// Shared is a tool's policy and ledger in a document of many tools, where what tools have
// alike stands once: in place of its policy a tool may have its identity and the name of an
// earlier tool, and only that name in place of its ledger.
type Shared[R any] struct {
	Policy   *irjson.ToolDoc  `json:"policy,omitempty"`
	PolicyAs string           `json:"policy_as,omitempty"`
	Identity *irjson.Identity `json:"identity,omitempty"`
	Ledger   []R              `json:"ledger,omitempty"`
	LedgerAs string           `json:"ledger_as,omitempty"`
}

// Sharer writes the policies and ledgers of a document.
type Sharer[R any] struct{ policies, ledgers Repeats }

// NewSharer begins a document.
func NewSharer[R any]() *Sharer[R] { return &Sharer[R]{Repeats{}, Repeats{}} }

// Share returns the part that a document has of the next tool.
func (s *Sharer[R]) Share(policy irjson.ToolDoc, ledger []R) (Shared[R], error) {
	var out Shared[R]
	var err error
	if out.PolicyAs, err = s.policies.Of(policy.Name, policy.Of(irjson.Identity{})); err != nil {
		return out, err
	}
	if id := policy.Identity(); out.PolicyAs != "" {
		out.Identity = &id
	} else {
		out.Policy = &policy
	}
	if len(ledger) > 0 {
		out.LedgerAs, err = s.ledgers.Of(policy.Name, ledger)
	}
	if out.LedgerAs == "" {
		out.Ledger = ledger
	}
	return out, err
}

// Document is the text form of a manifest.
type Document struct {
	Manifest
	Tools []EntryDoc `json:"tools"`
}

// EntryDoc is an entry in the text form.
type EntryDoc struct {
	Entry
	Shared[backends.Row]
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
