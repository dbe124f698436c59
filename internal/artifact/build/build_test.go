package build_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

func program(names ...string) *ir.Program {
	p := &ir.Program{}
	for _, n := range names {
		t := ir.NewTool(n)
		if source, ok := strings.CutPrefix(n, "mcp-"); ok {
			t = &ir.Tool{Name: n, Source: ir.Source{Kind: ir.SourceMCP, Detail: source}, Base: ir.BaseNone, Home: ir.HomeReal}
		}
		p.Tools = append(p.Tools, t)
	}
	return p
}

func request(p *ir.Program, only ...string) build.Request {
	return build.Request{Program: p, Backends: registry.All, Form: backends.Portable, Only: only}
}

func requestWith(p *ir.Program, sets []*ruleset.Set, only ...string) build.Request {
	req := request(p, only...)
	req.Rulesets = sets
	return req
}

// snapshot is every file below a directory, by path.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// write returns the paths that it changed.
func write(t *testing.T, req build.Request, dir string) []string {
	t.Helper()
	report, findings, err := build.Write(req, dir)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	return slices.Concat(report.Written, report.Removed)
}

// manifest reads the manifest of a build.
func manifest(t *testing.T, dir string) *build.Manifest {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, build.ManifestFile))
	must(t, err)
	m, err := build.ParseManifest(data)
	must(t, err)
	return m
}

func diff(t *testing.T, req build.Request, dir string) []build.Change {
	t.Helper()
	changes, findings, err := build.Diff(req, dir)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	return changes
}

// TestWrite: a second build changes nothing, a removed tool's files go, files that no manifest
// lists stay, and nothing is left of the staging.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if n := len(write(t, request(program("one", "two", "mcp-x")), dir)); n == 0 {
		t.Fatal("nothing was written")
	}
	first := snapshot(t, dir)
	before, _ := os.Stat(filepath.Join(dir, "one", "context.json"))
	if n := len(write(t, request(program("one", "two", "mcp-x")), dir)); n != 0 {
		t.Errorf("a second build changed %d files", n)
	}
	after, _ := os.Stat(filepath.Join(dir, "one", "context.json"))
	if !before.ModTime().Equal(after.ModTime()) || !os.SameFile(before, after) {
		t.Error("an equal file was written again")
	}
	for name, text := range map[string]string{"README.md": "mine", "two/notes.txt": "mine, too"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(t, request(program("one")), dir)
	got := snapshot(t, dir)
	for name := range first {
		_, there := got[name]
		if want := !strings.HasPrefix(name, "two/"); there != want {
			t.Errorf("%s: there %v, want %v", name, there, want)
		}
	}
	if got["README.md"] != "mine" || got["two/notes.txt"] != "mine, too" {
		t.Error("files of others were touched")
	}
	for name := range got {
		if strings.Contains(name, ".accessc") {
			t.Errorf("the staging left %s", name)
		}
	}
}

// TestPartial: building one tool leaves the others and their entries alone.
func TestPartial(t *testing.T) {
	dir := t.TempDir()
	write(t, request(program("one", "two")), dir)
	first := snapshot(t, dir)
	p := program("one", "two")
	p.Tools[0].FS[0].Caps = ir.Caps(ir.Read)
	p.Tools[1].FS[0].Caps = ir.Caps(ir.Read)
	changes := write(t, request(p, "one"), dir)
	got := snapshot(t, dir)
	for name, text := range first {
		if changed, may := got[name] != text, strings.HasPrefix(name, "one/") || name == build.ManifestFile; changed && !may {
			t.Errorf("%s changed", name)
		}
	}
	if len(changes) == 0 {
		t.Error("nothing changed")
	}
	m, err := build.ParseManifest([]byte(got[build.ManifestFile]))
	if err != nil || len(m.Tools) != 2 {
		t.Fatalf("the manifest lists %d tools, %v", len(m.Tools), err)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	p.Tools[1].FS[0].Caps = ir.All
	write(t, request(p), whole)
	if d := cmp.Diff(snapshot(t, whole), got); d != "" {
		t.Errorf("building one after the other differs from building both:\n%s", d)
	}
}

// TestManifestVouches: the hashes are those of the files, MCP tools have a line and
// no artifact.
func TestManifestVouches(t *testing.T) {
	dir := t.TempDir()
	write(t, request(program("one", "mcp-x")), dir)
	files := snapshot(t, dir)
	for _, e := range manifest(t, dir).Tools {
		if e.Confined != (e.Name == "one") || e.Confined == (len(e.Artifacts) == 0) {
			t.Errorf("%+v", e)
		}
		for file, sum := range e.Artifacts {
			if got := build.Hash([]byte(files[e.Name+"/"+file])); got != sum {
				t.Errorf("%s/%s: %s, the manifest says %s", e.Name, file, got, sum)
			}
		}
	}
}

// TestAlikeOnce: equal parts of tools stand once in the manifest, so that many tools of one
// policy do not make it long, and is read back for each of them.
func TestAlikeOnce(t *testing.T) {
	var names []string
	for i := range 63 {
		names = append(names, fmt.Sprintf("tool%02d", i))
	}
	p, dir := program(append(names, "mcp-x")...), t.TempDir()
	write(t, request(p), dir)
	data, err := os.ReadFile(filepath.Join(dir, build.ManifestFile))
	must(t, err)
	if len(data) > 300_000 {
		t.Errorf("the manifest has %d bytes", len(data))
	}
	read, err := build.ParseManifest(data)
	must(t, err)
	for i, tool := range p.Tools {
		alone := t.TempDir()
		write(t, request(&ir.Program{Tools: []*ir.Tool{tool}}), alone)
		if d := cmp.Diff(manifest(t, alone).Tools[0], read.Tools[i], cmpopts.EquateEmpty()); d != "" {
			t.Errorf("an entry is not that of the tool alone (-want +got):\n%s", d)
		}
	}
	cut := bytes.Replace(data, []byte(`"policy_as": "tool00"`), []byte(`"policy_as": "none"`), 1)
	read, err = build.ParseManifest(cut)
	must(t, err)
	if _, err := read.Policies(); err == nil || !strings.Contains(err.Error(), "not a usable manifest") {
		t.Errorf("a tool like one that is not there: %v", err)
	}
}

// TestFailedWriteLeavesTheOld: when a write fails for any reason, the directory is unchanged.
func TestFailedWriteLeavesTheOld(t *testing.T) {
	changed := program("one", "two", "zzz")
	changed.Tools[0].FS[0].Caps = ir.Caps(ir.Read)
	tests := map[string]func(t *testing.T, dir string){
		"a directory in the way of the last file": func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Join(dir, "zzz", "landlock.json", "x"), 0o755))
		},
		"a file in the way of a directory": func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "zzz"), []byte("mine"), 0o644))
		},
		"a symlink out of the directory": func(t *testing.T, dir string) {
			out := t.TempDir()
			must(t, os.Symlink(out, filepath.Join(dir, "zzz")))
			t.Cleanup(func() {
				if entries, _ := os.ReadDir(out); len(entries) > 0 {
					t.Error("something was written through the symlink")
				}
			})
		},
		"a damaged manifest": func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, build.ManifestFile), []byte("{"), 0o644))
		},
		"a manifest of a newer version": func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, build.ManifestFile), []byte(`{"format":"accessc/manifest","format_version":99}`), 0o644))
		},
		"a symlink in the way of the staging": func(t *testing.T, dir string) {
			// Cause: files were staged where a symlink led, which no rule protects.
			must(t, os.Symlink("two", filepath.Join(dir, ".accessc")))
		},
		"a FIFO in the way": func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "one", "context.json")))
			must(t, os.Symlink(os.DevNull, filepath.Join(dir, "one", "context.json")))
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, request(program("one", "two")), dir)
			spoil(t, dir)
			before := list(t, dir)
			if _, _, err := build.Write(request(changed), dir); err == nil {
				t.Fatal("the write succeeded")
			}
			if d := cmp.Diff(before, list(t, dir)); d != "" {
				t.Errorf("the directory changed (-before +after):\n%s", d)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// list is every entry below a directory, with the contents of regular files.
func list(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		out[p] = e.Type().String()
		if e.Type().IsRegular() {
			data, err := os.ReadFile(p)
			out[p] += string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDiffNamesWhatChanged: a check prints the changes that a build would write.
func TestDiffNamesWhatChanged(t *testing.T) {
	dir := t.TempDir()
	write(t, request(program("one")), dir)
	must(t, os.WriteFile(filepath.Join(dir, "one", "context.json"), []byte("x"), 0o644))
	var paths []string
	for _, c := range diff(t, request(program("one", "two")), dir) {
		paths = append(paths, c.Path)
	}
	if len(paths) < 4 || paths[0] != build.ManifestFile || paths[1] != "one/context.json" {
		t.Errorf("got %v", paths)
	}
	if n := len(diff(t, request(program("one")), filepath.Join(dir, "none"))); n != len(registry.All)+1 {
		t.Errorf("a directory that does not exist: %d changes", n)
	}
}

// FuzzParseManifest: no content of an output directory causes a panic.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"format":"accessc/manifest","format_version":1,"tools":[{"name":"x","artifacts":{"../y":"z"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = build.ParseManifest(data) })
}
