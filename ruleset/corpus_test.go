package ruleset_test

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// generous is a set that allows more than a careful set would: whatever it does not allow is held
// by the analysis.
func generous() *ruleset.Set {
	names := strings.Fields("git echo ls cat grep rg fd find sort uniq head tail wc sed awk tar tree file date hostname split csplit xxd shuf " +
		"diff curl wget go cargo npm cp mv mkdir dd ln pytest eslint prettier tsc mypy pnpm yarn test [ printf tee jq true env nice timeout xargs watch bash sh python3 python perl ruby node make " +
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
		if strings.HasPrefix(path.Clean(p)+"/", "/w/") {
			return ruleset.Allow, "the workspace is open"
		}
		return ruleset.Unknown, "it lies outside"
	},
}

// entry is a line of the corpus.
type entry struct{ class, verdict, line string }

// corpus reads a file of lines, each below the class that it is of.
func corpus(t testing.TB, name, verdict string) (out []entry) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	class, values := "", map[string][]string{}
	for line := range strings.SplitSeq(string(data), "\n") {
		heading, ok := strings.CutPrefix(line, "# ")
		name, value, sets := strings.Cut(line, " = ")
		switch m := section.FindStringSubmatch(line); {
		case line == "":
		case ok:
			class = heading
		case m != nil:
			class, verdict = m[1], m[2]
		case sets && strings.ToUpper(name) == name && !strings.Contains(name, " "):
			values[name] = append(values[name], value)
		default:
			for _, line := range expand(line, values) {
				out = append(out, entry{class, verdict, unescape(t, line)})
			}
		}
	}
	return out
}

var (
	section = regexp.MustCompile(`^\[([a-z ]+)\] (allow|deny|held)$`)
	code    = regexp.MustCompile(`‹[0-9A-F]{4}›`)
)

// expand replaces each name in a line by each of its values.
func expand(line string, values map[string][]string) []string {
	out := []string{line}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(line) {
			continue
		}
		var next []string
		for _, l := range out {
			for _, v := range values[name] {
				next = append(next, strings.ReplaceAll(l, name, v))
			}
		}
		out = next
	}
	return out
}

// unescape returns the line that stands for characters that cannot be seen.
func unescape(t testing.TB, line string) string {
	if quoted, ok := strings.CutPrefix(line, "json "); ok {
		if err := json.Unmarshal([]byte(quoted), &line); err != nil {
			t.Fatalf("%s: %v", quoted, err)
		}
	}
	line = code.ReplaceAllStringFunc(line, func(s string) string {
		n, _ := strconv.ParseUint(strings.Trim(s, "‹›"), 16, 32)
		return string(rune(n))
	})
	return strings.ReplaceAll(line, "␤", "\n")
}

func decide(s *ruleset.Set, line string) ruleset.Decision {
	return s.Decide(ruleset.Operation{Command: line, Dir: "/w"}, workspace)
}

// TestCorpus: each line has the verdict of its class. A bypass is held: it is denied, or left to a person.
// See decision D165.
func TestCorpus(t *testing.T) {
	s, seen := generous(), map[string]bool{}
	all := slices.Concat(corpus(t, "bypasses.txt", "held"), corpus(t, "families.txt", ""), corpus(t, "ordinary.txt", "allow"))
	count := map[string]map[ruleset.Outcome]int{}
	for _, e := range all {
		if seen[e.line] {
			continue
		}
		seen[e.line] = true
		d := decide(s, e.line)
		if count[e.verdict] == nil {
			count[e.verdict] = map[ruleset.Outcome]int{}
		}
		count[e.verdict][d.Outcome]++
		if e.verdict != d.Outcome.String() && (e.verdict != "held" || d.Outcome == ruleset.Allow) {
			t.Errorf("%s: %q: %v, want %s: %s: %s", e.class, e.line, d.Outcome, e.verdict, d.Cause().Text, d.Cause().Why)
		}
	}
	if len(seen) < 15_000 {
		t.Errorf("found %d lines", len(seen))
	}
	for _, verdict := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%s: %v", verdict, count[verdict])
	}
}
