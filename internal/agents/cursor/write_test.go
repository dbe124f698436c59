package cursor

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// model evaluates settings as Cursor documents it, on a host where every name exists.
func model(t suite.Failing, data []byte, dir, home string) foreign.Policy {
	var s Settings
	if err := suite.Decode(data, &s); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains([]string{"workspace_readwrite", "workspace_readonly"}, s.Type) || s.Boundary != "workspace" || s.Type == "workspace_readonly" && s.Write != nil {
		t.Fatal(string(data))
	}
	return &Model{
		Host:     foreign.Host{Dir: dir, Home: home, Exists: func(string) bool { return true }, Follow: func(abs string) string { return abs }, Existing: true},
		ReadOnly: s.Type == "workspace_readonly", Bounded: true, Write: s.Write,
		Everyone: s.Network.Default != "deny", Allowed: s.Network.Allow, Denied: s.Network.Deny,
	}
}

var target = suite.Written{Backend: Backend{}, Sentences: []backends.Sentences{Sentences(), writer.Sentences()}, Model: model}

// TestFilesAgainstPolicy puts the same questions to random policies and to their settings. The
// answers may differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	target.FilesAgainstPolicy(t, func(rt *rapid.T) *ir.Tool {
		tool := suite.Draw(rt)
		if rapid.Bool().Draw(rt, "open") {
			tool.FS = append([]ir.FSRule{{At: ir.In(""), Caps: ir.All}}, suite.Open(tool.FS)...)
		}
		return tool
	}, "fs true true stricter", "fs true false stricter", "fs false false exact", "fs false true weaker")
}

// TestNetworkIsClosed: no policy opens a host.
func TestNetworkIsClosed(t *testing.T) {
	target.HostsAgainstPolicy(t, 500, 20, "net true false stricter", "net false false exact")
}
