package landlockconfig

import (
	"fmt"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// ABI is the version of Landlock whose rights a configuration knows: the newest of landlockconfig
// 0.1.0.
const ABI = 6

// Config is a configuration, with the fields that this package writes. Its schema allows no others.
type Config struct {
	ABI         int        `json:"abi"`                   // the meaning of "abi.all"
	Variable    []Variable `json:"variable"`              // texts for paths
	Ruleset     []Ruleset  `json:"ruleset"`               // the rights that are denied but for the rules
	PathBeneath []Paths    `json:"pathBeneath,omitempty"` // rights on files
	NetPort     []Ports    `json:"netPort,omitempty"`     // rights on TCP ports
}

// Variable is a name with its texts. A path that names a variable without texts is no rule.
type Variable struct {
	Name    string   `json:"name"`              // letters, digits and underscores
	Literal []string `json:"literal,omitempty"` // none for its user to fill in
}

// Ruleset lists rights that are denied but for the rules.
type Ruleset struct {
	HandledFS  []string `json:"handledAccessFs"`  // on files
	HandledNet []string `json:"handledAccessNet"` // on TCP ports
	Scoped     []string `json:"scoped"`           // on processes outside
}

// Paths grants rights on files and all that lies below them.
type Paths struct {
	Access []string `json:"allowedAccess"` // the rights
	Parent []string `json:"parent"`        // absolute paths, as texts with variables
}

// Ports grants rights on TCP ports of all addresses.
type Ports struct {
	Access []string `json:"allowedAccess"` // the rights
	Port   []uint16 `json:"port"`          // never 0, which would stand for any
}

// documentName is the variable that no path names. Its texts are the document's header and, each in a text, the rows of
// its ledger.
const documentName = "accessc"

// Header is the first text of the variable accessc.
type Header struct {
	backends.Header
	Tool   string   `json:"tool"`             // the tool's name
	Accept []string `json:"accept,omitempty"` // the gaps that the policy accepts
}

// documentFormat identifies the document, in its header.
const documentFormat = "accessc/landlockconfig"

// formatVersion is the version of the document.
const formatVersion = 1

// document is the variable that says for reviewers which document this is, and how it holds.
func document(h Header, l ir.Ledger) (Variable, error) {
	text, err := backends.Compact(h)
	out := Variable{documentName, []string{string(text)}}
	for _, r := range backends.NewRows(l) {
		if err != nil {
			break
		}
		text, err = backends.Compact(r)
		out.Literal = append(out.Literal, string(text))
	}
	return out, err
}

// variableOf is the name of the variable that stands for a root. Names of external rules are spelled
// with only letters and digits, all else as "_" and its hexadecimal bytes.
func variableOf(r ir.Root) string {
	switch r.Kind {
	case ir.Workspace:
		return "workspace"
	case ir.Home:
		return "home"
	case ir.Temp:
		return "tmp"
	case ir.External, ir.System:
	}
	var b strings.Builder
	b.WriteString("external_")
	for _, c := range []byte(r.Name) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// literal spells a text that has no variables in it.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }
