package gemini

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
)

var policiesFormat = importer.Format{
	Name: "gemini", Version: "0.61.0", Several: true, Text: true,
	Looks: func(d *importer.Document) bool {
		return strings.HasSuffix(d.Name, ".toml") && path.Base(path.Dir(d.Path)) == "policies"
	},
	Read: readPolicies,
}

// placed is a rule with its entry. Here it stands for one prefix alone.
type placed struct {
	Rule
	pattern importer.Pattern
	entry   *importer.Entry
}

func readPolicies(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	var rules []placed
	for _, d := range docs {
		root, wrong := source.Parse(d.Name, d.Text)
		if wrong != nil {
			d.Faults = append(d.Faults, &importer.Fault{Text: wrong.At.String() + ": " + wrong.Message})
			continue
		}
		if path.Dir(d.Path) != path.Dir(docs[0].Path) {
			d.Fault(0, "policies of another directory may have another rank; import them by themselves")
		}
		g := &policyReader{TOMLReader: importer.TOMLReader{T: t, D: d}}
		g.Table(root, "a policy file", importer.Tables{"rule": g.list, "safety_checker": func(e *source.Entry) {
			g.Wrong(e, "a safety checker may deny what rules allow, and is not understood")
		}})
		rules = append(rules, g.rules...)
	}
	return ranked(t, rules)
}

// ranked writes rules for commands in the order of their priority, those that deny or ask first where it is the same.
func ranked(t *importer.Translation, rules []placed) foreign.Policy {
	slices.SortStableFunc(rules, func(a, b placed) int {
		allows := func(r placed) int { return strings.Count(r.Decision, "allow") }
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(allows(a), allows(b)))
	})
	var later []importer.LineRule
	var policy Model
	for _, r := range rules {
		policy = append(policy, r.Rule)
		l := importer.LineRule{Pattern: r.pattern, Deny: r.Decision == "deny", Entry: r.entry}
		if r.Decision == "allow" {
			t.AllowLine(l, later)
			continue
		}
		later = append(later, l)
		t.StopLine(l)
	}
	return policy
}

// policyReader reads one file.
type policyReader struct {
	importer.TOMLReader
	rules []placed
}

func (g *policyReader) list(e *source.Entry) {
	if e.Value.Kind != source.ArrayKind {
		g.Wrong(e, "expected a list of tables")
		return
	}
	for i, v := range e.Value.Array {
		at := source.Entry{Key: importer.ElementOf("rule", i), At: v.At, Value: v}
		if v.Table == nil {
			g.Wrong(&at, "expected a table")
			continue
		}
		g.rule(&at)
	}
}

// condition is the part of a rule that is about its calls.
type condition struct {
	tools, prefixes, modes []string
	decision               string
	priority               int
	// regex is compared with the command, args with all arguments.
	regex, args string
	// only are the names of further conditions.
	only []string
}

// rule reads one rule.
func (g *policyReader) rule(at *source.Entry) {
	c := condition{priority: -1}
	only := func(e *source.Entry) { c.only = append(c.only, e.Key) }
	nothing := func(*source.Entry) {}
	g.Table(at.Value.Table, at.Key, importer.Tables{
		"toolName":      func(e *source.Entry) { c.tools = g.texts(e) },
		"commandPrefix": func(e *source.Entry) { c.prefixes = g.texts(e) },
		"commandRegex":  func(e *source.Entry) { c.regex = g.texts(e)[0] },
		"argsPattern":   func(e *source.Entry) { c.args = g.texts(e)[0] },
		"modes":         func(e *source.Entry) { c.modes = g.texts(e) },
		"decision":      func(e *source.Entry) { c.decision = e.Value.Text },
		"priority": func(e *source.Entry) {
			if c.priority = int(e.Value.Int); e.Value.Kind != source.IntegerKind || c.priority < 0 || c.priority > 999 {
				g.Wrong(e, "expected a number from 0 to 999")
			}
		},
		"subagent": only, "mcpName": only, "toolAnnotations": only, "interactive": only,
		"allowRedirection": nothing, "allow_redirection": nothing, "denyMessage": nothing, "deny_message": nothing,
		"name": nothing,
	})
	parts := 0
	for _, set := range []bool{c.prefixes != nil, c.regex != "", c.args != ""} {
		if set {
			parts++
		}
	}
	switch {
	case !slices.Contains([]string{"allow", "deny", "ask_user"}, c.decision) || len(c.tools) == 0 || c.priority < 0:
		g.Wrong(at, "a rule needs toolName, decision (allow, deny or ask_user) and priority")
	case parts > 1 || (len(c.prefixes) > 0 || c.regex != "") && !slices.Equal(c.tools, []string{"run_shell_command"}):
		g.Wrong(at, "commandPrefix and commandRegex are for run_shell_command, and exclude each other and argsPattern")
	default:
		g.decide(g.Add(at, at.Key, c.decision+" "+strings.Join(append(c.tools, append(c.prefixes, c.regex+c.args)...),
			" ")), c)
	}
}

// texts is a text, or a list of texts; none is empty.
func (g *policyReader) texts(e *source.Entry) []string {
	list := []*source.Value{e.Value}
	if e.Value.Kind == source.ArrayKind {
		list = e.Value.Array
	}
	var out []string
	for _, v := range list {
		if v.Kind != source.StringKind || v.Text == "" {
			g.Wrong(e, "expected a text that is not empty, or a list of such")
		}
		out = append(out, v.Text)
	}
	if len(out) == 0 {
		g.Wrong(e, "expected at least one text")
		return []string{""}
	}
	return out
}

// unlessSwitched is the priority of rules that a further setting switches off.
const unlessSwitched = 950

// decide notes the subject of the rule.
func (g *policyReader) decide(e *importer.Entry, c condition) {
	stops := c.decision != "allow"
	shell := slices.ContainsFunc(c.tools, func(name string) bool {
		return name == "run_shell_command" || strings.Contains(name, "*") && (stops || name == "*") &&
			importer.AnyText(name).MatchString("run_shell_command")
	})
	why := ""
	switch {
	case slices.Contains(c.only, "mcpName") || !shell && !slices.Contains(c.tools, "web_fetch"):
		why = "rules for commands, and for pages that are fetched, alone are carried over"
	case len(c.modes) > 0 && !slices.Contains(c.modes, "default"):
		why = "it is not about the mode default"
	case !stops && len(c.only) > 0:
		why = "it has a condition: " + strings.Join(c.only, ", ")
	case !stops && c.priority == unlessSwitched:
		why = "disableAlwaysAllow switches rules of its priority off"
	case !shell && !stops:
		why = "it opens every host; write that rule yourself"
	case !shell && c.decision == "deny" && c.args == "":
		g.T.Draft.Rules = append(g.T.Draft.Rules, importer.Rule{Hosts: []string{"*"}, From: e.From()})
		e.Become(importer.Carried, "rulesets.%s", g.T.Draft.Ruleset)
		return
	case !shell:
		g.T.Draft.Rules = append(g.T.Draft.Rules, importer.Rule{Ask: true, Hosts: []string{"*"}, From: e.From()})
		e.Become(importer.Carried, "rulesets.%s", g.T.Draft.Ruleset)
		return
	}
	if why != "" {
		e.Become(importer.LeftOut, "%s", why)
		return
	}
	g.commands(e, c)
}

// commands notes a rule for each prefix, or for each alternative of an expression, or one for all commands.
func (g *policyReader) commands(e *importer.Entry, c condition) {
	one := Rule{Decision: c.decision, Priority: c.priority}
	for i, p := range c.prefixes {
		if i > 0 {
			again := *e
			e = &again
			g.T.Entries = append(g.T.Entries, e)
		}
		one.Prefix, e.Text = p, c.decision+" "+p
		g.rules = append(g.rules, placed{one, prefixPattern(p), e})
	}
	regex := c.regex
	if rest, ok := strings.CutPrefix(c.args, `"command":"`); ok &&
		(importer.Grouped(rest) || !strings.Contains(rest, "|")) {
		regex = rest
	}
	patterns := []importer.Pattern{{All: true, Vague: c.args != "" || len(c.only) > 0}}
	switch {
	case len(c.prefixes) > 0:
		return
	case regex != "":
		one.Expression, patterns = `"command":"`+regex, importer.ExpressionPatterns(regex, 0)
	case c.args != "" && c.decision == "allow":
		e.Become(importer.LeftOut, "it is an expression about arguments")
		return
	}
	for _, p := range patterns {
		g.rules = append(g.rules, placed{one, p, e})
	}
}

// prefixPattern is the pattern of a prefix, which ends where a blank or a quote follows.
func prefixPattern(prefix string) importer.Pattern {
	if w := importer.Words(prefix); w != nil && len(prefix) <= importer.LongPrefix {
		return importer.Pattern{Prefix: w}
	}
	return importer.Pattern{Glob: strings.TrimRight(prefix, " ") + "**"}
}
