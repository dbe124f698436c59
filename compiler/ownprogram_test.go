package compiler_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// TestOwnProgram: the file that a command names may be read and executed, with what the rule around it grants, unless
// a rule is about that file or closes the place. The commonest example did not start.
func TestOwnProgram(t *testing.T) {
	for rules, want := range map[string]ir.CapSet{
		`[{ path = ".", read = true, write = true }]`:                            ir.All,
		`[{ path = ".", read = true }]`:                                          ir.Caps(ir.Read, ir.Execute),
		`[{ path = ".", read = true }, { path = "scripts", write = true }]`:      ir.All,
		`[{ path = ".", read = true }, { path = "scripts" }]`:                    0,
		`[{ path = ".", read = true }, { path = "scripts/run", read = true }]`:   ir.Caps(ir.Read),
		`[{ path = ".", read = true }, { path = "scripts/run" }]`:                0,
		`[{ path = "src", read = true }]`:                                        0,
		`[{ path = ".", read = true }, { path = "scripts/run/x", read = true }]`: ir.Caps(ir.Read, ir.Execute),
		`[{ path = ".", read = true, execute = true, create = true }]`:           ir.Caps(ir.Read, ir.Execute, ir.Create),
	} {
		for _, command := range []string{"./scripts/run --fast", "scripts/run", "./link"} {
			root := t.TempDir()
			text := "[tools.a]\nsource = \"local\"\ncommand = \"" + command + "\"\naccess.fs = " + rules + "\n"
			for name, data := range map[string]string{"accessc.toml": text, "scripts/run": "#!/bin/sh\n"} {
				if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, name), []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("scripts/run", filepath.Join(root, "link")); err != nil {
				t.Skip(err)
			}
			res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: root})
			if err != nil || res.Program == nil || len(res.Program.Tools) != 1 {
				t.Fatal(err, res.Findings)
			}
			v := ir.NewView(res.Program.Tools[0], ir.Linux, ir.Facts{})
			for _, c := range ir.Capabilities {
				if got := v.Decide(ir.Access{Cap: c, On: ir.Direct(ir.In("scripts/run"))}).Allowed(); got != want.Has(c) {
					t.Errorf("%s, %s: %s is %v", rules, command, c, got)
				}
				if got := v.Decide(ir.Access{Cap: ir.Execute, On: ir.Direct(ir.In("scripts/other"))}).Allowed(); got && !want.Has(ir.Create) {
					t.Errorf("%s, %s: another file may be executed", rules, command)
				}
			}
		}
	}
}
