package importer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/backends"
	toclaudecode "github.com/accessc/accessc/backends/agents/claudecode"
	tocodex "github.com/accessc/accessc/backends/agents/codex"
	tocursor "github.com/accessc/accessc/backends/agents/cursor"
	togemini "github.com/accessc/accessc/backends/agents/gemini"
	tosrt "github.com/accessc/accessc/backends/agents/srt"
	tovscode "github.com/accessc/accessc/backends/agents/vscode"
	"github.com/accessc/accessc/ir"
)

// exported are the programs for which policies are compiled and from which they are read back: by the name of the file, and
// whether they can say all of a policy of grants.
var exported = []struct {
	backend backends.Backend
	file    string
	exact   bool
}{
	{tosrt.Backend{}, "srt.json", true}, {tocodex.Backend{}, "config.toml", true}, {toclaudecode.Backend{}, "settings.json", false}, {tocursor.Backend{}, "sandbox.json", false},
}

// policy is the policy of grants, with a host and without a variable.
func (g grants) policy() *ir.Tool {
	tool := ir.NewTool("agent")
	tool.Home, tool.Protects, tool.FS = ir.HomeReal, false, nil
	for _, p := range slices.Sorted(maps.Keys(g)) {
		caps := ir.CapSet(0)
		switch a := g[p]; {
		case a.write:
			caps = ir.All
		case a.read:
			caps = ir.Caps(ir.Read, ir.Execute)
		}
		tool.FS = append(tool.FS, ir.FSRule{Written: p, At: ir.In(p), Caps: caps})
	}
	tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "a.example.com"}, Port: 443, Allow: true}}
	tool.Env = slices.DeleteFunc(tool.Env, func(r ir.EnvRule) bool { return r.Name == "TERM" })
	tool.Env = append(tool.Env, ir.EnvRule{Name: "TERM"})
	return tool
}

// A policy is the same after the way to the settings of srt or Codex and back, if these can say it, and after that to any
// program's it is no wider; a name that a rule closes stays closed. Codex cannot have several exceptions in a directory
// without a rule.
func TestAgentsExport(t *testing.T) {
	w := newWorld(t)
	w.dir = w.home + "/empty"
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "src", "x y", "zz"}
	var same, other atomic.Int64
	drawn(t, 2_000, func(r *rand.Rand) error {
		g, to := expressible(r), exported[r.IntN(len(exported))]
		tool, byName := g.policy(), r.IntN(2) == 0
		if byName {
			tool.FS = append(tool.FS, ir.FSRule{At: ir.In(""), Names: []string{pick(r, "z*", "zz", "x ?")}})
		}
		out, err := to.backend.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			return err
		}
		from := ""
		if to.backend.Name() == "cursor" {
			from = "cursor"
		}
		res, err := w.runAs(from, to.file, string(out.Data), Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", out.Data, err)
		}
		c, err := compiled(res.Text, w.home)
		if err != nil {
			return err
		}
		before, after := ir.NewView(tool, ir.Linux, ir.Facts{}), ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		for range 40 {
			rel := strings.Join(append([]string{pick(r, names...)}, some(r, 3, func() string { return pick(r, names...) })...), "/")
			for _, cap := range ir.Capabilities {
				op := ir.Access{Cap: cap, On: ir.Direct(ir.In(rel))}
				was, is := before.Decide(op).Allowed(), after.Decide(op).Allowed()
				row, _ := out.Elsewhere.Cell(ir.FS, ruleOf(before, op), ir.AspectOf(cap), 0, 0)
				closed := ruleOf(before, op) == ir.FSRuleID(len(g)) // by its name
				if is && !was && row.Is != ir.Weaker || to.exact && closed && is ||
					to.exact && was != is && !row.Cites("codex.siblings") && !row.Cites("agents.named") {
					return fmt.Errorf("%s\n%s\n%s %s: %t, and after the way back %t", out.Data, res.Text, cap, rel, was, is)
				}
				if was == is {
					same.Add(1)
				} else {
					other.Add(1)
				}
			}
		}
		return nil
	})
	if same.Load() == 0 || other.Load() == 0 {
		t.Errorf("%d answers are the same, %d are not", same.Load(), other.Load())
	}
}

// The rules for Gemini CLI are read back, and none of them becomes one that allows: it asks about each command.
func TestGeminiExport(t *testing.T) {
	w := newWorld(t)
	drawn(t, 2_000, func(r *rand.Rand) error {
		tool := expressible(r).policy()
		tool.Commands = &ir.CommandSet{}
		for _, name := range some(r, 3, func() string { return pick(r, "git", "make", "./run") }) {
			tool.Commands.Rules = append(tool.Commands.Rules, ir.CommandRule{Program: name, AnyArgs: r.IntN(2) == 0, Args: []ir.ArgPattern{{Words: []string{"a", "-x"}}}})
		}
		out, err := togemini.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			return err
		}
		res, err := w.runAs("gemini", "gemini.toml", string(out.Data), Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", out.Data, err)
		}
		asked := strings.Count(res.Text, `outcome = "ask"`)
		if asked == 0 && len(tool.Commands.Rules) > 0 || strings.Contains(res.Text, `"allow"`) {
			return fmt.Errorf("%s\n%s", out.Data, res.Text)
		}
		return nil
	})
}

// The settings for VS Code are read back, and approve no command.
func TestVSCodeExport(t *testing.T) {
	w := newWorld(t)
	drawn(t, 2_000, func(r *rand.Rand) error {
		out, err := tovscode.Backend{}.Compile(expressible(r).policy(), backends.Target{Form: backends.Portable})
		if err != nil {
			return err
		}
		res, err := w.runAs("", "settings.json", string(out.Data), Refuse)
		if err != nil || strings.Contains(res.Text, `"allow"`) || !strings.HasPrefix(res.Format, "vscode") {
			return fmt.Errorf("%s: %w", out.Data, err)
		}
		return nil
	})
}

func ruleOf(v *ir.View, op ir.Operation) ir.RuleID {
	won := v.Decide(op).Rule
	for _, e := range v.Entries() {
		if won == ir.Rule(e.Rule) {
			return e.ID
		}
	}
	return ir.DefaultRule
}
