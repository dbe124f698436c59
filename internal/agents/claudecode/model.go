package claudecode

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/srt"
)

// Model are the settings of Claude Code, as of version 2.1.330: rules that deny win over those that
// ask, and these over those that allow (code.claude.com/docs/en/permissions).
type Model struct {
	foreign.Host
	Allow, Ask, Deny []ToolRule
	// Mode is defaultMode, Additional are the further working directories.
	Mode       string
	Additional []string
	// Sandbox confines commands, nil where it is off. AutoAllow runs the confined ones unasked.
	Sandbox   *srt.Model
	AutoAllow bool
}

// ToolRule is a permission rule: the name of a tool, with a specifier or without.
type ToolRule struct {
	Tool, Spec string
	// Whole is true without a specifier.
	Whole bool
	// Project is false for rules of the user's own settings.
	Project bool
}

// kept are names that Claude Code asks about before it edits them, also if a rule allows it; its
// sandbox takes instructions out of .git alone.
func kept() []string { return slices.Concat(foreign.Startup, []string{".git", ".claude"}) }

// Reads implements Policy. Outside of the working directories commands read as far as the system lets them.
func (c *Model) Reads(abs string) bool {
	return !c.refuses("Read", abs) && (c.Sandbox == nil || c.Sandbox.Reads(abs))
}

// Writes implements Policy: the files that the tools for editing, or a command in the sandbox, write unasked.
func (c *Model) Writes(abs string) bool {
	if c.Mode == "plan" || c.refuses("Edit", abs) || c.refuses("Write", abs) || c.refuses("Read", abs) {
		return false
	}
	if c.Sandbox != nil && c.AutoAllow && c.Sandbox.Writes(abs) {
		return true
	}
	if c.Instructs(abs, kept()) {
		return false
	}
	working := slices.ContainsFunc(append([]string{c.Dir}, c.Additional...), func(d string) bool {
		return c.at(c.Absolute(d, c.Dir), abs)
	})
	return c.Mode == "bypassPermissions" || c.Mode == "acceptEdits" && working ||
		slices.ContainsFunc(c.Allow, func(r ToolRule) bool {
			return r.Tool == "Edit" && c.opens(r, abs)
		})
}

// refuses reports whether a rule for a tool denies, or asks about, a path.
func (c *Model) refuses(tool, abs string) bool {
	return slices.ContainsFunc(slices.Concat(c.Deny, c.Ask), func(r ToolRule) bool {
		return r.Tool == tool && slices.ContainsFunc(c.shut(r),
			func(p foreign.Pattern) bool { return c.Covers(p, abs) })
	})
}

// shut are the paths of a rule that denies. They follow gitignore: a pattern without a slash inside is about
// every depth, and a pattern that matches a directory covers everything below it.
func (c *Model) shut(r ToolRule) (out []foreign.Pattern) {
	if r.Whole {
		return []foreign.Pattern{{}}
	}
	for _, at := range c.denied(r) {
		for _, abs := range c.Braces(at) {
			out = append(out, c.place(abs))
		}
	}
	return out
}

func (c *Model) denied(r ToolRule) []string {
	spec, rest := r.Spec, ""
	switch {
	case strings.HasPrefix(spec, "//"):
		return []string{foreign.Whole(spec[1:])}
	case strings.HasPrefix(spec, "~/"):
		return []string{c.Home + spec[1:]}
	case strings.HasPrefix(spec, "/") && r.Project:
		return []string{c.Dir + spec}
	case strings.HasPrefix(spec, "/"):
		return []string{c.Dir + spec, c.Home + spec, c.Home + "/.claude" + spec}
	}
	spec = strings.TrimPrefix(spec, "./")
	// Claude Code takes "/**" away before it asks for a slash.
	if !strings.Contains(strings.TrimSuffix(strings.TrimSuffix(spec, "/**"), "/"), "/") {
		rest = "/**"
	}
	return []string{c.Dir + rest + "/" + spec}
}

// place is an absolute pattern, in any case of its letters. A path without wildcards is that of the file that
// it leads to.
func (c *Model) place(abs string) foreign.Pattern {
	abs = path.Clean(strings.TrimSuffix(abs, "/**"))
	p := foreign.NewPattern(abs)
	if p.Literal() {
		p.Parts = foreign.Split(c.Follow(abs))
	}
	p.Fold = true
	return p
}

// opens reports whether a rule that allows is certainly about a path: paths with wildcards, other than
// those for all below a directory, count as about none.
func (c *Model) opens(r ToolRule, abs string) bool {
	spec := strings.TrimSuffix(r.Spec, "/**")
	switch {
	case r.Whole || spec == "**" && foreign.Under(abs, c.Dir):
		return true
	case strings.ContainsAny(spec, "*?[]!\\"):
		return false
	case strings.HasPrefix(spec, "//"):
		return c.at(path.Clean(spec[1:]), abs)
	case strings.HasPrefix(spec, "/"):
		return r.Project && c.at(path.Clean(c.Dir+spec), abs)
	}
	return c.at(c.Absolute(spec, c.Dir), abs)
}

// at reports whether a path is at or below a directory that no symlink leads to.
func (c *Model) at(dir, abs string) bool { return c.Follow(dir) == dir && foreign.Under(abs, dir) }

// Connects implements Policy: of commands, which only the sandbox confines.
func (c *Model) Connects(host string, port uint16) bool {
	return c.Sandbox != nil && c.Sandbox.Connects(host, port) && !c.fetchRule(host, true, c.Deny, c.Ask)
}

// Passes implements Policy.
func (c *Model) Passes(name string) bool { return c.Sandbox == nil || c.Sandbox.Passes(name) }

// Fetches implements Policy.
func (c *Model) Fetches(host string) bool {
	return c.Mode != "plan" && !c.fetchRule(host, true, c.Deny, c.Ask) &&
		(c.Mode == "bypassPermissions" || c.fetchRule(host, false, c.Allow))
}

// fetchRule reports whether a rule is about a host. One that denies counts for the names below its host,
// too.
func (c *Model) fetchRule(host string, below bool, lists ...[]ToolRule) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(r ToolRule) bool {
		name, ok := strings.CutPrefix(r.Spec, "domain:")
		return r.Tool == "WebFetch" && (r.Whole || ok &&
			(foreign.Domain(name, host, 0) || below && foreign.Domain("*."+name, host, 0)))
	})
}

// Runs implements Policy.
func (c *Model) Runs(line string) bool {
	unasked := c.Mode == "bypassPermissions" || c.Sandbox != nil && c.AutoAllow
	return c.Mode != "plan" && !c.match(c.Deny, line) && !c.match(c.Ask, line) && (unasked || c.match(c.Allow, line))
}

// Stops implements Stopper. The mode plan asks about every command, and dontAsk refuses those that are not allowed.
func (c *Model) Stops(line string) bool {
	return c.Mode == "plan" || c.Mode == "dontAsk" && !c.Runs(line) || c.match(c.Deny, line) || c.match(c.Ask, line)
}

func (c *Model) match(rules []ToolRule, line string) bool {
	return slices.ContainsFunc(rules, func(r ToolRule) bool {
		return r.Tool == "Bash" && (r.Whole || c.line(r.Spec, line))
	})
}

// line compares a command with the specifier of a rule: "x:*" is x alone and with arguments, as is
// "x *" without another wildcard; any other "*" is any text.
func (c *Model) line(spec, line string) bool {
	spec, line = strings.TrimSpace(spec), strings.TrimSpace(line)
	if prefix, ok := strings.CutSuffix(spec, ":*"); ok && prefix != "" {
		return line == prefix || strings.HasPrefix(line, prefix+" ")
	}
	parts := foreign.Stars(spec)
	if len(parts) == 2 && parts[1] == "" && strings.HasSuffix(parts[0], " ") &&
		line == strings.TrimSuffix(parts[0], " ") {
		return true
	}
	return foreign.Wildcard(parts, line)
}

// Marks implements Policy.
func (c *Model) Marks() foreign.Marks {
	out := foreign.Marks{Paths: append([]string{c.Dir}, c.Additional...)}
	if c.Sandbox != nil {
		out = c.Sandbox.Marks()
	}
	for _, name := range kept() {
		out.Paths = append(out.Paths, path.Join(c.Dir, name))
	}
	for _, r := range slices.Concat(c.Allow, c.Ask, c.Deny) {
		switch r.Tool {
		case "Read", "Edit", "Write":
			for _, p := range c.shut(r) {
				if p.Literal() {
					out.Paths = append(out.Paths, p.String())
				}
				out.Patterns = append(out.Patterns, p)
			}
		case "WebFetch":
			out.Hosts = append(out.Hosts, strings.TrimPrefix(r.Spec, "domain:"))
		case "Bash":
			out.Commands = append(out.Commands, strings.Replace(r.Spec, ":*", " *", 1))
		default:
			if rest, of := strings.CutPrefix(r.Tool, "mcp__"); of {
				out.Calls = append(out.Calls, rest)
			}
		}
	}
	return out
}
