package mxc

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

var update = flag.Bool("update", false, "write what the compiler yields now into the golden files")

// example is a policy with something of everything.
func example() *ir.Tool {
	tool := ir.NewTool("deploy")
	tool.Command = &ir.Command{Program: "make", Args: []string{"it's", "$x", "-j4"}}
	external := ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}}
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("build"), Caps: ir.All}, {At: ir.In("build/keys")},
		{At: ir.In("build/out"), Caps: ir.Caps(ir.Read, ir.Create)}, {Written: "fork", At: external, External: true, Caps: ir.Write.With(ir.Read)},
	}
	addr := func(s string) ir.Host { return ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(s)} }
	tool.Net = []ir.NetRule{
		{Host: addr("10.0.0.5"), Port: 5432, Allow: true}, {Host: addr("2001:db8::1"), Port: 443, Allow: true},
		{Host: addr("10.0.0.6"), Port: 80, Scheme: "http", Allow: true}, {Host: addr("127.0.0.1"), Port: 80, Allow: true},
		{Host: ir.Host{Kind: ir.HostName, Name: "api.example.com"}, Scheme: "https", Allow: true},
		{Host: addr("10.0.0.7"), Port: 80, Allow: true}, {Host: addr("10.0.0.7"), Scheme: "http"},
		{Host: addr("10.0.0.8"), Port: 80, Methods: []string{"GET"}, Allow: true},
		{Host: addr("10.0.0.8"), Port: 8080, Listen: true, Allow: true}, {Host: addr("10.0.0.5"), Port: 5432, Listen: true},
	}
	tool.Limits = []ir.Limit{{Kind: ir.LimitWallTime, Value: 120_000}, {Kind: ir.LimitMemory, Value: 1 << 30}}
	tool.Accept = []ir.Acceptance{{Gap: ir.GapFSMove}}
	return tool
}

func compile(t testing.TB, tool *ir.Tool, target backends.Target) []byte {
	t.Helper()
	out, err := Backend{}.Compile(tool, target)
	if err != nil || out.Data == nil {
		t.Fatalf("%v %+v", err, out.Refusals)
	}
	return out.Data
}

func resolved(b ir.Bindings) backends.Target {
	return backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &b}}
}

// TestGolden compares the text of whole configurations.
func TestGolden(t *testing.T) {
	host := ir.Bindings{Workspace: "/w s", Home: "/state/home", External: map[string]string{"fork": "/data/fork"}}
	for name, target := range map[string]backends.Target{"portable": {Form: backends.Portable}, "resolved": resolved(host)} {
		got := compile(t, example(), target)
		file := "testdata/" + name + ".json"
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is compiled now: %v", file, err)
		}
	}
}

// TestCommandLine checks that a command keeps its words.
func TestCommandLine(t *testing.T) {
	for want, c := range map[string]ir.Command{
		"make -j4":                  {Program: "make", Args: []string{"-j4"}},
		`'a b' "it's" '$x'`:         {Program: "a b", Args: []string{"it's", "$x"}},
		"/bin/sh -c 'echo a | cat'": {Program: "echo a | cat", Shell: true},
	} {
		if got, err := commandLine(&c); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	for name, c := range map[string]*ir.Command{"no command": nil, "a NUL": {Program: "a\x00"}} {
		tool := ir.NewTool("t")
		tool.Command = c
		if out, err := (Backend{}).Compile(tool, backends.Target{Form: backends.Portable}); err != nil || out.Data != nil || len(out.Refusals) != 1 {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// excuse finds the row that states how an aspect of a rule is held.
func excuse(c *Config, rule ir.RuleID, a ir.Aspect) backends.Row {
	for _, r := range c.Comment.Ledger {
		if r.Resource == "fs" && slices.Contains(r.Rules, rule) && slices.Contains(r.Aspects, a) {
			return r
		}
	}
	return backends.Row{}
}

// TestRootInRoot: a rule of the workspace does not reach into the target of an external rule
// that lies there. Cause: its place was listed all the same, and opened places that the target denies.
func TestRootInRoot(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Command, tool.Home = &ir.Command{Program: "true"}, ir.HomeReal
	fork := ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}}
	tool.FS = []ir.FSRule{
		{At: ir.In("real/logs"), Caps: ir.All}, {Written: "fork", At: fork, External: true, Caps: ir.Caps(ir.Read)},
	}
	c, err := parse(compile(t, tool, resolved(ir.Bindings{Workspace: "/w", External: map[string]string{"fork": "/w/real"}})))
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Filesystem; len(f.ReadWrite) > 0 || !slices.Equal(f.ReadOnly, []string{"/w/real"}) {
		t.Errorf("got %+v", f)
	}
}

// TestProtectedPlacesDiffer: one row speaks for all protected places. Cause: their capabilities
// were joined first, so that reading in one place made starting exact in another that cannot be read.
func TestProtectedPlacesDiffer(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Command = &ir.Command{Program: "true"}
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.Write.With(ir.Read)}, {At: ir.In("a"), Caps: ir.Write.With(ir.Execute)}}
	tool.Protects = true
	tool.Protected = []ir.ProtectedPath{{Path: "a/x", Why: "test"}}
	c, err := parse(compile(t, tool, resolved(ir.Bindings{Workspace: "/w"})))
	if err != nil {
		t.Fatal(err)
	}
	if row := excuse(c, "protected", ir.AspectExecute); row.Is != ir.Weaker.String() || len(row.Causes) != 2 {
		t.Errorf("starting at protected places is %s, %v", row.Is, row.Causes)
	}
}

// TestConfigAgainstPolicy puts the same questions to random policies and to their emitted
// configurations. The answers may differ only where the ledger says in which direction.
func TestConfigAgainstPolicy(t *testing.T) {
	const per = 40
	seen := map[string]int{}
	irtest.Check(t, 2000, per, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Names, 6)
		tool.Command, tool.Base = &ir.Command{Program: "true"}, ir.BaseNone
		home := rapid.SampledFrom([]string{"/state/home", "/w s/ab/home", "/w s/ab/src"}).Draw(rt, "home")
		b := ir.Bindings{Workspace: "/w s", Home: home}
		data := compile(t, tool, resolved(b))
		c, err := parse(data)
		if err != nil {
			rt.Fatal(err)
		}
		view := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: &b})
		for range per {
			at := irtest.Place(rt, irtest.Names)
			abs, ok := b.Path(at)
			if at = b.Locate(abs); !ok || at.Root.Kind == ir.Temp {
				continue
			}
			read, write := reaches(c, abs)
			for _, capability := range ir.Capabilities {
				v := view.Decide(ir.Access{Cap: capability, On: ir.Direct(at)})
				got := read
				if capability != ir.Read && capability != ir.Execute {
					got = write
				}
				rule := "default"
				for _, e := range view.Entries() {
					if v.Rule == ir.Rule(e.Rule) {
						rule = string(e.ID)
					}
				}
				is := excuse(c, ir.RuleID(rule), ir.AspectOf(capability)).Is
				seen[fmt.Sprintf("%v %v", v.Allowed(), got)]++
				switch {
				case v.Reason != ir.ReasonRule && v.Reason != ir.ReasonDefault:
					// A root or a pin: what MXC binds cannot be removed.
				case v.Allowed() && !got && is != ir.Stricter.String(), !v.Allowed() && got && is != ir.Weaker.String():
					rt.Fatalf("%s %v (%s): policy %v, configuration %v, ledger %q\n%s", capability, at, rule, v.Allowed(), got, is, data)
				}
			}
		}
	})
	irtest.Happened(t, seen, "true true", "true false", "false false", "false true")
}

// TestLedgerIsWhole checks that every requirement of a policy is stated once, and with a name
// where it has to be accepted.
func TestLedgerIsWhole(t *testing.T) {
	c, err := parse(compile(t, example(), backends.Target{Form: backends.Portable}))
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]int{}
	for _, r := range c.Comment.Ledger {
		is, ok := ir.ParseEnforcement(r.Is)
		named := ir.Gap(r.Gap).Known()
		if !ok || (r.Causes == nil) != (is == ir.Exact) || named == is.Held() {
			t.Errorf("row %+v", r)
		}
		for _, rule := range r.Rules {
			for _, a := range r.Aspects {
				cells[r.Resource+" "+string(rule)+" "+string(a)]++
			}
		}
	}
	rules := map[ir.Resource][]string{
		ir.FS: {"fs[0]", "fs[1]", "fs[2]", "fs[3]", "fs[4]", "home", "tmp", "protected", "default"}, ir.Commands: {"default"}, ir.Process: {"default"},
		ir.Net: {"net[0]", "net[1]", "net[2]", "net[3]", "net[4]", "net[5]", "net[6]", "net[7]", "net[8]", "net[9]", "default"}, ir.Limits: {"wall_time", "memory"},
	}
	for i := range example().Env {
		rules[ir.Env] = append(rules[ir.Env], fmt.Sprintf("env[%d]", i))
	}
	rules[ir.Env] = append(rules[ir.Env], "default")
	want := 0
	for _, r := range ir.Resources {
		for _, rule := range rules[r] {
			for _, a := range ir.Aspects(r) {
				if listens := rule == "net[8]" || rule == "net[9]"; rule != "default" && r == ir.Net && listens != (a == ir.AspectListen) {
					continue
				}
				want++
				if n := cells[fmt.Sprintf("%s %s %s", r, rule, a)]; n != 1 {
					t.Errorf("%s %s %s is stated %d times", r, rule, a, n)
				}
			}
		}
	}
	if len(cells) != want {
		t.Errorf("%d cells, want %d", len(cells), want)
	}
}

// TestParseRefuses checks that only text of this package's form is read.
func TestParseRefuses(t *testing.T) {
	text := string(compile(t, example(), backends.Target{Form: backends.Portable}))
	for name, bad := range map[string]string{
		"empty": "", "two": text + "{}", "another contract": strings.Replace(text, `"1.0.0"`, `"1.0.1"`, 1),
		"an unknown field": strings.Replace(text, `"containment"`, `"containmend"`, 1), "another format": strings.Replace(text, format, "x", 1),
	} {
		if c, err := parse([]byte(bad)); !errors.Is(err, errConfig) {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
}

// configurations are the inputs of other programs' checks: the example without the parts that
// need another program, random policies, and a policy per rule of the network.
func configurations(t *testing.T) map[string][]byte {
	dir := t.TempDir()
	b := ir.Bindings{Workspace: filepath.Join(dir, "w s"), Home: filepath.Join(dir, "home"), External: map[string]string{"fork": filepath.Join(dir, "fork")}}
	closed := example()
	closed.Net = nil
	out := map[string][]byte{"closed": compile(t, closed, resolved(b)), "open": compile(t, example(), resolved(b))}
	gen := rapid.Custom(func(rt *rapid.T) *ir.Tool { return irtest.ToolByName(rt, irtest.Names, 6) })
	for seed := range 20 {
		tool := gen.Example(seed)
		tool.Command = &ir.Command{Program: "true", Args: []string{"a b"}}
		out[fmt.Sprintf("random %d", seed)] = compile(t, tool, resolved(b))
	}
	return out
}

// TestMXCReads has MXC's own program for Linux read compiled configurations (lxc-exec --dry-run
// of @microsoft/mxc-sdk; ACCESSC_MXC is its path). It must refuse a text that is none.
func TestMXCReads(t *testing.T) {
	program := os.Getenv("ACCESSC_MXC")
	if program == "" {
		t.Skip("ACCESSC_MXC does not name lxc-exec of @microsoft/mxc-sdk")
	}
	read := func(data []byte) (string, bool) {
		file := filepath.Join(t.TempDir(), "mxc.json")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "--dry-run", file).CombinedOutput()
		return string(out), err == nil && strings.Contains(string(out), "validation passed")
	}
	for name, data := range configurations(t) {
		// Rules of the network need a program that is not everywhere.
		if said, ok := read(data); !ok && !strings.Contains(said, "slirp4netns") {
			t.Errorf("%s: %s\n%s", name, said, data)
		}
	}
	closed := string(configurations(t)["closed"])
	for name, bad := range map[string]string{
		"an unknown field": strings.Replace(closed, `"containment"`, `"containmend"`, 1), "another contract": strings.Replace(closed, `"1.0.0"`, `"9.0.0"`, 1),
		"no command": strings.Replace(closed, `"commandLine"`, `"cwd2"`, 1),
	} {
		if said, ok := read([]byte(bad)); ok {
			t.Errorf("%s was read: %s", name, said)
		}
	}
}

// TestMXCSchema checks compiled configurations against MXC's published JSON Schema of the
// contract (ACCESSC_MXC_SCHEMA is its path).
func TestMXCSchema(t *testing.T) {
	file := os.Getenv("ACCESSC_MXC_SCHEMA")
	if file == "" {
		t.Skip("ACCESSC_MXC_SCHEMA does not name mxc-config.schema.1.0.0.json")
	}
	schema, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range configurations(t) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"version":"1.0.0","proces":{}}`))
	if err != nil || schema.Validate(bad) == nil {
		t.Errorf("the schema takes anything: %v", err)
	}
}

// reaches returns a configuration's answer about a path: of the entries on it or above it the longest decides, and a
// path without an entry is closed.
func reaches(c *Config, path string) (read, write bool) {
	best, is := -1, denied
	for a, list := range map[access][]string{readWrite: c.Filesystem.ReadWrite, readOnly: c.Filesystem.ReadOnly, denied: c.Filesystem.Denied} {
		for _, p := range list {
			rest, ok := strings.CutPrefix(path, p)
			if ok && (rest == "" || rest[0] == '/' || p == "/") && len(p) > best {
				best, is = len(p), a
			}
		}
	}
	return is != denied, is == readWrite
}
