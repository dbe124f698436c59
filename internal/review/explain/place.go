package explain

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/ir"
)

// PlaceText renders the rows that come from a line of a layer, which is written as provenance writes it, and below them
// how each system holds the rules there and why not exactly. It is empty where nothing comes from the line.
func (p *Policy) PlaceText(origin string, s Style) string {
	var rows []line
	head := ""
	for _, l := range p.lines() {
		if l.head != "" {
			head = l.head
		}
		if l.origin == origin {
			l.head = head
			if len(rows) > 0 && slices.ContainsFunc(rows, func(o line) bool { return o.head == head }) {
				l.head = ""
			}
			rows = append(rows, l)
		}
	}
	if len(rows) == 0 {
		return ""
	}
	out := layout(rows, s)
	rules := p.rulesAt(origin)
	for _, pl := range ir.Platforms {
		held, why := tally{}, []string(nil)
		for _, row := range p.Ledger.On(pl, s.level(pl)) {
			if !slices.ContainsFunc(row.Rules, func(id ir.RuleID) bool { return slices.Contains(rules, id) }) {
				continue
			}
			held[row.Is]++
			if text := registry.Why(row.Causes); text != "" && !slices.Contains(why, text) {
				why = append(why, text)
			}
		}
		if len(held) > 0 {
			text := strings.Join(append([]string{held.weakest().String()}, why...), "; ")
			out += "  " + pad(systemName(pl), 10) + text + "\n"
		}
	}
	return out
}

// rulesAt are the rules that stand at a line.
func (p *Policy) rulesAt(origin string) (out []ir.RuleID) {
	add := func(r ir.Rule, id ir.RuleID) {
		if r.Source().String() == origin {
			out = append(out, id)
		}
	}
	t := p.Tool
	for i := range t.FS {
		add(&t.FS[i], ir.FSRuleID(i))
	}
	for i := range t.Net {
		add(&t.Net[i], ir.NetRuleID(i))
	}
	for i := range t.Env {
		add(&t.Env[i], ir.EnvRuleID(i))
	}
	if t.Commands != nil {
		for i := range t.Commands.Rules {
			add(&t.Commands.Rules[i], t.Commands.Rules[i].ID())
		}
	}
	return out
}

// maxBrief bounds the grants that Brief names of one kind.
const maxBrief = 4

// Brief says in a line what a tool may do in the end: its places, hosts, programs and class of risk.
func (p *Policy) Brief() string {
	if p.Tool.Source.Kind != ir.SourceLocal {
		return "not started by accessc"
	}
	of := map[string][]string{}
	head := ""
	for _, l := range p.lines() {
		if l.head != "" {
			head = l.head
		}
		switch {
		case len(l.grants) == 0:
		case head == "files" && l.at != nil:
			of[head] = append(of[head], l.at.path+" "+letters(l.at.caps))
		case head == "network":
			of[head] = append(of[head], strings.TrimPrefix(l.text(), verb(true)+" "))
		case head == "commands":
			of[head] = append(of[head], l.text())
		}
	}
	var parts []string
	for _, k := range []struct{ head, before, none string }{
		{"files", "", "no files"}, {"network", "network ", "no network"}, {"commands", "runs ", "runs nothing"},
	} {
		words := of[k.head]
		if more := len(words) - maxBrief; more > 0 {
			words = append(words[:maxBrief:maxBrief], "…")
		}
		if len(words) == 0 {
			parts = append(parts, k.none)
			continue
		}
		parts = append(parts, k.before+strings.Join(words, ", "))
	}
	return clean(strings.Join(append(parts, "risk "+ir.RiskOf(p.Tool).String()), "; "))
}

// letters are the first letters of capabilities.
func letters(caps ir.CapSet) string {
	out := ""
	for _, w := range capWords(caps) {
		out += w[:1]
	}
	return out
}
