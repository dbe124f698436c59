package nono

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/ir"
)

// locate is the absolute path of an entry, or why it is not certain.
func (n *reader) locate(text string) (abs, why string) {
	h := n.t.Host
	for _, v := range [][2]string{{"~", h.Home}, {"$HOME", h.Home}, {"$WORKDIR", h.Dir}} {
		if text == v[0] || strings.HasPrefix(text, v[0]+"/") {
			text = v[1] + text[len(v[0]):]
			break
		}
	}
	switch {
	case !path.IsAbs(text):
		return "", "it is not certain from where it counts"
	case strings.ContainsAny(text, "$*?[") || slices.Contains(strings.Split(text, "/"), ".."):
		return "", `a path with variables, wildcards or ".." is not understood`
	}
	return path.Clean(text), ""
}

// opening is the place that an entry opens; false where it opens none here, which its fate says.
func (n *reader) opening(g granted) (importer.Point, bool) {
	abs, why := n.locate(g.text)
	switch h := n.t.Host; {
	case why != "":
	case h.Follow(abs) != abs:
		why = "its path leads over a symlink"
	case !h.Exists(abs):
		why = "nothing is there now, and nono passes over it"
	case importer.IsDir(abs) == g.file:
		why = "nono opens directories and files by different lists"
	case ir.Within(abs, path.Join(h.Home, "Library")):
		why = "nono denies parts of it"
	case g.file && !g.read:
		why = "a rule that lets a file be written lets it be removed as well"
	}
	if why != "" {
		g.entry.Become(importer.LeftOut, "%s", why)
		return importer.Point{}, false
	}
	if g.file && g.write {
		g.entry.Become(importer.Narrowed,
			"access.fs %s, for reading: a rule that lets a file be written lets it be removed as well", n.t.Spell(abs))
	}
	return importer.Point{Abs: abs, Entry: g.entry, Opens: true}, true
}

// confine writes rules for files. Everything that denies wins.
func (n *reader) confine() {
	t := n.t
	var reads, writes, shut []importer.Point
	for _, g := range n.grants {
		p, ok := n.opening(g)
		if ok && g.read {
			reads = append(reads, p)
		}
		if ok && g.write && !g.file {
			writes = append(writes, p)
		}
	}
	if here := (importer.Point{Abs: t.Host.Dir, Entry: t.Own, Opens: true}); n.model.Workdir != "none" {
		if strings.HasPrefix(n.model.Workdir, "read") {
			reads = append(reads, here)
		}
		if strings.HasSuffix(n.model.Workdir, "write") {
			writes = append(writes, here)
		}
	}
	for _, g := range n.denies {
		abs, why := n.locate(g.text)
		if why != "" {
			t.Faults = append(t.Faults, importer.FaultOf(g.entry, why))
			continue
		}
		shut = append(shut, importer.Point{Abs: t.Host.Follow(abs), Entry: g.entry})
	}
	for _, name := range homeDenied {
		shut = append(shut, importer.Point{Abs: t.Host.Follow(path.Join(t.Host.Home, name)),
			Entry: &importer.Entry{Key: "nono denies it by itself"}})
	}
	t.Files(slices.Concat(reads, writes, shut), func(abs string) importer.Access {
		if importer.Deepest(shut, abs) >= 0 {
			return importer.Access{}
		}
		return importer.Access{Read: importer.Deepest(reads, abs) >= 0, Write: importer.Deepest(writes, abs) >= 0}
	})
}

// connections writes rules for hosts.
func (n *reader) connections() {
	switch {
	case n.model.Block:
		for _, l := range n.hosts {
			l.Entry.Become(importer.LeftOut, "the network is blocked")
		}
		return
	case !n.model.Filtered:
		e := &importer.Entry{Key: "network, which nothing blocks"}
		e.Become(importer.LeftOut, "every host is open; write that rule yourself")
		n.t.Entries = append(n.t.Entries, e)
	}
	n.t.Hosts(n.hosts, nil)
}

// variables takes names of the base away that nono does not pass on.
func (n *reader) variables() {
	covered := func(list []string, name string, some bool) bool {
		return slices.ContainsFunc(list, func(p string) bool {
			begin, wild := strings.CutSuffix(p, "*")
			stem := strings.TrimSuffix(name, "*")
			return p == name || wild && strings.HasPrefix(stem, begin) || some && strings.HasSuffix(name, "*") &&
				strings.HasPrefix(begin, stem)
		})
	}
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TERM"} {
		if len(n.model.AllowVars) > 0 && !covered(n.model.AllowVars, name, false) ||
			covered(n.model.DenyVars, name, true) {
			n.t.Draft.Env = append(n.t.Draft.Env,
				importer.EnvRule{Name: name, Read: false, From: "the variables that nono passes on"})
		}
	}
}
