// Package registry lists the foreign programs that the project knows, and is the place by which all others reach them:
// a new program is a package of its own and a line here. It promises that the formats are tried, and the targets named,
// in an order that stays: a name that is in none of its lists comes last.
package registry

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	core "github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/codex"
	"github.com/accessc/accessc/internal/agents/copilot"
	"github.com/accessc/accessc/internal/agents/cursor"
	"github.com/accessc/accessc/internal/agents/devcontainer"
	"github.com/accessc/accessc/internal/agents/fence"
	"github.com/accessc/accessc/internal/agents/gemini"
	"github.com/accessc/accessc/internal/agents/hook/settings"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/landlockconfig"
	"github.com/accessc/accessc/internal/agents/mcp"
	"github.com/accessc/accessc/internal/agents/nono"
	"github.com/accessc/accessc/internal/agents/opencode"
	"github.com/accessc/accessc/internal/agents/srt"
	"github.com/accessc/accessc/internal/agents/vscode"
	"github.com/accessc/accessc/internal/agents/windsurf"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// Agents are the known programs.
var Agents = []*agents.Agent{
	&claudecode.Agent,
	&codex.Agent,
	&copilot.Agent,
	&cursor.Agent,
	&devcontainer.Agent,
	&fence.Agent,
	&gemini.Agent,
	&landlockconfig.Agent,
	&nono.Agent,
	&opencode.Agent,
	&srt.Agent,
	&vscode.Agent,
	&windsurf.Agent,
	{Formats: []importer.Format{mcp.Format(slices.Concat(gemini.Agent.Formats, opencode.Agent.Formats,
		vscode.Agent.Formats))}},
}

// The orders: of formats, those that are no JSON first, and of optional targets.
const (
	formatOrder = " codex codex-rules gemini landlockconfig devcontainer fence nono srt claude-code mcp opencode " +
		"gemini-settings vscode cursor "
	targetOrder = " mxc bubblewrap firejail landlockconfig oci oci-mounts srt codex kubernetes agent-sandbox claude-code " +
		"cursor gemini vscode "
)

// rank is the place of a name in an order.
func rank(order, name string) int {
	if at := strings.Index(order, " "+name+" "); at >= 0 {
		return at
	}
	return len(order)
}

// Formats are the formats that import recognises, in the order in which it tries them.
func Formats() []importer.Format {
	var out []importer.Format
	for _, a := range Agents {
		out = append(out, a.Formats...)
	}
	slices.SortStableFunc(out, func(a, b importer.Format) int {
		return rank(formatOrder, a.Name) - rank(formatOrder,
			b.Name)
	})
	return out
}

// Hooks are the programs with hooks, by name.
func Hooks() []*settings.Agent {
	var out []*settings.Agent
	for _, a := range Agents {
		if a.Hooks != nil {
			out = append(out, a.Hooks)
		}
	}
	slices.SortFunc(out, func(a, b *settings.Agent) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Hook returns the program with hooks of a name, nil for none.
func Hook(name string) *settings.Agent {
	for _, a := range Hooks() {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// All lists the backends that are built by default.
var All = core.All

// Optional lists those that are built by name alone, for hosts that start tools by other means than accessc.
var Optional = optional()

// Every lists both.
var Every = slices.Concat(All, Optional)

func optional() []backends.Backend {
	out := slices.Clone(core.Optional)
	for _, a := range Agents {
		out = append(out, a.Targets...)
	}
	slices.SortStableFunc(out, func(a, b backends.Backend) int {
		return rank(targetOrder, a.Name()) - rank(targetOrder, b.Name())
	})
	return out
}

func init() { backends.Register(sentences) }

// sentences are the words for the causes of the programs' targets.
func sentences() []backends.Sentences {
	out := []backends.Sentences{writer.Sentences()}
	for _, a := range Agents {
		if a.Sentences != nil {
			out = append(out, a.Sentences())
		}
	}
	return out
}

// Select turns words of --target into backends, and returns the words that name none. The Context goes with every choice
// of a system, since every tool gets a Context.
func Select(targets []string) (out []backends.Backend, unknown []string) {
	for _, t := range targets {
		p, isPlatform := ir.ParsePlatform(t)
		known := false
		for _, b := range Every {
			optional := slices.Contains(Optional, b)
			if t != b.Name() && (optional || t != "all" && (!isPlatform || b.Platform() != p && b.Platform() != 0)) {
				continue
			}
			if known = true; !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
		if !known {
			unknown = append(unknown, t)
		}
	}
	slices.SortStableFunc(out, func(a, b backends.Backend) int {
		return slices.Index(Every, a) - slices.Index(Every, b)
	})
	return out, unknown
}

// Names are the names of all targets.
func Names() []string {
	var names []string
	for _, b := range Every {
		names = append(names, b.Name())
	}
	return names
}
