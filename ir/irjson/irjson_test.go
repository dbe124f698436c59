package irjson_test

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/test/irtest"
)

func drawOrigin(t *rapid.T) ir.Origin {
	o := ir.Origin{Layer: ir.Layer(rapid.IntRange(0, 8).Draw(t, "layer")), Label: rapid.StringN(0, 5, 20).Draw(t, "label")}
	if rapid.Bool().Draw(t, "written") {
		o.Pos = ir.Pos{
			File: rapid.StringMatching(`[a-z:/ü]{1,8}`).Draw(t, "file"),
			Line: rapid.IntRange(0, 99).Draw(t, "line"), Col: rapid.IntRange(0, 99).Draw(t, "col"),
		}
		o.Path = rapid.StringMatching(`[a-z.\[\]]{0,9}`).Draw(t, "path")
	}
	return o
}

func words(t *rapid.T, name string) []string {
	return nilIfEmpty(rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, name))
}

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

func drawTool(t *rapid.T) *ir.Tool {
	tool := irtest.ToolByName(t, irtest.Names, 4)
	tool.FS = nilIfEmpty(tool.FS)
	for i := range tool.FS {
		tool.FS[i].Origin = drawOrigin(t)
		tool.FS[i].Leaves = []ir.Leaf{{Key: "path", At: ir.Pos{File: "f", Line: i, Col: 1}}, {Key: "read", At: ir.Pos{File: "f", Line: 9}}}
	}
	if rapid.Bool().Draw(t, "external") {
		tool.FS = append(tool.FS, ir.FSRule{
			At: ir.Location{Root: ir.Root{Kind: ir.External, Name: "a}b/c"}}, External: true, Mount: true, Caps: ir.Caps(ir.Read),
		})
	}
	tool.Net = nilIfEmpty(irtest.NetRules(t, 4))
	for i := range tool.Net {
		r := &tool.Net[i]
		r.Written, r.Origin = "w", drawOrigin(t)
		if r.Credential != nil {
			r.Methods = words(t, "methods")
			r.Credential = &ir.Credential{Env: "E", File: "~/f", Command: words(t, "credential"), As: "query", Name: rapid.String().Draw(t, "name")}
		}
	}
	tool.May = rapid.SampledFrom([][]ir.FSRule{nil, {{Written: "./m", At: ir.In("m"), Caps: ir.Caps(ir.Read), Origin: drawOrigin(t)}}}).Draw(t, "may")
	tool.Declared = ir.Declared{FS: rapid.Bool().Draw(t, "fs declared"), Net: true}
	tool.Command = &ir.Command{Program: "p", Args: words(t, "args"), Shell: rapid.Bool().Draw(t, "shell"), Origin: drawOrigin(t)}
	file := ir.Sys("usr/bin/git")
	tool.Commands = rapid.SampledFrom([]*ir.CommandSet{nil, {}, {Rules: []ir.CommandRule{
		{Program: "git", File: &file, Args: []ir.ArgPattern{{Words: words(t, "pattern"), Rest: true}, {}}, Envs: words(t, "envs")},
		{Program: "any", AnyArgs: true, AllEnvs: true, Origin: drawOrigin(t)},
	}}}).Draw(t, "commands")
	tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: rapid.Uint64().Draw(t, "limit"), Origin: drawOrigin(t)}}
	tool.Constraints = &ir.Constraints{MaxInvocations: 3, OnlyAfter: words(t, "after"), Forbidden: true}
	tool.Tests = []ir.Assertion{{Allow: rapid.Bool().Draw(t, "expect"), Question: rapid.String().Draw(t, "question")}}
	tool.Accept = []ir.Acceptance{{Gap: "net.host", Origin: drawOrigin(t)}}
	return tool
}

// TestRoundTrip: reading gives back an equal value, writing again the same bytes.
func TestRoundTrip(t *testing.T) {
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		p := &ir.Program{Tools: []*ir.Tool{drawTool(rt), {
			Name: "m", Source: ir.Source{Kind: ir.SourceMCP, Detail: "a.b"}, Base: ir.BaseNone, Home: ir.HomeReal,
		}}}
		data, err := irjson.Marshal(p)
		if err != nil {
			rt.Fatal(err)
		}
		back, err := irjson.Unmarshal(data)
		if err != nil {
			rt.Fatalf("%v\n%s", err, data)
		}
		if d := cmp.Diff(p, back, cmpopts.EquateComparable(netip.Addr{})); d != "" {
			rt.Fatalf("(-written +read)\n%s", d)
		}
		again, err := irjson.Marshal(back)
		if err != nil || !bytes.Equal(data, again) {
			rt.Fatalf("written again it differs (%v)", err)
		}
	})
}

// TestBare: the hashed form does not depend on spelling and origin.
func TestBare(t *testing.T) {
	a, b := ir.NewTool("t"), ir.NewTool("t")
	b.FS[0].Origin = ir.Origin{Layer: ir.LayerLocal, Pos: ir.Pos{File: "x", Line: 3, Col: 9}}
	b.FS[0].Written = "./."
	one, _ := irjson.MarshalBare(&ir.Program{Tools: []*ir.Tool{a}})
	two, _ := irjson.MarshalBare(&ir.Program{Tools: []*ir.Tool{b}})
	if !bytes.Equal(one, two) {
		t.Errorf("the bare forms differ:\n%s\n%s", one, two)
	}
	b.FS[0].Caps = b.FS[0].Caps.Without(ir.Execute)
	if three, _ := irjson.MarshalBare(&ir.Program{Tools: []*ir.Tool{b}}); bytes.Equal(one, three) {
		t.Error("another policy has the same bare form")
	}
}

// TestRefuses: a reader refuses unknown content and does not skip it.
func TestRefuses(t *testing.T) {
	good, err := irjson.Marshal(&ir.Program{Tools: []*ir.Tool{ir.NewTool("t")}})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string][2]string{
		"an unknown field":      {`"home":`, `"hom":`},
		"another format":        {irjson.Format, "other/policy"},
		"a newer version":       {`"format_version": 1`, `"format_version": 2`},
		"a newer base":          {`"base_version": 3`, `"base_version": 4`},
		"an unknown capability": {`"execute"`, `"fly"`},
		"an unknown layer":      {`"layer": "default"`, `"layer": "sky"`},
		"an unknown root":       {`"${workspace}"`, `"${moon}"`},
		"a path upwards":        {`"${workspace}"`, `"${workspace}/../x"`},
		"an unknown base":       {`"base": "system"`, `"base": "all"`},
		"an unknown home":       {`"home": "private"`, `"home": "public"`},
		"an unknown source":     {`"source": "local"`, `"source": "remote"`},
	}
	for name, r := range tests {
		bad := strings.Replace(string(good), r[0], r[1], 1)
		if bad == string(good) {
			t.Fatalf("%s: %q is not in the document", name, r[0])
		}
		if _, err := irjson.Unmarshal([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := irjson.Unmarshal(append(good, "{}"...)); err == nil {
		t.Error("data after the document was accepted")
	}
	newer := strings.Replace(string(good), `"format_version": 1`, `"format_version": 2`, 1)
	if _, err := irjson.Unmarshal([]byte(newer)); !errors.Is(err, irjson.ErrVersion) {
		t.Errorf("a newer version: got %v, want ErrVersion", err)
	}
}

// FuzzUnmarshal: no input causes a panic, and every accepted input can be written and read
// again.
func FuzzUnmarshal(f *testing.F) {
	good, _ := irjson.Marshal(&ir.Program{Tools: []*ir.Tool{ir.NewTool("t")}})
	f.Add(good)
	f.Add([]byte(`{"format":"accessc/policy","format_version":1,"tools":[]}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := irjson.Unmarshal(data)
		if err != nil {
			return
		}
		again, err := irjson.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := irjson.Unmarshal(again); err != nil {
			t.Fatalf("what was accepted is refused when written again: %v", err)
		}
	})
}
