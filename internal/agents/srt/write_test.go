package srt

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// model evaluates settings as srt does on a host where every name exists.
func model(t suite.Failing, data []byte, dir, home string) foreign.Policy {
	var s Settings
	if err := suite.Decode(data, &s); err != nil {
		t.Fatal(err)
	}
	list := func(in []Path) []foreign.Spelled {
		var out []foreign.Spelled
		for _, e := range in {
			out = append(out, foreign.Spelled{Path: e.Text, Literal: !e.Pattern})
		}
		return out
	}
	out := &Model{
		Host: foreign.Host{
			Dir: dir, Home: home, Exists: func(string) bool { return true }, Follow: func(abs string) string { return abs }, Existing: true,
		},
		DenyRead: list(s.Filesystem.DenyRead), AllowRead: list(s.Filesystem.AllowRead), AllowWrite: list(s.Filesystem.AllowWrite),
		DenyWrite: list(s.Filesystem.DenyWrite), AllowedDomains: s.Network.Allowed, DeniedDomains: s.Network.Denied,
	}
	if s.Credentials != nil {
		for _, v := range s.Credentials.EnvVars {
			out.Hidden = append(out.Hidden, v.Name)
		}
	}
	return out
}

var target = suite.Written{Backend: Backend{}, Sentences: []backends.Sentences{Sentences(), writer.Sentences()}, Model: model}

// TestFilesAgainstPolicy puts the same questions to random policies and to their settings. The
// answers may differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	target.FilesAgainstPolicy(t, suite.Draw, "fs true true exact", "fs true false stricter", "fs false false exact", "fs false true weaker")
}

// TestOthersAgainstPolicy does the same with hosts and variables.
func TestOthersAgainstPolicy(t *testing.T) {
	const per = 40
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Net = irtest.NetRules(rt, 6)
		for range rapid.IntRange(0, 4).Draw(rt, "env") {
			tool.Env = append(tool.Env, ir.EnvRule{
				Name: rapid.SampledFrom([]string{"A", "AB", "PATH"}).Draw(rt, "name"), Prefix: rapid.Bool().Draw(rt, "prefix"), Read: rapid.Bool().Draw(rt, "read"),
			})
		}
		c := target.Compile(rt, tool, ir.Bindings{Workspace: "/w"}, true)
		c.Whole(rt, target.Why)
		c.Variables(rt, seen, "A", "AB", "ABC", "PATH", "OTHER")
		for range per {
			c.Connections(rt, seen)
		}
	})
	irtest.Happened(t, seen, "net true true exact", "net true false stricter", "net false false weaker", "net false true weaker",
		"env true true exact", "env false false exact", "env false true none")
}
