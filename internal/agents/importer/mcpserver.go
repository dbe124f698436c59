package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/agents/adopt"
)

// serverTable reads a table of servers.
func (t *translation) serverTable(d *document, n *tree) {
	if n.kind != '{' {
		d.wrong(n, "%s is no object", n.key)
		return
	}
	for _, item := range n.items {
		t.server(d, item)
	}
}

// serverReader reads one server.
type serverReader struct {
	t *translation
	d *document
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

// server reads one server.
func (t *translation) server(d *document, n *tree) {
	name := compiler.ServerName(n.key)
	r := &serverReader{t: t, d: d, e: t.noted(d, n, "server", n.key), s: server{name: name}, list: &toolList{server: name}}
	known := map[string]func(*tree){
		"command": r.command, "args": r.args, "env": r.variables, "environment": r.variables, "env_vars": r.forwarded,
		"cwd":              func(*tree) { r.no(ownDir) },
		"workingDirectory": func(*tree) { r.no(ownDir) },
		"envFile":          func(*tree) { r.no("it reads variables from a file") },
		"disabled":         func(n *tree) { r.enabled(n, n.kind != 't') },
		"enabled":          func(n *tree) { r.enabled(n, n.kind != 'f') },
		"sandbox":          func(*tree) { r.no("its client confines it by rules of its own; write them into its table") },
		"sandboxEnabled":   func(n *tree) { r.enabled(n, true); r.confined(n) },
		"settings":         func(*tree) {},
		"enabled_tools":    r.only, "includeTools": r.only, "tools": r.tools,
		"disabledTools": r.without, "disabled_tools": r.without, "excludeTools": r.without,
		"default_tools_approval_mode": func(n *tree) {
			if n.text != "auto" && n.text != "approve" {
				r.no("each call of its tools is asked about, which no table says")
			}
		},
	}
	for _, key := range remoteKeys {
		known[key] = func(*tree) { r.no(elsewhere) }
	}
	for _, key := range idleKeys {
		known[key] = func(*tree) {}
	}
	for _, key := range trustKeys {
		known[key] = func(n *tree) {
			t.noted(d, n, n.key, "").become(LeftOut, "its client decides which calls are asked about")
		}
	}
	d.members(n, "a server", known)
	r.end(n)
}

// no leaves the server out.
func (r *serverReader) no(reason string) {
	if r.why == "" {
		r.why = reason
	}
}

// enabled reads a switch.
func (r *serverReader) enabled(n *tree, on bool) {
	if n.kind != 't' && n.kind != 'f' {
		r.d.wrong(n, "%s is neither true nor false", n.key)
	}
	if !on {
		r.no("it is disabled")
	}
}

func (r *serverReader) confined(n *tree) {
	if n.kind == 't' {
		r.no("its client confines it by rules of its own; write them into its table")
	}
}

// command reads a command: a text, opencode's list with the arguments, or Zed's table.
func (r *serverReader) command(n *tree) {
	switch n.kind {
	case '"':
		r.s.program = n.text
	case '[':
		words := r.texts(n)
		if len(words) > 0 {
			r.s.program, r.s.args = words[0].text, nil
			for _, w := range words[1:] {
				r.s.args = append(r.s.args, w.text)
			}
		}
	case '{':
		r.d.members(n, "a command", map[string]func(*tree){"path": r.command, "args": r.args, "env": r.variables})
		return
	}
	if r.s.program == "" {
		r.d.wrong(n, "the command of a server is no text")
	}
}

func (r *serverReader) args(n *tree) {
	for _, w := range r.texts(n) {
		r.s.args = append(r.s.args, w.text)
	}
}

// texts are the elements of a list of texts.
func (r *serverReader) texts(n *tree) []*tree {
	if n.kind != '[' || slices.ContainsFunc(n.items, func(e *tree) bool { return e.kind != '"' }) {
		r.d.wrong(n, "%s is no list of texts", n.key)
		return nil
	}
	return n.items
}

// variables are the names that a server gets. Values stay where they are.
func (r *serverReader) variables(n *tree) {
	if n.kind != '{' {
		if n.kind != 0 || n.text != "" { // null
			r.d.wrong(n, "env is no object")
		}
		return
	}
	for _, item := range n.items {
		r.variable(item, item.key, "the name is forwarded; its value is not copied: set it where accessc is started")
	}
}

// forwarded are the names of variables that a server has from its client.
func (r *serverReader) forwarded(n *tree) {
	for _, w := range n.items {
		name := w
		if w.kind == '{' {
			name = w.member("name")
		}
		if n.kind != '[' || name == nil || name.kind != '"' {
			r.d.wrong(n, "%s is no list of names", n.key)
			return
		}
		r.variable(w, name.text, "the name is forwarded")
	}
}

func (r *serverReader) variable(n *tree, name, how string) {
	e := r.t.noted(r.d, n, "env", name)
	if !variable.Get().MatchString(name) {
		e.become(LeftOut, "no variable is called so")
		return
	}
	if !slices.Contains(r.s.env, name) {
		r.s.env = append(r.s.env, name)
	}
	e.become(Narrowed, "%s", how)
}

// only reads the names of the tools that alone may be called, and without those that may not.
func (r *serverReader) only(n *tree) {
	names := r.texts(n)
	if len(names) == 1 && names[0].text == "*" {
		return
	}
	e := r.t.noted(r.d, n, n.key, "")
	e.become(Carried, "the tools of servers.%s that have an entry", r.s.name)
	r.list.only = e
	for _, item := range names {
		r.list.permit(item.text, r.t.noted(r.d, item, n.key, item.text))
	}
}

func (r *serverReader) without(n *tree) {
	for _, item := range r.texts(n) {
		name, _, _ := strings.Cut(item.text, "(") // of a part of the calls, all
		r.list.refuse(name, false, r.t.noted(r.d, item, n.key, item.text))
	}
}

// tools are names, or tables of Codex by name.
func (r *serverReader) tools(n *tree) {
	if n.kind == '[' {
		r.only(n)
		return
	}
	for _, item := range n.items {
		mode := item.member("approval_mode")
		if mode != nil && mode.text != "auto" && mode.text != "approve" {
			r.list.refuse(item.key, true, r.t.noted(r.d, item, "tools", item.key))
		}
	}
}

// end adds the server to the draft, or leaves it out.
func (r *serverReader) end(n *tree) {
	all := append([]string{r.s.program}, r.s.args...)
	invisible := func(w string) bool { return !clean(w) && w != "" }
	filled := func(w string) bool {
		return strings.Contains(w, "${") || strings.Contains(w, "{{") || strings.Contains(w, "{env:")
	}
	switch {
	case r.why == "" && r.s.program == "" && n.member("source") != nil && n.member("command") == nil:
		r.no("an extension of the editor starts it")
	case r.why == "" && r.s.program == "":
		r.no("it has no command")
	case slices.ContainsFunc(all, filled):
		r.no("its command has placeholders, which its client fills in")
	case slices.ContainsFunc(all, invisible):
		r.no("its command has characters that are not visible")
	case secrets(all):
		r.no("an argument looks like a secret; have the server read it from a variable")
	case slices.ContainsFunc(r.t.draft.servers, func(o server) bool { return o.name == r.s.name }):
		r.d.wrong(n, "two servers would be called %s", r.s.name)
	}
	if why := adopt.Daemon(all); r.why == "" && why != "" {
		r.no("it " + why)
	}
	if r.why != "" {
		r.e.become(LeftOut, "%s", r.why)
		for _, about := range r.list.entries() {
			about.become(LeftOut, "its server is left out")
		}
		return
	}
	r.s.from = r.e.from()
	r.t.needs(&r.s, r.e)
	r.t.draft.servers = append(r.t.draft.servers, r.s)
	r.t.lists = append(r.t.lists, r.list)
}

// needs has the table of a server say what accessc adopt would: the registry that it is downloaded from, and the places
// among its arguments. See decision D437.
func (t *translation) needs(s *server, e *Entry) {
	var c adopt.Config
	reserved := t.req.Reserved
	if reserved == nil {
		reserved = func(string) string { return "" }
	}
	secrets := t.req.Secrets
	if secrets == nil {
		secrets = func(string) ([]string, bool) { return nil, true }
	}
	s.lines = adopt.Server{Policy: s.name, Env: s.env, Command: append([]string{s.program}, s.args...)}.Lines(adopt.Ground{
		Root: t.host.Dir, Home: t.host.Home, Exists: t.host.Exists, Reserved: reserved, Secrets: secrets,
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
	e.become(Narrowed, "%s", strings.Join(why, "; "))
}
