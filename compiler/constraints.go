package compiler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
)

// textAt is a text with the place that wrote it.
type textAt struct {
	text string
	at   *source.Value
	path string
}

// constraints reads how often, and after which other tools, a tool may be invoked. The names of the others are
// checked when all of them are known.
func (s scope) constraints(e *source.Entry) (c *ir.Constraints, after []textAt) {
	t := s.table(e.Value, `a table such as { max_invocations = 3 }`)
	if t == nil {
		return nil, nil
	}
	s.known(t, "a constraints table", constraintKeys...)
	c = &ir.Constraints{Origin: s.origin(e.At)}
	for i := range t.Entries {
		f := &t.Entries[i]
		switch in := s.key(f.Key); f.Key {
		case "max_invocations":
			n, ok := in.integer(f.Value)
			if ok && (n < 1 || n > math.MaxInt32) {
				in.report(diag.BadConstraint, f.Value, fmt.Sprintf("found %d, expected at least 1", n))
			}
			c.MaxInvocations = int(n)
		case "only_after":
			c.OnlyAfter = in.strs(f.Value)
			for i, v := range f.Value.Array {
				after = append(after, textAt{v.Text, v, in.item(i).path})
			}
		case "forbidden":
			c.Forbidden = in.boolean(f.Value)
		}
	}
	return c, after
}

// checkAfter reports names in only_after that no tool has: such a tool could never be invoked. A tool of a
// server may name others by their names there.
func (c *compilation) checkAfter(drafts []*draft) {
	for _, d := range drafts {
		server, _ := d.atServer()
		var names []string
		for _, other := range drafts {
			names = append(names, other.name)
			if on, tool := other.atServer(); server != "" && on == server {
				names = append(names, tool)
			}
		}
		for _, after := range d.after {
			if after.at.Kind == source.StringKind && !slices.Contains(names, after.text) {
				f := c.report(diag.BadConstraint, after.path, after.at, fmt.Sprintf("there is no tool %q", after.text))
				f.Hint = suggest.Hint(after.text, names)
			}
		}
	}
}

// atServer are the server of a tool and its name there, empty for tools of none.
func (d *draft) atServer() (server, tool string) {
	if d.source == nil {
		return "", ""
	}
	rest, _ := strings.CutPrefix(d.source.text, "mcp.")
	if rest == d.source.text {
		return "", ""
	}
	server, tool, _ = strings.Cut(rest, ".")
	return server, tool
}

var constraintKeys = []string{"max_invocations", "only_after", "forbidden"}
