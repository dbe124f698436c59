package learn

import "github.com/accessc/accessc/internal/propose/allow"

// documentFormat and documentVersion identify the document of --json.
const (
	documentFormat  = "accessc/learn"
	documentVersion = 1
)

// Document is the runs and the proposals, for programs.
type Document struct {
	Format     string         `json:"format"`
	Version    int            `json:"format_version"`
	Tool       string         `json:"tool"`
	Runs       []runDoc       `json:"runs"`
	Operations []Operation    `json:"operations"`
	Proposals  []proposalDoc  `json:"proposals"`
	Left       []allow.Left   `json:"left"`
	Unused     []allow.Unused `json:"unused"`
	HeldOut    *HeldOut       `json:"held_out,omitempty"`
}

// runDoc is one kept run.
type runDoc struct {
	Command []string `json:"command"`
	Ended   string   `json:"ended"`
	Status  int      `json:"status"`
	Used    int      `json:"used"`
	Refused int      `json:"refused"`
}

// proposalDoc is the addition to one layer.
type proposalDoc struct {
	File  string        `json:"file"`
	Rules []allow.Added `json:"rules"`
	Text  string        `json:"text"`
}

// HeldOut is how the last run would have fared.
type HeldOut struct {
	Operations int         `json:"operations"`
	Refused    []Operation `json:"refused"`
}

// Document is the runs and the proposals. The indices of operations are those of the list.
func (l *Session) Document(f *Learned, held *HeldOut) Document {
	doc := Document{
		Format: documentFormat, Version: documentVersion, Tool: l.Tool, Runs: []runDoc{},
		Operations: f.joined.Operations,
		Proposals:  []proposalDoc{}, Left: []allow.Left{}, Unused: append([]allow.Unused{}, f.unused...), HeldOut: held,
	}
	for _, r := range f.runs {
		doc.Runs = append(doc.Runs, runDoc{r.Command, r.Ended, r.Status, len(r.Used), len(r.Denials)})
	}
	for _, x := range f.lessons {
		for _, left := range x.Left {
			doc.Left = append(doc.Left, allow.Left{Entries: mapped(x.index, left.Entries), Why: left.Why})
		}
		if x.Plan == nil {
			continue
		}
		p := proposalDoc{File: x.Plan.Name, Text: string(x.Plan.New)}
		for _, a := range x.Plan.Added {
			a.Entries = mapped(x.index, a.Entries)
			p.Rules = append(p.Rules, a)
		}
		doc.Proposals = append(doc.Proposals, p)
	}
	return doc
}

func mapped(index, entries []int) []int {
	out := make([]int, len(entries))
	for i, e := range entries {
		out[i] = index[e]
	}
	return out
}
