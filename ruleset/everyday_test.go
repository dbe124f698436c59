package ruleset_test

import (
	"os"
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// Of the lines of everyday work, those that need no person.
const everyday, easy = 462, 456

// TestEveryday: a list that says what is harmless must not lose ordinary work. The number is exact, so that a change
// of it shows.
func TestEveryday(t *testing.T) {
	data, err := os.ReadFile("testdata/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rules ruleset.Any
	var lines []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
		case "group":
			rules = append(rules, ruleset.Group(rest))
		case "command":
			rules = append(rules, ruleset.Command{Names: strings.Fields(rest)})
		case "prefix":
			for words := range strings.SplitSeq(rest, "|") {
				rules = append(rules, ruleset.Prefix{strings.Fields(words)})
			}
		default:
			lines = append(lines, line)
		}
	}
	s := &ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{allow(rules)}}
	allowed := 0
	for _, line := range lines {
		d := decide(s, line)
		if d.Outcome == ruleset.Allow {
			allowed++
			continue
		}
		t.Logf("%v: %s: %s", d.Outcome, line, d.Cause().Why)
	}
	if len(lines) != everyday || allowed != easy {
		t.Errorf("%d of %d lines need no person, want %d of %d", allowed, len(lines), easy, everyday)
	}
}
