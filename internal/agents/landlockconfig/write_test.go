package landlockconfig

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

func compile(t fatal, tool *ir.Tool, target backends.Target) []byte {
	t.Helper()
	out, err := Backend{}.Compile(tool, target)
	if err != nil || out.Data == nil {
		t.Fatalf("%v %+v", err, out.Refusals)
	}
	return out.Data
}

// monotone is a policy in which every deeper rule grants more, with something of everything else.
func monotone() *ir.Tool {
	tool := ir.NewTool("deploy")
	external := ir.Location{Root: ir.Root{Kind: ir.External, Name: "for_k/a"}}
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("build"), Caps: ir.Write.With(ir.Read)}, {At: ir.In("build/bin"), Caps: ir.All},
		{At: ir.In("drop"), Caps: ir.Caps(ir.Read, ir.Create)}, {At: ir.In("$x ${y}"), Caps: ir.Caps(ir.Read, ir.Update)},
		{Written: "for_k/a", At: external, External: true, Caps: ir.Caps(ir.Read)},
	}
	addr := func(s string) ir.Host { return ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(s)} }
	tool.Net = []ir.NetRule{
		{Host: addr("10.0.0.5"), Port: 5432, Allow: true}, {Host: ir.Host{Kind: ir.HostName, Name: "api.example.com"}, Scheme: "https", Allow: true},
		{Host: ir.Host{Kind: ir.HostAny}, Port: 8080, Listen: true, Allow: true}, {Host: addr("127.0.0.1"), Port: 9090, Listen: true, Allow: true},
		{Host: addr("10.0.0.6"), Port: 5432},
	}
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git", Args: []ir.ArgPattern{}}}}
	tool.Limits = []ir.Limit{{Kind: ir.LimitWallTime, Value: 120_000}, {Kind: ir.LimitMemory, Value: 1 << 30}}
	tool.May = []ir.FSRule{{At: ir.In("secrets"), Caps: ir.All}}
	return tool
}

// excepting has denials inside grants.
func excepting() *ir.Tool {
	tool := ir.NewTool("edit")
	tool.Base, tool.Home = ir.BaseNone, ir.HomeReal
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In(".env")}, {At: ir.In("src"), Caps: ir.All}, {At: ir.In("src/gen"), Caps: ir.Caps(ir.Read)}}
	return tool
}

func accepting() *ir.Tool {
	tool := monotone()
	tool.Base, tool.Accept = ir.BaseMinimal, []ir.Acceptance{{Gap: ir.GapNetHost}}
	return tool
}

// TestGolden compares the text of whole configurations.
func TestGolden(t *testing.T) {
	host := &ir.Bindings{Workspace: "/w $s", Home: "/state/home", External: map[string]string{"for_k/a": "/data/fork"}}
	for name, got := range map[string][]byte{
		"portable":   compile(t, monotone(), backends.Target{Form: backends.Portable}),
		"resolved":   compile(t, monotone(), backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: host}}),
		"exceptions": compile(t, excepting(), backends.Target{Form: backends.Portable}),
		"accepted":   compile(t, accepting(), backends.Target{Form: backends.Portable}),
	} {
		file := "testdata/" + name + ".json"
		if *suite.Update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is compiled now: %v", file, err)
		}
	}
}

// TestExceptionsNarrow: an exception takes its rights from the directories around it, and from no others.
func TestExceptionsNarrow(t *testing.T) {
	c, err := parse(compile(t, excepting(), backends.Target{Form: backends.Portable}))
	if err != nil {
		t.Fatal(err)
	}
	granted := map[string][]string{}
	for _, p := range c.PathBeneath {
		for _, parent := range p.Parent {
			granted[parent] = p.Access
		}
	}
	if _, whole := granted["${workspace}"]; whole || !slices.Equal(granted["${workspace}/src"], []string{"read_file", "read_dir"}) {
		t.Errorf("got %v", granted)
	}
}

// TestLedgerIsWhole checks that every cell of a policy is stated once at every version of the ABI, with a cause that
// has a sentence, and with a gap where it is to be accepted.
func TestLedgerIsWhole(t *testing.T) {
	if newest != landlock.MaxABI {
		t.Errorf("the ledger ends with ABI %d", newest)
	}
	irtest.Check(t, 300, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Names, 6)
		tool.Net, tool.Commands, tool.Limits, tool.May = irtest.NetRules(rt, 5), monotone().Commands, monotone().Limits, monotone().May
		c, err := parse(compile(rt, tool, backends.Target{Form: backends.Portable}))
		if err != nil {
			rt.Fatal(err)
		}
		ledger, err := stated(c)
		if err != nil {
			rt.Fatal(err)
		}
		for _, cell := range ir.NewView(tool, ir.Linux, ir.Facts{}).Cells() {
			for abi := 0; abi <= newest; abi++ {
				n := 0
				for _, row := range ledger.On(ir.Linux, abi) {
					if row.Resource != cell.Resource || !slices.Contains(row.Rules, cell.ID) || !slices.Contains(row.Aspects, cell.Aspect) {
						continue
					}
					n++
					if row.Is == ir.Unstated || (row.Is == ir.Exact) != (len(row.Causes) == 0) || abi > 0 && row.Gap.Known() == row.Is.Held() {
						rt.Fatalf("%s %s at ABI %d: %+v", cell.ID, cell.Aspect, abi, row)
					}
					for _, cause := range row.Causes {
						if Sentences().Of(cause) == cause.String() {
							rt.Fatalf("%s has no sentence", cause)
						}
					}
				}
				if n != 1 {
					rt.Fatalf("%s %s at ABI %d has %d rows", cell.ID, cell.Aspect, abi, n)
				}
			}
		}
	})
}

// TestVariablesAreNames: whatever an external rule is called, its variable is a name of landlockconfig, and its own.
func TestVariablesAreNames(t *testing.T) {
	valid, seen := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`), map[string]string{}
	irtest.Check(t, 5000, 1, func(rt *rapid.T) {
		root := ir.Root{Kind: ir.External, Name: rapid.OneOf(rapid.StringMatching(`[a_5f/]{1,4}`), rapid.StringN(1, 8, -1)).Draw(rt, "name")}
		v := variableOf(root)
		if other, ok := seen[v]; !valid.MatchString(v) || ok && other != root.Name {
			rt.Fatalf("%q and %q are %s", root.Name, other, v)
		}
		seen[v] = root.Name
	})
}

// TestUnspellable: a path that JSON cannot say is refused. Encoding would have put another path in its place.
func TestUnspellable(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In("a\xff"), Caps: ir.Caps(ir.Read)}}
	out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil || out.Data != nil || len(out.Refusals) != 1 || out.Refusals[0].Rule != ir.Rule(&tool.FS[0]) {
		t.Errorf("%+v, %v", out, err)
	}
	tool.FS[0].At = ir.In("a\nb\"")
	c, err := parse(compile(t, tool, backends.Target{Form: backends.Portable}))
	if err != nil || !slices.ContainsFunc(c.PathBeneath, func(p Paths) bool { return slices.Contains(p.Parent, "${workspace}/a\nb\"") }) {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestParseRefuses checks that only text of this package's form is read.
func TestParseRefuses(t *testing.T) {
	text := string(compile(t, monotone(), backends.Target{Form: backends.Portable}))
	for name, bad := range map[string]string{
		"empty": "", "two": text + "{}", "another ABI": strings.Replace(text, `"abi": 6`, `"abi": 7`, 1),
		"an unknown field": strings.Replace(text, `"pathBeneath"`, `"path_beneath"`, 1),
	} {
		if c, err := parse([]byte(bad)); !errors.Is(err, errConfig) {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
}

// TestSchema checks configurations against landlockconfig's published JSON Schema
// (ACCESSC_LANDLOCKCONFIG_SCHEMA is the path of schema/landlockconfig.json).
func TestSchema(t *testing.T) {
	file := os.Getenv("ACCESSC_LANDLOCKCONFIG_SCHEMA")
	if file == "" {
		t.Skip("ACCESSC_LANDLOCKCONFIG_SCHEMA does not name landlockconfig.json")
	}
	schema, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	check := func(data []byte) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return schema.Validate(doc)
	}
	for _, tool := range []*ir.Tool{monotone(), excepting(), accepting()} {
		if err := check(compile(t, tool, backends.Target{Form: backends.Portable})); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Names, 6)
		tool.Net = irtest.NetRules(rt, 5)
		if err := check(compile(rt, tool, backends.Target{Form: backends.Portable})); err != nil {
			rt.Fatal(err)
		}
	})
	if check([]byte(`{"abi": 6, "ruleset": [{"handled": []}]}`)) == nil {
		t.Error("the schema takes anything")
	}
}
