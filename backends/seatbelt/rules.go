package seatbelt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// rules writes the allowed and the denied operations of each region. Whether the filter for a
// directory and its descendants covers a plain file is disputed, so every place has both.
func (p *profile) rules(w *writer) {
	p.baseGroups(w)
	p.walk(func(r *ir.Region) {
		if grouped(r) || r.Guarded() && !r.IsRoot() {
			return
		}
		if written(r) {
			w.comment(label(r))
			p.region(w, r)
		}
		if namesAt(r) {
			p.names(w, r)
		}
		if written(r) || namesAt(r) {
			p.guarded(w, r)
		}
	})
}

// guarded writes the protected paths of a region together, before the rules below them. The
// region allows more there than they do.
func (p *profile) guarded(w *writer, r *ir.Region) {
	var paths []*ir.Region
	var collect func(*ir.Region)
	collect = func(r *ir.Region) {
		for _, b := range r.Below {
			switch {
			case b.Guarded():
				paths = append(paths, b)
			case !written(b) && !namesAt(b):
				collect(b)
			}
		}
	}
	collect(r)
	if paths == nil {
		return
	}
	w.comment("protected  " + capsWord(paths[0].Caps))
	deny, own := p.split(p.grant(paths[0])).deny, paths
	if len(r.ByName) > 0 {
		// All but writing is as the region and the rules by name have it.
		deny, own = p.split(p.byNameGrant(ir.All&^ir.Write)).deny, slices.DeleteFunc(slices.Clone(paths),
			func(b *ir.Region) bool { return !beginsNames(b) })
	}
	w.deny(string(paths[0].Guard.ID), deny, p.filters(paths))
	for _, b := range own {
		if namesAt(b) {
			p.names(w, b)
		}
	}
}

// region writes the statements of a region.
func (p *profile) region(w *writer, r *ir.Region) {
	s, lines := p.split(p.grant(r)), p.filters([]*ir.Region{r})
	if by := r.Governing.Rule; by != nil && by.ByName() {
		p.statements(w, ruleOf(r), by.Caps, r.Guard, r.Caps, lines)
		return
	}
	w.deny(ruleOf(r), s.first, lines)
	w.allow(s.allow, lines)
	w.deny(ruleOf(r), s.deny, lines)
}

func (p *profile) filters(regions []*ir.Region) [][]string {
	lines := make([][]string, 0, len(regions))
	for _, r := range regions {
		at := p.place(r.At).String()
		lines = append(lines, []string{"(literal " + at + ")", "(subpath " + at + ")"})
	}
	return lines
}

// ruleOf is the rule of a region as reports of denials name it.
func ruleOf(r *ir.Region) string {
	if ofBase(r) {
		return string(ir.BaseRule)
	}
	return string(r.ID())
}

func label(r *ir.Region) string {
	at := r.At.Short()
	if r.Link {
		at += " (the link)"
	}
	return ruleOf(r) + "  " + at + "  " + capsWord(r.Caps)
}

// baseGroups writes the places of the base, grouped by grant. Nothing is
// written above them, so the default denies the other operations there.
func (p *profile) baseGroups(w *writer) {
	var order []grant
	groups := map[grant][]*ir.Region{}
	p.walk(func(r *ir.Region) {
		if !grouped(r) {
			return
		}
		g := p.grant(r)
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], r)
	})
	for _, g := range order {
		w.comment("base:" + p.tool.Base.String() + "  " + capsWord(g.caps))
		w.allow(p.split(g).allow, p.filters(groups[g]))
	}
}

// ioctl lets terminals and other devices of the base be configured.
func (p *profile) ioctl(w *writer) {
	var lines [][]string
	p.walk(func(r *ir.Region) {
		if ofBase(r) && r.Named && r.Caps != 0 && r.At.Under(ir.Sys("dev")) {
			lines = append(lines, []string{literal(p.place(r.At))})
		}
	})
	w.allow([]string{opIoctl}, lines)
}

// ways lets a program look at the directories that lead to granted places, as getcwd(3) and
// realpath(3) do. The contents of these directories stay closed.
func (p *profile) ways(w *writer) {
	var open []place
	var roots []string
	for _, root := range p.roots {
		if !p.leads(root, &open) {
			continue
		}
		at := p.place(root.At)
		if at.param != "" {
			roots = append(roots, "(path-ancestors "+at.String()+")")
			continue
		}
		for text, ok := above(at.text); ok; text, ok = above(text) {
			open = append(open, place{text: text})
		}
	}
	var lines [][]string
	for _, at := range open {
		lines = append(lines, []string{literal(at)})
	}
	slices.SortFunc(lines, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	lines = slices.CompactFunc(lines, slices.Equal)
	for _, root := range roots {
		lines = append(lines, []string{root})
	}
	w.allow([]string{opMetadata}, lines)
}

// above returns the directory that contains an absolute path, and false for the root.
func above(path string) (string, bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || path == "/" {
		return "", false
	}
	return path[:max(i, 1)], true
}

// leads reports whether something is granted at or below r in its root, and collects the regions
// on the way to it that grant nothing themselves.
func (p *profile) leads(r *ir.Region, open *[]place) bool {
	granted := r.Caps != 0 || gives(r)
	for _, b := range r.Below {
		granted = !b.IsRoot() && p.leads(b, open) || granted
	}
	if granted && r.Caps == 0 {
		*open = append(*open, p.place(r.At))
	}
	return granted
}

// pins denies making and removing the names that must stay where they are, and cloning a
// directory that contains places with rules of their own.
func (p *profile) pins(w *writer) {
	var stay, whole, trees [][]string
	p.walk(func(r *ir.Region) {
		if p.pinned(r) {
			stay = append(stay, []string{literal(p.place(r.At))})
		}
		if p.whole(r) {
			whole = append(whole, []string{literal(p.place(r.At))})
		}
		if namesAt(r) && p.carries(r) {
			at := p.place(r.At).String()
			trees = append(trees, []string{"(require-all (subpath " + at + ") (vnode-type DIRECTORY))"})
		}
	})
	w.deny("pin", []string{opCreate, opUnlink}, stay)
	w.deny("pin", []string{opClone}, whole)
	w.deny("pin", []string{opClone}, trees)
}

func literal(p place) string { return "(literal " + p.String() + ")" }
