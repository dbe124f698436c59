package importer

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var opencodeFormat = format{
	name: "opencode", version: "1.18.33", files: true,
	looks: func(d *document) bool {
		return d.root.Member("permission") != nil || d.root.Member("$schema").String() == "https://opencode.ai/config.json"
	},
	read: readOpencode,
}

// opencodeKeys are keys of opencode.json that are about something else than permissions.
var opencodeKeys = strings.Fields(`$schema attachment autoshare autoupdate command compaction disabled_providers enabled_providers
	enterprise experimental formatter instructions layout logLevel lsp model plugin provider reference references server
	share shell skills small_model snapshot subagent_depth tool_output username watcher`)

// opencodeAgentKeys are such keys of an agent.
var opencodeAgentKeys = strings.Fields("color description disable hidden maxSteps mode model options prompt steps temperature top_p variant")

// opencode are the permissions of the agent that opencode starts with.
type opencode struct {
	t        *translation
	d        *document
	worktree string
	rules    []opencodeRule
}

// opencodeRule is a rule with its entry.
type opencodeRule struct {
	foreign.OpencodeRule
	entry *Entry
}

func readOpencode(t *translation, docs []*document) foreign.Policy {
	o := &opencode{t: t, d: docs[0], worktree: repository(t.host)}
	t.draft.confines, t.own = true, &Entry{Key: "the working directory of opencode"}
	o.builtin("*", "*", "allow")
	o.builtin("external_directory", "*", "ask")
	for _, r := range [][2]string{{"*", "allow"}, {"*.env", "ask"}, {"*.env.*", "ask"}, {"*.env.example", "allow"}} {
		o.builtin("read", r[0], r[1])
	}
	var user, agents *jsonc.Node
	agent := "build"
	members := fields{
		"permission": func(n *jsonc.Node) { user = n },
		"mcp":        func(*jsonc.Node) {},
		"agent":      func(n *jsonc.Node) { agents = n },
		"default_agent": func(n *jsonc.Node) {
			if agent = n.String(); !clean(agent) {
				o.d.fault(n.From, "default_agent is no name")
			}
			t.add(o.d, n, "default_agent", agent).become(Carried, "its permissions are imported")
		},
		"mode": func(n *jsonc.Node) { o.d.fault(n.Begin, `"mode" is the old form of "agent"; import with that form`) },
		"tools": func(n *jsonc.Node) {
			o.d.fault(n.Begin, `"tools" is the old form of "permission"; import with that form`)
		},
	}
	for _, key := range opencodeKeys {
		members[key] = t.leave(o.d, "", "it is about something else than permissions")
	}
	o.d.object(o.d.root, "opencode's settings", members)
	if n := o.d.root.Member("mcp"); n != nil {
		t.serverTable(o.d, o.d.fromJSON(n))
	}
	if agent == "plan" {
		o.builtin("edit", "*", "deny")
	}
	o.permission(user, "permission")
	o.agents(agents, agent)
	o.files()
	o.lines()
	o.fetches()
	o.others()
	return o.model()
}

// repository is the top of the repository around the workspace, "/" without one.
func repository(h foreign.Host) string {
	for at := h.Dir; at != "/"; at = path.Dir(at) {
		if h.Exists(path.Join(at, ".git")) {
			return at
		}
	}
	return "/"
}

func (o *opencode) builtin(permission, pattern, action string) {
	e := &Entry{Key: "what opencode asks about by itself"}
	o.rules = append(o.rules, opencodeRule{foreign.OpencodeRule{Permission: permission, Pattern: pattern, Action: action, Own: true}, e})
}

// agents reads the rules of one agent, which follow those for all.
func (o *opencode) agents(n *jsonc.Node, name string) {
	if n == nil {
		return
	}
	if n.Kind != '{' {
		o.d.fault(n.From, "agent is no object")
	}
	for _, item := range n.Children('{') {
		if item.Key != name {
			o.t.add(o.d, item, "agent", item.Key).become(LeftOut, "it is about another agent than %s; default_agent chooses the one that is imported", name)
			continue
		}
		members := fields{
			"permission": func(n *jsonc.Node) { o.permission(n, "agent."+name+".permission") },
			"tools": func(n *jsonc.Node) {
				o.d.fault(n.Begin, `"tools" is the old form of "permission"; import with that form`)
			},
		}
		for _, key := range opencodeAgentKeys {
			members[key] = o.t.leave(o.d, "agent."+name, "it is about something else than permissions")
		}
		o.d.object(item, "an agent", members)
	}
}

// number are names that JavaScript puts before all others of an object.
var number = expression.Once{Text: `^(0|[1-9][0-9]*)$`}

// permission reads rules: one action for all, or an action for each permission, or for each pattern of one.
func (o *opencode) permission(n *jsonc.Node, key string) {
	switch {
	case n == nil:
	case n.Kind == '"':
		o.rule(n, "*", "*", n, key)
	case n.Kind != '{':
		o.d.fault(n.From, "%s is neither an action nor an object", key)
	default:
		for _, item := range n.Items {
			o.ranked(item)
			whole := slices.Contains([]string{"doom_loop", "question", "todowrite", "webfetch", "websearch"}, item.Key)
			if item.Kind != '{' || whole {
				o.rule(item, item.Key, "*", item, key+"."+item.Key)
				continue
			}
			for _, p := range item.Items {
				o.ranked(p)
				o.rule(p, item.Key, p.Key, p, key+"."+item.Key)
			}
		}
	}
}

// ranked notes a name whose rank among the others is not that of the document.
func (o *opencode) ranked(n *jsonc.Node) {
	if number.Get().MatchString(n.Key) {
		o.d.fault(n.Begin, "%q is a number, which opencode puts before all others", n.Key)
	}
}

func (o *opencode) rule(n *jsonc.Node, permission, pattern string, value *jsonc.Node, key string) {
	action := value.String()
	if !slices.Contains([]string{"allow", "ask", "deny"}, action) {
		o.d.fault(value.From, "expected allow, ask or deny")
		return
	}
	for _, text := range []string{permission, pattern} {
		if strings.Contains(text, "{env:") || strings.Contains(text, "{file:") || !clean(text) {
			o.d.fault(n.Begin, "%q is filled in by opencode, or has characters that are not visible", text)
			return
		}
	}
	e := o.t.add(o.d, n, key, strings.TrimPrefix(pattern+" ", "* ")+action)
	o.rules = append(o.rules, opencodeRule{foreign.OpencodeRule{Permission: permission, Pattern: pattern, Action: action}, e})
}

// of are the rules about a permission.
func (o *opencode) of(permission string) []opencodeRule {
	return slices.DeleteFunc(slices.Clone(o.rules), func(r opencodeRule) bool { return !anyText(r.Permission).MatchString(permission) })
}

// anyText is a pattern of names of permissions.
func anyText(pattern string) *regexp.Regexp {
	return regexp.MustCompile("(?s)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern)) + "$")
}

// fetches writes the rule for the agent's own means of getting pages.
func (o *opencode) fetches() {
	rules := o.of("webfetch")
	last := rules[len(rules)-1]
	if last.Action != "allow" {
		r := rule{ask: last.Action == "ask", hosts: []string{"*"}, from: last.entry.from()}
		o.t.draft.rules = append(o.t.draft.rules, r)
	}
	for _, r := range rules {
		switch {
		case r.Permission != "webfetch":
		case r.Action == "allow":
			r.entry.become(LeftOut, "it opens every host; write that rule yourself")
		default:
			r.entry.become(Carried, "rulesets.%s", o.t.draft.ruleset)
		}
	}
}

// others settles the entries about all permissions, and those about none that there are rules for.
func (o *opencode) others() {
	for _, r := range o.rules {
		switch known := r.entry.Fate != 0; {
		case !strings.ContainsAny(r.Permission, "*?"):
			if !known {
				r.entry.become(LeftOut, "no rule here is about it")
			}
		case r.Action == "allow":
			r.entry.become(Narrowed, "the workspace, as far as later entries leave it open; commands and hosts need rules")
		default:
			r.entry.become(Carried, "nothing is granted but what later entries allow")
		}
	}
}

// model is the evaluation of the rules.
func (o *opencode) model() foreign.Policy {
	out := &foreign.Opencode{Host: o.t.host, Worktree: o.worktree}
	for _, r := range o.rules {
		out.Rules = append(out.Rules, r.OpencodeRule)
	}
	return out
}
