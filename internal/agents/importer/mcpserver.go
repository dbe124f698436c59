package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/agents/adopt"
)

// ServerTable reads a table of servers.
func (t *Translation) ServerTable(d *Document, n *Tree) {
	if n.Kind != '{' {
		d.Wrong(n, "%s is no object", n.Key)
		return
	}
	for _, item := range n.Items {
		t.Server(d, item)
	}
}

// serverReader reads one server.
type serverReader struct {
	t *Translation
	d *Document
	e *Entry
	s server
	// why is the reason why it is left out, empty for none.
	why string
	// list are its tools, as far as the entry speaks of them.
	list *toolList
}

// The reasons why a server is left out that several keys have.
const (
	elsewhere = "accessc starts no server on another host"
	ownDir    = "it names its directory; a server starts in the workspace"
)

// Keys of servers, of all clients: those of a server on another host, and those about something else than its start.
// See decision D437.
var (
	remoteKeys = strings.Fields(`url serverUrl httpUrl tcp headers headersHelper http_headers env_http_headers bearer_token
		bearer_token_env_var oauth oauth_resource scopes auth authProviderType targetAudience targetServiceAccount`)
	idleKeys = strings.Fields(`type transport timeout description name note icon gallery version required remote
		startup_timeout_sec startup_timeout_ms tool_timeout_sec initTimeout requestTimeout alwaysLoad extensionName
		supports_parallel_tool_calls dev source`)
	// trustKeys say which calls the client asks about.
	trustKeys = strings.Fields("trust alwaysAllow autoApprove")
)

// Server reads one server.
func (t *Translation) Server(d *Document, n *Tree) {
	name := compiler.ServerName(n.Key)
	r := &serverReader{t: t, d: d, e: t.Noted(d, n, "server", n.Key), s: server{name: name},
		list: &toolList{Server: name}}
	known := map[string]func(*Tree){
		"command": r.command, "args": r.args, "env": r.variables, "environment": r.variables, "env_vars": r.forwarded,
		"cwd":              func(*Tree) { r.no(ownDir) },
		"workingDirectory": func(*Tree) { r.no(ownDir) },
		"envFile":          func(*Tree) { r.no("it reads variables from a file") },
		"disabled":         func(n *Tree) { r.enabled(n, n.Kind != 't') },
		"enabled":          func(n *Tree) { r.enabled(n, n.Kind != 'f') },
		"sandbox":          func(*Tree) { r.no("its client confines it by rules of its own; write them into its table") },
		"sandboxEnabled":   func(n *Tree) { r.enabled(n, true); r.confined(n) },
		"settings":         func(*Tree) {},
		"enabled_tools":    r.only, "includeTools": r.only, "tools": r.tools,
		"disabledTools": r.without, "disabled_tools": r.without, "excludeTools": r.without,
		"default_tools_approval_mode": func(n *Tree) {
			if n.Text != "auto" && n.Text != "approve" {
				r.no("each call of its tools is asked about, which no table says")
			}
		},
	}
	for _, key := range remoteKeys {
		known[key] = func(*Tree) { r.no(elsewhere) }
	}
	for _, key := range idleKeys {
		known[key] = func(*Tree) {}
	}
	for _, key := range trustKeys {
		known[key] = func(n *Tree) {
			t.Noted(d, n, n.Key, "").Become(LeftOut, "its client decides which calls are asked about")
		}
	}
	d.Members(n, "a server", known)
	r.end(n)
}

// no leaves the server out.
func (r *serverReader) no(reason string) {
	if r.why == "" {
		r.why = reason
	}
}

// enabled reads a switch.
func (r *serverReader) enabled(n *Tree, on bool) {
	if n.Kind != 't' && n.Kind != 'f' {
		r.d.Wrong(n, "%s is neither true nor false", n.Key)
	}
	if !on {
		r.no("it is disabled")
	}
}

func (r *serverReader) confined(n *Tree) {
	if n.Kind == 't' {
		r.no("its client confines it by rules of its own; write them into its table")
	}
}

// command reads a command: a text, opencode's list with the arguments, or Zed's table.
func (r *serverReader) command(n *Tree) {
	switch n.Kind {
	case '"':
		r.s.program = n.Text
	case '[':
		words := r.texts(n)
		if len(words) > 0 {
			r.s.program, r.s.args = words[0].Text, nil
			for _, w := range words[1:] {
				r.s.args = append(r.s.args, w.Text)
			}
		}
	case '{':
		r.d.Members(n, "a command", map[string]func(*Tree){"path": r.command, "args": r.args, "env": r.variables})
		return
	}
	if r.s.program == "" {
		r.d.Wrong(n, "the command of a server is no text")
	}
}

func (r *serverReader) args(n *Tree) {
	for _, w := range r.texts(n) {
		r.s.args = append(r.s.args, w.Text)
	}
}

// texts are the elements of a list of texts.
func (r *serverReader) texts(n *Tree) []*Tree {
	if n.Kind != '[' || slices.ContainsFunc(n.Items, func(e *Tree) bool { return e.Kind != '"' }) {
		r.d.Wrong(n, "%s is no list of texts", n.Key)
		return nil
	}
	return n.Items
}

// variables are the names that a server gets. Values stay where they are.
func (r *serverReader) variables(n *Tree) {
	if n.Kind != '{' {
		if n.Kind != 0 || n.Text != "" { // null
			r.d.Wrong(n, "env is no object")
		}
		return
	}
	for _, item := range n.Items {
		r.variable(item, item.Key, "the name is forwarded; its value is not copied: set it where accessc is started")
	}
}

// forwarded are the names of variables that a server has from its client.
func (r *serverReader) forwarded(n *Tree) {
	for _, w := range n.Items {
		name := w
		if w.Kind == '{' {
			name = w.Member("name")
		}
		if n.Kind != '[' || name == nil || name.Kind != '"' {
			r.d.Wrong(n, "%s is no list of names", n.Key)
			return
		}
		r.variable(w, name.Text, "the name is forwarded")
	}
}

func (r *serverReader) variable(n *Tree, name, how string) {
	e := r.t.Noted(r.d, n, "env", name)
	if !Variable.Get().MatchString(name) {
		e.Become(LeftOut, "no variable is called so")
		return
	}
	if !slices.Contains(r.s.env, name) {
		r.s.env = append(r.s.env, name)
	}
	e.Become(Narrowed, "%s", how)
}

// only reads the names of the tools that alone may be called, and without those that may not.
func (r *serverReader) only(n *Tree) {
	names := r.texts(n)
	if len(names) == 1 && names[0].Text == "*" {
		return
	}
	e := r.t.Noted(r.d, n, n.Key, "")
	e.Become(Carried, "the tools of servers.%s that have an entry", r.s.name)
	r.list.only = e
	for _, item := range names {
		r.list.Permit(item.Text, r.t.Noted(r.d, item, n.Key, item.Text))
	}
}

func (r *serverReader) without(n *Tree) {
	for _, item := range r.texts(n) {
		name, _, _ := strings.Cut(item.Text, "(") // of a part of the calls, all
		r.list.Refuse(name, false, r.t.Noted(r.d, item, n.Key, item.Text))
	}
}

// tools are names, or tables of Codex by name.
func (r *serverReader) tools(n *Tree) {
	if n.Kind == '[' {
		r.only(n)
		return
	}
	for _, item := range n.Items {
		mode := item.Member("approval_mode")
		if mode != nil && mode.Text != "auto" && mode.Text != "approve" {
			r.list.Refuse(item.Key, true, r.t.Noted(r.d, item, "tools", item.Key))
		}
	}
}

// end adds the server to the draft, or leaves it out.
func (r *serverReader) end(n *Tree) {
	all := append([]string{r.s.program}, r.s.args...)
	invisible := func(w string) bool { return !Clean(w) && w != "" }
	filled := func(w string) bool {
		return strings.Contains(w, "${") || strings.Contains(w, "{{") || strings.Contains(w, "{env:")
	}
	switch {
	case r.why == "" && r.s.program == "" && n.Member("source") != nil && n.Member("command") == nil:
		r.no("an extension of the editor starts it")
	case r.why == "" && r.s.program == "":
		r.no("it has no command")
	case slices.ContainsFunc(all, filled):
		r.no("its command has placeholders, which its client fills in")
	case slices.ContainsFunc(all, invisible):
		r.no("its command has characters that are not visible")
	case secrets(all):
		r.no("an argument looks like a secret; have the server read it from a variable")
	case slices.ContainsFunc(r.t.Draft.servers, func(o server) bool { return o.name == r.s.name }):
		r.d.Wrong(n, "two servers would be called %s", r.s.name)
	}
	if why := adopt.Daemon(all); r.why == "" && why != "" {
		r.no("it " + why)
	}
	if r.why != "" {
		r.e.Become(LeftOut, "%s", r.why)
		for _, about := range r.list.entries() {
			about.Become(LeftOut, "its server is left out")
		}
		return
	}
	r.s.from = r.e.From()
	r.t.needs(&r.s, r.e)
	r.t.Draft.servers = append(r.t.Draft.servers, r.s)
	r.t.Lists = append(r.t.Lists, r.list)
}

// needs has the table of a server say what accessc adopt would: the registry that it is downloaded from, and the places
// among its arguments. See decision D437.
func (t *Translation) needs(s *server, e *Entry) {
	var c adopt.Config
	reserved := t.req.Reserved
	if reserved == nil {
		reserved = func(string) string { return "" }
	}
	secrets := t.req.Secrets
	if secrets == nil {
		secrets = func(string) ([]string, bool) { return nil, true }
	}
	s.lines = adopt.Server{Policy: s.name, Env: s.env,
		Command: append([]string{s.program}, s.args...)}.Lines(adopt.Ground{
		Root: t.Host.Dir, Home: t.Host.Home, Exists: t.Host.Exists, Reserved: reserved, Secrets: secrets,
	}, &c)
	why := []string{"servers." + s.name + ", confined by its table"}
	for _, left := range c.Left {
		why = append(why, "no rule on "+left)
	}
	for _, at := range c.Approve {
		why = append(why, "needs your approval: accessc approve "+at)
	}
	for _, at := range c.Mount {
		why = append(why, "no committed rule can name "+at+": accessc mount")
	}
	e.Become(Narrowed, "%s", strings.Join(why, "; "))
}
