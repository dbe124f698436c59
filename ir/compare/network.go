package compare

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// hostCell is a cell of targets: a name, an address, or every other one that a
// wildcard covers.
type hostCell struct {
	pattern ir.Host
	sample  ir.Host
}

// lane is a way of reaching a host: a scheme and a port, of which "other" stands for all that
// neither policy names.
type lane struct {
	scheme string
	port   uint16
	// otherPort and otherScheme mark samples of ports and schemes that no rule names.
	otherPort, otherScheme bool
}

// network compares the targets that may be connected to.
func (c *comparison) network() []Difference {
	if len(c.old.Tool.Net) == 0 && len(c.new.Tool.Net) == 0 {
		return nil
	}
	n := &netPartition{comparison: c, lanes: c.lanes(), paths: c.paths()}
	t := n.hosts()
	var out []Difference
	for _, wider := range []bool{true, false} {
		for _, r := range n.only(t, wider).regions() {
			out = append(out, n.describe(r, wider)...)
		}
	}
	return out
}

// netPartition is the universe of targets, cut by the rules of either policy.
type netPartition struct {
	*comparison
	lanes []lane
	paths *pathTree
}

type pathTree = tree[[]string, string]

// hostTree has as its label the bits of all paths and lanes, as text: "+" where the
// new policy permits more, "-" where less.
type hostTree = tree[hostCell, string]

func rules(ts ...*ir.Tool) []ir.NetRule {
	var out []ir.NetRule
	for _, t := range ts {
		out = append(out, t.Net...)
	}
	return out
}

// label asks about every path and lane of a host.
func (n *netPartition) label(h ir.Host, p *pathTree) string {
	var out strings.Builder
	for _, l := range n.lanes {
		_, new, differs := n.ask(ir.Connect{To: ir.Endpoint{Scheme: l.scheme, Host: h, Port: l.port, Path: p.item}})
		switch {
		case !differs:
			out.WriteByte(' ')
		case new.Allowed():
			out.WriteByte('+')
		default:
			out.WriteByte('-')
		}
	}
	for _, b := range p.below {
		out.WriteString(n.label(h, b))
	}
	return out.String()
}

// only keeps one direction of the labels; one without any becomes empty.
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

// describe lists the differences of one region of hosts: by path, and there by lanes.
func (n *netPartition) describe(r region[hostCell, string], wider bool) []Difference {
	rest := r.label
	t := n.labelled(n.paths, &rest)
	var except []string
	for _, e := range r.except {
		except = append(except, e.pattern.String())
	}
	var out []Difference
	for _, p := range t.regions() {
		for _, g := range n.groups(p.label) {
			to := ir.Endpoint{Scheme: g.sample.scheme, Host: r.item.sample, Port: g.sample.port, Path: p.item}
			old, new, _ := n.ask(ir.Connect{To: to})
			d := Difference{
				Resource: ir.Net, Wider: wider, What: "connect", Where: g.text(r.item.pattern, p.item), Except: slices.Clone(except),
				Example: spell("connect", n.url(to)), Old: side(old), New: side(new),
			}
			for _, e := range p.except {
				d.Except = append(d.Except, "/"+strings.Join(e, "/"))
			}
			out = append(out, d)
		}
	}
	return out
}

// labelled hands the lanes of a label out to the paths, in the order of label.
func (n *netPartition) labelled(p *pathTree, rest *string) *pathTree {
	out := &pathTree{item: p.item, label: (*rest)[:len(n.lanes)]}
	*rest = (*rest)[len(n.lanes):]
	if strings.TrimSpace(out.label) == "" {
		out.label = ""
	}
	for _, b := range p.below {
		out.below = append(out.below, n.labelled(b, rest))
	}
	return out
}
