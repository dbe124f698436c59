package compare

import (
	"slices"
	"strconv"
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

// group is a set of lanes that is a product: some schemes on some ports.
type group struct {
	schemes, ports string
	sample         lane
}

// groups cuts the lanes of a label into products: schemes that differ on the same
// ports belong together.
func (n *netPartition) groups(label string) []group {
	byPorts := map[string][]lane{}
	var order []string
	perScheme := len(n.lanes) / n.schemeCount()
	for i := 0; i < len(n.lanes); i += perScheme {
		bits := label[i : i+perScheme]
		if strings.TrimSpace(bits) == "" {
			continue
		}
		if byPorts[bits] == nil {
			order = append(order, bits)
		}
		byPorts[bits] = append(byPorts[bits], n.lanes[i+strings.IndexAny(bits, "+-")])
	}
	var out []group
	for _, bits := range order {
		out = append(out, group{
			schemes: n.schemeText(byPorts[bits]), ports: n.portText(bits, perScheme), sample: example(byPorts[bits]),
		})
	}
	return out
}

func (n *netPartition) schemeCount() int {
	count := 0
	for i, l := range n.lanes {
		if i == 0 || l.scheme != n.lanes[i-1].scheme {
			count++
		}
	}
	return count
}

// example prefers a lane that is written like a common URL.
func example(ls []lane) lane {
	for _, want := range []func(lane) bool{
		func(l lane) bool { return l.scheme == "https" && l.port == 443 },
		func(l lane) bool { return l.scheme == "https" },
		func(l lane) bool { return l.scheme != "" },
	} {
		if i := slices.IndexFunc(ls, want); i >= 0 {
			return ls[i]
		}
	}
	return ls[0]
}

// schemeText is empty for all schemes.
func (n *netPartition) schemeText(ls []lane) string {
	if len(ls) == n.schemeCount() {
		return ""
	}
	var names []string
	for _, l := range ls {
		if l.otherScheme {
			names = append(names, "any other scheme")
		} else {
			names = append(names, l.scheme)
		}
	}
	return strings.Join(names, ", ")
}

// portText is empty for all ports.
func (n *netPartition) portText(bits string, perScheme int) string {
	if strings.TrimLeft(bits, "+-") == "" {
		return ""
	}
	var in, out []string
	for i := range perScheme {
		switch l := n.lanes[i]; {
		case bits[i] != ' ' && !l.otherPort:
			in = append(in, strconv.Itoa(int(l.port)))
		case bits[i] == ' ':
			out = append(out, strconv.Itoa(int(l.port)))
		}
	}
	if bits[perScheme-1] != ' ' {
		return "any port but " + strings.Join(out, ", ")
	}
	return "port " + strings.Join(in, ", ")
}

// text writes a group in words.
func (g group) text(host ir.Host, path []string) string {
	out := host.String()
	if len(path) > 0 {
		out += "/" + strings.Join(path, "/")
	}
	if g.schemes != "" {
		out += " by " + g.schemes
	}
	if g.ports == "" {
		return out + ", any port"
	}
	return out + ", " + g.ports
}

// url writes a target as accessc can takes it, by a scheme that no rule names where it has
// none.
func (n *netPartition) url(e ir.Endpoint) string {
	scheme, port := e.Scheme, ""
	if scheme == "" {
		var named []string
		for _, l := range n.lanes {
			named = append(named, l.scheme)
		}
		scheme = fresh("tcp", named)
	}
	if ir.DefaultPort(scheme) != e.Port {
		port = ":" + strconv.Itoa(int(e.Port))
	}
	return scheme + "://" + e.Host.String() + port + "/" + strings.Join(e.Path, "/")
}
