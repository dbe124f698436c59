package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestVariablesOfAll: rules about variables come in addition to the default ones, for a tool and a server, with presets and
// without; a name takes its own away, and all go by the star alone or by the base. One rule took PATH away.
func TestVariablesOfAll(t *testing.T) {
	all := strings.Fields("PATH HOME USER LANG LC_ALL TZ TERM")
	without := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == name })
	}
	for rules, want := range map[string][]string{
		`env = [{ name = "FOO", read = true }]`:                                         append(slices.Clone(all), "FOO"),
		`env = [{ name = "PATH" }]`:                                                     without("PATH"),
		`env = [{ name = "TERM", read = false }, { name = "FOO", read = true }]`:        append(without("TERM"), "FOO"),
		`env = [{ name = "LC_*" }]`:                                                     without("LC_ALL"),
		`env = [{ name = "LC_ALL" }]`:                                                   without("LC_ALL"),
		`env = [{ name = "L*" }]`:                                                       all,
		`env = [{ name = "*" }]`:                                                        nil,
		`env = [{ name = "*" }, { name = "FOO", read = true }]`:                         {"FOO"},
		`env = [{ name = "*", read = true }]`:                                           append(slices.Clone(all), "FOO", "NODE_ENV"),
		`env = { strategy = "replace", value = [{ name = "FOO", read = true }] }`:       append(slices.Clone(all), "FOO"),
		"base = \"none\"":                                                               nil,
		"base = \"none\"\nenv = [{ name = \"FOO\", read = true }]":                      {"FOO"},
		"base = \"minimal\"\nenv = [{ name = \"FOO\", read = true }]":                   append(slices.Clone(all), "FOO"),
		"extends = [\"preset:node\"]\nenv = [{ name = \"FOO\", read = true }]":          append(slices.Clone(all), "FOO", "NODE_ENV"),
		"extends = [\"preset:node\"]\nenv = [{ name = \"*\" }]":                         nil,
		"extends = [\"preset:node\"]\nenv = [{ name = \"NODE_ENV\" }, {name=\"PATH\"}]": without("PATH"),
	} {
		for _, head := range []string{"[tools.a]\nsource = \"local\"\ncommand = \"true\"\n[tools.a.access]\n", "[servers.a]\n[servers.a.access]\n"} {
			res := compiled(t, head+rules)
			tools := res.Program.Tools
			if len(tools) != 1 {
				t.Fatalf("%s: %v", head+rules, res.Findings)
			}
			v := ir.NewEnvView(tools[0].Env, ir.HomeReal, ir.Linux)
			var got []string
			for _, n := range append(slices.Clone(all), "FOO", "NODE_ENV") {
				if v.Decide(ir.Forward{Name: n}).Allowed() {
					got = append(got, n)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if want := slices.Compact(want); !slices.Equal(got, want) {
				t.Errorf("%s\nforwards %q, want %q", head+rules, got, want)
			}
		}
	}
}
