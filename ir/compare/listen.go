package compare

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// listenPartition is the universe of addresses of this host and their ports.
type listenPartition struct {
	*comparison
	// ports are the ports that rules name, and behind them two that none names, with and without a privilege.
	ports []uint16
}

type listenTree = tree[hostCell, string]

// everywhere is the addresses of every interface. They are a cell of their own, since a denial of
// one address denies them as well.
func everywhere() []ir.Host {
	return []ir.Host{{Kind: ir.HostAddr, Addr: netip.IPv4Unspecified()},
		{Kind: ir.HostAddr, Addr: netip.IPv6Unspecified()}}
}

// listening compares the addresses that may be listened at.
func (c *comparison) listening() []Difference {
	n, t := c.listenCells()
	if t == nil {
		return nil
	}
	var out []Difference
	for _, wider := range []bool{true, false} {
		for _, r := range n.only(t, wider).regions() {
			out = append(out, n.describe(r, wider))
		}
	}
	return out
}

// listens are questions about an address and port of each cell.
func (c *comparison) listens() []ir.Operation {
	n, t := c.listenCells()
	if t == nil {
		return nil
	}
	var out []ir.Operation
	for _, cell := range all(t) {
		for _, p := range n.ports {
			out = append(out, ir.Listen{Host: cell.sample, Port: p})
		}
	}
	return out
}

// listenCells are all addresses, below them localhost and single addresses; nil where no rule is about
// listening. The label of each compares the policies at every port, as the label of targets does.
func (c *comparison) listenCells() (*listenPartition, *listenTree) {
	n := &listenPartition{comparison: c}
	any := false
	for _, r := range rules(c.old.Tool, c.new.Tool) {
		if r.Listen {
			n.ports, any = append(n.ports, r.Port), true
		}
	}
	if !any {
		return nil, nil
	}
	n.ports = named(n.ports)
	n.ports = append(n.ports, unnamed(n.ports, 1), unnamed(n.ports, firstOpen))
	cells := c.hostCells(true)
	for _, h := range everywhere() {
		if !slices.ContainsFunc(cells, func(c hostCell) bool { return c.pattern == h || c.every }) {
			cells = append(cells, hostCell{pattern: h, every: true})
		}
	}
	root := &listenTree{item: hostCell{pattern: ir.Host{Kind: ir.HostAny}, sample: otherAddress(cells)}}
	local := root
	for _, cell := range cells {
		cell.sample = cell.pattern
		t := &listenTree{item: cell}
		if covers(local.item.pattern, cell.pattern) {
			local.below = append(local.below, t)
		} else {
			root.below = append(root.below, t)
		}
		if isLocalhost(cell.pattern) {
			local = t
		}
	}
	n.label(root)
	return n, root
}

// otherAddress is an address that no rule names.
func otherAddress(cells []hostCell) ir.Host {
	out := ir.Host{Kind: ir.HostAddr, Addr: netip.AddrFrom4([4]byte{192, 0, 2, 1})} // for documentation (RFC 5737)
	for slices.ContainsFunc(cells, func(c hostCell) bool { return c.pattern == out }) {
		out.Addr = out.Addr.Next()
	}
	return out
}

// firstOpen is the first port that needs no privilege.
const firstOpen = 1024

func (n *listenPartition) label(t *listenTree) {
	for _, p := range n.ports {
		_, new, differs := n.ask(ir.Listen{Host: t.item.sample, Port: p})
		t.label += string(sign(differs, new.Allowed()))
	}
	for _, b := range t.below {
		n.label(b)
	}
}

// only keeps a direction of the labels; a label without any becomes empty.
func (n *listenPartition) only(t *listenTree, wider bool) *listenTree {
	out := &listenTree{item: t.item, label: direction(t.label, wider)}
	for _, b := range t.below {
		out.below = append(out.below, n.only(b, wider))
	}
	return out
}

func (n *listenPartition) describe(r region[hostCell, string], wider bool) Difference {
	port := n.ports[len(n.ports)-1]
	if r.label[len(n.ports)-1] == ' ' {
		port = n.ports[strings.IndexAny(r.label, "+-")]
	}
	old, new, _ := n.ask(ir.Listen{Host: r.item.sample, Port: port})
	host := r.item.sample.String()
	if _, all, differs := n.ask(ir.Listen{Host: everywhere()[1], Port: port}); r.item.pattern.Kind == ir.HostAny &&
		differs && all.Allowed() == wider {
		host = "*"
	}
	d := Difference{
		Resource: ir.Net, Wider: wider, What: "listen", Where: r.item.String() + ", " + n.portText(r.label),
		Example: spell("listen", host+":"+strconv.Itoa(int(port))), Old: side(old), New: side(new),
	}
	for _, e := range r.except {
		d.Except = append(d.Except, e.String())
	}
	return d
}

// portText writes the ports of a label. A rule without a port is about those that need no
// privilege.
func (n *listenPartition) portText(label string) string {
	var in, out []string
	last := len(n.ports) - 1
	open := label[last] != ' '
	for i, p := range n.ports[:last-1] {
		text := strconv.Itoa(int(p))
		switch differs := label[i] != ' '; {
		case differs && !(open && p >= firstOpen):
			in = append(in, text)
		case !differs && open && p >= firstOpen:
			out = append(out, text)
		}
	}
	if !open {
		return "port " + strings.Join(in, ", ")
	}
	text := "any port above 1023"
	if len(out) > 0 {
		text += " but " + strings.Join(out, ", ")
	}
	return strings.Join(slices.Insert(in, 0, text), ", ")
}
