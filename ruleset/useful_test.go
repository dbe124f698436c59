package ruleset_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// sensible is a ruleset as a careful developer would write it, who lets an agent look, edit and test.
func sensible() *ruleset.Set {
	tests := ruleset.Prefix{}
	for words := range strings.SplitSeq("go test|npm test|npm ci|npm run build|npm run lint|yarn test|pnpm run build|python3 -m pytest|python -m pytest|make test|make lint|git add|git commit|git fetch|git checkout|git switch|git restore|"+
		"cargo test|cargo fmt|cargo tree|go list|go mod tidy|go doc|docker ps|docker logs|docker images|kubectl get|kubectl logs|npx tsc --noEmit|gh pr list|pip list|pip show|git push origin", "|") {
		tests = append(tests, strings.Fields(words))
	}
	look := strings.Fields("ls cat head tail grep rg find fd sort uniq wc cut tr sed awk diff tree file stat du df date pwd which whoami uname echo printf test [ jq xxd base64 sha256sum strings sleep true false ps tar " +
		"gofmt tsc eslint prettier jest vitest pytest ruff black mypy mkdir touch cp mv curl")
	return &ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{
		{Outcome: ruleset.Deny, Matcher: ruleset.All{ruleset.Command{Names: []string{"rm"}}, ruleset.Flags{"-r", "-f"}}},
		{Outcome: ruleset.Deny, Matcher: ruleset.All{ruleset.Command{Names: []string{"curl", "wget"}}, ruleset.PipedToShell{}}},
		{Outcome: ruleset.Deny, Matcher: ruleset.Command{Names: []string{"sudo", "ssh", "scp"}}},
		{Outcome: ruleset.Deny, Matcher: ruleset.Command{Names: []string{"git"}, Subcommands: []string{"reset", "clean"}}},
		{Outcome: ruleset.Allow, Matcher: ruleset.Any{ruleset.ReadOnlyGit, ruleset.Compilation, ruleset.SafeNpm, tests, ruleset.Command{Names: look}}},
	}}
}

// TestUseful measures how many of a developer's lines need no person. Lines that a person must
// decide, because they install, delete or run unseen things, are among them.
func TestUseful(t *testing.T) {
	s, count := sensible(), map[ruleset.Outcome]int{}
	all := corpus(t, "developer.txt", "")
	for _, e := range all {
		d := decide(s, e.line)
		if count[d.Outcome]++; d.Outcome == ruleset.Unknown && testing.Verbose() {
			t.Logf("unknown: %q: %s: %s", e.line, d.Cause().Text, d.Cause().Why)
		}
	}
	share := 100 * (len(all) - count[ruleset.Unknown]) / len(all)
	t.Logf("%d lines: %v; %d %% need no person", len(all), count, share)
	if share < 60 {
		t.Errorf("%d %% of the lines are decided", share)
	}
}
