package invocations

import (
	"strings"

	"github.com/accessc/accessc/ir"
)

// The prefixes of the names under which invocations are counted that have completed, and starts that did not happen. The lines of a
// session only grow, so these are further lines.
const (
	donePrefix = "done\t"
	voidPrefix = "void\t"
)

// made is how many invocations of a tool have happened, or are about to.
func (c Counts) made(name string) int { return c[name] - c[voidPrefix+name] }

// completed reports whether an invocation of a tool has ended without an error.
func (c Counts) completed(name string) bool { return c[donePrefix+name] > 0 }

// Complete counts invocations of tools and servers that have ended without an error: what may be invoked only after them may be now.
// See decision D149.
func (c Counts) Complete(names ...string) {
	for _, name := range names {
		if c.made(name) > 0 && !strings.ContainsAny(name, "\t\n") {
			c[donePrefix+name]++
		}
	}
}

// Completed counts an invocation of a tool that has ended without an error.
func (s *Session) Completed(t *ir.Tool) error {
	return s.Take(func(made Counts) error {
		made.Complete(t.Name)
		return nil
	})
}

// Failed takes back an invocation of a tool that did not start: it uses nothing up.
func (s *Session) Failed(t *ir.Tool) error {
	return s.Take(func(made Counts) error {
		made.fail(t.Name)
		return nil
	})
}

// fail takes an invocation back.
func (c Counts) fail(name string) {
	if c.made(name) > 0 {
		c[voidPrefix+name]++
	}
}
