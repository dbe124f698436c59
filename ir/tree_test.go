package ir_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestOneDirectoryOfTwoRoots: the place of a root was looked for with only that root left out,
// so that of two external rules with one target each was the root around the other, and the
// name of their directory could be moved away in the root that it is in.
func TestOneDirectoryOfTwoRoots(t *testing.T) {
	tool := ir.NewTool("t")
	for _, name := range []string{"all", "one", "two"} {
		tool.FS = append(tool.FS, external(name, ir.All))
	}
	b := &ir.Bindings{Workspace: "/w", External: map[string]string{"all": "/data", "one": "/data/x", "two": "/data/x"}}
	at := ir.Location{Root: ir.Root{Kind: ir.External, Name: "all"}, Path: "x"}
	for _, name := range []string{"one", "two"} {
		if got := b.Outer(ir.Root{Kind: ir.External, Name: name}); got != at {
			t.Errorf("%s lies at %v, want %v", name, got, at)
		}
	}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: b})
	to := ir.Location{Root: at.Root, Path: "y"}
	if v.Decide(ir.Rename{Src: ir.Direct(at), Dst: ir.Direct(to), SrcKind: ir.Dir, DstKind: ir.Absent}).Allowed() {
		t.Error("the directory of two roots may be moved")
	}
}

func external(name string, caps ir.CapSet) ir.FSRule {
	at := ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}
	return ir.FSRule{Written: name, At: at, External: true, Caps: caps}
}

// TestTree: in a tree of roots that lie in each other, every region stands where its directory
// is on the host, belongs to the root that the directory is located in, and has the
// capabilities that Decide answers with; no rule is left out that decides anywhere.
func TestTree(t *testing.T) {
	irtest.Check(t, 4000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 5)
		dirs := []string{"/", "/w", "/w/a", "/w/a/b/ab", "/usr/lib", "/t", "/t/a"}
		dir := func(name string) string { return rapid.SampledFrom(dirs).Draw(rt, name) }
		b := &ir.Bindings{Workspace: dir("workspace"), Home: dir("home"), Temp: dir("tmp"), External: map[string]string{}}
		for _, name := range []string{"a/fork", "two", "without a rule"} {
			b.External[name] = dir(name)
			if name != "without a rule" {
				tool.FS = append(tool.FS, external(name, irtest.Caps(rt)))
			}
		}
		irtest.Bind(b, tool, dir("outside"))
		v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: b})
		places := map[ir.Location]*ir.Region{}
		for _, root := range v.Tree() {
			root.WalkRoot(func(r *ir.Region) { places[r.At] = r })
		}
		for at, r := range places {
			checkRegion(rt, v, b, r)
			if r.Above != nil && places[r.Above.At] != r.Above {
				rt.Fatalf("%v is below %v, which is in no tree", at, r.Above.At)
			}
		}
		for _, e := range v.Entries() {
			if abs, _ := b.Path(e.Rule.At); !strings.HasPrefix(e.Rule.At.Path, "*") && b.Locate(abs) == e.Rule.At && places[e.Rule.At] == nil {
				rt.Fatalf("no region for the rule on %v", e.Rule.At)
			}
		}
	})
}

func checkRegion(t *rapid.T, v *ir.View, b *ir.Bindings, r *ir.Region) {
	abs, _ := b.Path(r.At)
	if r.IsRoot() && r.Above == nil && abs != "/" {
		t.Fatalf("%s lies in no root, and System is around all", abs)
	}
	if r.Above != nil {
		if above, _ := b.Path(r.Above.At); path.Join(above, r.Name) != abs {
			t.Fatalf("%s is %s in %s", abs, r.Name, above)
		}
	}
	if at := b.Locate(abs); at != r.At {
		t.Fatalf("%s is a region of %v, and located at %v", abs, r.At, at)
	}
	for _, c := range [...]ir.Capability{ir.Read, ir.Update} {
		if want := v.Decide(ir.Access{Cap: c, On: ir.Direct(r.At)}).Allowed(); r.Caps.Has(c) != want && !r.Link {
			t.Fatalf("%s of %s: the region says %v, Decide %v", c, abs, !want, want)
		}
	}
}

// TestPortableTree: without bindings every root is a tree of its own, and the workspace is such a tree even where no
// rule is about it.
func TestPortableTree(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{external("fork", ir.All)}
	var got []ir.RootKind
	for _, r := range ir.NewView(tool, ir.Linux, ir.Facts{}).Tree() {
		got = append(got, r.At.Root.Kind)
		if r.Above != nil || r.Pinned || r.ID() == "" {
			t.Errorf("%+v", r)
		}
	}
	if want := []ir.RootKind{ir.Workspace, ir.System, ir.Home, ir.Temp, ir.External}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
