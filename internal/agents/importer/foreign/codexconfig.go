package foreign

import (
	"path"
	"slices"
	"strings"
)

// Codex is the permission profile that Codex gives commands, or its sandbox mode, as of version
// 0.169.0 on Linux (developers.openai.com/codex/permissions, and "codex sandbox").
type Codex struct {
	Host
	Entries []CodexEntry
	// Minimal opens the system's own directories for reading.
	Minimal bool
	// Network lets commands connect: to AllowedHosts, where a proxy holds them, and not to DeniedHosts.
	Network                   bool
	AllowedHosts, DeniedHosts []string
	// Kept are the variables that commands get, nil for all, of which Only are patterns, nil for all; Dropped are patterns
	// of those that they do not.
	Kept, Only, Dropped []string
}

// CodexEntry is a path, with wildcards only if it denies, and read, write or deny.
type CodexEntry struct{ Path, Mode string }

// minimal are the directories that ":minimal" opens on Linux.
var minimal = []string{"/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr"}

// codexKept are names that stay as they are in every directory that is opened for writing.
var codexKept = []string{".git", ".agents", ".codex", ".aws"}

// Reads implements Policy.
func (c *Codex) Reads(abs string) bool {
	mode := c.mode(abs)
	return mode == "read" || mode == "write" || mode == "" && c.Minimal && slices.ContainsFunc(minimal, func(dir string) bool { return under(abs, dir) })
}

// Writes implements Policy.
func (c *Codex) Writes(abs string) bool {
	return c.mode(abs) == "write" && !slices.ContainsFunc(c.Entries, func(e CodexEntry) bool {
		return e.Mode == "write" && slices.ContainsFunc(codexKept, func(name string) bool { return under(abs, path.Join(e.Path, name)) })
	})
}

// mode is that of the deepest entry, the narrowest of several. A path that opens something is not followed
// over symlinks.
func (c *Codex) mode(abs string) string {
	deepest, out := -1, ""
	for _, e := range c.Entries {
		if strings.ContainsAny(e.Path, "*?[") {
			if c.covers(NewPattern(strings.TrimSuffix(e.Path, "/**")), abs) {
				return "deny"
			}
			continue
		}
		at := c.Follow(e.Path)
		if !under(abs, at) || e.Mode != "deny" && e.Mode != "read" && at != e.Path {
			continue
		}
		if depth := len(split(at)); depth > deepest || depth == deepest && (e.Mode == "deny" || e.Mode == "read" && out == "write") {
			deepest, out = depth, e.Mode
			if e.Mode == "read" && at != e.Path {
				out = "deny" // whether the target is opened is not certain
			}
		}
	}
	return out
}

// Connects implements Policy. Denied hosts win.
func (c *Codex) Connects(host string, port uint16) bool {
	named := func(list []string) bool {
		return slices.ContainsFunc(list, func(e string) bool { return domain(e, host, port) })
	}
	return c.Network && named(c.AllowedHosts) && !named(c.DeniedHosts)
}

// Fetches implements Policy: the profile is about commands.
func (c *Codex) Fetches(string) bool { return false }

// Passes implements Policy.
func (c *Codex) Passes(name string) bool {
	matches := func(p string) bool { return matchName(strings.ToUpper(p), strings.ToUpper(name)) }
	return (c.Kept == nil || slices.Contains(c.Kept, name)) && (c.Only == nil || slices.ContainsFunc(c.Only, matches)) &&
		!slices.ContainsFunc(c.Dropped, matches)
}

// Runs implements Policy: which commands run is for the rules to say.
func (c *Codex) Runs(string) bool { return true }

// Marks implements Policy.
func (c *Codex) Marks() Marks {
	out := Marks{Linux: true, Paths: []string{c.Dir}, Hosts: slices.Concat(c.AllowedHosts, c.DeniedHosts)}
	for _, e := range c.Entries {
		if strings.ContainsAny(e.Path, "*?[") {
			out.Patterns = append(out.Patterns, NewPattern(strings.TrimSuffix(e.Path, "/**")))
			continue
		}
		at := c.Follow(e.Path)
		out.Paths = append(out.Paths, at)
		for _, name := range codexKept {
			out.Paths = append(out.Paths, path.Join(at, name))
		}
	}
	return out
}
