package compare

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// hostCell is a cell of targets: a name, an address, or every other target that a wildcard covers.
type hostCell struct {
	pattern ir.Host
	sample  ir.Host
	// loopback marks the loopback addresses that no rule names, of which localhost is the name.
	loopback bool
	// every marks an address of every interface that no rule names (ip(7), INADDR_ANY).
	every bool
}

func (c hostCell) String() string {
	if c.loopback {
		return "loopback addresses"
	}
	if c.every {
		return "every address at once"
	}
	return c.pattern.String()
}

// network compares the targets that may be connected to, how much is looked at there, the
// credentials that are used there, and the addresses that may be listened at.
func (c *comparison) network() []Difference {
	var out []Difference
	if slices.ContainsFunc(rules(c.old.Tool, c.new.Tool), func(r ir.NetRule) bool { return !r.Listen }) {
		n := &netPartition{comparison: c, grid: c.grid(), paths: c.paths()}
		n.bit = n.granted
		out = n.differences(Difference{Resource: ir.Net, What: "connect"})
	}
	return slices.Concat(out, c.inspection(), c.credentials(), c.listening())
}

// netPartition is the universe of targets, cut by the rules of either policy.
type netPartition struct {
	*comparison
	grid  grid
	paths *pathTree
	// bit compares the policies at one target: '+' where the new policy has something that the old policy does not, '-'
	// where it lacks something, else a blank.
	bit func(ir.Connect) byte
}

type pathTree = tree[[]string, string]

// hostTree has as its label the bits of all paths and lanes, as text.
type hostTree = tree[hostCell, string]

func rules(ts ...*ir.Tool) []ir.NetRule {
	var out []ir.NetRule
	for _, t := range ts {
		out = append(out, t.Net...)
	}
	return out
}

// granted compares the hosts that may be connected to.
func (n *netPartition) granted(op ir.Connect) byte {
	_, new, differs := n.ask(op)
	return sign(differs, new.Allowed())
}

func sign(differs, wider bool) byte {
	switch {
	case !differs:
		return ' '
	case wider:
		return '+'
	default:
		return '-'
	}
}

// differences lists the regions of both directions, each as a copy of a difference.
func (n *netPartition) differences(like Difference) []Difference {
	trees := n.hosts()
	var out []Difference
	for _, like.Wider = range []bool{true, false} {
		for _, t := range trees {
			for _, r := range n.only(t, like.Wider).regions() {
				out = append(out, n.describe(r, like)...)
			}
		}
	}
	return out
}

// label compares every path and lane of a host.
func (n *netPartition) label(h ir.Host, p *pathTree) string {
	var out strings.Builder
	for i := range n.grid.size() {
		out.WriteByte(n.bit(n.grid.at(i).to(h, p.item)))
	}
	for _, b := range p.below {
		out.WriteString(n.label(h, b))
	}
	return out.String()
}

// only keeps a direction of the labels; a label without any becomes empty.
func (n *netPartition) only(t *hostTree, wider bool) *hostTree {
	out := &hostTree{item: t.item, label: direction(t.label, wider)}
	for _, b := range t.below {
		out.below = append(out.below, n.only(b, wider))
	}
	return out
}

func direction(label string, wider bool) string {
	drop := "+"
	if wider {
		drop = "-"
	}
	label = strings.ReplaceAll(label, drop, " ")
	if strings.TrimSpace(label) == "" {
		return ""
	}
	return label
}

// describe lists the differences of a region of hosts: by path, and there by lanes. A stream
// has no path, and is listed at the root.
func (n *netPartition) describe(r region[hostCell, string], like Difference) []Difference {
	rest := r.label
	t := n.labelled(n.paths, &rest)
	var except []string
	for _, e := range r.except {
		except = append(except, e.String())
	}
	var out []Difference
	for _, p := range t.regions() {
		for _, g := range n.grid.groups(p.label) {
			stream := g.sample.scheme == ir.Stream
			if stream && len(p.item) > 0 {
				continue
			}
			op := g.sample.to(r.item.sample, p.item)
			old, new, differs := n.ask(op)
			d := like
			d.Where, d.Except = g.text(r.item, p.item), slices.Clone(except)
			d.Old, d.New = side(old), side(new)
			if differs && new.Allowed() == d.Wider {
				// Inspection may end where the policies also answer otherwise in the other direction.
				d.Example = n.grid.spell(op)
			}
			for _, e := range p.except {
				if !stream {
					d.Except = append(d.Except, "/"+strings.Join(e, "/"))
				}
			}
			out = append(out, d)
		}
	}
	return out
}

// labelled hands the lanes of a label out to the paths, in the order of label.
func (n *netPartition) labelled(p *pathTree, rest *string) *pathTree {
	size := n.grid.size()
	out := &pathTree{item: p.item, label: (*rest)[:size]}
	*rest = (*rest)[size:]
	if strings.TrimSpace(out.label) == "" {
		out.label = ""
	}
	for _, b := range p.below {
		out.below = append(out.below, n.labelled(b, rest))
	}
	return out
}
