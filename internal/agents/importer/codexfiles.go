package importer

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
)

// coversVariable reports whether one of some patterns is about a variable, in any case of letters.
func coversVariable(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return regexp.MustCompile("(?i)^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$").MatchString(name)
	})
}

// variables takes names of the base away that Codex does not pass on.
func (c *codex) variables() {
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TERM"} {
		from := "the variables that Codex passes on"
		gone := c.kept != nil && !slices.Contains(c.kept, name) || c.only != nil && !coversVariable(c.only, name)
		for _, l := range c.dropped {
			if coversVariable([]string{l.Path}, name) {
				gone, from = true, l.entry.from()
			}
			l.entry.become(Carried, "no rule passes it on")
		}
		if gone {
			t := &c.t.draft
			t.env = append(t.env, envRule{name, false, from})
			if name == "LC_ALL" {
				t.env = append(t.env, envRule{"LC_*", false, from})
			}
		}
	}
}

// files writes the rules for files: of the entries around a path the deepest counts.
func (c *codex) files() {
	var points, patterns []point
	modes := map[string]string{}
	for _, e := range c.entries {
		p := point{abs: e.Path, entry: e.entry, opens: e.Mode == "write"}
		if strings.ContainsAny(e.Path, "*?[") {
			patterns = append(patterns, p)
			continue
		}
		if p.abs = c.t.host.Follow(e.Path); p.abs != e.Path {
			if e.Mode == "write" {
				e.entry.become(LeftOut, "its path leads over a symlink")
				continue
			}
			e.Mode = "deny" // the target
			e.entry.become(Narrowed, "its path leads over a symlink, and the target is denied")
		}
		if had, again := modes[p.abs]; !again || e.Mode == "deny" || had == "write" {
			modes[p.abs] = e.Mode
		}
		points = append(points, p)
	}
	for i, p := range points {
		points[i].opens = modes[p.abs] == "write"
	}
	opened := c.t.roots(points)
	shut := c.t.everyName(patterns, opened, closes)
	var kept []point
	for abs, mode := range modes {
		if mode != "write" {
			continue
		}
		for _, name := range []string{".agents", ".aws", ".codex", ".git"} {
			kept = append(kept, point{abs: c.t.host.Follow(path.Join(abs, name)), entry: &Entry{Key: "Codex lets no command write it"}})
		}
	}
	c.t.files(slices.Concat(points, shut, kept), func(abs string) access {
		mode := ""
		for at := abs; mode == ""; at = path.Dir(at) {
			mode = modes[at]
			if at == "/" {
				break
			}
		}
		read := (mode == "read" || mode == "write") && deepest(shut, abs) < 0
		return access{read: read, write: read && mode == "write" && deepest(kept, abs) < 0}
	})
}

// model is the evaluation of the profile.
func (c *codex) model() foreign.Policy {
	out := &foreign.Codex{Host: c.t.host, Minimal: c.minimal, Network: c.network && !c.limited, Kept: c.kept, Only: c.only}
	for _, e := range c.entries {
		out.Entries = append(out.Entries, e.CodexEntry)
	}
	for _, l := range c.allowed {
		out.AllowedHosts = append(out.AllowedHosts, l.Path)
	}
	for _, l := range c.denied {
		out.DeniedHosts = append(out.DeniedHosts, l.Path)
	}
	for _, l := range c.dropped {
		out.Dropped = append(out.Dropped, l.Path)
	}
	return out
}
