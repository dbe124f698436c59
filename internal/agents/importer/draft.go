package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/tomltext"
)

// draft is the configuration that is written.
type draft struct {
	tool, Ruleset string
	// Confines is true where a tool is written.
	Confines bool
	base     string
	FS       []FSRule
	Net      []NetRule
	Env      []EnvRule
	// Closed is the entry because of which no program but the tool's own starts.
	Closed *Entry
	Rules  []Rule
	// Wide are rules behind all others, for commands that no rule tells apart from those that are to be stopped.
	Wide    []Rule
	servers []server
	// tools are entries for tools of servers, shut are servers without any.
	tools []toolEntry
	shut  []shutServer
}

// FSRule is a rule for files.
type FSRule struct {
	Path                  string
	names                 []string
	External, read, write bool
	// Fine are capabilities by themselves, in place of read and write.
	Fine []string
	From string
}

// NetRule is a rule for a host.
type NetRule struct {
	Host   string
	Port   uint16
	Allow  bool
	Listen bool
	From   string
}

// EnvRule is a rule for a variable.
type EnvRule struct {
	Name string
	Read bool
	From string
}

// Rule is a rule of the ruleset: it allows, asks, or else denies. One of prefix, exact and hosts is set; without
// them it is about every command.
type Rule struct {
	Allow  bool
	Ask    bool
	prefix []string
	exact  []string
	Hosts  []string
	except []string // prefixes
	From   string
	entry  *Entry
}

// server is an MCP server.
type server struct {
	name, program string
	args          []string
	env           []string
	// lines are those of its table, behind the command.
	lines string
	from  string
}

// text writes the configuration.
func (d *draft) text(head string) string {
	var b strings.Builder
	b.WriteString(head)
	if d.Confines {
		table := "tools." + tomltext.Key(d.tool)
		fmt.Fprintf(&b, "\n[%s]\nsource = \"local\"\n", table)
		if d.base != "system" {
			fmt.Fprintf(&b, "access.base = %s\n", tomltext.String(d.base))
		}
		for _, r := range d.FS {
			r.writeTo(&b, table)
		}
		for _, r := range d.Net {
			fmt.Fprintf(&b, "\n[[%s.access.net]] # %s\nhost = %s\n", table, r.From, tomltext.String(r.Host))
			if r.Port != 0 {
				fmt.Fprintf(&b, "port = %d\n", r.Port)
			}
			if r.Listen {
				b.WriteString("listen = true\n")
			}
			fmt.Fprintf(&b, "allow = %t\n", r.Allow)
		}
		for _, r := range d.Env {
			fmt.Fprintf(&b, "\n[[%s.access.env]] # %s\nname = %s\nread = %t\n", table, r.From, tomltext.String(r.Name),
				r.Read)
		}
	}
	if d.Confines && d.Closed != nil {
		fmt.Fprintf(&b, "\n[%s.access.commands] # %s; list the programs that may start\n",
			"tools."+tomltext.Key(d.tool), d.Closed.From())
	}
	for _, r := range slices.Concat(d.Rules, d.Wide) {
		r.write(&b, "rulesets."+tomltext.Key(d.Ruleset)+".rules")
	}
	for _, s := range d.servers {
		s.write(&b)
	}
	for _, s := range d.shut {
		s.write(&b)
	}
	for _, e := range d.tools {
		e.write(&b)
	}
	return b.String()
}

func (r FSRule) writeTo(b *strings.Builder, table string) {
	fmt.Fprintf(b, "\n[[%s.access.fs]] # %s\npath = %s\n", table, r.From, tomltext.String(r.Path))
	if len(r.names) > 0 {
		fmt.Fprintf(b, "names = %s\n", Texts(r.names))
	}
	if r.External {
		b.WriteString("external = true\n")
	}
	if r.read {
		b.WriteString("read = true\nexecute = true\n")
	}
	if r.write {
		b.WriteString("write = true\n")
	}
	for _, name := range r.Fine {
		b.WriteString(name + " = true\n")
	}
}

func (r Rule) write(b *strings.Builder, table string) {
	outcome := "deny"
	switch {
	case r.Allow:
		outcome = "allow"
	case r.Ask:
		outcome = "ask"
	}
	fmt.Fprintf(b, "\n[[%s]] # %s\noutcome = %q\n", table, r.From, outcome)
	var own string
	switch {
	case len(r.Hosts) > 0:
		fmt.Fprintf(b, "operation = \"fetch\"\nhosts = %s\n", Texts(r.Hosts))
		return
	case len(r.prefix)+len(r.exact) == 0:
		return
	case len(r.prefix) > 0:
		own = "prefix = " + Texts([]string{strings.Join(r.prefix, " ")})
	default:
		own = fmt.Sprintf("command = %s\nargs = [%s]", tomltext.String(r.exact[0]), Texts(r.exact[1:]))
	}
	if len(r.except) == 0 {
		b.WriteString(own + "\n")
		return
	}
	fmt.Fprintf(b, "all = [{ %s }, { not = { prefix = %s } }]\n", strings.ReplaceAll(own, "\n", ", "), Texts(r.except))
}

func (s server) write(b *strings.Builder) {
	table := "servers." + tomltext.Key(s.name)
	fmt.Fprintf(b, "\n[%s] # %s\ncommand = { program = %s, args = %s }\n%s",
		table, s.from, tomltext.String(s.program), Texts(s.args), s.lines)
}

// Texts writes a list.
func Texts(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = tomltext.String(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// Without returns a list without equal elements.
func Without[T comparable](list []T) []T {
	var out []T
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
