package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
)

// domains adds the hosts of rules for WebFetch, which the sandbox takes over: of those that deny, with
// the names below.
func (c *claude) domains(list []listed, lists ...string) []listed {
	out := slices.Clone(list)
	add := func(r claudeRule, name string) {
		// The ruleset sets the fate of the rule itself.
		e := *r.entry
		e.Fate = 0
		out = append(out, listed{foreign.Spelled{Path: name}, &e})
	}
	for _, r := range c.of("WebFetch", lists...) {
		name := strings.TrimPrefix(r.Spec, "domain:")
		if r.Whole {
			name = "*"
		}
		if add(r, name); r.list != "allow" && !strings.Contains(name, "*") {
			add(r, "*."+name)
		}
	}
	return out
}

// fetches writes rules for the agent's own means of getting pages.
func (c *claude) fetches(t *translation) {
	hostOf := func(r claudeRule) (string, bool) {
		if r.Whole {
			return "*", true
		}
		return strings.CutPrefix(r.Spec, "domain:")
	}
	stops := append(c.of("WebFetch", "deny"), c.of("WebFetch", "ask")...)
	var denied, asked []string
	for _, r := range stops {
		host, ok := hostOf(r)
		if !ok {
			t.faults = append(t.faults, faultOf(r.entry, "expected domain:HOST"))
			continue
		}
		both := []string{host}
		if !strings.Contains(host, "*") {
			both = append(both, "*."+host)
		}
		if r.list == "ask" {
			asked = append(asked, both...)
			t.draft.rules = append(t.draft.rules, rule{ask: true, hosts: both, from: r.entry.from()})
			r.entry.become(Carried, "rulesets.%s", t.draft.ruleset)
			continue
		}
		denied = append(denied, both...)
		t.draft.rules = append(t.draft.rules, rule{hosts: both, from: r.entry.from()})
		r.entry.become(Carried, "rulesets.%s", t.draft.ruleset)
	}
	for _, r := range c.of("WebFetch", "allow") {
		host, ok := hostOf(r)
		clash := func(h string) bool { return covers(h, host) || covers(host, h) }
		switch {
		case !ok:
			r.entry.become(LeftOut, "expected domain:HOST")
		case c.mode == "plan":
			r.entry.become(LeftOut, "the mode plan allows nothing")
		case slices.ContainsFunc(denied, func(h string) bool { return covers(h, host) }) || slices.ContainsFunc(asked, clash):
			r.entry.become(LeftOut, "another rule denies it, or asks about a part of it")
		default:
			t.draft.rules = append(t.draft.rules, rule{allow: true, hosts: []string{host}, from: r.entry.from()})
			r.entry.become(Carried, "rulesets.%s", t.draft.ruleset)
		}
	}
}

// lines writes rules for commands.
func (c *claude) lines(t *translation) {
	var allow, stop []lineRule
	for _, r := range c.of("Bash", "deny", "ask") {
		stop = append(stop, lineRule{pattern: commandPattern(r.Spec, r.Whole), deny: r.list == "deny", entry: r.entry})
	}
	for _, r := range c.of("Bash", "allow") {
		if c.mode == "plan" {
			r.entry.become(LeftOut, "the mode plan runs nothing")
			continue
		}
		allow = append(allow, lineRule{pattern: commandPattern(r.Spec, r.Whole), entry: r.entry})
	}
	t.commandRules(allow, stop)
	if c.mode == "plan" || c.mode == "dontAsk" {
		t.draft.wide = append(t.draft.wide, rule{ask: c.mode == "plan", from: c.moded.from()})
	}
}
