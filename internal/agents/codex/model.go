package codex

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Model is the permission profile that Codex gives commands, or its sandbox mode, as of version
// 0.169.0 on Linux (developers.openai.com/codex/permissions, and "codex sandbox").
type Model struct {
	foreign.Host
	Entries []Entry
	// Minimal opens the system's own directories for reading.
	Minimal bool
	// Network lets commands connect: to AllowedHosts, where a proxy holds them, and not to DeniedHosts.
	Network                   bool
	AllowedHosts, DeniedHosts []string
	// Kept are the variables that commands get, nil for all, of which Only are patterns, nil for all; Dropped are
	// patterns of those that they do not.
	Kept, Only, Dropped []string
}

// Entry is a path, with wildcards only if it denies, and read, write or deny.
type Entry struct{ Path, Mode string }

// minimal are the directories that ":minimal" opens on Linux.
var minimal = []string{"/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr"}

// kept are names that stay as they are in every directory that is opened for writing.
var kept = []string{".git", ".agents", ".codex", ".aws"}

// Reads implements Policy.
func (c *Model) Reads(abs string) bool {
	mode := c.mode(abs)
	return mode == "read" || mode == "write" || mode == "" && c.Minimal &&
		slices.ContainsFunc(minimal, func(dir string) bool { return foreign.Under(abs, dir) })
}

// Writes implements Policy.
func (c *Model) Writes(abs string) bool {
	return c.mode(abs) == "write" && !slices.ContainsFunc(c.Entries, func(e Entry) bool {
		return e.Mode == "write" && slices.ContainsFunc(kept,
			func(name string) bool { return foreign.Under(abs, path.Join(e.Path, name)) })
	})
}

// mode is that of the deepest entry, the narrowest of several. A path that opens something is not followed
// over symlinks.
func (c *Model) mode(abs string) string {
	deepest, out := -1, ""
	for _, e := range c.Entries {
		if strings.ContainsAny(e.Path, "*?[") {
			if c.Covers(foreign.NewPattern(strings.TrimSuffix(e.Path, "/**")), abs) {
				return "deny"
			}
			continue
		}
		at := c.Follow(e.Path)
		if !foreign.Under(abs, at) || e.Mode != "deny" && e.Mode != "read" && at != e.Path {
			continue
		}
		if depth := len(foreign.Split(at)); depth > deepest || depth == deepest &&
			(e.Mode == "deny" || e.Mode == "read" && out == "write") {
			deepest, out = depth, e.Mode
			if e.Mode == "read" && at != e.Path {
				out = "deny" // whether the target is opened is not certain
			}
		}
	}
	return out
}

// Connects implements Policy. Denied hosts win.
func (c *Model) Connects(host string, port uint16) bool {
	named := func(list []string) bool {
		return slices.ContainsFunc(list, func(e string) bool { return foreign.Domain(e, host, port) })
	}
	return c.Network && named(c.AllowedHosts) && !named(c.DeniedHosts)
}

// Fetches implements Policy: the profile is about commands.
func (c *Model) Fetches(string) bool { return false }

// Passes implements Policy.
func (c *Model) Passes(name string) bool {
	matches := func(p string) bool { return foreign.MatchName(strings.ToUpper(p), strings.ToUpper(name)) }
	return (c.Kept == nil || slices.Contains(c.Kept, name)) &&
		(c.Only == nil || slices.ContainsFunc(c.Only, matches)) &&
		!slices.ContainsFunc(c.Dropped, matches)
}

// Runs implements Policy: which commands run is for the rules to say.
func (c *Model) Runs(string) bool { return true }

// Marks implements Policy.
func (c *Model) Marks() foreign.Marks {
	out := foreign.Marks{Linux: true, Paths: []string{c.Dir}, Hosts: slices.Concat(c.AllowedHosts, c.DeniedHosts)}
	for _, e := range c.Entries {
		if strings.ContainsAny(e.Path, "*?[") {
			out.Patterns = append(out.Patterns, foreign.NewPattern(strings.TrimSuffix(e.Path, "/**")))
			continue
		}
		at := c.Follow(e.Path)
		out.Paths = append(out.Paths, at)
		for _, name := range kept {
			out.Paths = append(out.Paths, path.Join(at, name))
		}
	}
	return out
}
