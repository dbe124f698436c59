package explain

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// FormatVersion is the version of the JSON form.
const FormatVersion = 2

// Document is the JSON form of several policies.
type Document struct {
	Version int         `json:"format_version"`
	Tools   []PolicyDoc `json:"tools"`
	// Rulesets are left out where tools were asked for by name.
	Rulesets []RulesetDoc `json:"rulesets,omitempty"`
}

// PolicyDoc is one tool's policy in JSON: the canonical text form, the risk, the rules that
// decide nothing, and the enforcement of each requirement on each platform.
type PolicyDoc struct {
	Tool string `json:"tool"`
	Risk string `json:"risk,omitempty"`
	// Program is the tool's own program where it may be read and started outside of the base.
	Program *ProgramDoc `json:"own_program,omitempty"`
	// Later are the files of the workspace that the tool may change and that its user runs.
	Later []LaterDoc `json:"run_later,omitempty"`
	build.Shared[CellDoc]
	// Idle are the rules that decide nothing of their own; of the resources in
	// NotSearched there are too many rules to look.
	Idle        []IdleDoc `json:"idle"`
	NotSearched []string  `json:"idle_not_searched,omitempty"`
}

// ProgramDoc is a program outside of the base, with the place of the command that names it.
type ProgramDoc struct {
	Path   string `json:"path"`
	Origin string `json:"origin"`
}

// LaterDoc is a file that a user runs, with the reason.
type LaterDoc struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// CellDoc is a row of the ledger with its causes in words.
type CellDoc struct {
	backends.Row
	Why string `json:"why,omitempty"`
}

// JSON returns the machine-readable form of policies and rulesets.
func JSON(ps []*Policy, sets []*Ruleset) (Document, error) {
	doc := Document{Version: FormatVersion, Tools: []PolicyDoc{}}
	sharer := build.NewSharer[CellDoc]()
	for _, p := range ps {
		d := PolicyDoc{Tool: p.Tool.Name}
		d.Idle, d.NotSearched = p.idleDocs()
		if p.Tool.Source.Kind == ir.SourceLocal {
			d.Risk = ir.RiskOf(p.Tool).String()
		}
		if p.Program != "" {
			d.Program = &ProgramDoc{p.Program, p.Tool.Command.Origin.String()}
		}
		d.Later = p.Later
		var ledger []CellDoc
		for _, r := range p.Ledger {
			if r.Platform != 0 {
				ledger = append(ledger, CellDoc{backends.NewRow(r), registry.Why(r.Causes)})
			}
		}
		var err error
		if d.Shared, err = sharer.Share(irjson.Tool(p.Tool), ledger); err != nil {
			return doc, err
		}
		doc.Tools = append(doc.Tools, d)
	}
	for _, r := range sets {
		d, err := r.JSON()
		if err != nil {
			return doc, err
		}
		doc.Rulesets = append(doc.Rulesets, d)
	}
	return doc, nil
}
