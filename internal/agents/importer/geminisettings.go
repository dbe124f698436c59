package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var geminiSettings = format{
	name: "gemini-settings", version: "0.61.0",
	looks: func(d *document) bool {
		tools := d.root.Member("tools")
		return geminiPath(d) || slices.ContainsFunc([]string{"allowed", "confirmationRequired", "core", "exclude"}, func(key string) bool {
			return tools.Member(key) != nil
		})
	},
	read: readGeminiSettings,
}

// geminiPath reports whether a document is the settings of Gemini CLI by its name, which a list of servers in it does
// not change.
func geminiPath(d *document) bool { return strings.HasSuffix(d.path, "/.gemini/settings.json") }

// geminiKeys are keys of settings.json that are about something else than which commands run, geminiToolKeys those of tools.
var (
	geminiKeys = strings.Fields(`$schema admin adminPolicyPaths advanced agents billing context contextManagement experimental extensions general hooks
		hooksConfig ide mcp model modelConfigs output policyPaths privacy security skills telemetry ui useWriteTodos`)
	geminiToolKeys = strings.Fields("callCommand disableLLMCorrection discoveryCommand sandbox sandboxAllowedPaths sandboxNetworkAccess shell truncateToolOutputThreshold useRipgrep")
)

// The priorities of the lists, those of the policies of the user being 0 to 999.
const (
	coreRest      = 240
	core          = 250
	allowedRest   = 290
	allowed       = 300
	confirmed     = 350
	excludedTools = 400
)

func readGeminiSettings(t *translation, docs []*document) foreign.Policy {
	g := &geminiLists{t: t, d: docs[0]}
	members := fields{"tools": func(n *jsonc.Node) {
		known := fields{
			"core": func(n *jsonc.Node) {
				g.rest(n, coreRest, pattern{all: true})
				if !g.tools(n, "allow", core) {
					// Gemini CLI has no tool for commands then, whatever the other lists say.
					g.rest(n, excludedTools, pattern{all: true})
				}
			},
			"allowed":              func(n *jsonc.Node) { _ = g.tools(n, "allow", allowed) },
			"confirmationRequired": func(n *jsonc.Node) { _ = g.tools(n, "ask_user", confirmed) },
			"exclude":              func(n *jsonc.Node) { _ = g.tools(n, "deny", excludedTools) },
		}
		for _, key := range geminiToolKeys {
			known[key] = t.leave(g.d, "tools", "it is about how Gemini CLI runs tools")
		}
		g.d.object(n, "tools", known)
	}}
	members["mcpServers"] = func(n *jsonc.Node) { t.geminiServers(g.d, n) }
	for _, key := range geminiKeys {
		members[key] = t.leave(g.d, "", "it is about something else than which commands run")
	}
	g.d.object(g.d.root, "Gemini CLI's settings", members)
	return t.ranked(g.rules)
}

// geminiLists reads the lists of tools.
type geminiLists struct {
	t     *translation
	d     *document
	rules []geminiRule
}

// rest denies the commands that a list does not name; a vague pattern has a person asked.
func (g *geminiLists) rest(n *jsonc.Node, priority int, of pattern) {
	e := g.d.entry(n, "tools."+n.Key, "")
	g.rules = append(g.rules, geminiRule{foreign.GeminiRule{Decision: "deny", Priority: priority}, of, e})
}

// narrowed is the name of a tool with a prefix of commands.
var narrowed = expression.Once{Text: `^([a-zA-Z0-9_-]+)\((.*)\)$`}

// tools reads a list, and reports whether it names the tool for commands.
func (g *geminiLists) tools(n *jsonc.Node, decision string, priority int) (commands bool) {
	i := 0
	g.d.list(n, "tools."+n.Key, func(item *jsonc.Node, text string) {
		e := g.t.add(g.d, item, elementOf("tools."+n.Key, i), text)
		i++
		name, prefix, part := text, "", false
		if m := narrowed.Get().FindStringSubmatch(text); m != nil {
			name, prefix, part = m[1], m[2], true
		}
		shell := name == "run_shell_command" || name == "ShellTool"
		commands = commands || shell
		said := foreign.GeminiRule{Decision: decision, Priority: priority, Prefix: prefix}
		r := geminiRule{said, pattern{all: true, vague: part}, e}
		switch {
		case strings.Contains(text, "$") || !clean(text):
			g.d.fault(item.From, "%q is filled in by Gemini CLI, or has characters that are not visible", text)
		case name == "web_fetch" && decision == "deny":
			g.t.draft.rules = append(g.t.draft.rules, rule{hosts: []string{"*"}, from: e.from()})
			e.become(Carried, "rulesets.%s", g.t.draft.ruleset)
		case !shell:
			e.become(LeftOut, "rules for commands alone are carried over")
		case part && prefix == "" && decision == "allow":
			e.become(LeftOut, "it names no command")
		default:
			if prefix != "" {
				r.pattern = prefixPattern(prefix)
			}
			g.rules = append(g.rules, r)
		}
		if part && priority == allowed && shell {
			g.rest(n, allowedRest, pattern{all: true, vague: true})
		}
	})
	return commands
}

// geminiServers reads the servers but those that another list takes away.
func (t *translation) geminiServers(d *document, n *jsonc.Node) {
	has := func(list *jsonc.Node, name string) bool {
		named := func(item *jsonc.Node) bool { return strings.EqualFold(item.String(), name) }
		return slices.ContainsFunc(list.Children('['), named)
	}
	only, not := d.root.Member("mcp", "allowed"), d.root.Member("mcp", "excluded")
	if n.Kind != '{' {
		d.fault(n.From, "%s is no object", n.Key)
	}
	for _, item := range n.Children('{') {
		if only != nil && !has(only, item.Key) || has(not, item.Key) {
			t.add(d, item, "server", item.Key).become(LeftOut, "mcp.allowed or mcp.excluded takes it away")
			continue
		}
		t.server(d, d.fromJSON(item))
	}
}
