package plugin_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/internal/artifact/plugin"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// example builds the example of a backend, a module of its own.
func example(t *testing.T) *plugin.Program {
	t.Helper()
	file := filepath.Join(t.TempDir(), plugin.Prefix+"deno.exe")
	cmd := exec.Command("go", "build", "-o", file, ".")
	cmd.Dir = "../../../examples/backend"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p, err := plugin.Find(file, "", nil)
	if err != nil || p.Name() != "deno" {
		t.Fatal(p, err)
	}
	return p
}

// TestExample: what the example reads in its own files is what the policy says, or a row says why not.
func TestExample(t *testing.T) {
	p := example(t)
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Names, 4)
		tool.Net = irtest.NetRules(rt, 3)
		made, err := p.Compile(tool)
		if err != nil {
			rt.Fatal(err)
		}
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		var asked []ir.Operation
		var ops []external.Operation
		for range 20 {
			// Not the root itself, which the program runs in: no policy lets it be made or removed.
			on := func() ir.Place { return ir.Direct(irtest.Place(rt, irtest.Names).Child(irtest.Names[0])) }
			op := rapid.SampledFrom([]ir.Operation{
				ir.Access{Cap: ir.Read, On: on()}, ir.Access{Cap: ir.Update, On: on()},
				ir.Access{Cap: ir.Create, On: on(), Name: ir.NameFile}, ir.Access{Cap: ir.Delete, On: on(), Name: ir.NameFile},
				ir.Copy{Src: on(), Dst: on(), DstKind: ir.Absent}, irtest.NetOp(rt, tool.Net),
				ir.Forward{Name: "PATH"}, ir.Forward{Name: "LC_ALL"}, ir.Forward{Name: "SECRET"},
			}).Draw(rt, "operation")
			if x, ok := external.NewOperation("", op); ok {
				asked, ops = append(asked, op), append(ops, x)
			}
		}
		verdicts, err := p.Decide(made.Files, ops)
		if err != nil {
			rt.Fatal(err)
		}
		for i, said := range verdicts {
			v := view.Decide(asked[i])
			a := explain.Answer{
				View: view, Operation: asked[i], Verdict: v, Considered: view.Trace(asked[i], v), Ledger: made.Ledger,
			}
			same := said != external.Unknown && (said == external.Allow) == v.Allowed()
			if !same && a.Declared(made.Platform, said == external.Allow, said != external.Unknown) == "" {
				rt.Fatalf("%+v: %s, and the policy %s (%s)\n%s", ops[i], said, v.Effect, v.Reason, made.Files[0].Text)
			}
		}
	})
}

// TestFind: names and paths of programs that there are not.
func TestFind(t *testing.T) {
	for _, target := range []string{"none", "", "-x", "../x", "UP", "./accessc-backend-", filepath.Join(t.TempDir(), plugin.Prefix+"gone")} {
		if _, err := plugin.Find(target, t.TempDir(), nil); !errors.Is(err, plugin.ErrNone) {
			t.Errorf("%q: %v", target, err)
		}
	}
}
