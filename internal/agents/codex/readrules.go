package codex

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var rulesFormat = importer.Format{
	Name: "codex-rules", Version: "0.169.0", Several: true, Text: true,
	Looks: func(d *importer.Document) bool { return strings.HasSuffix(d.Name, ".rules") },
	Read:  readRules,
}

func readRules(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	var policy RulesModel
	var allow, stop []importer.LineRule
	for _, d := range docs {
		for i, c := range calls(d) {
			e := t.Add(d, &jsonc.Node{Begin: c.at}, importer.ElementOf(c.name, i), "")
			switch c.name {
			case "network_rule":
				e.Become(importer.LeftOut,
					"a ruleset is about commands: a host is open only where a net rule of the tool allows it")
				continue
			case "host_executable":
				e.Become(importer.LeftOut,
					"a rule here is about a program by its name: one that is called by a path is left to a person")
				continue
			}
			r, ok := c.rule(d)
			if !ok {
				continue
			}
			policy = append(policy, r)
			e.Text = r.Decision + " " + spelled(r.Pattern)
			for _, p := range alternatives(r.Pattern) {
				l := importer.LineRule{Pattern: p, Deny: r.Decision == "forbidden", Entry: e}
				if r.Decision == "allow" {
					allow = append(allow, l)
				} else {
					stop = append(stop, l)
				}
			}
		}
	}
	t.CommandRules(allow, stop)
	return policy
}

// rule checks the arguments of a call.
func (c *call) rule(d *importer.Document) (Rule, bool) {
	out := Rule{Decision: "allow"}
	before := len(d.Faults)
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
						d.Fault(s.at, "expected a word")
					}
					texts = append(texts, s.text)
				}
				if len(texts) == 0 {
					d.Fault(v.at, "expected at least one word")
				}
				out.Pattern = append(out.Pattern, texts)
			}
		case "decision":
			if out.Decision = a.value.text; !slices.Contains([]string{"allow", "prompt", "forbidden"}, out.Decision) {
				d.Fault(a.value.at, "expected allow, prompt or forbidden")
			}
		case "justification", "match", "not_match":
		default:
			d.Fault(a.at, "%q is no argument of prefix_rule in %s", a.name, d.Version)
		}
	}
	if len(out.Pattern) == 0 {
		d.Fault(c.at, "a rule without a pattern")
	}
	return out, len(d.Faults) == before
}

// maxAlternatives is how many rules one pattern may become.
const maxAlternatives = 64

// alternatives are the sequences of words of a pattern. One with a word that a shell reads otherwise, or of
// too many alternatives, is about all commands with the words before.
func alternatives(p [][]string) []importer.Pattern {
	seqs := [][]string{nil}
	for _, some := range p {
		var next [][]string
		for _, s := range seqs {
			for _, w := range some {
				next = append(next, append(slices.Clone(s), w))
			}
		}
		odd := slices.ContainsFunc(next, func(s []string) bool {
			return !importer.PlainWord.Get().MatchString(s[len(s)-1]) || strings.Contains(s[0], "=")
		})
		if odd || len(next) > maxAlternatives {
			return rough(seqs)
		}
		seqs = next
	}
	var out []importer.Pattern
	for _, s := range seqs {
		out = append(out, importer.Pattern{Prefix: s})
	}
	return out
}

// rough are patterns that match more.
func rough(seqs [][]string) []importer.Pattern {
	var out []importer.Pattern
	for _, s := range seqs {
		out = append(out, importer.Pattern{Glob: strings.TrimLeft(strings.Join(s, " ")+" *", " ") + "*"})
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
