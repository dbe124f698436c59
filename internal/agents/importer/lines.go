package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulediff"
)

// allows asks a ruleset on a machine on which every file may be opened.
func allows(set *ruleset.Set, op ruleset.Operation) bool {
	d := set.Decide(op, rulediff.Host())
	return d.Outcome == ruleset.Allow
}

// unasked reports whether a command that no rule decides may run without a question.
// See decision D195.
func unasked(set *ruleset.Set, line string) bool {
	d := set.Decide(ruleset.Operation{Command: line, Dir: set.Root}, rulediff.Host())
	return d.Outcome == ruleset.Unknown && !set.MayStop(ruleset.Execute, &d)
}

// examples are command lines: each beginning that a rule names, by itself, cut short, and with more
// words; and each line of the settings, with such beginnings and words for its wildcards.
func examples(rules []Rule, lines []string) []string {
	starts := []string{"", "zz"}
	for _, r := range rules {
		for _, words := range append([][]string{r.prefix, r.exact}, fieldsOf(r.except)...) {
			for n := range len(words) {
				starts = append(starts, strings.Join(words[:n+1], " "))
			}
		}
	}
	starts = Without(starts)
	more := []string{"", "zz", "--zz", "-z zz"}
	var out []string
	for _, s := range starts {
		for _, m := range more {
			out = append(out, strings.TrimSpace(s+" "+m), s+strings.ReplaceAll(m, " ", ""))
		}
	}
	for _, line := range lines {
		if !strings.Contains(line, "*") {
			out = append(out, line)
			continue
		}
		first, rest, _ := strings.Cut(line, "*")
		for _, fill := range slices.Concat(starts, more) {
			out = append(out, first+fill+strings.ReplaceAll(rest, "*", "zz"),
				first+fill+strings.ReplaceAll(rest, "*", ""))
		}
	}
	out = slices.DeleteFunc(Without(out), func(s string) bool { return strings.TrimSpace(s) == "" })
	return out
}

func fieldsOf(prefixes []string) [][]string {
	var out [][]string
	for _, p := range prefixes {
		out = append(out, strings.Fields(p))
	}
	return out
}
