package build

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/artifact/entry"
	"github.com/accessc/accessc/ir/irjson"
)

// Index is the manifest of a build before it is a text: policies and ledgers are texts already,
// of which equal texts are kept once.
type Index struct {
	header   backends.Header
	parts    []*part
	kept     *texts // of the parts
	rulesets []entry.Ruleset
	// partial is true for a build of some tools, which leaves the others alone.
	partial bool
}

// part is the part of a manifest that is about a single tool.
type part struct {
	entry Entry // without policy and ledger
	// identity is nil for a tool that is not confined.
	identity *irjson.Identity
	// policy is without the identity.
	policy, ledger *text
	// input is the hash of all that the artifacts depend on, empty where it is not known.
	input string
}

// text is compact JSON.
type text struct {
	json []byte
	hash string
}

// texts keeps equal texts once. Several goroutines may use it at a time.
type texts struct {
	mu   sync.Mutex
	kept map[string]*text // by hash
}

func (k *texts) keep(v any) (*text, error) {
	data, err := backends.Compact(v)
	if err != nil {
		return nil, err
	}
	return k.add(&text{data, Hash(data)}), nil
}

// add returns the text that is kept for an equal text.
func (k *texts) add(t *text) *text {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]*text{}
	}
	if k.kept[t.hash] == nil {
		k.kept[t.hash] = t
	}
	return k.kept[t.hash]
}

// newPart is the part of a confined tool without its ledger.
func newPart(policy irjson.ToolDoc, kept *texts) (*part, error) {
	id := policy.Identity()
	text, err := kept.keep(policy.Of(irjson.Identity{}))
	return &part{identity: &id, policy: text}, err
}

// complete sets the rest of a part.
func (p *part) complete(e Entry, kept *texts) (err error) {
	if len(e.Ledger) > 0 {
		p.ledger, err = kept.keep(e.Ledger)
	}
	p.entry = e
	p.entry.Policy, p.entry.Ledger = nil, nil
	return err
}

// partOf is the part of an entry that was read.
func partOf(e Entry, kept *texts) (*part, error) {
	if e.Policy == nil {
		return &part{entry: e}, nil
	}
	p, err := newPart(*e.Policy, kept)
	if err == nil {
		err = p.complete(e, kept)
	}
	return p, err
}

// entryText is EntryDoc with a policy and a ledger that are texts already.
type entryText struct {
	Entry
	Policy   json.RawMessage  `json:"policy,omitempty"`
	PolicyAs string           `json:"policy_as,omitempty"`
	Identity *irjson.Identity `json:"identity,omitempty"`
	Ledger   json.RawMessage  `json:"ledger,omitempty"`
	LedgerAs string           `json:"ledger_as,omitempty"`
}

// share returns the entries of parts. An entry whose policy or ledger is like an earlier entry's
// has that tool's name in its place.
func share(parts []*part) ([]entryText, error) {
	out := make([]entryText, len(parts))
	policies, ledgers := map[*text]string{}, map[*text]string{}
	for i, p := range parts {
		e := &out[i]
		if e.Entry = p.entry; p.policy == nil {
			continue
		}
		if e.PolicyAs = first(policies, p.policy, e.Name); e.PolicyAs != "" {
			e.Identity = p.identity
		} else if err := e.whole(p); err != nil {
			return nil, err
		}
		if p.ledger == nil {
			continue
		}
		if e.LedgerAs = first(ledgers, p.ledger, e.Name); e.LedgerAs == "" {
			e.Ledger = p.ledger.json
		}
	}
	return out, nil
}

// first returns the tool that had a text before, empty if this tool is the first.
func first(known map[*text]string, t *text, tool string) string {
	name, ok := known[t]
	if !ok {
		known[t] = tool
	}
	return name
}

// noIdentity begins the text of a policy without its identity, which is the first of its fields.
const noIdentity = `{"name":"","source":"",`

// whole sets the policy with its identity.
func (e *entryText) whole(p *part) error {
	id, err := backends.Compact(p.identity)
	if err != nil {
		return err
	}
	rest, ok := bytes.CutPrefix(p.policy.json, []byte(noIdentity))
	if !ok {
		return fmt.Errorf("%w: the policy of %s does not begin with its identity", errManifest, e.Name)
	}
	e.Policy = slices.Concat(bytes.TrimSuffix(id, []byte("}")), []byte(","), rest)
	return nil
}

// complete returns the manifest's text. After a partial build the other tools and the rulesets
// keep the entries that they had.
func (x *Index) complete(old *Manifest) ([]byte, error) {
	parts, rulesets := x.parts, x.rulesets
	if x.partial {
		parts, rulesets = slices.Clone(parts), old.Rulesets
		for _, e := range old.Tools {
			if slices.ContainsFunc(x.parts, func(p *part) bool { return p.entry.Name == e.Name }) {
				continue
			}
			p, err := partOf(e, x.kept)
			if err != nil {
				return nil, err
			}
			parts = append(parts, p)
		}
		slices.SortFunc(parts, func(a, b *part) int { return cmp.Compare(a.entry.Name, b.entry.Name) })
	}
	m := Manifest{Header: x.header, Rulesets: rulesets}
	for _, p := range parts {
		m.Tools = append(m.Tools, p.entry)
	}
	m.seal()
	return m.marshal(parts)
}

// documentText is Document with entries that are partly texts already.
type documentText struct {
	Manifest
	Tools []entryText `json:"tools"`
}

// noTools ends a document without tools.
const noTools = "\"tools\": []\n}\n"

// marshal lays out entries several at a time. A list of two or more has each entry on lines of
// its own.
func (m *Manifest) marshal(parts []*part) ([]byte, error) {
	entries, err := share(parts)
	if err != nil {
		return nil, err
	}
	if len(entries) < 2 {
		return backends.JSON(documentText{*m, entries})
	}
	lines := make([][]byte, len(entries))
	err = inParallel(len(entries), func(i int) (err error) {
		lines[i], err = backends.JSONAt(entries[i], 2)
		return err
	})
	if err != nil {
		return nil, err
	}
	head, err := backends.JSON(documentText{*m, []entryText{}})
	if err != nil {
		return nil, err
	}
	lines[0] = slices.Concat(bytes.TrimSuffix(head, []byte(noTools)), []byte("\"tools\": [\n    "), lines[0])
	lines[len(lines)-1] = append(lines[len(lines)-1], "\n  ]\n}\n"...)
	return bytes.Join(lines, []byte(",\n    ")), nil
}
