package foreign

import (
	"slices"
	"strings"
)

// CodexRules are the rules of Codex for commands, as of version 0.169.0. Of the rules that match, the
// strictest decides ("codex execpolicy check").
type CodexRules []CodexRule

// CodexRule is a prefix_rule: the words that begin a command, each one of several, and the decision.
type CodexRule struct {
	Pattern  [][]string
	Decision string // allow, prompt or forbidden
}

// Runs implements Policy. A command that no rule matches is left to Codex' own lists, and counts as asked
// about.
func (c CodexRules) Runs(line string) bool {
	allowed, words := false, strings.Fields(line)
	for _, r := range c {
		if !r.matches(words) {
			continue
		}
		if r.Decision != "allow" {
			return false
		}
		allowed = true
	}
	return allowed
}

// Stops implements Stopper.
func (c CodexRules) Stops(line string) bool {
	words := strings.Fields(line)
	return slices.ContainsFunc(c, func(r CodexRule) bool { return r.Decision != "allow" && r.matches(words) })
}

func (r CodexRule) matches(words []string) bool {
	if len(words) < len(r.Pattern) {
		return false
	}
	for i, some := range r.Pattern {
		found := false
		for _, w := range some {
			found = found || w == words[i]
		}
		if !found {
			return false
		}
	}
	return true
}

// Reads implements Policy: the rules are about commands alone.
func (CodexRules) Reads(string) bool { return true }

// Writes implements Policy.
func (CodexRules) Writes(string) bool { return true }

// Connects implements Policy.
func (CodexRules) Connects(string, uint16) bool { return true }

// Fetches implements Policy.
func (CodexRules) Fetches(string) bool { return false }

// Passes implements Policy.
func (CodexRules) Passes(string) bool { return true }

// Marks implements Policy.
func (c CodexRules) Marks() Marks {
	var out Marks
	for _, r := range c {
		line := ""
		for _, some := range r.Pattern {
			line += some[len(some)-1] + " "
		}
		out.Commands = append(out.Commands, line+"*", strings.TrimSpace(line))
	}
	return out
}
