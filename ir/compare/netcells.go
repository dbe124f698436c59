package compare

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// grid is the ways of reaching a host. The last entry of each list stands for all that neither
// policy names: an empty scheme, a method that is not known, and a port.
type grid struct {
	schemes, methods []string
	ports            []uint16
}

// lane is a way of reaching a host.
type lane struct {
	scheme, method string
	port           uint16
}

func (g grid) size() int { return len(g.schemes) * len(g.methods) * len(g.ports) }

// at returns a lane by its number: by scheme, then by method, then by port.
func (g grid) at(i int) lane {
	ports, methods := len(g.ports), len(g.methods)
	return lane{g.schemes[i/ports/methods], g.methods[i/ports%methods], g.ports[i%ports]}
}

// to asks about a path of a host by a lane. A stream has neither a method nor a path.
func (l lane) to(h ir.Host, path []string) ir.Connect {
	if l.scheme == ir.Stream {
		path, l.method = nil, ""
	}
	return ir.Connect{To: ir.Endpoint{Scheme: l.scheme, Host: h, Port: l.port, Path: path}, Method: l.method}
}

// special are the schemes that have a default port.
var special = []string{"http", "https", "ftp", "ws", "wss"}

func (c *comparison) grid() grid {
	g := grid{schemes: slices.Clone(special)}
	for _, s := range special {
		g.ports = append(g.ports, ir.DefaultPort(s))
	}
	for _, r := range rules(c.old.Tool, c.new.Tool) {
		if !r.Listen {
			if ir.Plain(&r, nil) {
				g.schemes = append(g.schemes, ir.Stream)
			}
			g.schemes, g.methods, g.ports = append(g.schemes, r.Scheme), append(g.methods, r.Methods...),
				append(g.ports, r.Port)
		}
	}
	g.schemes, g.methods, g.ports = append(named(g.schemes), ""), append(named(g.methods), ""), named(g.ports)
	g.ports = append(g.ports, unnamed(g.ports, 1024))
	return g
}

// named are the values that rules name, each once.
func named[T string | uint16](all []T) []T {
	slices.Sort(all)
	var none T
	return slices.DeleteFunc(slices.Compact(all), func(x T) bool { return x == none })
}

// unnamed is the first port from 1 on that is not listed.
func unnamed(ports []uint16, from uint16) uint16 {
	for slices.Contains(ports, from) {
		from++
	}
	return from
}

// paths is the tree of all path prefixes that rules name.
func (c *comparison) paths() *pathTree {
	root := &pathTree{}
	for _, r := range rules(c.old.Tool, c.new.Tool) {
		at := root
		for i, seg := range r.Path {
			j := slices.IndexFunc(at.below, func(b *pathTree) bool { return b.item[i] == seg })
			if j < 0 {
				at.below = append(at.below, &pathTree{item: r.Path[:i+1]})
				j = len(at.below) - 1
			}
			at = at.below[j]
		}
	}
	return root
}

// hosts are the trees of host cells. Each has the cells of a rule about every host, below that
// wildcards by length, and single names and addresses where they belong. This host and private
// addresses are not below it: no such rule is about them.
func (n *netPartition) hosts() []*hostTree {
	cells := n.hostCells(false)
	roots := []*hostTree{{item: hostCell{pattern: ir.Host{Kind: ir.HostAny}}}}
	nodes := slices.Clone(roots)
	for _, cell := range cells {
		var above *hostTree
		for _, o := range nodes {
			if !o.item.loopback && reaches(o.item.pattern, cell.pattern) {
				above = o
			}
		}
		t := &hostTree{item: cell}
		nodes = append(nodes, t)
		if above == nil {
			roots = append(roots, t)
		} else {
			above.below = append(above.below, t)
		}
	}
	var patterns []ir.Host
	for _, cell := range cells {
		patterns = append(patterns, cell.pattern)
	}
	for _, t := range nodes {
		t.item.sample = sampleHost(t.item.pattern, patterns)
		t.label = n.label(t.item.sample, n.paths)
	}
	return roots
}

// reaches is covers for rules about connecting, of which those about every host are not about this
// host and private addresses.
func reaches(wide, h ir.Host) bool {
	return covers(wide, h) && (wide.Kind != ir.HostAny || !ir.OnlyNamed(h))
}

// hostCells are the hosts that rules about connecting or about listening name, a pattern before
// those that it covers. A rule on localhost is also about the loopback addresses, which are a
// cell of their own.
func (c *comparison) hostCells(listen bool) []hostCell {
	var patterns []ir.Host
	for _, r := range rules(c.old.Tool, c.new.Tool) {
		if r.Listen == listen && r.Host.Kind != ir.HostAny && !slices.Contains(patterns, r.Host) {
			patterns = append(patterns, r.Host)
		}
	}
	var out []hostCell
	for _, p := range patterns {
		out = append(out, hostCell{pattern: p})
	}
	if slices.ContainsFunc(patterns, isLocalhost) {
		addr := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		for slices.Contains(patterns, ir.Host{Kind: ir.HostAddr, Addr: addr}) {
			addr = addr.Next()
		}
		out = append(out, hostCell{pattern: ir.Host{Kind: ir.HostAddr, Addr: addr}, loopback: true})
	}
	slices.SortStableFunc(out, func(a, b hostCell) int { return breadth(a.pattern) - breadth(b.pattern) })
	return out
}

func isLocalhost(h ir.Host) bool { return h.Kind == ir.HostName && h.Name == ir.Localhost }

// breadth orders patterns so that a pattern comes before those that it covers.
func breadth(h ir.Host) int {
	switch h.Kind {
	case ir.HostSuffix:
		return strings.Count(h.Name, ".")
	case ir.HostAddr:
		return 1 << 17
	case ir.HostAny, ir.HostName:
	}
	return 1 << 16
}

func covers(wide, h ir.Host) bool {
	switch wide.Kind {
	case ir.HostAny:
		return true
	case ir.HostSuffix:
		return (h.Kind == ir.HostName || h.Kind == ir.HostSuffix) && strings.HasSuffix(h.Name, "."+wide.Name)
	case ir.HostName:
		return isLocalhost(wide) && h.Kind == ir.HostAddr && h.Addr.Unmap().IsLoopback()
	case ir.HostAddr:
		return false
	default:
		return false
	}
}

// sampleHost is a target of a pattern that no narrower pattern covers. Names and public
// addresses that nothing names are judged alike; private addresses are only ever
// reached by naming them, so they are no part of any wildcard.
func sampleHost(p ir.Host, all []ir.Host) ir.Host {
	switch p.Kind {
	case ir.HostName, ir.HostAddr:
		return p
	case ir.HostSuffix, ir.HostAny:
	}
	for i := 0; ; i++ {
		h := ir.Host{Kind: ir.HostName, Name: "other" + number(i)}
		if p.Kind == ir.HostSuffix {
			h.Name += "." + p.Name
		} else {
			h.Name += ".example" + number(i)
		}
		taken := func(o ir.Host) bool {
			return o == h || o != p && covers(o, h) && (p.Kind == ir.HostAny || covers(p, o))
		}
		if !slices.ContainsFunc(all, taken) {
			return h
		}
	}
}

// number is empty for the first try.
func number(i int) string {
	if i == 0 {
		return ""
	}
	return strconv.Itoa(i + 1)
}
