package claudecode

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
)

// serverWord begins the names of servers' tools in rules.
const serverWord = "mcp__"

// serverForm is a rule about tools of servers: mcp__SERVER, mcp__SERVER__TOOL, with stars, or a specifier.
var serverForm = expression.Once{Text: `(?s)^(mcp__[^()\s]*)(?:\((.*)\))?$`}

// servers writes the lists of tools. See decision D437.
func (c *reader) servers(t *importer.Translation) {
	var stars []ruleOf
	for _, r := range c.rules {
		rest, of := strings.CutPrefix(r.Tool, serverWord)
		if !of {
			continue
		}
		server, tool, _ := strings.Cut(rest, "__")
		starred := server == "" || strings.Contains(server, "*")
		switch {
		case r.list == "allow":
			c.permits(t, r, server, tool)
		case strings.Contains(rest, "*") || server == "":
			stars = append(stars, r)
			if !starred {
				_ = t.ListOf(compiler.ServerName(server))
			}
		default:
			c.stops(t, r, rest)
		}
	}
	c.named(t)
	for _, r := range c.rules {
		rest, of := strings.CutPrefix(r.Tool, serverWord)
		for _, l := range t.Lists {
			if of && r.list != "allow" && rest == l.Server {
				l.ShutAll(r.list == "ask", r.entry) // it has "__" in its name
			}
		}
	}
	for _, r := range stars {
		c.across(t, r)
	}
}

// named makes the lists of all servers that rules may name.
func (c *reader) named(t *importer.Translation) {
	for _, r := range c.rules {
		rest, of := strings.CutPrefix(r.Tool, serverWord)
		for i := 1; of && i < len(rest); i++ {
			if strings.HasPrefix(rest[i:], "__") && !strings.Contains(rest[:i], "*") {
				_ = t.ListOf(compiler.ServerName(rest[:i]))
			}
		}
	}
}

// permits notes a rule that allows.
func (c *reader) permits(t *importer.Translation, r ruleOf, server, tool string) {
	switch {
	case c.mode == "plan":
		r.entry.Become(importer.LeftOut, "the mode plan allows nothing")
	case !r.Whole && r.Spec != "" && r.Spec != "*":
		r.entry.Become(importer.LeftOut, "it is about a part of the calls")
	case server == "" || server != compiler.ServerName(server) || tool != "*" && strings.Contains(tool, "*"):
		r.entry.Become(importer.LeftOut, "an entry names one tool of one server")
	case tool == "" || tool == "*":
		t.ListOf(server).Open = r.entry
	default:
		t.ListOf(server).Permit(tool, r.entry)
	}
}

// stops notes a rule that denies or asks. Where a name can be parted at several places each counts, since the name of a
// server may have "__" in it.
func (c *reader) stops(t *importer.Translation, r ruleOf, rest string) {
	whole := true
	for i := 1; i+2 < len(rest); i++ {
		if rest[i:i+2] != "__" {
			continue
		}
		whole = false
		t.ListOf(compiler.ServerName(rest[:i])).Refuse(rest[i+2:], r.list == "ask", r.entry)
	}
	if server, ended := strings.CutSuffix(rest, "__"); whole || ended {
		t.ListOf(compiler.ServerName(server)).ShutAll(r.list == "ask", r.entry)
	}
}

// across notes a rule with stars, each of which may stand for "__" as well, so that the rule is about every server that
// it fits. Of servers that no rule names no table can say it.
func (c *reader) across(t *importer.Translation, r ruleOf) {
	asks := r.list == "ask"
	for _, l := range t.Lists {
		begin := serverWord + l.Server
		if importer.Starred(r.Tool, begin) || importer.Starred(r.Tool, begin+"__") {
			l.ShutAll(asks, r.entry)
		}
		for _, tool := range importer.Without(behind(r.Tool, begin+"__")) {
			if tool == "*" {
				l.ShutAll(asks, r.entry)
				continue
			}
			l.Refuse(tool, asks, r.entry)
		}
	}
	rest := strings.TrimPrefix(r.Tool, serverWord)
	if server, _, _ := strings.Cut(rest, "__"); server != "" && !strings.Contains(server, "*") {
		return
	}
	t.Lost = append(t.Lost, r.entry)
	r.entry.Become(importer.LeftOut, "it holds for the servers that other rules name; "+
		"of the others no table can say it: keep the rule in Claude Code")
}

// behind are the patterns of the texts that follow a text in what a pattern with stars fits.
func behind(pattern, text string) []string {
	switch {
	case text == "":
		return []string{pattern}
	case pattern == "":
		return nil
	case pattern[0] != '*':
		if pattern[0] != text[0] {
			return nil
		}
		return behind(pattern[1:], text[1:])
	}
	out := []string{pattern}
	for i := range text {
		out = append(out, behind(pattern[1:], text[i:])...)
	}
	return out
}

// shutServers reads the names of servers that are not started.
func (c *reader) shutServers(t *importer.Translation, d *importer.Document) func(*jsonc.Node) {
	return func(n *jsonc.Node) {
		if n.Kind != '[' {
			d.Fault(n.From, "%s is no list", n.Key)
			return
		}
		for i, item := range n.Items {
			name := item.String()
			if item.Kind == '{' {
				name = item.Member("serverName").String()
			}
			e := t.Add(d, item, importer.ElementOf(n.Key, i), name)
			if name == "" || slices.ContainsFunc([]rune(name), func(r rune) bool { return r == '*' }) ||
				!importer.Clean(name) {
				e.Become(importer.LeftOut, "it names no server: keep it in Claude Code")
				continue
			}
			t.ListOf(compiler.ServerName(name)).ShutAll(false, e)
		}
	}
}
