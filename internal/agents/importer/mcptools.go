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
	server string
	// open is the entry that permits all tools, shut the one that stops all, and asks is true where a person would be
	// asked instead; only is an entry by which no other tool than those permitted may be called.
	open, shut, only *Entry
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

func (l *toolList) permit(name string, e *Entry) {
	l.permitted = append(l.permitted, namedTool{name: name, entry: e})
}

func (l *toolList) refuse(name string, asks bool, e *Entry) {
	l.stopped = append(l.stopped, namedTool{name, asks, e})
}

// shutAll stops all tools.
func (l *toolList) shutAll(asks bool, e *Entry) {
	if l.shut == nil || l.asks && !asks {
		l.shut, l.asks = e, asks
	}
	e.stopped(asks, "no tool of servers."+l.server+" can be called")
}

// stopped sets the fate of an entry that stops something, or has a person asked about it.
func (e *Entry) stopped(asks bool, what string) {
	if asks {
		e.become(Narrowed, "%s: nobody is asked about a call of a server's tool", what)
		return
	}
	e.become(Carried, "%s", what)
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

// listOf is the list of a server, made where there is none.
func (t *translation) listOf(server string) *toolList {
	for _, l := range t.lists {
		if l.server == server {
			return l
		}
	}
	l := &toolList{server: server}
	t.lists = append(t.lists, l)
	return l
}

// toolLists writes the lists of all servers. See decision D437.
func (t *translation) toolLists() {
	for _, l := range t.lists {
		if t.draft.confines && strings.EqualFold(l.server, t.draft.tool) {
			const clash = "a server is called %s, as the tool is: --tool gives that another name"
			t.faults = append(t.faults, fmt.Errorf(clash, l.server))
		}
		l.settle(t)
	}
}

// settle writes the entries of a server. Once there is one, no other tool of the server can be called, so a stopped
// tool needs none; it has one, since whoever adds entries later would not know that the settings stop it.
func (l *toolList) settle(t *translation) {
	var may []namedTool
	for _, tool := range l.permitted {
		switch why := unnamable(tool.name); {
		case l.shut != nil || l.stops(tool.name):
			tool.entry.become(LeftOut, "another entry stops it, or asks about it")
		case why != "":
			tool.entry.become(LeftOut, "%s", why)
		default:
			may = append(may, tool)
		}
	}
	if l.open != nil && l.shut == nil && len(l.stopped) == 0 && l.only == nil {
		for _, e := range append(l.entries(), l.open) {
			e.become(Carried, "servers.%s: without entries all of its tools can be called", l.server)
		}
		return
	}
	if l.open != nil {
		l.open.become(LeftOut, "another entry stops a tool of it, and then only tools with an entry can be called")
	}
	for _, tool := range may {
		e := t.toolEntry(l.server, tool, false)
		tool.entry.become(Carried, "tools.%s", e.name)
	}
	rest := "; other tools of servers." + l.server + " need an entry"
	for _, tool := range l.stopped {
		what := "servers." + l.server + " has no entry for it" + rest
		if l.shut == nil && unnamable(tool.name) == "" {
			what = "tools." + t.toolEntry(l.server, tool, true).name + rest
		}
		tool.entry.stopped(tool.asks, what)
	}
	ours := func(e toolEntry) bool { return strings.HasPrefix(e.source, sourceOf(l.server, "")) }
	any := slices.ContainsFunc(t.draft.tools, ours)
	switch {
	case l.shut != nil:
		t.draft.shut = append(t.draft.shut, shutServer{l.server, l.shut.from()})
	case !any && len(l.stopped) > 0:
		t.draft.shut = append(t.draft.shut, shutServer{l.server, l.stopped[0].entry.from()})
	case !any && l.only != nil:
		t.draft.shut = append(t.draft.shut, shutServer{l.server, l.only.from()})
	}
}

// shutServer is a server of which no tool can be called.
type shutServer struct{ name, from string }

func (s shutServer) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n[servers.%s.constraints] # %s\nforbidden = true\n", tomltext.Key(s.name), s.from)
}

func sourceOf(server, tool string) string { return "mcp." + server + "." + tool }

// toolEntry adds the entry of a tool to the draft.
func (t *translation) toolEntry(server string, tool namedTool, forbidden bool) toolEntry {
	e := toolEntry{source: sourceOf(server, tool.name), forbidden: forbidden, from: tool.entry.from()}
	for _, had := range t.draft.tools {
		if had.source == e.source {
			return had
		}
	}
	base := compiler.ServerName(server + "_" + tool.name)
	taken := func(name string) bool {
		return strings.EqualFold(name, t.draft.tool) ||
			slices.ContainsFunc(t.lists, func(l *toolList) bool { return strings.EqualFold(name, l.server) }) ||
			slices.ContainsFunc(t.draft.tools, func(o toolEntry) bool { return strings.EqualFold(name, o.name) })
	}
	for e.name = base; taken(e.name); {
		e.name += "_"
	}
	t.draft.tools = append(t.draft.tools, e)
	return e
}

// stops reports whether an entry stops a tool.
func (l *toolList) stops(name string) bool {
	return slices.ContainsFunc(l.stopped, func(s namedTool) bool { return starred(s.name, name) })
}

// starred reports whether a name fits one with stars, each of which stands for any text.
func starred(pattern, name string) bool {
	begin, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if !strings.HasPrefix(name, begin) {
		return false
	}
	for i := len(begin); i <= len(name); i++ {
		if starred(rest, name[i:]) {
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
	case !clean(name) || compiler.BadName(compiler.ServerName("x_"+name)) != "":
		return "no entry can have this name"
	}
	return ""
}
