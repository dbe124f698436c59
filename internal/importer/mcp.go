package importer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/importer/foreign"
	"github.com/accessc/accessc/internal/jsonc"
	"github.com/accessc/accessc/internal/once/expression"
)

var mcpFormat = format{
	name: "mcp", version: "2026-07-28", several: true,
	looks: func(d *document) bool {
		return !geminiPath(d) && (d.root.Member("mcpServers") != nil || d.root.Member("servers") != nil)
	},
	read: readMCP,
}

func readMCP(t *translation, docs []*document) foreign.Policy {
	for _, d := range docs {
		servers := func(n *jsonc.Node) {
			if n.Kind != '{' {
				d.fault(n.From, "%s is no object", n.Key)
			}
			for _, item := range n.Children('{') {
				t.server(d, item)
			}
		}
		d.object(d.root, "the list of servers", fields{"mcpServers": servers, "servers": servers, "$schema": t.leave(d, "", "it is for editors"), "inputs": t.leave(d, "", "its values are the client's to ask for")})
	}
	return foreign.Unconfined{}
}

// server reads one server.
func (t *translation) server(d *document, n *jsonc.Node) {
	s, why := server{name: compiler.ServerName(n.Key)}, ""
	e := t.add(d, n, "server", n.Key)
	no := func(reason string) {
		if why == "" {
			why = reason
		}
	}
	d.object(n, "a server", fields{
		"command": func(n *jsonc.Node) {
			if s.program = n.String(); s.program == "" {
				d.fault(n.From, "the command of a server is no text")
			}
		},
		"args": func(n *jsonc.Node) {
			d.list(n, "args", func(_ *jsonc.Node, text string) { s.args = append(s.args, text) })
		},
		"env":           func(n *jsonc.Node) { s.env = t.variables(d, n) },
		"type":          func(n *jsonc.Node) {},
		"url":           func(*jsonc.Node) { no("accessc starts no server on another host") },
		"headers":       func(*jsonc.Node) { no("accessc starts no server on another host") },
		"headersHelper": func(*jsonc.Node) { no("accessc starts no server on another host") },
		"httpUrl":       func(*jsonc.Node) { no("accessc starts no server on another host") },
		"cwd":           func(*jsonc.Node) { no("it names its directory; a server starts in the workspace") },
		"envFile":       func(*jsonc.Node) { no("it reads variables from a file") },
		"disabled": func(n *jsonc.Node) {
			if n.True() {
				no("it is disabled")
			}
		},
		"timeout":       func(*jsonc.Node) {},
		"description":   func(*jsonc.Node) {},
		"alwaysAllow":   func(*jsonc.Node) {},
		"autoApprove":   func(*jsonc.Node) {},
		"disabledTools": func(*jsonc.Node) { no("it takes tools away; name those that may be called by their source") },
	})
	all := append([]string{s.program}, s.args...)
	switch {
	case why == "" && s.program == "":
		no("it has no command")
	case slices.ContainsFunc(all, func(w string) bool { return strings.Contains(w, "${") || strings.Contains(w, "{{") }):
		no("its command has placeholders, which its client fills in")
	case slices.ContainsFunc(all, func(w string) bool { return !clean(w) && w != "" }):
		no("its command has characters that are not visible")
	case secrets(all):
		no("an argument looks like a secret; have the server read it from a variable")
	case slices.ContainsFunc(t.draft.servers, func(o server) bool { return o.name == s.name }):
		d.fault(n.Begin, "two servers would be called %s", s.name)
	}
	if why != "" {
		e.become(LeftOut, "%s", why)
		return
	}
	s.from = e.from()
	t.draft.servers = append(t.draft.servers, s)
	e.become(Narrowed, "servers.%s, under the default policy", s.name)
}

// variables are the names that a server gets. Values stay where they are.
func (t *translation) variables(d *document, n *jsonc.Node) []string {
	if n.Kind != '{' {
		d.fault(n.From, "env is no object")
	}
	var out []string
	for _, item := range n.Children('{') {
		e := t.add(d, item, "env", item.Key)
		if !variable.Get().MatchString(item.Key) {
			e.become(LeftOut, "no variable is called so")
			continue
		}
		out = append(out, item.Key)
		e.become(Narrowed, "the name is forwarded; its value is not copied: set it where accessc is started")
	}
	return out
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
