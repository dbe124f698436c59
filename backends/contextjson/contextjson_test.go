package contextjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

func emit(t interface{ Fatal(...any) }, tool *ir.Tool, target backends.Target) string {
	out, err := contextjson.Backend{}.Compile(tool, target)
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Data)
}

func drawTool(t *rapid.T) *ir.Tool {
	tool := irtest.ToolByName(t, irtest.Plain, 5)
	tool.Net = irtest.NetRules(t, 4)
	tool.Home = rapid.SampledFrom([]ir.HomeKind{ir.HomePrivate, ir.HomeReal}).Draw(t, "home")
	tool.HomeShared = tool.Home == ir.HomePrivate && rapid.Bool().Draw(t, "shared home")
	tool.Env = nil
	for range rapid.IntRange(0, 3).Draw(t, "env") {
		tool.Env = append(tool.Env, ir.EnvRule{
			Name: rapid.SampledFrom([]string{"", "A", "AB"}).Draw(t, "name"), Prefix: rapid.Bool().Draw(t, "prefix"),
			Read: rapid.Bool().Draw(t, "read"),
		})
	}
	return tool
}

// TestContextAgainstPolicy: a tool that reads its Context and asks gets the answers of the
// policy, for files, hosts and variables.
func TestContextAgainstPolicy(t *testing.T) {
	const per = 40
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := drawTool(rt)
		back, err := read([]byte(emit(rt, tool, backends.Target{Form: backends.Portable})))
		if err != nil {
			rt.Fatal(err)
		}
		policy, context := ir.NewView(tool, ir.Linux, ir.Facts{}), ir.NewView(back, ir.Linux, ir.Facts{})
		for range per {
			op := drawOperation(rt, tool)
			if got, want := context.Decide(op).Allowed(), policy.Decide(op).Allowed(); got != want {
				rt.Fatalf("%+v: the Context says %v, the policy %v", op, got, want)
			}
		}
	})
}

func drawOperation(t *rapid.T, tool *ir.Tool) ir.Operation {
	switch rapid.IntRange(0, 2).Draw(t, "operation") {
	case 0:
		return ir.Forward{Name: rapid.SampledFrom([]string{"A", "AB", "ABC", "LD_X", "HOME", "_"}).Draw(t, "name")}
	case 1:
		return irtest.NetOp(t, tool.Net)
	default:
		return ir.Access{
			Cap: rapid.SampledFrom(ir.Capabilities[:]).Draw(t, "cap"), On: ir.Direct(ir.In(irtest.Path(t, irtest.Plain, 3))),
		}
	}
}

// TestReadersWithoutNames: a reader that does not know rules by name is granted nothing beyond the policy.
func TestReadersWithoutNames(t *testing.T) {
	const per = 20
	irtest.Check(t, 500, per, func(rt *rapid.T) {
		tool := drawTool(rt)
		irtest.ByName(rt, tool, irtest.Plain, 2)
		var older struct {
			Access struct {
				FS []struct {
					At                                    string `json:"lexical_path"`
					External                              bool
					Read, Create, Update, Delete, Execute bool
				}
			}
		}
		if err := json.Unmarshal([]byte(emit(rt, tool, backends.Target{Form: backends.Portable})), &older); err != nil {
			rt.Fatal(err)
		}
		as := ir.NewTool("t")
		as.FS = nil
		for _, r := range older.Access.FS {
			out := ir.FSRule{At: ir.In(r.At)}
			for c, granted := range map[ir.Capability]bool{
				ir.Read: r.Read, ir.Create: r.Create, ir.Update: r.Update, ir.Delete: r.Delete, ir.Execute: r.Execute,
			} {
				if granted {
					out.Caps = out.Caps.With(c)
				}
			}
			if !r.External {
				as.FS = append(as.FS, out)
			}
		}
		policy, reader := ir.NewView(tool, ir.Linux, ir.Facts{}), ir.NewView(as, ir.Linux, ir.Facts{})
		if len(as.FS) == 0 {
			rt.Fatal("the list is empty, which some read as no restriction")
		}
		for range per {
			at := ir.Direct(ir.In(irtest.Path(rt, irtest.Plain, 3)))
			for _, c := range ir.Capabilities {
				got, v := reader.Decide(ir.Access{Cap: c, On: at}), policy.Decide(ir.Access{Cap: c, On: at})
				if by, _ := v.Rule.(*ir.FSRule); got.Allowed() && !v.Allowed() && (by == nil || !by.Guards()) {
					rt.Fatalf("%s %v is granted to a reader of %+v", c, at.At, older.Access.FS)
				}
			}
		}
	})
}

// TestNamesRefused: names in the list that readers without names read, rules beside them there, and lists of no name
// are refused.
func TestNamesRefused(t *testing.T) {
	const base = `{"root":"/w","access":{"base":{"name":"none","version":3},`
	for _, fs := range []string{
		`"fs":[{"lexical_path":"","names":[".env"],"read":true}]`,
		`"fs":[{"lexical_path":"","read":true}],"fs_by_name":[{"lexical_path":"","names":[".env"]}]`,
		`"fs":[{"lexical_path":""}],"fs_by_name":[{"lexical_path":"","names":[],"read":true}]`,
		`"fs":[{"lexical_path":"","names":[]}]`,
	} {
		if tool, err := read([]byte(base + fs + `}}`)); !errors.Is(err, contextjson.ErrContext) {
			t.Errorf("%s: %+v, %v", fs, tool, err)
		}
	}
	if _, err := read([]byte(base +
		`"fs":[{"lexical_path":""}],"fs_by_name":[{"lexical_path":"","names":[".env"]}]}}`)); err != nil {
		t.Error(err)
	}
}

// TestSentinels: a list that denies everything is never empty, since there are
// consumers that read an empty list as unrestricted.
func TestSentinels(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS, tool.Net, tool.Env = nil, nil, nil
	text := emit(t, tool, backends.Target{Form: backends.Portable})
	for _, want := range []string{`"lexical_path": "", "external": false`, `{"host": "invalid", "allow": false}`, `{"name": "_", "read": false}`} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	back, err := read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v := ir.NewView(back, ir.Linux, ir.Facts{})
	for _, op := range []ir.Operation{
		ir.Access{Cap: ir.Read, On: ir.Direct(ir.In("a"))}, ir.Forward{Name: "PATH"},
		ir.Connect{To: ir.Endpoint{Scheme: "https", Port: 443, Host: ir.Host{Kind: ir.HostName, Name: "a.com"}}},
	} {
		if v.Decide(op).Allowed() {
			t.Errorf("%+v is allowed", op)
		}
	}
}

// TestExternal: the link stays lexical; its target is a symbol in a portable Context, and a
// path on one host.
func TestExternal(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.Location{Root: ir.Root{Kind: ir.External, Name: "vendor/x"}}, External: true, Caps: ir.Caps(ir.Read)}}
	portable := emit(t, tool, backends.Target{Form: backends.Portable})
	resolved := emit(t, tool, backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{
		Workspace: "/w", External: map[string]string{"vendor/x": "/ext/x"},
	}}})
	if !strings.Contains(portable, `"approved_target": "${external:vendor/x}"`) || !strings.Contains(portable, `"root": "${workspace}"`) {
		t.Errorf("portable:\n%s", portable)
	}
	if !strings.Contains(resolved, `"approved_target": "/ext/x"`) || !strings.Contains(resolved, `"root": "/w"`) {
		t.Errorf("resolved:\n%s", resolved)
	}
}

func read(data []byte) (*ir.Tool, error) {
	c, err := contextjson.Parse(data)
	if err != nil {
		return nil, err
	}
	return c.Policy()
}

// FuzzRead: no input causes a panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(emit(f, ir.NewTool("t"), backends.Target{Form: backends.Portable})))
	f.Add([]byte(`{"access":null}`))
	f.Add([]byte(`{"access":{"base":{"name":"none","version":1},"commands":{"x":null}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tool, err := read(data)
		if err != nil || tool == nil {
			return
		}
		ir.NewView(tool, ir.Linux, ir.Facts{}).Decide(ir.Access{Cap: ir.Read, On: ir.Direct(ir.In("a"))})
	})
}

// TestLedgerOfFiles: the ledger is the ledger whose cells are stated one by one.
func TestLedgerOfFiles(t *testing.T) {
	irtest.Check(t, 300, 1, func(rt *rapid.T) {
		tool := drawTool(rt)
		out, err := contextjson.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			rt.Fatal(err)
		}
		b := ir.NewLedger(0)
		for _, row := range out.Ledger {
			for _, rule := range row.Rules {
				for _, a := range row.Aspects {
					b.Add(ir.Cell{Resource: row.Resource, ID: rule, Aspect: a}, row.Levels, row.Held)
				}
			}
		}
		if diff := cmp.Diff(b.Ledger(), out.Ledger); diff != "" {
			rt.Error(diff)
		}
		for i := range tool.FS {
			for _, a := range ir.Aspects(ir.FS) {
				if row, ok := out.Ledger.Cell(ir.FS, ir.FSRuleID(i), a, 0, 0); !ok || row.Is != ir.Advisory {
					rt.Errorf("fs[%d] %s: %+v", i, a, row)
				}
			}
		}
	})
}
