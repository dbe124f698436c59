package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/text/tomltext"
)

// toolList are the tools of one server, as settings speak of them.
type toolList struct {
	Server string
	// Open is the entry that permits all tools, shut the one that stops all, and asks is true where a person would be
	// asked instead; only is an entry by which no other tool than those permitted may be called.
	Open, shut, only *Entry
	asks             bool
	permitted        []namedTool
	stopped          []namedTool
}

// namedTool is a tool with the entry that names it. A "*" in the name of a stopped tool stands for any text.
type namedTool struct {
	name  string
	asks  bool
	entry *Entry
}

// Permit notes a tool that may be called.
func (l *toolList) Permit(name string, e *Entry) {
	l.permitted = append(l.permitted, namedTool{name: name, entry: e})
}

// Refuse notes a tool that may not be called, or is asked about.
func (l *toolList) Refuse(name string, asks bool, e *Entry) {
	l.stopped = append(l.stopped, namedTool{name, asks, e})
}

// ShutAll stops all tools.
func (l *toolList) ShutAll(asks bool, e *Entry) {
	if l.shut == nil || l.asks && !asks {
		l.shut, l.asks = e, asks
	}
	e.stopped(asks, "no tool of servers."+l.Server+" can be called")
}

// stopped sets the fate of an entry that stops something, or has a person asked about it.
func (e *Entry) stopped(asks bool, what string) {
	if asks {
		e.Become(Narrowed, "%s: nobody is asked about a call of a server's tool", what)
		return
	}
	e.Become(Carried, "%s", what)
}

// entries are those that name tools.
func (l *toolList) entries() []*Entry {
	var out []*Entry
	for _, tool := range slices.Concat(l.permitted, l.stopped) {
		out = append(out, tool.entry)
	}
	if l.only != nil {
		out = append(out, l.only)
	}
	return out
}

// toolEntry is the entry of a server's tool.
type toolEntry struct {
	name, source string
	forbidden    bool
	from         string
}

func (e toolEntry) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n[tools.%s] # %s\nsource = %s\n", tomltext.Key(e.name), e.from, tomltext.String(e.source))
	if e.forbidden {
		b.WriteString("constraints = { forbidden = true }\n")
	}
}

// ListOf is the list of a server, made where there is none.
func (t *Translation) ListOf(server string) *toolList {
	for _, l := range t.Lists {
		if l.Server == server {
			return l
		}
	}
	l := &toolList{Server: server}
	t.Lists = append(t.Lists, l)
	return l
}

// toolLists writes the lists of all servers. See decision D437.
func (t *Translation) toolLists() {
	for _, l := range t.Lists {
		if t.Draft.Confines && strings.EqualFold(l.Server, t.Draft.tool) {
			const clash = "a server is called %s, as the tool is: --tool gives that another name"
			t.Faults = append(t.Faults, fmt.Errorf(clash, l.Server))
		}
		l.settle(t)
	}
}

// settle writes the entries of a server. Once there is one, no other tool of the server can be called, so a stopped
// tool needs none; it has one, since whoever adds entries later would not know that the settings stop it.
func (l *toolList) settle(t *Translation) {
	var may []namedTool
	for _, tool := range l.permitted {
		switch why := unnamable(tool.name); {
		case l.shut != nil || l.stops(tool.name):
			tool.entry.Become(LeftOut, "another entry stops it, or asks about it")
		case why != "":
			tool.entry.Become(LeftOut, "%s", why)
		default:
			may = append(may, tool)
		}
	}
	if l.Open != nil && l.shut == nil && len(l.stopped) == 0 && l.only == nil {
		for _, e := range append(l.entries(), l.Open) {
			e.Become(Carried, "servers.%s: without entries all of its tools can be called", l.Server)
		}
		return
	}
	if l.Open != nil {
		l.Open.Become(LeftOut, "another entry stops a tool of it, and then only tools with an entry can be called")
	}
	for _, tool := range may {
		e := t.toolEntry(l.Server, tool, false)
		tool.entry.Become(Carried, "tools.%s", e.name)
	}
	rest := "; other tools of servers." + l.Server + " need an entry"
	for _, tool := range l.stopped {
		what := "servers." + l.Server + " has no entry for it" + rest
		if l.shut == nil && unnamable(tool.name) == "" {
			what = "tools." + t.toolEntry(l.Server, tool, true).name + rest
		}
		tool.entry.stopped(tool.asks, what)
	}
	ours := func(e toolEntry) bool { return strings.HasPrefix(e.source, sourceOf(l.Server, "")) }
	any := slices.ContainsFunc(t.Draft.tools, ours)
	switch {
	case l.shut != nil:
		t.Draft.shut = append(t.Draft.shut, shutServer{l.Server, l.shut.From()})
	case !any && len(l.stopped) > 0:
		t.Draft.shut = append(t.Draft.shut, shutServer{l.Server, l.stopped[0].entry.From()})
	case !any && l.only != nil:
		t.Draft.shut = append(t.Draft.shut, shutServer{l.Server, l.only.From()})
	}
}

// shutServer is a server of which no tool can be called.
type shutServer struct{ name, from string }

func (s shutServer) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n[servers.%s.constraints] # %s\nforbidden = true\n", tomltext.Key(s.name), s.from)
}

func sourceOf(server, tool string) string { return "mcp." + server + "." + tool }

// toolEntry adds the entry of a tool to the draft.
func (t *Translation) toolEntry(server string, tool namedTool, forbidden bool) toolEntry {
	e := toolEntry{source: sourceOf(server, tool.name), forbidden: forbidden, from: tool.entry.From()}
	for _, had := range t.Draft.tools {
		if had.source == e.source {
			return had
		}
	}
	base := compiler.ServerName(server + "_" + tool.name)
	taken := func(name string) bool {
		return strings.EqualFold(name, t.Draft.tool) ||
			slices.ContainsFunc(t.Lists, func(l *toolList) bool { return strings.EqualFold(name, l.Server) }) ||
			slices.ContainsFunc(t.Draft.tools, func(o toolEntry) bool { return strings.EqualFold(name, o.name) })
	}
	for e.name = base; taken(e.name); {
		e.name += "_"
	}
	t.Draft.tools = append(t.Draft.tools, e)
	return e
}

// stops reports whether an entry stops a tool.
func (l *toolList) stops(name string) bool {
	return slices.ContainsFunc(l.stopped, func(s namedTool) bool { return Starred(s.name, name) })
}

// Starred reports whether a name fits one with stars, each of which stands for any text.
func Starred(pattern, name string) bool {
	begin, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if !strings.HasPrefix(name, begin) {
		return false
	}
	for i := len(begin); i <= len(name); i++ {
		if Starred(rest, name[i:]) {
			return true
		}
	}
	return false
}

// unnamable is the reason why no entry can name a tool, empty where one can.
func unnamable(name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, "*()"):
		return "an entry names one tool"
	case !Clean(name) || compiler.BadName(compiler.ServerName("x_"+name)) != "":
		return "no entry can have this name"
	}
	return ""
}
