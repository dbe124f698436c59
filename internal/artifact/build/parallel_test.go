package build_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/entry"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// random is a program of tools some of which have their policies alike.
func random(r *rand.Rand) *ir.Program {
	p := &ir.Program{}
	for i := range 1 + r.IntN(6) {
		t := ir.NewTool(fmt.Sprintf("tool%d", i))
		switch r.IntN(4) {
		case 0:
			t = program("mcp-" + t.Name).Tools[0]
		case 1:
		default:
			t.Declared.FS, t.FS = true, nil
			for j := range r.IntN(4) {
				t.FS = append(t.FS, ir.FSRule{At: ir.In([]string{"", "a", "a/b", "<c>"}[r.IntN(4)]), Caps: ir.CapSet(r.IntN(256)) & ir.All, Written: fmt.Sprint("&", j)})
			}
		}
		if r.IntN(3) == 0 && t.Source.Kind == ir.SourceLocal {
			t.Command = &ir.Command{Program: "make", Args: []string{"<&>", fmt.Sprint(r.IntN(2))}}
		}
		p.Tools = append(p.Tools, t)
	}
	return p
}

// TestOneAfterTheOther: a build of several tools at a time is that of one after the other, and its
// manifest is laid out as any document.
func TestOneAfterTheOther(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	seed := epoch.Seed(t)
	n := irtest.Rounds(t, 60)
	fmt.Printf("property %s: %d runs, seed %d\n", t.Name(), n, seed)
	for i := range n {
		p := random(epoch.Source(seed, uint64(i)))
		one, many := t.TempDir(), t.TempDir()
		runtime.GOMAXPROCS(1)
		write(t, request(p), one)
		runtime.GOMAXPROCS(8)
		write(t, request(p), many)
		files := snapshot(t, one)
		if d := cmp.Diff(files, snapshot(t, many)); d != "" {
			t.Fatalf("run %d: (-one +many):\n%s", i, d)
		}
		m := manifest(t, one)
		want := &build.Document{Manifest: *m, Tools: []build.EntryDoc{}}
		sharer := entry.NewSharer[backends.Row]()
		for _, e := range m.Tools {
			d := build.EntryDoc{Entry: e}
			if e.Policy != nil {
				var err error
				d.Shared, err = sharer.Share(*e.Policy, e.Ledger)
				must(t, err)
			}
			want.Tools = append(want.Tools, d)
		}
		text, err := backends.JSON(want)
		must(t, err)
		if d := cmp.Diff(string(text), files[build.ManifestFile]); d != "" {
			t.Fatalf("run %d: the manifest (-want +got):\n%s", i, d)
		}
	}
}

// failing is a backend that fails for some tools, and refuses a rule of others.
type failing struct {
	backends.Backend
	fails, refuses []string
}

func (b failing) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	out, err := b.Backend.Compile(t, target)
	if slices.Contains(b.fails, t.Name) {
		return out, errors.New("no " + t.Name)
	}
	if slices.Contains(b.refuses, t.Name) {
		out.Refusals = append(out.Refusals, backends.Refusal{Why: "no " + t.Name})
	}
	return out, err
}

// TestFailures: of many errors the one of the first tool is reported, all refusals are, and
// neither leaves anything behind, not even the directories around the output.
func TestFailures(t *testing.T) {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("tool%02d", i))
	}
	for range 20 {
		req := request(program(names...))
		top := filepath.Join(t.TempDir(), "a")
		req.Backends = []backends.Backend{failing{registry.All[0], []string{"tool07", "tool08", "tool30"}, []string{"tool03"}}}
		_, findings, err := build.Write(req, filepath.Join(top, "b", "access"))
		if err == nil || err.Error() != "context: tool07\nno tool07" || len(findings) > 0 {
			t.Fatalf("%v, %v", err, findings)
		}
		req.Backends = []backends.Backend{failing{registry.All[0], nil, []string{"tool31", "tool03", "tool12"}}}
		_, findings, err = build.Write(req, filepath.Join(top, "b", "access"))
		var labels []string
		for _, f := range findings {
			labels = append(labels, f.Label)
		}
		if d := cmp.Diff([]string{"context: no tool03", "context: no tool12", "context: no tool31"}, labels); err != nil || d != "" {
			t.Fatal(err, d)
		}
		if _, err := os.Lstat(top); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("something was left: %v", err)
		}
	}
}
