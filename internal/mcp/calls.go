package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/plural"
	"github.com/accessc/accessc/ir"
)

// calls counts the calls of a session that were passed to the server.
type calls struct {
	total int
	// named are those of the tools that the configuration names; there are as many.
	named map[string]int
}

func (c *calls) clone() *calls { return &calls{c.total, maps.Clone(c.named)} }

// count adds a call, or returns the reason why the constraints refuse it.
func (c *calls) count(p *Policy, tool string) string {
	if why := c.over(p.Constraints, c.total, "the server "+p.Server); why != "" {
		return why
	}
	t, ok := p.Tools[tool]
	if ok {
		if why := c.over(t.Constraints, c.named[tool], "the tool "+t.Entry); why != "" {
			return why
		}
		if why := c.early(p, t); why != "" {
			return why
		}
		c.named[tool]++
	}
	c.total++
	return ""
}

func (c *calls) over(limits *ir.Constraints, made int, what string) string {
	if limits == nil || limits.MaxInvocations == 0 || made < limits.MaxInvocations {
		return ""
	}
	return fmt.Sprintf("%s was called %s in this session, as often as it may be: %s",
		what, plural.Count(made, "time"), limits.Origin)
}

// early is the reason why a tool may not be called yet.
func (c *calls) early(p *Policy, t Tool) string {
	if t.Constraints == nil {
		return ""
	}
	var missing []string
	for _, other := range t.Constraints.OnlyAfter {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(c.named)), func(name string) bool {
			return name == other || p.Tools[name].Entry == other
		}) {
			missing = append(missing, other)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("the tool %s may be called only after %s: %s", t.Entry, strings.Join(missing, " and "), t.Constraints.Origin)
}
