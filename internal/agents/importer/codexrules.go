package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var codexRules = format{
	name: "codex-rules", version: "0.169.0", several: true, text: true,
	looks: func(d *document) bool { return strings.HasSuffix(d.name, ".rules") },
	read:  readCodexRules,
}

func readCodexRules(t *translation, docs []*document) foreign.Policy {
	var policy foreign.CodexRules
	var allow, stop []lineRule
	for _, d := range docs {
		for i, c := range calls(d) {
			e := t.add(d, &jsonc.Node{Begin: c.at}, elementOf(c.name, i), "")
			switch c.name {
			case "network_rule":
				e.become(LeftOut, "a ruleset is about commands: a host is open only where a net rule of the tool allows it")
				continue
			case "host_executable":
				e.become(LeftOut, "a rule here is about a program by its name: one that is called by a path is left to a person")
				continue
			}
			r, ok := c.rule(d)
			if !ok {
				continue
			}
			policy = append(policy, r)
			e.Text = r.Decision + " " + spelled(r.Pattern)
			for _, p := range alternatives(r.Pattern) {
				l := lineRule{pattern: p, deny: r.Decision == "forbidden", entry: e}
				if r.Decision == "allow" {
					allow = append(allow, l)
				} else {
					stop = append(stop, l)
				}
			}
		}
	}
	t.commandRules(allow, stop)
	return policy
}

// rule checks the arguments of a call.
func (c *call) rule(d *document) (foreign.CodexRule, bool) {
	out := foreign.CodexRule{Decision: "allow"}
	before := len(d.faults)
	for _, a := range c.args {
		switch a.name {
		case "pattern":
			for _, v := range a.value.list {
				some := v.list
				if v.list == nil {
					some = []value{v}
				}
				var texts []string
				for _, s := range some {
					if s.list != nil || s.text == "" {
						d.fault(s.at, "expected a word")
					}
					texts = append(texts, s.text)
				}
				if len(texts) == 0 {
					d.fault(v.at, "expected at least one word")
				}
				out.Pattern = append(out.Pattern, texts)
			}
		case "decision":
			if out.Decision = a.value.text; !slices.Contains([]string{"allow", "prompt", "forbidden"}, out.Decision) {
				d.fault(a.value.at, "expected allow, prompt or forbidden")
			}
		case "justification", "match", "not_match":
		default:
			d.fault(a.at, "%q is no argument of prefix_rule in %s", a.name, d.version)
		}
	}
	if len(out.Pattern) == 0 {
		d.fault(c.at, "a rule without a pattern")
	}
	return out, len(d.faults) == before
}

// maxAlternatives is how many rules one pattern may become.
const maxAlternatives = 64

// alternatives are the sequences of words of a pattern. One with a word that a shell reads otherwise, or of
// too many alternatives, is about all commands with the words before.
func alternatives(p [][]string) []pattern {
	seqs := [][]string{nil}
	for _, some := range p {
		var next [][]string
		for _, s := range seqs {
			for _, w := range some {
				next = append(next, append(slices.Clone(s), w))
			}
		}
		odd := slices.ContainsFunc(next, func(s []string) bool { return !plainWord.Get().MatchString(s[len(s)-1]) || strings.Contains(s[0], "=") })
		if odd || len(next) > maxAlternatives {
			return rough(seqs)
		}
		seqs = next
	}
	var out []pattern
	for _, s := range seqs {
		out = append(out, pattern{prefix: s})
	}
	return out
}

// rough are patterns that match more.
func rough(seqs [][]string) []pattern {
	var out []pattern
	for _, s := range seqs {
		out = append(out, pattern{glob: strings.TrimLeft(strings.Join(s, " ")+" *", " ") + "*"})
	}
	return out
}

// spelled is a pattern in short.
func spelled(p [][]string) string {
	var out []string
	for _, some := range p {
		out = append(out, strings.Join(some, "|"))
	}
	return strings.Join(out, " ")
}
