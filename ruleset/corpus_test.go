package ruleset_test

import (
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// generous is a set that allows more than a careful one would: whatever it does not allow is held
// by the analysis.
func generous() *ruleset.Set {
	names := strings.Fields("git echo ls cat grep rg fd find sort uniq head tail wc sed awk tar tree file date hostname split csplit xxd shuf " +
		"diff curl wget go cargo npm pnpm yarn test [ printf tee jq true env nice timeout xargs watch bash sh python3 python perl ruby node make " +
		"docker ssh sudo vim less man gcc flock busybox")
	return &ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{
		{Outcome: ruleset.Deny, Matcher: ruleset.All{ruleset.Command{Names: []string{"rm"}}, ruleset.Flags{"-r", "-f"}}},
		{Outcome: ruleset.Deny, Matcher: ruleset.All{ruleset.Command{Names: []string{"curl", "wget"}}, ruleset.PipedToShell{}}},
		{Outcome: ruleset.Allow, Matcher: ruleset.Prefix{{"python3", "-m", "pytest"}}},
		{Outcome: ruleset.Allow, Matcher: ruleset.Command{Names: names}},
	}}
}

// workspace is a host where files below /w are open and nothing is a symlink.
var workspace = ruleset.Host{
	Resolve: func(p string) (string, bool) { return path.Clean(p), true },
	Open: func(_ shell.Access, p string) (ruleset.Outcome, string) {
		if strings.HasPrefix(path.Clean(p), "/w/") {
			return ruleset.Allow, "the workspace is open"
		}
		return ruleset.Unknown, "it lies outside"
	},
}

func lines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if quoted, ok := strings.CutPrefix(line, "json "); ok {
			if err := json.Unmarshal([]byte(quoted), &line); err != nil {
				t.Fatalf("%s: %v", quoted, err)
			}
		}
		out = append(out, strings.ReplaceAll(line, "␤", "\n"))
	}
	return out
}

func decide(s *ruleset.Set, line string) ruleset.Decision {
	return s.Decide(ruleset.Operation{Command: line, Dir: "/w"}, workspace)
}

// TestBypasses: no line of the corpus is allowed.
func TestBypasses(t *testing.T) {
	s, all := generous(), lines(t, "bypasses.txt")
	if len(all) < 400 {
		t.Fatalf("found %d lines", len(all))
	}
	count := map[ruleset.Outcome]int{}
	for _, line := range all {
		d := decide(s, line)
		count[d.Outcome]++
		if d.Outcome == ruleset.Allow {
			t.Errorf("allowed: %q", line)
		}
	}
	t.Logf("%d lines: %v", len(all), count)
}

// TestOrdinary: a line of daily work is allowed, so that the rules are of use.
func TestOrdinary(t *testing.T) {
	s := generous()
	for _, line := range lines(t, "ordinary.txt") {
		if d := decide(s, line); d.Outcome != ruleset.Allow {
			t.Errorf("%v: %q: %s: %s", d.Outcome, line, d.Cause().Text, d.Cause().Why)
		}
	}
}
