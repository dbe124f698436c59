package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestVariablesAdd: declared rules about variables add to the rules of the base, in tools, servers and beside
// presets, and a rule that grants nothing takes away each variable that it covers.
// See decision D376.
func TestVariablesAdd(t *testing.T) {
	emptyEnvironment(t)
	const base, local = "PATH HOME USER LANG LC_ALL TZ TERM", "[tools.t]\nsource = \"local\"\ncommand = \"ls\"\n"
	names := strings.Fields(base + " FOO RUSTUP_HOME")
	dir := t.TempDir()
	for access, want := range map[string]string{
		"":                                       base,
		`env = [{ name = "FOO", read = true }]`:  base + " FOO",
		`env = [{ name = "FOO", read = false }]`: base,
		`env = [{ name = "PATH" }, { name = "TZ" }]`:                             "HOME USER LANG LC_ALL TERM",
		`env = [{ name = "LC_*" }]`:                                              "PATH HOME USER LANG TZ TERM",
		`env = [{ name = "LC_ALL" }]`:                                            "PATH HOME USER LANG TZ TERM",
		`env = [{ name = "L*" }, { name = "LC_" , read = true }]`:                "PATH HOME USER TZ TERM",
		`env = [{ name = "*" }]`:                                                 "",
		`env = [{ name = "*" }, { name = "FOO", read = true }]`:                  "FOO",
		`env = [{ name = "*" }, { name = "L*", read = true }]`:                   "LANG LC_ALL",
		`env = [{ name = "*" }, { name = "*", read = true }]`:                    strings.Join(names, " "),
		`env = { strategy = "replace", value = [{ name = "FOO", read = true }]}`: base + " FOO",
		`env = []`:         base,
		`base = "minimal"`: base,
		`base = "none"`:    "",
		"base = \"none\"\nenv = [{ name = \"FOO\", read = true }]":             "FOO",
		"extends = [\"preset:rust\"]\nenv = [{ name = \"FOO\", read = true }]": base + " FOO RUSTUP_HOME",
		"extends = [\"preset:rust\"]\nenv = [{ name = \"*\" }]":                "",
		"extends = [\"preset:rust\"]\nenv = [{ name = \"P*\" }]":               "HOME USER LANG LC_ALL TZ TERM RUSTUP_HOME",
	} {
		for _, head := range []string{local + "[tools.t.access]\n", "[servers.t.access]\n"} {
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
	const text = "[tools.t]\nsource = \"local\"\ncommand = \"ls\"\naccess.env = [{ name = \"p*\" }]\n"
	res := compileText(t, t.TempDir(), text)
	view := ir.NewEnvView(res.Program.Tools[0].Env, ir.HomeReal, ir.Windows)
	if view.Decide(ir.Forward{Name: "Path"}).Allowed() {
		t.Error("p* leaves Path")
	}
}
