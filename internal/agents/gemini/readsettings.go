package gemini

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var settingsFormat = importer.Format{
	Name: "gemini-settings", Version: "0.61.0",
	Looks: func(d *importer.Document) bool {
		tools := d.Root.Member("tools")
		return ownPath(d) || slices.ContainsFunc([]string{"allowed", "confirmationRequired", "core", "exclude"},
			func(key string) bool {
				return tools.Member(key) != nil
			})
	},
	Read: readSettings,
}

// ownPath reports whether a document is the settings of Gemini CLI by its name, which a list of servers in it does
// not change.
func ownPath(d *importer.Document) bool { return strings.HasSuffix(d.Path, "/.gemini/settings.json") }

// The priorities of the lists, those of the policies of the user being 0 to 999.
const (
	coreRest      = 240
	core          = 250
	allowedRest   = 290
	allowed       = 300
	confirmed     = 350
	excludedTools = 400
)

func readSettings(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	g := &settingsReader{t: t, d: docs[0]}
	members := importer.Fields{"tools": func(n *jsonc.Node) {
		known := importer.Fields{
			"core": func(n *jsonc.Node) {
				g.rest(n, coreRest, importer.Pattern{All: true})
				if !g.tools(n, "allow", core) {
					// Gemini CLI has no tool for commands then, whatever the other lists say.
					g.rest(n, excludedTools, importer.Pattern{All: true})
				}
			},
			"allowed":              func(n *jsonc.Node) { _ = g.tools(n, "allow", allowed) },
			"confirmationRequired": func(n *jsonc.Node) { _ = g.tools(n, "ask_user", confirmed) },
			"exclude":              func(n *jsonc.Node) { _ = g.tools(n, "deny", excludedTools) },
		}
		for _, key := range geminiToolKeys {
			known[key] = t.Leave(g.d, "tools", "it is about how Gemini CLI runs tools")
		}
		g.d.Object(n, "tools", known)
	}}
	members["mcpServers"] = func(n *jsonc.Node) { servers(t, g.d, n) }
	for _, key := range geminiKeys {
		members[key] = t.Leave(g.d, "", "it is about something else than which commands run")
	}
	g.d.Object(g.d.Root, "Gemini CLI's settings", members)
	return ranked(t, g.rules)
}

// settingsReader reads the lists of tools.
type settingsReader struct {
	t     *importer.Translation
	d     *importer.Document
	rules []placed
}

// rest denies the commands that a list does not name; a vague pattern has a person asked.
func (g *settingsReader) rest(n *jsonc.Node, priority int, of importer.Pattern) {
	e := g.d.Entry(n, "tools."+n.Key, "")
	g.rules = append(g.rules, placed{Rule{Decision: "deny", Priority: priority}, of, e})
}

// narrowed is the name of a tool with a prefix of commands.
var narrowed = expression.Once{Text: `^([a-zA-Z0-9_-]+)\((.*)\)$`}

// tools reads a list, and reports whether it names the tool for commands.
func (g *settingsReader) tools(n *jsonc.Node, decision string, priority int) (commands bool) {
	i := 0
	g.d.List(n, "tools."+n.Key, func(item *jsonc.Node, text string) {
		e := g.t.Add(g.d, item, importer.ElementOf("tools."+n.Key, i), text)
		i++
		name, prefix, part := text, "", false
		if m := narrowed.Get().FindStringSubmatch(text); m != nil {
			name, prefix, part = m[1], m[2], true
		}
		shell := name == "run_shell_command" || name == "ShellTool"
		commands = commands || shell
		said := Rule{Decision: decision, Priority: priority, Prefix: prefix}
		r := placed{said, importer.Pattern{All: true, Vague: part}, e}
		switch {
		case strings.Contains(text, "$") || !importer.Clean(text):
			g.d.Fault(item.From, "%q is filled in by Gemini CLI, or has characters that are not visible", text)
		case name == "web_fetch" && decision == "deny":
			g.t.Draft.Rules = append(g.t.Draft.Rules, importer.Rule{Hosts: []string{"*"}, From: e.From()})
			e.Become(importer.Carried, "rulesets.%s", g.t.Draft.Ruleset)
		case !shell:
			e.Become(importer.LeftOut, "rules for commands alone are carried over")
		case part && prefix == "" && decision == "allow":
			e.Become(importer.LeftOut, "it names no command")
		default:
			if prefix != "" {
				r.pattern = prefixPattern(prefix)
			}
			g.rules = append(g.rules, r)
		}
		if part && priority == allowed && shell {
			g.rest(n, allowedRest, importer.Pattern{All: true, Vague: true})
		}
	})
	return commands
}

// servers reads the servers but those that another list takes away.
func servers(t *importer.Translation, d *importer.Document, n *jsonc.Node) {
	has := func(list *jsonc.Node, name string) bool {
		named := func(item *jsonc.Node) bool { return strings.EqualFold(item.String(), name) }
		return slices.ContainsFunc(list.Children('['), named)
	}
	only, not := d.Root.Member("mcp", "allowed"), d.Root.Member("mcp", "excluded")
	if n.Kind != '{' {
		d.Fault(n.From, "%s is no object", n.Key)
	}
	for _, item := range n.Children('{') {
		if only != nil && !has(only, item.Key) || has(not, item.Key) {
			t.Add(d, item, "server", item.Key).Become(importer.LeftOut, "mcp.allowed or mcp.excluded takes it away")
			continue
		}
		t.Server(d, d.FromJSON(item))
	}
}
