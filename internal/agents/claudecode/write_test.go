package claudecode

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/srt"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

var form = regexp.MustCompile(`(?s)^([A-Za-z]+)\((.*)\)$`)

// model evaluates settings as Claude Code does on a host where every name exists.
func model(t suite.Failing, data []byte, dir, home string) foreign.Policy {
	var d Settings
	if err := suite.Decode(data, &d); err != nil {
		t.Fatal(err)
	}
	if !d.Sandbox.Enabled || !d.Sandbox.FailIfUnavailable || d.Sandbox.AllowUnsandboxed {
		t.Fatal("commands can run outside of the sandbox")
	}
	host := foreign.Host{Dir: dir, Home: home, Exists: func(string) bool { return true }, Follow: func(abs string) string { return abs }, Existing: true}
	paths := func(list []srt.Path) []foreign.Spelled {
		var out []foreign.Spelled
		for _, p := range list {
			if !p.Pattern {
				t.Fatal("Claude Code takes no object for a path: ", p.Text)
			}
			out = append(out, foreign.Spelled{Path: p.Text})
		}
		return out
	}
	rules := func(list []string) []ToolRule {
		var out []ToolRule
		for _, text := range list {
			m := form.FindStringSubmatch(text)
			if m == nil {
				t.Fatal(text)
			}
			out = append(out, ToolRule{Tool: m[1], Spec: m[2], Project: true})
		}
		return out
	}
	f := d.Sandbox.Filesystem
	return &Model{
		Host: host, Allow: rules(d.Permissions.Allow), Deny: rules(d.Permissions.Deny), Mode: d.Permissions.Mode, AutoAllow: d.Sandbox.AutoAllow,
		Sandbox: &srt.Model{
			Host: host, DenyRead: paths(f.DenyRead), AllowRead: paths(f.AllowRead), AllowWrite: append(paths(f.AllowWrite), foreign.Spelled{Path: "."}),
			DenyWrite: paths(f.DenyWrite), AllowedDomains: d.Sandbox.Network.Allowed, DeniedDomains: d.Sandbox.Network.Denied,
		},
	}
}

var target = suite.Written{Backend: Backend{}, Sentences: []backends.Sentences{Sentences(), writer.Sentences()}, Model: model}

// TestFilesAgainstPolicy puts the same questions to random policies and to their settings. The
// answers may differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	target.FilesAgainstPolicy(t, suite.Draw, "fs true true exact", "fs true false stricter", "fs false false exact", "fs false true weaker")
}

// TestHostsAgainstPolicy does the same with hosts.
func TestHostsAgainstPolicy(t *testing.T) {
	target.HostsAgainstPolicy(t, 1000, 40, "net true true exact", "net true false stricter", "net false false weaker", "net false true weaker")
}

// TestCommandsAgainstPolicy: a command that runs is one that the policy lets start.
func TestCommandsAgainstPolicy(t *testing.T) {
	words := []string{"a", "-x", "--k=v", "a b", "$h", "*", "**", "", "x:y", ";", "é"}
	seen := map[string]int{}
	irtest.Check(t, 1000, 20, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Commands = suite.Commands(rt, []string{"make", "g++", "x y", "A=b", "./run"}, words)
		c := target.Compile(rt, tool, ir.Bindings{Workspace: "/w"}, true)
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		for range 20 {
			program := rapid.SampledFrom([]string{"make", "g++", "./run", "other"}).Draw(rt, "program")
			args := rapid.SliceOfN(rapid.SampledFrom(words[:3]), 0, 3).Draw(rt, "arguments")
			line := program
			for _, a := range args {
				line += " " + a
			}
			runs := c.Model.Runs(line)
			v := view.Decide(ir.Run{Program: program, Args: args})
			seen[map[bool]string{true: "runs", false: "refused"}[runs]]++
			if runs && !v.Allowed() {
				rt.Fatalf("%q runs: %s", line, c.Output.Data)
			}
		}
	})
	irtest.Happened(t, seen, "runs", "refused")
}
