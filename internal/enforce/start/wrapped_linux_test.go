package start_test

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/mnt"
)

// modeWrapped is the part of the test binary that starts a worker by bubblewrap.
const modeWrapped = "kernel-wrapped"

// loadWrapped becomes a worker by bubblewrap, whatever the gaps.
func loadWrapped(file string) {
	data, err := os.ReadFile(file)
	if err == nil {
		var accept []string
		for _, g := range ir.Gaps() {
			accept = append(accept, string(g))
		}
		err = start.Wrap(start.Request{
			Program: os.Args[0], Args: []string{"kernel-worker"}, Environ: os.Environ(), Messages: io.Discard, Accept: accept,
		}, data)
	}
	fmt.Fprintln(stderr, err)
	os.Exit(start.CodeFailed)
}

// needsWrapper skips a test on a host whose bubblewrap cannot start tools.
func needsWrapper(t *testing.T) {
	t.Helper()
	for _, f := range start.Examine().Findings {
		if f.Name == "bubblewrap" && f.State != start.Partial {
			t.Skip("bubblewrap: " + f.Detail)
		}
	}
}

// onDisk returns the kind of the file at a place of the disk, and the place that links there lead to.
func onDisk(place string) (ir.NodeKind, string) {
	to, err := filepath.EvalSymlinks(place)
	if err != nil {
		return ir.Absent, place
	}
	info, err := os.Stat(to)
	switch {
	case err != nil:
		return ir.Absent, place
	case info.IsDir():
		return ir.Dir, to
	default:
		return ir.File, to
	}
}

// wrappedOracle is one policy under bubblewrap, with the mounts that its arguments make.
type wrappedOracle struct {
	*oracle
	*mnt.Foretold
	facts ir.Facts
	seen  map[string]int
}

// lay makes the tree of the start, compiles, starts the worker and makes the later files.
func (o *wrappedOracle) lay() {
	if o.tool != nil {
		o.tool.stop()
	}
	o.clear()
	o.grow(o.start)
	out, err := bubblewrap.Backend{}.Compile(o.view.Tool, backends.Target{Form: backends.Resolved, Facts: o.facts, Node: onDisk})
	if err != nil {
		o.t.Fatal(err)
	}
	spec, err := bubblewrap.Parse(out.Data)
	if err != nil {
		o.t.Fatal(err)
	}
	ledger, err := backends.Ledger(spec.Ledger)
	if err != nil {
		o.t.Fatal(err)
	}
	entries, err := mnt.Bubblewrap(spec)
	if err != nil {
		o.t.Fatal(err)
	}
	symbols := strings.NewReplacer(o.root, "${workspace}", o.elsewhere(), irtest.Elsewhere.String(), o.facts.Bindings.Home, "${home}")
	for i := range entries {
		entries[i].Place = symbols.Replace(entries[i].Place)
	}
	o.Foretold = &mnt.Foretold{View: o.view, Ledger: ledger, Table: mnt.NewTable(entries, o.start, o.now)}
	o.tool = startMode(o.t, modeWrapped, out.Data, o.dir, o.who)
	o.tool.exchange(o.t, attempt{Op: "none"})
	o.grow(o.now)
	o.fresh = true
}

// rel is a place as a path from the workspace.
func (o *wrappedOracle) rel(at ir.Location) string {
	rel, _ := filepath.Rel(o.root, o.path(at.String()))
	return rel
}

// try asks the kernel, by any spelling of the paths.
func (o *wrappedOracle) try(op string, a, b ir.Location) bool {
	if !o.fresh {
		o.lay()
	}
	o.asked++
	how := []string{"absolute", "relative", "dots", "slashes", "cwd", "root", "descriptor", "magic"}
	q := attempt{Op: op, A: o.rel(a), HowA: rapid.SampledFrom(how).Draw(o.t, "spelling")}
	if b.Root.Kind != 0 {
		q.B, q.HowB = o.rel(b), rapid.SampledFrom(how).Draw(o.t, "spelling")
	}
	e := o.tool.exchange(o.t, q)[0]
	if !slices.Contains([]string{"read", "list", "write", "execute", "chmod", "utimes"}, op) && e == 0 {
		o.fresh = false
	}
	switch e {
	case 0:
		return true
	case syscall.EACCES, syscall.EPERM, syscall.EXDEV, syscall.EROFS, syscall.EBUSY, syscall.ENOENT:
		return false
	default:
		o.t.Fatalf("%+v: %v", q, e)
		return false
	}
}

// check compares the kernel with the mounts that were foreseen, and with the policy: of a leak the very cell has to speak that is
// about it, and of a refusal one of those that have to do with the operation.
func (o *wrappedOracle) check(what string, kernel, foreseen bool, policy mnt.Refused, cells ...ir.Row) {
	if kernel != foreseen {
		o.t.Fatalf("%s: the kernel says %v, and the arguments %v", what, kernel, foreseen)
	}
	if kernel == policy.Allowed() {
		o.seen["alike"]++
		return
	}
	if kernel {
		cells = []ir.Row{o.Leak(o.t, what, policy)}
	}
	for _, r := range cells {
		if kernel || r.Is != ir.Exact && r.Is != ir.Assumed {
			for _, c := range r.Causes {
				o.seen[string(c.ID)]++
			}
			return
		}
	}
	o.t.Fatalf("%s: the kernel refuses it, the policy does not, and no row of the ledger speaks of it", what)
}

// uses are the operations on one place, by the kind of node that is there.
var uses = map[ir.NodeKind]map[string]ir.Capability{
	ir.Absent: {"create": ir.Create, "mkdir": ir.Create, "symlink": ir.Create, "fifo": ir.Create},
	ir.Dir:    {"list": ir.Read, "rmdir": ir.Delete, "chmod": ir.Update},
	ir.File:   {"read": ir.Read, "write": ir.Update, "empty": ir.Update, "unlink": ir.Delete, "execute": ir.Execute, "chmod": ir.Update, "utimes": ir.Update},
}

var madeNames = map[string]ir.NameKind{"create": ir.NameFile, "fifo": ir.NameFile, "mkdir": ir.NameDir, "symlink": ir.NameLink, "rmdir": ir.NameDir, "unlink": ir.NameFile}

func (o *wrappedOracle) use(at ir.Location) {
	kind := o.now.Kind(at.String())
	o.useBy(rapid.SampledFrom(slices.Sorted(maps.Keys(uses[kind]))).Draw(o.t, "operation"), at)
}

func (o *wrappedOracle) useBy(op string, at ir.Location) {
	kind := o.now.Kind(at.String())
	c := uses[kind][op]
	parent, _ := at.Parent()
	if kind == ir.Absent && o.now.Kind(parent.String()) != ir.Dir || op == "rmdir" && o.holds(at) {
		return
	}
	if !o.fresh {
		o.lay()
	}
	v := mnt.Refused{Verdict: o.view.Decide(ir.Access{Cap: c, On: ir.Direct(at), Name: madeNames[op]})}
	aspect := ir.AspectOf(c)
	if v.Metadata = op == "chmod" || op == "utimes"; v.Metadata {
		aspect = ir.AspectMetadata
	}
	o.check(op+" "+at.String(), o.try(op, at, ir.Location{}), o.Table.Access(c, at.String()), v, o.Cell(at, aspect))
}

// holds reports whether there is anything in a directory.
func (o *wrappedOracle) holds(at ir.Location) bool {
	for p := range o.now {
		if strings.HasPrefix(p, at.String()+"/") {
			return true
		}
	}
	return false
}

func (o *wrappedOracle) move(src, dst ir.Location) {
	s, d := src.String(), dst.String()
	parent, _ := dst.Parent()
	if !o.now.Movable(s, d) || o.now.Kind(parent.String()) != ir.Dir || o.holds(dst) {
		return
	}
	if !o.fresh {
		o.lay()
	}
	cells := []ir.Row{
		o.Cell(src, ir.AspectDelete), o.Cell(src, ir.AspectMove), o.Cell(src, ir.AspectRead), o.Cell(src, ir.AspectUpdate),
		o.Cell(dst, ir.AspectCreate), o.Cell(dst, ir.AspectUpdate), o.Cell(dst, ir.AspectDelete), o.Cell(dst, ir.AspectMove),
	}
	sk, dk := o.now.Kind(s), o.now.Kind(d)
	if sk == ir.File && dk == ir.Absent && rapid.Bool().Draw(o.t, "link") {
		v := o.view.Decide(ir.Link{Src: ir.Direct(src), Dst: ir.Direct(dst)})
		o.check("link "+s+" "+d, o.try("link", src, dst), o.Table.Link(s, d), mnt.Refused{Verdict: v, Src: src}, cells...)
		return
	}
	v := o.view.Decide(ir.Rename{Src: ir.Direct(src), Dst: ir.Direct(dst), SrcKind: sk, DstKind: dk})
	o.check("rename "+s+" "+d, o.try("rename", src, dst), o.Table.Rename(s, d), mnt.Refused{Verdict: v, Src: src}, cells...)
}

// end ends the worker, and returns how many operations were asked of the kernel.
func (o *wrappedOracle) end() int {
	if o.tool != nil {
		o.tool.stop()
	}
	return o.asked
}

// givenWrapped asks about operations that bubblewrap permits or refuses against the policy, one for each of the causes that
// random policies seldom lead to.
func givenWrapped(t *rapid.T, dir string, who identity, seen map[string]int) int {
	tool := ir.NewTool("t")
	tool.Protects = false
	tool.FS = []ir.FSRule{
		rule("", ir.All), rule("whole", ir.Caps(ir.Read, ir.Update)), rule("starts", ir.Caps(ir.Read)), rule("late", 0),
		{Written: "~", At: ir.Location{Root: irtest.Elsewhere}, External: true, Caps: ir.All},
	}
	o := &wrappedOracle{oracle: newOracle(t, dir, who, tool), seen: seen}
	o.facts = o.target.Facts
	o.start = irtest.World{}
	for _, p := range []string{"whole/f", "starts/f", "free"} {
		o.start.Grow("${workspace}/"+p, ir.File)
	}
	o.start[irtest.Elsewhere.String()] = ir.Dir
	o.now = maps.Clone(o.start)
	o.now.Grow("${workspace}/late", ir.File)
	o.useBy("create", ir.In("whole/new"))
	o.useBy("execute", ir.In("starts/f"))
	o.useBy("read", ir.In("late"))
	o.move(ir.In("free"), ir.Location{Root: irtest.Elsewhere, Path: "new"})
	return o.end()
}

// testWrapped puts random policies under bubblewrap. Every answer of the kernel is the one that the
// arguments lead to expect, and where it is not the policy's the ledger says so.
func testWrapped(t *testing.T, who identity) {
	needsWrapper(t)
	base := workspace(t)
	n, asked, seen := 0, 0, map[string]int{}
	const per = 30
	irtest.Check(t, 300, per, func(rt *rapid.T) {
		n++
		tool := irtest.ToolByName(rt, irtest.Plain, 5)
		o := &wrappedOracle{oracle: newOracle(rt, filepath.Join(base, fmt.Sprint(n)), who, tool), seen: seen}
		o.facts = o.target.Facts
		defer func() { asked += o.end() }()
		if n == 1 {
			asked += givenWrapped(rt, filepath.Join(base, "given"), who, seen)
		}
		places := o.now.Places()
		if len(places) == 0 {
			return
		}
		for range per / 2 {
			o.use(rapid.SampledFrom(places).Draw(rt, "place"))
			o.move(rapid.SampledFrom(places).Draw(rt, "src"), rapid.SampledFrom(places).Draw(rt, "dst"))
		}
	})
	fmt.Printf("property %s: %d operations asked of the kernel: %v\n", t.Name(), asked, seen)
	irtest.Happened(t, seen, "alike", "mounts.whole", "mounts.starts", "mounts.late", "mounts.apart")
}

// TestWrapped asks the running kernel under bubblewrap as the user of the test.
func TestWrapped(t *testing.T) {
	t.Parallel()
	testWrapped(t, nil)
}

// TestWrappedUnprivileged asks it as a user without any privilege.
func TestWrappedUnprivileged(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("runs as an unprivileged user already")
	}
	testWrapped(t, nobody)
}
