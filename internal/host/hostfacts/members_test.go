package hostfacts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// TestMembersStay: no tool moves a member of the workspace, or one of a member, or a directory around it; others are
// moved as before. Cause: moves between two names that one pattern matches brought no name that was not protected
// before, so a member took the place, and the approvals, of another one.
func TestMembersStay(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "ws")
	const tool = "[tools.t]\nsource = \"local\"\ncommand = \"true\"\n"
	for name, text := range map[string]string{
		"accessc.toml":                   "members = [\"packages/*\", \"x/*/y*\", \"one\", \"ext/*\"]\n" + tool,
		"packages/a/accessc.toml":        "members = [\"sub/*\", \"../up\"]\n",
		"packages/a/sub/b/.jp/k":         "",
		"packages/a/sub/plain/k":         "",
		"packages/c/.accessc/local.toml": "members = [\"in\"]\n",
		"packages/c/in/accessc.toml":     "",
		"packages/plain/k":               "",
		"packages/up/accessc.toml/k":     "", // a directory of that name: no member, and its name is protected
		"x/1/y1/accessc.toml":            "",
		"x/2/z/accessc.toml":             "",
		"x/3/y/k":                        "",
		"one/.jp/k":                      "",
		"other/deep/accessc.toml":        "",
		"ext/a/accessc.toml":             "extends = [\"conf/x.toml\", \"tools/*.toml\", \"*/part.toml\"]\n",
		"ext/a/conf/x.toml":              "extends = [\"../more.toml\"]\n",
		"ext/a/more.toml":                "",
		"ext/a/tools/y.toml":             "",
		"ext/a/made/part.toml":           "",
		"ext/plain/conf/x.toml":          "",
		"ext/broken/accessc.toml":        "extends = [\"gone.toml\"]\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	opts := Options{Options: compiler.Options{Root: root}, State: userdir.Dir(filepath.Join(dir, "state"))}
	res, err := Compile(opts)
	if err != nil || res.Program == nil {
		t.Fatalf("%v: %v", err, res.Findings)
	}
	one, _ := res.Program.Tool("t")
	for _, p := range []ir.Platform{ir.Linux, ir.Darwin, ir.Windows} {
		v := ir.NewView(one, p, res.Facts(one))
		for name, free := range map[string]bool{
			"packages": false, "packages/a": false, "packages/a/sub": false, "packages/a/sub/b": false,
			"packages/c":    false,
			"packages/c/in": false, "x": false, "x/1": false, "x/1/y1": false, "one": false,
			"packages/a/sub/plain": true, "packages/plain": true, "x/2": true, "x/3": true,
			"x/3/y": true, "other": true, "other/deep": true,
		} {
			at := ir.Direct(ir.In(name))
			beside := ir.Direct(ir.In(name + "2"))
			move := ir.Rename{Src: at, Dst: beside, SrcKind: ir.Dir, DstKind: ir.Absent}
			if got := v.Decide(move).Allowed(); got != free {
				t.Errorf("%v: %s can be moved: %v", p, name, got)
			}
			plain := ir.Direct(ir.In("packages/plain"))
			if v.Decide(ir.Exchange{A: at, B: plain, AKind: ir.Dir, BKind: ir.Dir}).Allowed() && !free {
				t.Errorf("%v: %s can be exchanged", p, name)
			}
		}
		// The files that a member extends are its policy as well: a tool of the workspace around it wrote them.
		for name, free := range map[string]bool{
			"ext/a/conf/x.toml": false, "ext/a/more.toml": false, "ext/a/tools/y.toml": false, "ext/a/tools/new": false,
			"ext/a/conf/new": true, "ext/a/k": true, "ext/plain/conf/x.toml": true, "ext/broken/gone.toml": false,
			"ext/a/new/part.toml": p != ir.Linux,
		} {
			for _, c := range []ir.Capability{ir.Create, ir.Update, ir.Delete} {
				if got := v.Decide(ir.Access{Cap: c, On: ir.Direct(ir.In(name))}).Allowed(); got != free {
					t.Errorf("%v: %s of %s is allowed: %v", p, c, name, got)
				}
			}
		}
	}
}
