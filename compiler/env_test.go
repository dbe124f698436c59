package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestVariablesAdd: declared rules about variables add to those of the base, in tools, servers and beside
// presets, and a rule that grants nothing takes away each variable that it covers.
// See RATIONALE D376.
func TestVariablesAdd(t *testing.T) {
	emptyEnvironment(t)
	names := strings.Fields("PATH HOME USER LANG LC_ALL TZ TERM FOO RUSTUP_HOME")
	dir := t.TempDir()
	for access, want := range map[string]string{
		"":                                       "PATH HOME USER LANG LC_ALL TZ TERM",
		`env = [{ name = "FOO", read = true }]`:  "PATH HOME USER LANG LC_ALL TZ TERM FOO",
		`env = [{ name = "FOO", read = false }]`: "PATH HOME USER LANG LC_ALL TZ TERM",
		`env = [{ name = "PATH" }, { name = "TZ" }]`:                             "HOME USER LANG LC_ALL TERM",
		`env = [{ name = "LC_*" }]`:                                              "PATH HOME USER LANG TZ TERM",
		`env = [{ name = "LC_ALL" }]`:                                            "PATH HOME USER LANG TZ TERM",
		`env = [{ name = "L*" }, { name = "LC_" , read = true }]`:                "PATH HOME USER TZ TERM",
		`env = [{ name = "*" }]`:                                                 "",
		`env = [{ name = "*" }, { name = "FOO", read = true }]`:                  "FOO",
		`env = [{ name = "*" }, { name = "L*", read = true }]`:                   "LANG LC_ALL",
		`env = [{ name = "*" }, { name = "*", read = true }]`:                    strings.Join(names, " "),
		`env = { strategy = "replace", value = [{ name = "FOO", read = true }]}`: "PATH HOME USER LANG LC_ALL TZ TERM FOO",
		`env = []`:         "PATH HOME USER LANG LC_ALL TZ TERM",
		`base = "minimal"`: "PATH HOME USER LANG LC_ALL TZ TERM",
		`base = "none"`:    "",
		"base = \"none\"\nenv = [{ name = \"FOO\", read = true }]":                   "FOO",
		"extends = [\"preset:rust\"]\nenv = [{ name = \"FOO\", read = true }]":       "PATH HOME USER LANG LC_ALL TZ TERM FOO RUSTUP_HOME",
		"extends = [\"preset:rust\"]\nenv = [{ name = \"*\" }]":                      "",
		"extends = [\"preset:rust\"]\nenv = [{ name = \"P*\" }, { name = \"HOME\"}]": "USER LANG LC_ALL TZ TERM RUSTUP_HOME",
	} {
		for _, head := range []string{"[tools.t]\nsource = \"local\"\ncommand = \"ls\"\n[tools.t.access]\n", "[servers.t.access]\n"} {
			res := compileText(t, dir, head+access+"\n")
			if res.Findings.Failed() {
				t.Errorf("%s%s: %v", head, access, res.Findings)
				continue
			}
			var got []string
			view := ir.NewEnvView(res.Program.Tools[0].Env, ir.HomeReal, ir.Linux)
			for _, name := range names {
				if view.Decide(ir.Forward{Name: name}).Allowed() {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, strings.Fields(want)) {
				t.Errorf("%s%s: forwards %q, want %q", head, access, got, want)
			}
		}
	}
}

// TestNoVariableComesBack: a variable that a prefix takes away in one case of letters has no other name
// on Windows.
func TestNoVariableComesBack(t *testing.T) {
	emptyEnvironment(t)
	res := compileText(t, t.TempDir(), "[tools.t]\nsource = \"local\"\ncommand = \"ls\"\naccess.env = [{ name = \"p*\" }]\n")
	view := ir.NewEnvView(res.Program.Tools[0].Env, ir.HomeReal, ir.Windows)
	if view.Decide(ir.Forward{Name: "Path"}).Allowed() {
		t.Error("p* leaves Path")
	}
}
