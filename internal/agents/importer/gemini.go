package importer

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
)

var geminiFormat = format{
	name: "gemini", version: "0.61.0", several: true, text: true,
	looks: func(d *document) bool {
		return strings.HasSuffix(d.name, ".toml") && path.Base(path.Dir(d.path)) == "policies"
	},
	read: readGemini,
}

// geminiRule is a rule with its entry. Here it stands for one prefix alone.
type geminiRule struct {
	foreign.GeminiRule
	pattern pattern
	entry   *Entry
}

func readGemini(t *translation, docs []*document) foreign.Policy {
	var rules []geminiRule
	for _, d := range docs {
		root, wrong := source.Parse(d.name, d.text)
		if wrong != nil {
			d.faults = append(d.faults, &fault{wrong.At.String() + ": " + wrong.Message})
			continue
		}
		if path.Dir(d.path) != path.Dir(docs[0].path) {
			d.fault(0, "policies of another directory may have another rank; import them by themselves")
		}
		g := &geminiPolicy{tomlReader: tomlReader{t: t, d: d}}
		g.table(root, "a policy file", tables{"rule": g.list, "safety_checker": func(e *source.Entry) {
			g.wrong(e, "a safety checker may deny what rules allow, and is not understood")
		}})
		rules = append(rules, g.rules...)
	}
	return t.ranked(rules)
}

// ranked writes rules for commands in the order of their priority, those that deny or ask first where it is the same.
func (t *translation) ranked(rules []geminiRule) foreign.Policy {
	slices.SortStableFunc(rules, func(a, b geminiRule) int {
		allows := func(r geminiRule) int { return strings.Count(r.Decision, "allow") }
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(allows(a), allows(b)))
	})
	var later []lineRule
	var policy foreign.Gemini
	for _, r := range rules {
		policy = append(policy, r.GeminiRule)
		l := lineRule{pattern: r.pattern, deny: r.Decision == "deny", entry: r.entry}
		if r.Decision == "allow" {
			t.allowLine(l, later)
			continue
		}
		later = append(later, l)
		t.stopLine(l)
	}
	return policy
}

// geminiPolicy reads one file.
type geminiPolicy struct {
	tomlReader
	rules []geminiRule
}

func (g *geminiPolicy) list(e *source.Entry) {
	if e.Value.Kind != source.ArrayKind {
		g.wrong(e, "expected a list of tables")
		return
	}
	for i, v := range e.Value.Array {
		at := source.Entry{Key: elementOf("rule", i), At: v.At, Value: v}
		if v.Table == nil {
			g.wrong(&at, "expected a table")
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
func (g *geminiPolicy) rule(at *source.Entry) {
	c := condition{priority: -1}
	only := func(e *source.Entry) { c.only = append(c.only, e.Key) }
	nothing := func(*source.Entry) {}
	g.table(at.Value.Table, at.Key, tables{
		"toolName":      func(e *source.Entry) { c.tools = g.texts(e) },
		"commandPrefix": func(e *source.Entry) { c.prefixes = g.texts(e) },
		"commandRegex":  func(e *source.Entry) { c.regex = g.texts(e)[0] },
		"argsPattern":   func(e *source.Entry) { c.args = g.texts(e)[0] },
		"modes":         func(e *source.Entry) { c.modes = g.texts(e) },
		"decision":      func(e *source.Entry) { c.decision = e.Value.Text },
		"priority": func(e *source.Entry) {
			if c.priority = int(e.Value.Int); e.Value.Kind != source.IntegerKind || c.priority < 0 || c.priority > 999 {
				g.wrong(e, "expected a number from 0 to 999")
			}
		},
		"subagent": only, "mcpName": only, "toolAnnotations": only, "interactive": only,
		"allowRedirection": nothing, "allow_redirection": nothing, "denyMessage": nothing, "deny_message": nothing, "name": nothing,
	})
	parts := 0
	for _, set := range []bool{c.prefixes != nil, c.regex != "", c.args != ""} {
		if set {
			parts++
		}
	}
	switch {
	case !slices.Contains([]string{"allow", "deny", "ask_user"}, c.decision) || len(c.tools) == 0 || c.priority < 0:
		g.wrong(at, "a rule needs toolName, decision (allow, deny or ask_user) and priority")
	case parts > 1 || (len(c.prefixes) > 0 || c.regex != "") && !slices.Equal(c.tools, []string{"run_shell_command"}):
		g.wrong(at, "commandPrefix and commandRegex are for run_shell_command, and exclude each other and argsPattern")
	default:
		g.decide(g.add(at, at.Key, c.decision+" "+strings.Join(append(c.tools, append(c.prefixes, c.regex+c.args)...), " ")), c)
	}
}

// texts is a text, or a list of texts; none is empty.
func (g *geminiPolicy) texts(e *source.Entry) []string {
	list := []*source.Value{e.Value}
	if e.Value.Kind == source.ArrayKind {
		list = e.Value.Array
	}
	var out []string
	for _, v := range list {
		if v.Kind != source.StringKind || v.Text == "" {
			g.wrong(e, "expected a text that is not empty, or a list of such")
		}
		out = append(out, v.Text)
	}
	if len(out) == 0 {
		g.wrong(e, "expected at least one text")
		return []string{""}
	}
	return out
}

// unlessSwitched is the priority of rules that a further setting switches off.
const unlessSwitched = 950

// longPrefix is more than Gemini CLI takes for an expression.
const longPrefix = 500

// decide notes the subject of the rule.
func (g *geminiPolicy) decide(e *Entry, c condition) {
	stops := c.decision != "allow"
	shell := slices.ContainsFunc(c.tools, func(name string) bool {
		return name == "run_shell_command" || strings.Contains(name, "*") && (stops || name == "*") && anyText(name).MatchString("run_shell_command")
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
		g.t.draft.rules = append(g.t.draft.rules, rule{hosts: []string{"*"}, from: e.from()})
		e.become(Carried, "rulesets.%s", g.t.draft.ruleset)
		return
	case !shell:
		g.t.draft.rules = append(g.t.draft.rules, rule{ask: true, hosts: []string{"*"}, from: e.from()})
		e.become(Carried, "rulesets.%s", g.t.draft.ruleset)
		return
	}
	if why != "" {
		e.become(LeftOut, "%s", why)
		return
	}
	g.commands(e, c)
}

// commands notes a rule for each prefix, or for each alternative of an expression, or one for all commands.
func (g *geminiPolicy) commands(e *Entry, c condition) {
	one := foreign.GeminiRule{Decision: c.decision, Priority: c.priority}
	for i, p := range c.prefixes {
		if i > 0 {
			again := *e
			e = &again
			g.t.entries = append(g.t.entries, e)
		}
		one.Prefix, e.Text = p, c.decision+" "+p
		g.rules = append(g.rules, geminiRule{one, prefixPattern(p), e})
	}
	regex := c.regex
	if rest, ok := strings.CutPrefix(c.args, `"command":"`); ok && (grouped(rest) || !strings.Contains(rest, "|")) {
		regex = rest
	}
	patterns := []pattern{{all: true, vague: c.args != "" || len(c.only) > 0}}
	switch {
	case len(c.prefixes) > 0:
		return
	case regex != "":
		one.Expression, patterns = `"command":"`+regex, expressionPatterns(regex, 0)
	case c.args != "" && c.decision == "allow":
		e.become(LeftOut, "it is an expression about arguments")
		return
	}
	for _, p := range patterns {
		g.rules = append(g.rules, geminiRule{one, p, e})
	}
}

// prefixPattern is the pattern of a prefix, which ends where a blank or a quote follows.
func prefixPattern(prefix string) pattern {
	if w := words(prefix); w != nil && len(prefix) <= longPrefix {
		return pattern{prefix: w}
	}
	return pattern{glob: strings.TrimRight(prefix, " ") + "**"}
}

var (
	plainStart = expression.Once{Text: `^[A-Za-z0-9_/ :=@,-]*`}
	group      = expression.Once{Text: `^\(([A-Za-z0-9_/ :=@,|-]*)\)($|[^*?+{])`}
)

// maxGroups is how many groups an expression may have that are spelled out.
const maxGroups = 3

// expressionPatterns are the patterns of a regular expression, which begins with the command and ends anywhere: its text
// if it is plain, that of each alternative, or one that matches more.
func expressionPatterns(regex string, depth int) []pattern {
	if _, err := regexp.Compile(regex); err != nil {
		return []pattern{{all: true, vague: true}} // not an expression, or one of JavaScript alone
	}
	begin := plainStart.Get().FindString(regex)
	rest := regex[len(begin):]
	if m := group.Get().FindStringSubmatch(rest); m != nil && depth < maxGroups && grouped(rest) {
		var out []pattern
		for _, some := range strings.Split(m[1], "|") {
			out = append(out, expressionPatterns(begin+some+rest[len(m[1])+len("()"):], depth+1)...)
		}
		return out
	}
	switch {
	case rest == "" && begin != "" && len(regex) <= longPrefix:
		return []pattern{{glob: begin + "*"}}
	case begin == "", strings.Contains(rest, "|") && !grouped(rest):
		return []pattern{{all: true, vague: true}}
	case rest != "" && strings.ContainsAny(rest[:1], "*?{"):
		begin = begin[:len(begin)-1] // it may be missing
	}
	if begin == "" {
		return []pattern{{all: true, vague: true}}
	}
	return []pattern{{glob: begin + "**"}}
}

// grouped reports whether every alternative stands in a pair of parentheses that have none inside, nor brackets and
// escapes.
func grouped(regex string) bool {
	open := false
	for _, r := range regex {
		switch {
		case strings.ContainsRune(`[]\`, r), r == '(' && open, r == ')' && !open, r == '|' && !open:
			return false
		case r == '(' || r == ')':
			open = r == '('
		}
	}
	return !open
}
