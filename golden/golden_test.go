package golden_test

import (
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/ir/irjson"
)

var update = flag.Bool("update", false, "write what the program yields now into the golden files")

// TestGolden runs every archive below this directory.
func TestGolden(t *testing.T) {
	n := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".txtar" {
			n++
			t.Run(strings.TrimSuffix(path, ".txtar"), func(t *testing.T) { runFile(t, path) })
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Fatal("no golden files")
	}
}

func runFile(t *testing.T, path string) {
	t.Parallel()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if needsUnprivileged(a) && os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	c := golden.Lay(t, a)
	out := c.Run(t)
	got := map[string]string{"want.txt": out.Findings}
	if _, asks := c.File("ask"); asks {
		got["want.ask"] = out.Answers
	}
	for _, f := range a.Files {
		name, ok := strings.CutPrefix(f.Name, "want/")
		switch {
		case !ok:
		case out.Built == nil:
			t.Errorf("%s is expected, but nothing was built:\n%s", f.Name, out.Findings)
		case name == "policy.json":
			data, err := irjson.Marshal(out.Result.Program)
			if err != nil {
				t.Fatal(err)
			}
			got[f.Name] = c.Fold(string(data))
		default:
			got[f.Name] = c.Fold(string(out.Built[name]))
		}
	}
	if *update {
		rewrite(t, path, a, got)
		return
	}
	for name, text := range got {
		want, _ := c.File(name)
		if d := cmp.Diff(want, text); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func needsUnprivileged(a *txtar.Archive) bool {
	return slices.ContainsFunc(a.Files, func(f txtar.File) bool {
		return f.Name == "setup" && bytes.Contains(f.Data, []byte("unreadable "))
	})
}

func rewrite(t *testing.T, path string, a *txtar.Archive, got map[string]string) {
	for i, f := range a.Files {
		if text, ok := got[f.Name]; ok {
			a.Files[i].Data = []byte(text)
			delete(got, f.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got[name])})
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
