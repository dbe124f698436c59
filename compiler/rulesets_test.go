package compiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ruleset"
)

// rulesetsOf compiles a configuration in a fresh workspace.
func rulesetsOf(t *testing.T, text string) *compiler.Result {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: root, Apart: true})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestRulesetOrder: a ruleset tries its own rules first, then those that it extends, each ruleset
// once, and each rule keeps its place.
func TestRulesetOrder(t *testing.T) {
	res := rulesetsOf(t, `
rulesets.a = { extends = ["b", "c"], rules = [{ outcome = "allow", command = "a" }] }
rulesets.b = { extends = ["c"], rules = [{ outcome = "deny", command = "b" }] }
rulesets.c.rules = [{ outcome = "allow", command = "c", reason = "why" }]
`)
	if res.Findings.Failed() || len(res.Rulesets) != 3 {
		t.Fatalf("%d rulesets, %v", len(res.Rulesets), res.Findings)
	}
	var got []string
	for _, r := range res.Rulesets[0].Rules {
		got = append(got, r.Outcome.String()+" "+r.Matcher.(ruleset.Command).Names[0]+" "+r.Origin.Pos.String()+" "+r.Reason)
	}
	want := "allow a accessc.toml:2:47 ,deny b accessc.toml:3:42 ,allow c accessc.toml:4:21 why"
	if strings.Join(got, ",") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ","), want)
	}
}

// TestRulesetBounds: comparing rules takes the square of their number.
func TestRulesetBounds(t *testing.T) {
	rules := strings.Repeat("[[rulesets.r.rules]]\noutcome = 'deny'\ncommand = 'a'\n", 1001)
	res := rulesetsOf(t, rules+"[rulesets.empty]\nextends = ['r']\n[tools.x]\nsource = 'local'\n")
	if len(res.Findings) != 2 || !strings.Contains(res.Findings[0].Label, "found 1001 rules") {
		t.Errorf("found %v", res.Findings)
	}
	if res.Rulesets != nil || len(res.Program.Tools) != 1 {
		t.Errorf("a mistake in a ruleset stops a tool, or not the rulesets")
	}
}
