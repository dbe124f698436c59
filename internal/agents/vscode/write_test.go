package vscode

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// evaluated are the operations that VS Code carries out unasked, as its documentation and its published source say.
type evaluated struct {
	Model
	dir, home string
	edits     []entry
}

type entry struct {
	glob     *regexp.Regexp
	approved bool
}

// never are the patterns of files about whose edits a person is asked in any case.
var never = []string{"**/.vscode/*.json", "**/.github/agents/**", "**/.github/hooks/**", "**/.claude/agents/**", "**/.claude/settings.json", "**/.claude/settings.local.json"}

// glob is the expression of a pattern of absolute paths.
func glob(t suite.Failing, text string) *regexp.Regexp {
	if strings.ContainsAny(text, `[]{}!\`) {
		t.Fatal("a pattern with other characters: " + text)
	}
	parts := strings.NewReplacer(
		`/\*\*/`, `/(?:.*/)?`, `/\*\*`, `/.*`, `\*\*/`, `(?:.*/)?`, `\*`, `[^/]*`, `\?`, `[^/]`,
	)
	text = parts.Replace(regexp.QuoteMeta(text))
	return regexp.MustCompile(`(?s)^` + text + `$`)
}

// model reads settings, with the patterns in their order.
func model(t suite.Failing, data []byte, dir, home string) foreign.Policy {
	var s map[string]json.RawMessage
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"permissions.default": `"default"`, "tools.global.autoApprove": `false`, "tools.terminal.enableAutoApprove": `false`, "tools.terminal.autoApprove": `{}`,
		"tools.urls.autoApprove": `{}`, "agent.networkFilter": `true`, "agent.allowedNetworkDomains": `[]`, "agent.sandbox.enabled": `"on"`, "agent.sandbox.allowAutoApprove": `false`,
		"agent.sandbox.allowUnsandboxedCommands": `false`, "agent.sandbox.network.allowNetwork": `false`,
	} {
		if got := string(s["chat."+key]); got != want {
			t.Fatal(key, "is", got)
		}
	}
	e := evaluated{Model: Model{Off: true}, dir: dir, home: home}
	in := json.NewDecoder(bytes.NewReader(s["chat.tools.edits.autoApprove"]))
	seen := map[json.Token]bool{}
	for {
		token, err := in.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		key, ok := token.(string)
		if !ok {
			continue
		}
		approved, err := in.Token()
		if err != nil || seen[key] {
			t.Fatal(key, "stands twice, or has no value:", err, string(data))
		}
		seen[key] = true
		e.edits = append(e.edits, entry{glob(t, key), approved == true})
	}
	for _, text := range never {
		e.edits = append(e.edits, entry{glob(t, text), false})
	}
	return e
}

func (e evaluated) inside(abs string) bool { return ir.Within(abs, e.dir) }

// Reads implements foreign.Policy.
func (e evaluated) Reads(abs string) bool { return e.inside(abs) }

// Writes implements foreign.Policy: the last pattern that matches decides.
func (e evaluated) Writes(abs string) bool {
	approved := true
	for _, one := range e.edits {
		if one.glob.MatchString(abs) {
			approved = one.approved
		}
	}
	return approved && e.inside(abs) && !strings.HasPrefix(abs, e.home+"/.")
}

// Permits is about operations of the agent's own tools, since every command is asked about.
func (e evaluated) Permits(operation, abs string) bool {
	switch operation {
	case ir.Read.String():
		return e.Reads(abs)
	case ir.Create.String(), ir.Update.String():
		return e.Writes(abs)
	}
	return e.Runs("anything " + abs)
}

// Connects implements foreign.Policy: no list has a domain, so all of them are closed.
func (e evaluated) Connects(string, uint16) bool { return false }

// Nothing but reading is wider unasked: commands, which can do more, are no part of the evaluation.
var target = suite.Written{
	Backend: Backend{}, Sentences: []backends.Sentences{Sentences(), writer.Sentences()}, Model: model, Never: ir.Write.With(ir.Execute),
}

// TestFilesAgainstPolicy puts the same questions to random policies and to their settings. The
// answers may differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	target.FilesAgainstPolicy(t, suite.Draw, "fs true true stricter", "fs true false stricter", "fs false false weaker", "fs false true weaker")
}

// TestNetworkIsClosed: no policy opens a host.
func TestNetworkIsClosed(t *testing.T) {
	target.HostsAgainstPolicy(t, 500, 20, "net true false stricter", "net false false weaker")
}

// TestEdits: only reading is wider than the policy, and without the path of the workspace a closed place closes those with the same end.
func TestEdits(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Protects = false
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.All}, {At: ir.In("a")}, {At: ir.In("a/b"), Caps: ir.All}, {At: ir.In("c/[id]"), Caps: ir.Caps(ir.Read)}, {At: ir.In(".vscode"), Caps: ir.All},
	}
	for portable, want := range map[bool][]string{false: {"x", "x/a", "x/a/b", "a/b", "a/b/x", ".vscode/x"}, true: {"x", ".vscode/x"}} {
		c := target.Compile(t, tool, ir.Bindings{Workspace: "/w"}, portable)
		var got []string
		for _, path := range []string{"x", "x/a", "x/a/b", "a", "a/x", "a/b", "a/b/x", "c/[id]", "c/x", ".vscode/x", ".vscode/x.json"} {
			if c.Model.Writes("/w/" + path) {
				got = append(got, path)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("portable %v: got %v, want %v\n%s", portable, got, want, c.Output.Data)
		}
	}
}

// TestSandboxPaths: the sandbox has the places beside the workspace and the narrower ones in it, on a host alone.
func TestSandboxPaths(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Protects, tool.Home = false, ir.HomeReal
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.All}, {At: ir.In("a")}, {At: ir.In("a/b"), Caps: ir.Caps(ir.Read)}, {At: ir.In("c"), Caps: ir.Caps(ir.Read)},
		{At: ir.Location{Root: ir.Root{Kind: ir.External, Name: "x"}}, External: true, Caps: ir.Caps(ir.Read)},
	}
	b := ir.Bindings{Workspace: "/w", External: map[string]string{"x": "/x"}}
	var got struct {
		Paths Paths `json:"chat.agent.sandbox.fileSystem.userConfiguredPaths"`
	}
	for portable, want := range map[bool]Paths{
		false: {Write: []string{"/w"}, Read: []string{"/w/a/b", "/w/c", "/x"}, Closed: []string{"/w/a"}}, true: {Write: []string{}, Read: []string{}, Closed: []string{}},
	} {
		if err := json.Unmarshal(target.Compile(t, tool, b, portable).Output.Data, &got); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got.Paths.Read)
		if !slices.Equal(got.Paths.Write, want.Write) || !slices.Equal(got.Paths.Read, want.Read) || !slices.Equal(got.Paths.Closed, want.Closed) {
			t.Errorf("portable %v: %+v", portable, got.Paths)
		}
	}
}
