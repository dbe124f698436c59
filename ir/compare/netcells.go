package compare

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// special are the schemes that have a default port.
var special = []string{"http", "https", "ftp", "ws", "wss"}

func (c *comparison) lanes() []lane {
	schemes, ports := slices.Clone(special), []uint16{}
	for _, s := range special {
		ports = append(ports, ir.DefaultPort(s))
	}
	for _, r := range rules(c.old.Tool, c.new.Tool) {
		schemes, ports = append(schemes, r.Scheme), append(ports, r.Port)
	}
	slices.Sort(schemes)
	slices.Sort(ports)
	schemes, ports = slices.Compact(schemes), slices.Compact(ports)
	schemes = slices.DeleteFunc(schemes, func(s string) bool { return s == "" })
	ports = slices.DeleteFunc(ports, func(p uint16) bool { return p == 0 })
	free := uint16(1024)
	for slices.Contains(ports, free) {
		free++
	}
	var out []lane
	for _, s := range append(schemes, "") {
		for _, p := range append(ports, free) {
			out = append(out, lane{scheme: s, port: p, otherPort: p == free, otherScheme: s == ""})
		}
	}
	return out
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

// hosts is the tree of host cells: all of them, below that wildcards by length, and
// single names and addresses where they belong.
func (n *netPartition) hosts() *hostTree {
	var patterns []ir.Host
	for _, r := range rules(n.old.Tool, n.new.Tool) {
		if r.Host.Kind != ir.HostAny && !slices.Contains(patterns, r.Host) {
			patterns = append(patterns, r.Host)
		}
	}
	slices.SortStableFunc(patterns, func(a, b ir.Host) int { return breadth(a) - breadth(b) })
	root := &hostTree{item: hostCell{pattern: ir.Host{Kind: ir.HostAny}}}
	nodes := []*hostTree{root}
	for _, p := range patterns {
		above := root
		for _, o := range nodes {
			if covers(o.item.pattern, p) {
				above = o
			}
		}
		t := &hostTree{item: hostCell{pattern: p}}
		above.below = append(above.below, t)
		nodes = append(nodes, t)
	}
	for _, t := range nodes {
		t.item.sample = sampleHost(t.item.pattern, patterns)
		t.label = n.label(t.item.sample, n.paths)
	}
	return root
}

// breadth orders patterns so that a pattern comes before those that it covers.
func breadth(h ir.Host) int {
	if h.Kind == ir.HostSuffix {
		return strings.Count(h.Name, ".")
	}
	return 1 << 16
}

func covers(wide, h ir.Host) bool {
	switch wide.Kind {
	case ir.HostAny:
		return true
	case ir.HostSuffix:
		return (h.Kind == ir.HostName || h.Kind == ir.HostSuffix) && strings.HasSuffix(h.Name, "."+wide.Name)
	case ir.HostName, ir.HostAddr:
		return false
	default:
		return false
	}
}

// sampleHost is a target of a pattern that no narrower one covers. Names and public
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
