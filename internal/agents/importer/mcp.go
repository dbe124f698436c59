package importer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
)

var mcpFormat = format{
	name: "mcp", version: "2026-07-28", several: true,
	looks: func(d *document) bool {
		others := geminiSettings.looks(d) || opencodeFormat.looks(d) || vscodeFormat.looks(d)
		return !others && len(serverTables(d.fromJSON(d.root))) > 0
	},
	read: readMCP,
}

// serverTables are the tables of servers in settings, each under the key of some client: mcpServers (Claude, Cursor,
// Gemini CLI and others), servers, also in mcp (VS Code), context_servers (Zed), mcp (opencode).
func serverTables(root *tree) []*tree {
	var out []*tree
	for _, key := range []string{"mcpServers", "servers", "context_servers"} {
		if n := root.member(key); n != nil {
			out = append(out, n)
		}
	}
	mcp := root.member("mcp")
	within := mcp.member("servers")
	isServer := func(n *tree) bool { return n.member("command") != nil || n.member("url") != nil }
	switch {
	case within != nil && within.kind == '{' && !isServer(within):
		out = append(out, within)
	case mcp != nil && mcp.kind == '{' && slices.ContainsFunc(mcp.items, isServer):
		out = append(out, mcp)
	}
	return out
}

// readMCP reads the tables of servers. Other keys at the top are those of an editor or an agent, and are named.
func readMCP(t *translation, docs []*document) foreign.Policy {
	for _, d := range docs {
		root := d.fromJSON(d.root)
		found := serverTables(root)
		if len(found) == 0 {
			d.fault(0, "there is no table of servers: mcpServers, servers, context_servers, mcp or mcp.servers")
		}
		for _, n := range found {
			t.serverTable(d, n)
		}
		for _, item := range root.items {
			switch holds := func(n *tree) bool { return n.line == item.line && n.col == item.col || item.key == "mcp" }; {
			case slices.ContainsFunc(found, holds):
			case item.key == "$schema":
				t.noted(d, item, item.key, "").become(LeftOut, "it is for editors")
			case item.key == "inputs":
				t.noted(d, item, item.key, "").become(LeftOut, "its values are the client's to ask for")
			default:
				t.noted(d, item, item.key, "").become(LeftOut, "it is no table of servers")
			}
		}
	}
	return foreign.Unconfined{}
}

var (
	variable = expression.Once{Text: `^[A-Za-z_][A-Za-z0-9_]*$`}
	// secretForm are keys and tokens as services make them, and words that announce one.
	secretForm = expression.Once{Text: `(?i)(^|[=:/ ])(sk-|pk-|gh[opsu]_|github_pat_|glpat-|xox[abp]-|AKIA|AIza|eyJ)[A-Za-z0-9_-]{8,}|bearer |(password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key)[=:].|hooks\.slack\.com/services/|://[^/@ ]*:[^/@ ]+@`}
	// announcing are options behind which a secret stands.
	announcing = expression.Once{Text: `(?i)^--?([a-z]+[-_])*(p|pw|pwd|pass|passwd|password|passphrase|pat|auth|authorization|token|secret|credentials?|key|connection[-_]?string)(=.|$)`}
	// account is a name with a password, and attached a password behind its option's letter.
	account  = expression.Once{Text: `^[^:/]+:[^:/]+$`}
	attached = expression.Once{Text: `^-p[^0-9=]`}
	longForm = expression.Once{Text: `[A-Za-z0-9+/_-]{32,}`}
)

// secrets reports whether one of some words may be a secret: by itself, or behind an option that announces
// one. No list of such options is complete.
func secrets(words []string) bool {
	for i, w := range words {
		next := ""
		if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			next = words[i+1]
		}
		_, number := strconv.Atoi(next)
		switch {
		case secret(w), attached.Get().MatchString(w), w == "-u" && account.Get().MatchString(next):
			return true
		case announcing.Get().MatchString(w) && (strings.Contains(w, "=") || next != "" && number != nil):
			return true
		}
	}
	return false
}

// secret reports whether a word may be one: a known form, or a long run of letters and digits that is no
// path.
func secret(word string) bool {
	if secretForm.Get().MatchString(word) {
		return true
	}
	for _, run := range longForm.Get().FindAllString(word, -1) {
		if strings.ContainsAny(run, "0123456789") && strings.ContainsAny(run, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.Count(run, "/") < 2 {
			return true
		}
	}
	return false
}
