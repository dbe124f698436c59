package seatbelt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// rules writes the allowed and the denied operations of each region. Whether the filter for a
// directory and its descendants covers a plain file is disputed, so every place has both.
func (p *plan) rules(w *writer) {
	p.baseGroups(w)
	p.walk(func(n *node) {
		if n.written() && !n.grouped() && !n.guards() {
			w.comment(label(n))
			p.region(w, n)
			p.guarded(w, n)
		}
	})
}

// guards reports whether a node is a protected path.
func (n *node) guards() bool { return n.Named && n.Governing.Rule != nil && n.Governing.Rule.Guards() }

// guarded writes the protected paths of a region together, before the rules below them. The
// region allows more there than they do.
func (p *plan) guarded(w *writer, n *node) {
	var nodes []*node
	var collect func(*node)
	collect = func(n *node) {
		for _, b := range n.below {
			switch {
			case b.guards():
				nodes = append(nodes, b)
			case !b.written():
				collect(b)
			}
		}
	}
	collect(n)
	if nodes == nil {
		return
	}
	_, deny := nodes[0].split()
	w.comment("protected  " + nodes[0].Caps.String())
	w.deny(string(nodes[0].id()), deny, p.filters(nodes))
}

// region writes the two statements of a node.
func (p *plan) region(w *writer, n *node) {
	allow, deny := n.split()
	lines := p.filters([]*node{n})
	w.allow(allow, lines)
	w.deny(string(n.id()), deny, lines)
}

func (p *plan) filters(nodes []*node) [][]string {
	var lines [][]string
	for _, n := range nodes {
		at := p.checked(n)
		lines = append(lines, []string{literal(at), subpath(at)})
	}
	return lines
}

// checked returns the place of a node and refuses the rule that cannot be written.
func (p *plan) checked(n *node) place {
	at := p.place(n.At)
	if why := at.problem(); why != "" {
		p.refuse(n.Governing.Rule, why)
	}
	return at
}

// id names the rule that governs a node.
func (n *node) id() ir.RuleID {
	if n.Governing.Rule == nil {
		return ir.DefaultRule
	}
	return n.Governing.ID
}

func label(n *node) string {
	id, at := n.id(), n.At.Short()
	if n.Link {
		at += " (the link)"
	}
	return string(id) + "  " + at + "  " + n.Caps.String()
}

// grouped reports whether a node is written with its like at the head of the rules:
// a place of the base that is inside no other place of the host with rules.
func (n *node) grouped() bool { return n.base && n.Named && !n.inside }

// baseGroups writes the places of the base, those of one grant together. Nothing is
// written above them, so the default denies the other operations there.
func (p *plan) baseGroups(w *writer) {
	var order []grant
	groups := map[grant][]*node{}
	p.walk(func(n *node) {
		if !n.grouped() {
			return
		}
		if groups[n.grant] == nil {
			order = append(order, n.grant)
		}
		groups[n.grant] = append(groups[n.grant], n)
	})
	for _, g := range order {
		w.comment("base:" + p.tool.Base.String() + "  " + g.caps.String())
		allow, _ := g.split()
		w.allow(allow, p.filters(groups[g]))
	}
}

// ioctl lets terminals and other devices of the base be configured.
func (p *plan) ioctl(w *writer) {
	var lines [][]string
	p.walk(func(n *node) {
		if n.base && n.Named && n.caps != 0 && n.At.Under(ir.Sys("dev")) {
			lines = append(lines, []string{literal(p.place(n.At))})
		}
	})
	w.allow([]string{opIoctl}, lines)
}

// ways lets a program look at the directories that lead to granted places, as getcwd(3) and
// realpath(3) do. The contents of these directories stay closed.
func (p *plan) ways(w *writer) {
	var open []place
	var roots []string
	for _, top := range p.zones {
		if !p.leads(top, &open) {
			continue
		}
		at := p.place(top.At)
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

// leads reports whether something is granted at or below n, and collects the nodes
// on the way to it that grant nothing themselves.
func (p *plan) leads(n *node, open *[]place) bool {
	granted := n.caps != 0
	for _, b := range n.below {
		granted = p.leads(b, open) || granted
	}
	if granted && n.caps == 0 {
		*open = append(*open, p.place(n.At))
	}
	return granted
}

// pins denies making and removing the names that must stay where they are, and cloning a
// directory that contains places with rules of their own.
func (p *plan) pins(w *writer) {
	var stay, whole [][]string
	p.walk(func(n *node) {
		if n.pinned() {
			stay = append(stay, []string{literal(p.place(n.At))})
		}
		if n.whole() {
			whole = append(whole, []string{literal(p.place(n.At))})
		}
	})
	w.deny("pin", []string{opCreate, opUnlink}, stay)
	w.deny("pin", []string{opClone}, whole)
}

func literal(p place) string { return "(literal " + p.String() + ")" }

func subpath(p place) string { return "(subpath " + p.String() + ")" }
