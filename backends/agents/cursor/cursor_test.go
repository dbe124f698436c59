package cursor

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/agents"
	"github.com/accessc/accessc/internal/importer/foreign"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/settings"
)

// model evaluates settings as Cursor documents it, on a host where every name exists.
func model(t interface{ Fatal(...any) }, data []byte, dir, home string) *foreign.Cursor {
	var s struct {
		Type, ReadBoundary       string
		AdditionalReadwritePaths []string
		NetworkPolicy            struct {
			Default     string
			Allow, Deny []string
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains([]string{"workspace_readwrite", "workspace_readonly"}, s.Type) || s.ReadBoundary != "workspace" || s.Type == "workspace_readonly" && s.AdditionalReadwritePaths != nil {
		t.Fatal(string(data))
	}
	return &foreign.Cursor{
		Host:     foreign.Host{Dir: dir, Home: home, Exists: func(string) bool { return true }, Follow: func(abs string) string { return abs }, Existing: true},
		ReadOnly: s.Type == "workspace_readonly", Bounded: true, Write: s.AdditionalReadwritePaths,
		Everyone: s.NetworkPolicy.Default != "deny", Allowed: s.NetworkPolicy.Allow, Denied: s.NetworkPolicy.Deny,
	}
}

func compile(t interface{ Fatal(...any) }, tool *ir.Tool, b ir.Bindings, portable bool) *settings.Case {
	facts := ir.Facts{Bindings: &b}
	target := backends.Target{Form: backends.Resolved, Facts: facts}
	if portable {
		target = backends.Target{Form: backends.Portable}
	}
	out, err := Backend{}.Compile(tool, target)
	if err != nil || out.Data == nil {
		t.Fatal(err)
	}
	return &settings.Case{Tool: tool, Bind: b, View: ir.NewView(tool, ir.Linux, facts), Output: out, Model: model(t, out.Data, b.Workspace, "/home/u")}
}

func why(causes []ir.Cause) string {
	all := maps.Clone(Sentences)
	maps.Copy(all, agents.Sentences)
	return all.All(causes)
}

// TestFilesAgainstPolicy puts the same questions to random policies and to their settings. The
// answers may differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	const per = 40
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := settings.Draw(rt)
		if rapid.Bool().Draw(rt, "open") {
			tool.FS = append([]ir.FSRule{{At: ir.In(""), Caps: ir.All}}, settings.Open(tool.FS)...)
		}
		c := compile(rt, tool, settings.Hosts(rt, tool), rapid.Bool().Draw(rt, "portable"))
		c.Whole(rt, why)
		for range per {
			c.Files(rt, seen)
		}
	})
	irtest.Happened(t, seen, 10_000, "fs true true stricter", "fs true false stricter", "fs false false exact", "fs false true weaker")
}

// TestNetworkIsClosed: no policy opens a host.
func TestNetworkIsClosed(t *testing.T) {
	const per = 20
	seen := map[string]int{}
	irtest.Check(t, 500, per, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Net = irtest.NetRules(rt, 6)
		c := compile(rt, tool, ir.Bindings{Workspace: "/w"}, true)
		for range per {
			c.Connections(rt, seen)
		}
	})
	irtest.Happened(t, seen, 1000, "net true false stricter", "net false false exact")
}
