package claudecode

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
)

// domains adds the hosts of rules for WebFetch, which the sandbox takes over: of those that deny, with
// the names below.
func (c *reader) domains(list []importer.Listed, lists ...string) []importer.Listed {
	out := slices.Clone(list)
	add := func(r ruleOf, name string) {
		// The ruleset sets the fate of the rule itself.
		e := *r.entry
		e.Fate = 0
		out = append(out, importer.Listed{Spelled: foreign.Spelled{Path: name}, Entry: &e})
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
func (c *reader) fetches(t *importer.Translation) {
	hostOf := func(r ruleOf) (string, bool) {
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
			t.Faults = append(t.Faults, importer.FaultOf(r.entry, "expected domain:HOST"))
			continue
		}
		both := []string{host}
		if !strings.Contains(host, "*") {
			both = append(both, "*."+host)
		}
		if r.list == "ask" {
			asked = append(asked, both...)
			t.Draft.Rules = append(t.Draft.Rules, importer.Rule{Ask: true, Hosts: both, From: r.entry.From()})
			r.entry.Become(importer.Carried, "rulesets.%s", t.Draft.Ruleset)
			continue
		}
		denied = append(denied, both...)
		t.Draft.Rules = append(t.Draft.Rules, importer.Rule{Hosts: both, From: r.entry.From()})
		r.entry.Become(importer.Carried, "rulesets.%s", t.Draft.Ruleset)
	}
	for _, r := range c.of("WebFetch", "allow") {
		host, ok := hostOf(r)
		clash := func(h string) bool { return importer.Covers(h, host) || importer.Covers(host, h) }
		switch {
		case !ok:
			r.entry.Become(importer.LeftOut, "expected domain:HOST")
		case c.mode == "plan":
			r.entry.Become(importer.LeftOut, "the mode plan allows nothing")
		case slices.ContainsFunc(denied, func(h string) bool { return importer.Covers(h, host) }) ||
			slices.ContainsFunc(asked, clash):
			r.entry.Become(importer.LeftOut, "another rule denies it, or asks about a part of it")
		default:
			t.Draft.Rules = append(t.Draft.Rules,
				importer.Rule{Allow: true, Hosts: []string{host}, From: r.entry.From()})
			r.entry.Become(importer.Carried, "rulesets.%s", t.Draft.Ruleset)
		}
	}
}

// lines writes rules for commands.
func (c *reader) lines(t *importer.Translation) {
	var allow, stop []importer.LineRule
	for _, r := range c.of("Bash", "deny", "ask") {
		stop = append(stop, importer.LineRule{Pattern: commandPattern(r.Spec, r.Whole), Deny: r.list == "deny",
			Entry: r.entry})
	}
	for _, r := range c.of("Bash", "allow") {
		if c.mode == "plan" {
			r.entry.Become(importer.LeftOut, "the mode plan runs nothing")
			continue
		}
		allow = append(allow, importer.LineRule{Pattern: commandPattern(r.Spec, r.Whole), Entry: r.entry})
	}
	t.CommandRules(allow, stop)
	if c.mode == "plan" || c.mode == "dontAsk" {
		t.Draft.Wide = append(t.Draft.Wide, importer.Rule{Ask: c.mode == "plan", From: c.moded.From()})
	}
}

// commandPattern reads the specifier of a rule of Claude Code for Bash.
func commandPattern(spec string, whole bool) importer.Pattern {
	spec = strings.TrimSpace(spec)
	prefix, colon := strings.CutSuffix(spec, ":*")
	if !colon {
		prefix, colon = strings.CutSuffix(spec, " *")
	}
	switch {
	case whole:
		return importer.Pattern{All: true}
	case colon && importer.Words(prefix) != nil:
		return importer.Pattern{Prefix: importer.Words(prefix)}
	case importer.Words(spec) != nil:
		return importer.Pattern{Exact: importer.Words(spec)}
	case strings.HasSuffix(spec, ":*"):
		return importer.Pattern{Glob: prefix + "*"}
	}
	return importer.Pattern{Glob: spec}
}
