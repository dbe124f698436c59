package compare

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

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
