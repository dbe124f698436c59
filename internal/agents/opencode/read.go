package opencode

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var format = importer.Format{
	Name: "opencode", Version: "1.18.33", Files: true,
	Looks: func(d *importer.Document) bool {
		return d.Root.Member("permission") != nil ||
			d.Root.Member("$schema").String() == "https://opencode.ai/config.json"
	},
	Read: read,
}

// reader are the permissions of the agent that opencode starts with.
type reader struct {
	t        *importer.Translation
	d        *importer.Document
	worktree string
	rules    []placed
}

// placed is a rule with its entry.
type placed struct {
	Rule
	entry *importer.Entry
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	o := &reader{t: t, d: docs[0], worktree: repository(t.Host)}
	t.Draft.Confines, t.Own = true, &importer.Entry{Key: "the working directory of opencode"}
	o.builtin("*", "*", "allow")
	o.builtin("external_directory", "*", "ask")
	for _, r := range [][2]string{{"*", "allow"}, {"*.env", "ask"}, {"*.env.*", "ask"}, {"*.env.example", "allow"}} {
		o.builtin("read", r[0], r[1])
	}
	var user, agents *jsonc.Node
	agent := "build"
	members := importer.Fields{
		"permission": func(n *jsonc.Node) { user = n },
		"mcp":        func(*jsonc.Node) {},
		"agent":      func(n *jsonc.Node) { agents = n },
		"default_agent": func(n *jsonc.Node) {
			if agent = n.String(); !importer.Clean(agent) {
				o.d.Fault(n.From, "default_agent is no name")
			}
			t.Add(o.d, n, "default_agent", agent).Become(importer.Carried, "its permissions are imported")
		},
		"mode": func(n *jsonc.Node) { o.d.Fault(n.Begin, `"mode" is the old form of "agent"; import with that form`) },
		"tools": func(n *jsonc.Node) {
			o.d.Fault(n.Begin, `"tools" is the old form of "permission"; import with that form`)
		},
	}
	for _, key := range otherKeys {
		members[key] = t.Leave(o.d, "", "it is about something else than permissions")
	}
	o.d.Object(o.d.Root, "opencode's settings", members)
	if n := o.d.Root.Member("mcp"); n != nil {
		t.ServerTable(o.d, o.d.FromJSON(n))
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

func (o *reader) builtin(permission, pattern, action string) {
	e := &importer.Entry{Key: "what opencode asks about by itself"}
	o.rules = append(o.rules, placed{Rule{Permission: permission, Pattern: pattern, Action: action, Own: true}, e})
}

// agents reads the rules of one agent, which follow those for all.
func (o *reader) agents(n *jsonc.Node, name string) {
	if n == nil {
		return
	}
	if n.Kind != '{' {
		o.d.Fault(n.From, "agent is no object")
	}
	for _, item := range n.Children('{') {
		if item.Key != name {
			o.t.Add(o.d, item, "agent", item.Key).Become(importer.LeftOut,
				"it is about another agent than %s; default_agent chooses the one that is imported", name)
			continue
		}
		members := importer.Fields{
			"permission": func(n *jsonc.Node) { o.permission(n, "agent."+name+".permission") },
			"tools": func(n *jsonc.Node) {
				o.d.Fault(n.Begin, `"tools" is the old form of "permission"; import with that form`)
			},
		}
		for _, key := range agentKeys {
			members[key] = o.t.Leave(o.d, "agent."+name, "it is about something else than permissions")
		}
		o.d.Object(item, "an agent", members)
	}
}

// number are names that JavaScript puts before all others of an object.
var number = expression.Once{Text: `^(0|[1-9][0-9]*)$`}

// permission reads rules: one action for all, or an action for each permission, or for each pattern of one.
func (o *reader) permission(n *jsonc.Node, key string) {
	switch {
	case n == nil:
	case n.Kind == '"':
		o.rule(n, "*", "*", n, key)
	case n.Kind != '{':
		o.d.Fault(n.From, "%s is neither an action nor an object", key)
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
func (o *reader) ranked(n *jsonc.Node) {
	if number.Get().MatchString(n.Key) {
		o.d.Fault(n.Begin, "%q is a number, which opencode puts before all others", n.Key)
	}
}

func (o *reader) rule(n *jsonc.Node, permission, pattern string, value *jsonc.Node, key string) {
	action := value.String()
	if !slices.Contains([]string{"allow", "ask", "deny"}, action) {
		o.d.Fault(value.From, "expected allow, ask or deny")
		return
	}
	for _, text := range []string{permission, pattern} {
		if strings.Contains(text, "{env:") || strings.Contains(text, "{file:") || !importer.Clean(text) {
			o.d.Fault(n.Begin, "%q is filled in by opencode, or has characters that are not visible", text)
			return
		}
	}
	e := o.t.Add(o.d, n, key, strings.TrimPrefix(pattern+" ", "* ")+action)
	o.rules = append(o.rules, placed{Rule{Permission: permission, Pattern: pattern, Action: action}, e})
}

// of are the rules about a permission.
func (o *reader) of(permission string) []placed {
	return slices.DeleteFunc(slices.Clone(o.rules),
		func(r placed) bool { return !importer.AnyText(r.Permission).MatchString(permission) })
}

// fetches writes the rule for the agent's own means of getting pages.
func (o *reader) fetches() {
	rules := o.of("webfetch")
	last := rules[len(rules)-1]
	if last.Action != "allow" {
		r := importer.Rule{Ask: last.Action == "ask", Hosts: []string{"*"}, From: last.entry.From()}
		o.t.Draft.Rules = append(o.t.Draft.Rules, r)
	}
	for _, r := range rules {
		switch {
		case r.Permission != "webfetch":
		case r.Action == "allow":
			r.entry.Become(importer.LeftOut, "it opens every host; write that rule yourself")
		default:
			r.entry.Become(importer.Carried, "rulesets.%s", o.t.Draft.Ruleset)
		}
	}
}

// others settles the entries about all permissions, and those about none that there are rules for.
func (o *reader) others() {
	for _, r := range o.rules {
		switch known := r.entry.Fate != 0; {
		case !strings.ContainsAny(r.Permission, "*?"):
			if !known {
				r.entry.Become(importer.LeftOut, "no rule here is about it")
			}
		case r.Action == "allow":
			r.entry.Become(importer.Narrowed,
				"the workspace, as far as later entries leave it open; commands and hosts need rules")
		default:
			r.entry.Become(importer.Carried, "nothing is granted but what later entries allow")
		}
	}
}

// model is the evaluation of the rules.
func (o *reader) model() foreign.Policy {
	out := &Model{Host: o.t.Host, Worktree: o.worktree}
	for _, r := range o.rules {
		out.Rules = append(out.Rules, r.Rule)
	}
	return out
}
