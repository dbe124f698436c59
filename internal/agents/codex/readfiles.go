package codex

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
)

// coversVariable reports whether one of some patterns is about a variable, in any case of letters.
func coversVariable(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return regexp.MustCompile("(?i)^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$").MatchString(name)
	})
}

// variables takes names of the base away that Codex does not pass on.
func (c *reader) variables() {
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TERM"} {
		from := "the variables that Codex passes on"
		gone := c.kept != nil && !slices.Contains(c.kept, name) || c.only != nil && !coversVariable(c.only, name)
		for _, l := range c.dropped {
			if coversVariable([]string{l.Path}, name) {
				gone, from = true, l.Entry.From()
			}
			l.Entry.Become(importer.Carried, "no rule passes it on")
		}
		if gone {
			t := &c.T.Draft
			t.Env = append(t.Env, importer.EnvRule{Name: name, Read: false, From: from})
			if name == "LC_ALL" {
				t.Env = append(t.Env, importer.EnvRule{Name: "LC_*", Read: false, From: from})
			}
		}
	}
}

// files writes the rules for files: of the entries around a path the deepest counts.
func (c *reader) files() {
	var points, patterns []importer.Point
	modes := map[string]string{}
	for _, e := range c.entries {
		p := importer.Point{Abs: e.Path, Entry: e.entry, Opens: e.Mode == "write"}
		if strings.ContainsAny(e.Path, "*?[") {
			patterns = append(patterns, p)
			continue
		}
		if p.Abs = c.T.Host.Follow(e.Path); p.Abs != e.Path {
			if e.Mode == "write" {
				e.entry.Become(importer.LeftOut, "its path leads over a symlink")
				continue
			}
			e.Mode = "deny" // the target
			e.entry.Become(importer.Narrowed, "its path leads over a symlink, and the target is denied")
		}
		if had, again := modes[p.Abs]; !again || e.Mode == "deny" || had == "write" {
			modes[p.Abs] = e.Mode
		}
		points = append(points, p)
	}
	for i, p := range points {
		points[i].Opens = modes[p.Abs] == "write"
	}
	opened := c.T.Roots(points)
	shut := c.T.EveryName(patterns, opened, importer.Closes)
	var kept []importer.Point
	for abs, mode := range modes {
		if mode != "write" {
			continue
		}
		for _, name := range []string{".agents", ".aws", ".codex", ".git"} {
			kept = append(kept, importer.Point{Abs: c.T.Host.Follow(path.Join(abs, name)),
				Entry: &importer.Entry{Key: "Codex lets no command write it"}})
		}
	}
	c.T.Files(slices.Concat(points, shut, kept), func(abs string) importer.Access {
		mode := ""
		for at := abs; mode == ""; at = path.Dir(at) {
			mode = modes[at]
			if at == "/" {
				break
			}
		}
		read := (mode == "read" || mode == "write") && importer.Deepest(shut, abs) < 0
		return importer.Access{Read: read, Write: read && mode == "write" && importer.Deepest(kept, abs) < 0}
	})
}

// model is the evaluation of the profile.
func (c *reader) model() foreign.Policy {
	out := &Model{Host: c.T.Host, Minimal: c.minimal, Network: c.network && !c.limited, Kept: c.kept, Only: c.only}
	for _, e := range c.entries {
		out.Entries = append(out.Entries, e.Entry)
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
