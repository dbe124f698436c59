package build_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// counting counts the tools that a backend compiles.
type counting struct {
	backends.Backend
	n *atomic.Int64
}

func (b counting) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	b.n.Add(1)
	return b.Backend.Compile(t, target)
}

// counted is a request that remembers, and the number of tools that it compiles.
func counted(p *ir.Program, memory string, only ...string) (build.Request, *atomic.Int64) {
	n := &atomic.Int64{}
	req := request(p, only...)
	req.Backends = append([]backends.Backend{counting{registry.All[0], n}}, registry.All[1:]...)
	req.Memory = memory
	return req, n
}

// TestMemory: a tool that did not change is not compiled again, whatever else changes, and one
// whose files are not as they were written is.
func TestMemory(t *testing.T) {
	names := []string{"one", "two", "three", "mcp-x"}
	narrower := func(p *ir.Program) { p.Tools[1].FS[0].Caps = ir.Caps(ir.Read) }
	moved := func(p *ir.Program) { p.Tools[1].FS[0].Origin.Path = "elsewhere" }
	for name, tt := range map[string]struct {
		edit    func(*ir.Program)
		between func(dir, memory string) error
		request func(*build.Request)
		want    int64
	}{
		"nothing":               {want: 0},
		"a rule":                {edit: narrower, want: 1},
		"an origin":             {edit: moved, want: 1},
		"a command":             {edit: func(p *ir.Program) { p.Tools[0].Command = &ir.Command{Program: "ls"} }, want: 1},
		"a tool less":           {edit: func(p *ir.Program) { p.Tools = p.Tools[1:] }, want: 0},
		"fewer targets":         {request: func(r *build.Request) { r.Backends = r.Backends[:2] }, want: 3},
		"a resolved build":      {request: func(r *build.Request) { r.Form = backends.Resolved }, want: 3},
		"an artifact is gone":   {between: func(dir, _ string) error { return os.Remove(filepath.Join(dir, "two", "seatbelt.sb")) }, want: 1},
		"a tool's files are":    {between: func(dir, _ string) error { return os.RemoveAll(filepath.Join(dir, "two")) }, want: 1},
		"an artifact is edited": {between: func(dir, _ string) error { return edit(filepath.Join(dir, "one", "landlock.json")) }, want: 1},
		"the manifest is": {between: func(dir, _ string) error {
			return replace(filepath.Join(dir, build.ManifestFile), `"risk": "medium"`, `"risk": "low"`)
		}, want: 0},
		"the record is damaged": {between: func(_, memory string) error { return edit(memory) }, want: 3},
		"the record is gone":    {between: func(_, memory string) error { return os.Remove(memory) }, want: 3},
		"an artifact and its hash in the manifest": {between: func(dir, _ string) error {
			file := filepath.Join(dir, "one", "landlock.json")
			old, err := os.ReadFile(file)
			err = errors.Join(err, replace(file, "PATH", "PATX"))
			data, also := os.ReadFile(file)
			return errors.Join(err, also, replace(filepath.Join(dir, build.ManifestFile), build.Hash(old), build.Hash(data)))
		}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir, fresh, memory := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "state", "built")
			first, n := counted(program(names...), memory)
			write(t, first, dir)
			if n.Load() != 3 {
				t.Fatalf("the first build compiled %d tools", n.Load())
			}
			if tt.between != nil {
				must(t, tt.between(dir, memory))
			}
			p := program(names...)
			if tt.edit != nil {
				tt.edit(p)
			}
			req, n := counted(p, memory)
			if tt.request != nil {
				tt.request(&req)
			}
			write(t, req, dir)
			if n.Load() != tt.want {
				t.Errorf("compiled %d tools, want %d", n.Load(), tt.want)
			}
			req.Memory = ""
			write(t, req, fresh)
			if d := cmp.Diff(snapshot(t, fresh), snapshot(t, dir)); d != "" {
				t.Errorf("not the build from nothing (-nothing +this):\n%s", d)
			}
		})
	}
}

// edit changes the last byte but one of a file: a build's files end in a line break.
func edit(file string) error {
	data, err := os.ReadFile(file)
	if err == nil {
		data[len(data)-2] ^= 1
		err = os.WriteFile(file, data, 0o644)
	}
	return err
}

// replace changes a text that must be in a file.
func replace(file, old, new string) error {
	data, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(data, []byte(old)) {
		return fmt.Errorf("%s has no %s: %w", file, old, err)
	}
	return os.WriteFile(file, bytes.ReplaceAll(data, []byte(old), []byte(new)), 0o644)
}

// edited gives one tool other capabilities, or none.
func edited(r *rand.Rand, p *ir.Program) *ir.Program {
	if r.IntN(2) == 0 {
		tool := p.Tools[r.IntN(len(p.Tools))]
		for j := range tool.FS {
			tool.FS[j].Caps ^= ir.CapSet(r.IntN(256)) & ir.All
		}
	}
	return p
}

// TestMemoryAgainstNothing: after random edits of the policies, of the files, of the record and of the choice of tools,
// a build that remembers gives what one from nothing does.
func TestMemoryAgainstNothing(t *testing.T) {
	seed := epoch.Seed(t)
	n := irtest.Rounds(t, 60)
	fmt.Printf("property %s: %d runs of 6 builds, seed %d\n", t.Name(), n, seed)
	compiled := map[bool]int{}
	for i := range n {
		r := epoch.Source(seed, uint64(i))
		dir, memory := t.TempDir(), filepath.Join(t.TempDir(), "built")
		forgetful := t.TempDir()
		var p *ir.Program
		for range 6 {
			// Every third build or so is of the same policies as the one before.
			if again := p != nil && r.IntN(3) == 0; !again {
				p = edited(r, random(epoch.Source(seed, uint64(r.IntN(3)))))
			}
			for _, name := range slices.Sorted(maps.Keys(snapshot(t, dir))) {
				if name != build.ManifestFile && r.IntN(20) == 0 {
					must(t, edit(filepath.Join(dir, name)))
					must(t, edit(filepath.Join(forgetful, name)))
				}
			}
			if _, err := os.Stat(memory); err == nil && r.IntN(10) == 0 {
				must(t, edit(memory))
			}
			var only []string
			if r.IntN(4) == 0 {
				only = []string{p.Tools[r.IntN(len(p.Tools))].Name}
			}
			req, count := counted(p, memory, only...)
			write(t, req, dir)
			confinedTools := len(slices.DeleteFunc(slices.Clone(p.Tools), func(t *ir.Tool) bool { return t.Source.Kind != ir.SourceLocal }))
			compiled[int(count.Load()) < confinedTools && only == nil]++
			req.Memory = ""
			write(t, req, forgetful)
			if d := cmp.Diff(snapshot(t, forgetful), snapshot(t, dir)); d != "" {
				t.Fatalf("run %d: (-nothing remembered +remembered):\n%s", i, d)
			}
		}
	}
	if compiled[true] == 0 || compiled[false] == 0 {
		t.Errorf("tools were left alone or not: %v", compiled)
	}
}
