package ruleset_test

import (
	"os"
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// TestClosed: a rule allows what its words say. What stands behind them in a word, a program or an option that no table
// knows is left to a person, and so is what a table knows to do more.
func TestClosed(t *testing.T) {
	data, err := os.ReadFile("testdata/closed.txt")
	if err != nil {
		t.Fatal(err)
	}
	class, count := "", map[string]int{}
	var rules ruleset.Any
	for line := range strings.Lines(string(data)) {
		kind, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case "#":
			class, rules = text, nil
		case "rule":
			rules = append(rules, ruleset.Prefix{strings.Fields(text)})
			if text == "" {
				rules = ruleset.Any{ruleset.Within("/w")}
			}
		case "held", "allow":
			count[kind]++
			d := decide(&ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{allow(rules)}}, text)
			if want := map[string]ruleset.Outcome{"held": ruleset.Unknown, "allow": ruleset.Allow}[kind]; d.Outcome != want {
				t.Errorf("%s: %q: %v, want %v (%s: %s)", class, text, d.Outcome, want, d.Cause().Text, d.Cause().Why)
			}
		case "":
		default:
			t.Fatalf("%q", line)
		}
	}
	if count["held"] != 388 || count["allow"] != 99 {
		t.Errorf("found %v", count)
	}
}
