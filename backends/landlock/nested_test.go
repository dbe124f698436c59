package landlock_test

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/lsm"
)

// nested is a policy whose roots lie in each other: the workspace where the base grants, or in
// an external target, and the target of one external rule in the target of another. Cause: the plans
// of the roots were made apart from each other, so grants on the outer root reached into the inner root. Of two
// external rules with the same target the first decides; cause: both were granted.
type nested struct {
	tool *ir.Tool
	bind *ir.Bindings
}

func drawNested(t *rapid.T) nested {
	tool := irtest.ToolByName(t, irtest.Plain, 3)
	b := &ir.Bindings{
		Workspace: rapid.SampledFrom([]string{"/w", "/usr/src/w", "/opt", "/t/a/w", "/etc/w", "/"}).Draw(t, "workspace"),
		Home:      rapid.SampledFrom([]string{"/home/u/h", "/usr/src/w/h", "/t/h"}).Draw(t, "home"),
		External:  map[string]string{},
	}
	irtest.Bind(b, tool, rapid.SampledFrom([]string{"/home/u", "/t/a", "/usr/lib"}).Draw(t, "outside"))
	add := func(name, target string) {
		if !rapid.Bool().Draw(t, name) || target == b.Workspace {
			return
		}
		b.External[name] = target
		tool.FS = append(tool.FS, ir.FSRule{
			Written: name, At: ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}, External: true, Caps: irtest.Caps(t),
			Origin: ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: 9, Col: 1}},
		})
	}
	add("fork", "/t")
	add("fork/a", "/t/a")
	add("fork/a/b", "/t/a/b")
	add("lib", "/usr/lib")
	add("second", "/t/a")
	return nested{tool, b}
}

// TestNestedRoots compares the emitted text with Decide at absolute paths.
func TestNestedRoots(t *testing.T) {
	irtest.Check(t, 4000, 1, func(rt *rapid.T) {
		n := drawNested(rt)
		facts := ir.Facts{Bindings: n.bind}
		out, err := landlock.Backend{}.Compile(n.tool, backends.Target{Form: backends.Resolved, Facts: facts})
		if err != nil {
			rt.Fatal(err)
		}
		spec, err := landlock.Parse(out.Data)
		if err != nil {
			rt.Fatal(err)
		}
		abi := rapid.IntRange(1, landlock.MaxABI).Draw(rt, "abi")
		x := &trial{
			view: ir.NewView(n.tool, ir.Linux, facts), ledger: out.Ledger, abi: abi, ids: map[ir.Rule]ir.RuleID{},
			model: lsm.NewModel(spec, abi, existing),
		}
		for _, e := range x.view.Entries() {
			x.ids[e.Rule] = e.ID
			if e.Rule.Origin.Layer == ir.LayerBase {
				x.ids[e.Rule] = ir.BaseRule
			}
		}
		for _, dir := range []string{
			"/w", "/usr/src/w", "/usr/src", "/opt", "/t", "/t/a", "/t/a/w", "/t/a/b", "/t/h", "/usr/lib", "/etc/w",
			"/usr/src/w/h", n.bind.Workspace, n.bind.Home,
		} {
			for _, below := range []string{"", "a", "a/b", "ab"} {
				x.at(rt, n.bind, path.Join(dir, below))
			}
		}
	})
}

// existing returns the kind of node at a path in the world of this test: files are called f,
// nothing is called new, all else is a directory.
func existing(p string) ir.NodeKind {
	switch path.Base(p) {
	case "f":
		return ir.File
	case "new":
		return ir.Absent
	default:
		return ir.Dir
	}
}

// at compares every capability in one directory.
func (x *trial) at(t *rapid.T, b *ir.Bindings, dir string) {
	file, fresh := path.Join(dir, "f"), path.Join(dir, "new")
	for _, c := range []struct {
		cap  ir.Capability
		path string
		got  bool
	}{
		{ir.Read, file, x.model.Read(file, ir.File)},
		{ir.Read, dir, x.model.Read(dir, ir.Dir)},
		{ir.Update, file, x.model.Update(file)},
		{ir.Delete, file, x.model.Delete(file, ir.File)},
		{ir.Create, fresh, x.model.Create(fresh, ir.File)},
		{ir.Execute, file, x.model.Execute(file)},
	} {
		at := b.Locate(c.path)
		held := x.held(t, at, ir.AspectOf(c.cap))
		if strings.HasPrefix(c.path, "/dev") || strings.HasPrefix(c.path, "/proc") {
			continue
		}
		compare(t, c.cap.String()+" "+c.path, held, c.got, x.view.Decide(ir.Access{Cap: c.cap, On: ir.Direct(at)}).Allowed())
	}
}
