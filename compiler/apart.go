package compiler

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// rulesetsOnly stands for the tool of a finding about a ruleset. It is no tool's name.
const rulesetsOnly = "/rulesets"

// toolOf returns the tool that a finding is about, empty if it is about more than one, or about a name that no
// tool has: whose rules these were meant to be is unknown.
func (r *Result) toolOf(d diag.Diagnostic) string {
	if strings.HasPrefix(d.Path, "rulesets.") {
		return rulesetsOnly
	}
	key, ok := strings.CutPrefix(strings.TrimPrefix(d.Path, "conversation."), "tools.")
	if !ok {
		if key, ok = strings.CutPrefix(d.Path, serverPrefix); !ok {
			return ""
		}
	}
	if quoted, err := strconv.QuotedPrefix(key); err == nil {
		key, _ = strconv.Unquote(quoted)
	} else if end := strings.IndexAny(key, ".["); end >= 0 {
		key = key[:end]
	}
	if _, is := r.named[key]; !is || key == "*" {
		return ""
	}
	return key
}

// anyServer is the detail of an entry whose source is none that is known.
const anyServer = "*"

// A name names a tool or server which says how it is run.
type name struct {
	server bool
	// of is the server and tool of an entry of a server's tools, anyServer where its source is not understood, empty
	// for others.
	of string
}

// nameOf is what a draft says of its name; false where it says nothing of how it is run. A name that only the user's
// own file mentions belongs to a tool elsewhere.
func nameOf(d *draft) (name, bool) {
	if d.source == nil {
		return name{server: d.server != nil}, d.server != nil || d.usersOwn
	}
	switch word, detail, _ := strings.Cut(d.source.text, "."); {
	case word == ir.SourceLocal.String(), word == ir.SourceBuiltin.String():
		return name{}, true
	case strings.EqualFold(word, ir.SourceMCP.String()):
		return name{of: detail}, true
	}
	return name{of: anyServer}, true
}

// concerns reports whether an entry may be about the tools of a server.
func (r *Result) concerns(entry, server string) bool {
	of := r.named[entry].of
	if of == "" || server == rulesetsOnly {
		return false
	}
	other, known := r.named[server]
	if of == anyServer {
		return !known || other.server
	}
	rest, is := strings.CutPrefix(of, server)
	return is && (rest == "" || rest[0] == '.')
}

// Concerning returns the findings about some tools, and those about more than one.
func (r *Result) Concerning(tools ...string) diag.List {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(d diag.Diagnostic) bool {
		tool := r.toolOf(d)
		return tool != "" && !slices.ContainsFunc(tools, func(t string) bool {
			return t == tool || d.Severity == diag.Error && r.concerns(tool, t)
		})
	})
}

// AboutRulesets returns the findings about rulesets, and those about more than one tool.
func (r *Result) AboutRulesets() diag.List { return r.Concerning(rulesetsOnly) }

// Report adds findings. An error takes the tool that it is about out of the program; the whole
// program is gone if the error is about more than one tool, and if the tools were not compiled
// apart.
func (r *Result) Report(findings ...diag.Diagnostic) {
	r.Findings.Add(findings...)
	r.Findings.Sort()
	r.wrong = map[string]bool{}
	for _, d := range r.Findings {
		if d.Severity == diag.Error {
			r.wrong[r.toolOf(d)] = true
		}
	}
	switch {
	case r.Program == nil:
	case r.wrong[""], len(r.wrong) > 0 && !r.apart:
		r.Program, r.Rulesets = nil, nil
	default:
		if r.wrong[rulesetsOnly] {
			r.Rulesets = nil
		}
		r.Program.Tools = slices.DeleteFunc(r.Program.Tools, r.leftOut)
	}
}

// leftOut reports whether an error takes a tool out of the program. The tool of an MCP server stays and may not be
// called: without an entry the server's tools all may.
func (r *Result) leftOut(t *ir.Tool) bool {
	if t.Source.Kind == ir.SourceMCP {
		t.Disabled = t.Disabled || r.wrong[t.Name]
		return false
	}
	return r.wrong[t.Name]
}

// AllWrong lists the tools that are left out of the program because of an error in them.
func (r *Result) AllWrong() []string {
	all := slices.Sorted(maps.Keys(r.wrong))
	return slices.DeleteFunc(all, func(name string) bool { return name == "" || name == rulesetsOnly })
}

// Wrong reports whether a tool is left out of the program because of an error in it, or a server because of an error in
// an entry of its tools: without the entry more of them could be called.
func (r *Result) Wrong(name string) bool {
	for entry := range r.wrong {
		if entry == name || r.concerns(entry, name) {
			return true
		}
	}
	return false
}

// WrongServers are the servers, with their tools, of entries with errors. any is true if such an entry may be of any
// server.
func (r *Result) WrongServers() (details []string, any bool) {
	for entry := range r.wrong {
		switch of := r.named[entry].of; of {
		case "":
		case anyServer:
			any = true
		default:
			details = append(details, of)
		}
	}
	return details, any
}
