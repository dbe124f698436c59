package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/tomltext"
)

// draft is the configuration that is written.
type draft struct {
	tool, ruleset string
	// confines is true where a tool is written.
	confines bool
	base     string
	fs       []fsRule
	net      []netRule
	env      []envRule
	// closed is the entry because of which no program but the tool's own starts.
	closed *Entry
	rules  []rule
	// wide are rules behind all others, for commands that no rule tells apart from those that are to be stopped.
	wide    []rule
	servers []server
	// tools are entries for tools of servers, shut are servers without any.
	tools []toolEntry
	shut  []shutServer
}

// fsRule is a rule for files.
type fsRule struct {
	path                  string
	names                 []string
	external, read, write bool
	// fine are capabilities by themselves, in place of read and write.
	fine []string
	from string
}

// netRule is a rule for a host.
type netRule struct {
	host   string
	port   uint16
	allow  bool
	listen bool
	from   string
}

// envRule is a rule for a variable.
type envRule struct {
	name string
	read bool
	from string
}

// rule is a rule of the ruleset: it allows, asks, or else denies. One of prefix, exact and hosts is set; without
// them it is about every command.
type rule struct {
	allow  bool
	ask    bool
	prefix []string
	exact  []string
	hosts  []string
	except []string // prefixes
	from   string
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
	if d.confines {
		table := "tools." + tomltext.Key(d.tool)
		fmt.Fprintf(&b, "\n[%s]\nsource = \"local\"\n", table)
		if d.base != "system" {
			fmt.Fprintf(&b, "access.base = %s\n", tomltext.String(d.base))
		}
		for _, r := range d.fs {
			r.writeTo(&b, table)
		}
		for _, r := range d.net {
			fmt.Fprintf(&b, "\n[[%s.access.net]] # %s\nhost = %s\n", table, r.from, tomltext.String(r.host))
			if r.port != 0 {
				fmt.Fprintf(&b, "port = %d\n", r.port)
			}
			if r.listen {
				b.WriteString("listen = true\n")
			}
			fmt.Fprintf(&b, "allow = %t\n", r.allow)
		}
		for _, r := range d.env {
			fmt.Fprintf(&b, "\n[[%s.access.env]] # %s\nname = %s\nread = %t\n", table, r.from, tomltext.String(r.name), r.read)
		}
	}
	if d.confines && d.closed != nil {
		fmt.Fprintf(&b, "\n[%s.access.commands] # %s; list the programs that may start\n", "tools."+tomltext.Key(d.tool), d.closed.from())
	}
	for _, r := range slices.Concat(d.rules, d.wide) {
		r.write(&b, "rulesets."+tomltext.Key(d.ruleset)+".rules")
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

func (r fsRule) writeTo(b *strings.Builder, table string) {
	fmt.Fprintf(b, "\n[[%s.access.fs]] # %s\npath = %s\n", table, r.from, tomltext.String(r.path))
	if len(r.names) > 0 {
		fmt.Fprintf(b, "names = %s\n", texts(r.names))
	}
	if r.external {
		b.WriteString("external = true\n")
	}
	if r.read {
		b.WriteString("read = true\nexecute = true\n")
	}
	if r.write {
		b.WriteString("write = true\n")
	}
	for _, name := range r.fine {
		b.WriteString(name + " = true\n")
	}
}

func (r rule) write(b *strings.Builder, table string) {
	outcome := "deny"
	switch {
	case r.allow:
		outcome = "allow"
	case r.ask:
		outcome = "ask"
	}
	fmt.Fprintf(b, "\n[[%s]] # %s\noutcome = %q\n", table, r.from, outcome)
	var own string
	switch {
	case len(r.hosts) > 0:
		fmt.Fprintf(b, "operation = \"fetch\"\nhosts = %s\n", texts(r.hosts))
		return
	case len(r.prefix)+len(r.exact) == 0:
		return
	case len(r.prefix) > 0:
		own = "prefix = " + texts([]string{strings.Join(r.prefix, " ")})
	default:
		own = fmt.Sprintf("command = %s\nargs = [%s]", tomltext.String(r.exact[0]), texts(r.exact[1:]))
	}
	if len(r.except) == 0 {
		b.WriteString(own + "\n")
		return
	}
	fmt.Fprintf(b, "all = [{ %s }, { not = { prefix = %s } }]\n", strings.ReplaceAll(own, "\n", ", "), texts(r.except))
}

func (s server) write(b *strings.Builder) {
	table := "servers." + tomltext.Key(s.name)
	fmt.Fprintf(b, "\n[%s] # %s\ncommand = { program = %s, args = %s }\n%s",
		table, s.from, tomltext.String(s.program), texts(s.args), s.lines)
}

// texts writes a list.
func texts(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = tomltext.String(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// without returns a list without equal elements.
func without[T comparable](list []T) []T {
	var out []T
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
