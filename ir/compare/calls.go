package compare

import (
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Calls compares which tools of MCP servers a client may call, by the names of the entries, or of the servers for tools
// without an entry. An entry opens a tool and closes those that have none, so no entry can be compared by itself.
// See decision D371.
func Calls(old, new []*ir.Tool) map[string][]Difference {
	out := map[string][]Difference{}
	for _, server := range servers(old, new) {
		was, is := callsOf(old, server), callsOf(new, server)
		if !is.known {
			is.others = true // accessc mcp starts what the configuration does not name
		}
		names := union(slices.Collect(maps.Keys(was.named)), slices.Collect(maps.Keys(is.named)))
		for _, name := range names {
			if entry, ds := called(was, is, server, name); len(ds) > 0 {
				out[entry] = append(out[entry], ds...)
			}
		}
		// That a server is new is a difference by itself, so all of its tools are none.
		if was.others != is.others && was.known {
			out[server] = append(out[server], Difference{
				Kind: Calling, Wider: is.others, What: "answer calls of", Where: "every tool", Except: names,
			})
		}
	}
	return out
}

// servers are the servers that have a table, or that the source of a tool begins with.
func servers(sides ...[]*ir.Tool) []string {
	var out []string
	for _, t := range slices.Concat(sides...) {
		switch {
		case t.Server():
			out = append(out, t.Name)
		case t.Source.Kind == ir.SourceMCP && t.Source.Detail != "":
			name, _, _ := strings.Cut(t.Source.Detail, ".")
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// calls are the tools of a server that one side lets a client call.
type calls struct {
	known  bool // by a table or an entry
	others bool // those without an entry may be called
	named  map[string]*ir.Tool
}

func callsOf(tools []*ir.Tool, server string) calls {
	c := calls{named: ir.Served(tools, server)}
	table := slices.ContainsFunc(tools, func(t *ir.Tool) bool { return t.Server() && t.Name == server })
	c.known = table || len(c.named) > 0
	c.others = table && len(c.named) == 0
	return c
}

// may reports whether a tool may be called.
func (c calls) may(name string) bool {
	t, ok := c.named[name]
	return !ok && c.others || ok && !t.Disabled && !orNone(t.Constraints).Forbidden
}

// called compares a tool that some side has an entry for. Constraints of an entry that both sides have are compared
// with the rest of it.
func called(was, is calls, server, name string) (entry string, ds []Difference) {
	a, b := was.named[name], is.named[name]
	before, after := was.may(name), is.may(name)
	if same := a != nil && b != nil && a.Name == b.Name; same {
		before, after = !a.Disabled, !b.Disabled
	} else if before && after {
		ds = constraints(constraintsOf(a), constraintsOf(b))
	}
	at := ir.Source{Kind: ir.SourceMCP, Detail: server + "." + name}
	d := Difference{Kind: Calling, Wider: after, What: "be called as", Where: at.String()}
	if a != nil {
		entry, d.Old.At = a.Name, a.Source.Origin
	}
	if b != nil {
		entry, d.New.At = b.Name, b.Source.Origin
	}
	if before != after {
		ds = append(ds, d)
	}
	return entry, ds
}

func constraintsOf(t *ir.Tool) *ir.Constraints {
	if t == nil {
		return nil
	}
	return t.Constraints
}
