package codex

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// RulesModel are the rules of Codex for commands, as of version 0.169.0. Of the rules that match, the
// strictest decides ("codex execpolicy check").
type RulesModel []Rule

// Rule is a prefix_rule: the words that begin a command, each one of several, and the decision.
type Rule struct {
	Pattern  [][]string
	Decision string // allow, prompt or forbidden
}

// Runs implements Policy. A command that no rule matches is left to Codex' own lists, and counts as asked
// about.
func (c RulesModel) Runs(line string) bool {
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
func (c RulesModel) Stops(line string) bool {
	words := strings.Fields(line)
	return slices.ContainsFunc(c, func(r Rule) bool { return r.Decision != "allow" && r.matches(words) })
}

func (r Rule) matches(words []string) bool {
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
func (RulesModel) Reads(string) bool { return true }

// Writes implements Policy.
func (RulesModel) Writes(string) bool { return true }

// Connects implements Policy.
func (RulesModel) Connects(string, uint16) bool { return true }

// Fetches implements Policy.
func (RulesModel) Fetches(string) bool { return false }

// Passes implements Policy.
func (RulesModel) Passes(string) bool { return true }

// Marks implements Policy.
func (c RulesModel) Marks() foreign.Marks {
	var out foreign.Marks
	for _, r := range c {
		line := ""
		for _, some := range r.Pattern {
			line += some[len(some)-1] + " "
		}
		out.Commands = append(out.Commands, line+"*", strings.TrimSpace(line))
	}
	return out
}
