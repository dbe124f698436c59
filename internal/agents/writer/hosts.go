package writer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Hosts are the hosts of a policy as NAME:PORT, "*.NAME:PORT" or ADDRESS:PORT, for a program that
// looks at the name and the port of a connection. An entry that denies wins over all that allow.
type Hosts struct {
	Allowed []string // opened
	Denied  []string // closed again
	// open and less have the rules that allow, by their number: those that Allowed has, and of
	// these the ones that Denied has something of. past has the rules that deny and that no entry
	// is for, although entries are about the same hosts.
	open, less, past map[int]bool
}

// portsOf are the ports that a rule is about. One without a port is about those of schemes.
func portsOf(r *ir.NetRule) []uint16 {
	switch {
	case r.Port != 0:
		return []uint16{r.Port}
	case r.Scheme == "":
		return []uint16{ir.DefaultPort("ftp"), ir.DefaultPort("http"), ir.DefaultPort("https")}
	case ir.DefaultPort(r.Scheme) != 0:
		return []uint16{ir.DefaultPort(r.Scheme)}
	}
	return nil
}

// opens reports whether a rule permits every request to a host that the program can name.
func opens(r *ir.NetRule) bool {
	return r.Allow && !r.Listen && len(r.Path) == 0 && len(r.Methods) == 0 && r.Credential == nil && spelled(r.Host) &&
		len(portsOf(r)) > 0
}

// spelled reports whether a host can be written as an entry: a name or a pattern with a dot in it,
// or an address of another machine.
func spelled(h ir.Host) bool {
	switch h.Kind {
	case ir.HostName:
		return strings.Contains(h.Name, ".") && !strings.HasSuffix(h.Name, "."+ir.Localhost)
	case ir.HostSuffix:
		return strings.Contains(h.Name, ".") && !strings.HasSuffix("."+h.Name, "."+ir.Localhost)
	case ir.HostAddr:
		a := h.Addr.Unmap()
		return !a.IsLoopback() && !a.IsUnspecified() && a == h.Addr && a.Zone() == ""
	case ir.HostAny:
	}
	return false
}

// NewHosts returns the hosts of a list of rules.
func NewHosts(rules []ir.NetRule) Hosts {
	out := Hosts{Allowed: []string{}, Denied: []string{}, open: map[int]bool{}, less: map[int]bool{},
		past: map[int]bool{}}
	for i := range rules {
		if out.open[i] = opens(&rules[i]); out.open[i] {
			out.Allowed = entries(out.Allowed, &rules[i])
		}
	}
	for i := range rules {
		d := &rules[i]
		if d.Allow || d.Listen {
			continue
		}
		// More exact hosts that are granted stay open: an entry for those around them would close them.
		if !spelled(d.Host) || !out.has(rules,
			func(a *ir.NetRule) bool { return meets(d, a) && !narrower(a.Host, d.Host) }) {
			out.past[i] = out.has(rules, func(a *ir.NetRule) bool { return meets(d, a) })
			continue
		}
		out.Denied = entries(out.Denied, d)
		for j := range rules {
			out.less[j] = out.less[j] || out.open[j] && meets(d, &rules[j])
		}
	}
	return out
}

// has reports whether an open rule is of a kind.
func (h *Hosts) has(rules []ir.NetRule, kind func(*ir.NetRule) bool) bool {
	for i := range rules {
		if h.open[i] && kind(&rules[i]) {
			return true
		}
	}
	return false
}

func entries(to []string, r *ir.NetRule) []string {
	for _, port := range portsOf(r) {
		if e := r.Host.String() + ":" + strconv.Itoa(int(port)); !slices.Contains(to, e) {
			to = append(to, e)
		}
	}
	return to
}

// meets reports whether two rules can be about one host and port.
func meets(a, b *ir.NetRule) bool {
	shared := slices.ContainsFunc(portsOf(a), func(p uint16) bool { return slices.Contains(portsOf(b), p) })
	return shared && (holds(a.Host, b.Host) || holds(b.Host, a.Host))
}

// holds reports whether a host, or every one that a pattern is about, is one that another pattern is
// about.
func holds(outer, inner ir.Host) bool {
	switch outer.Kind {
	case ir.HostAny:
		return true
	case ir.HostName, ir.HostAddr:
		return outer == inner
	case ir.HostSuffix:
	}
	return inner == outer || inner.Kind != ir.HostAddr && strings.HasSuffix(inner.Name, "."+outer.Name)
}

// narrower reports whether a host is one of several that another pattern is about.
func narrower(a, than ir.Host) bool { return a != than && holds(than, a) }

// Internal are the addresses to which no name of the internet leads, so that a granted name opens
// none of them: those that the egress proxy of accessc filters, for programs that take a list.
var Internal = []string{
	"10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "240.0.0.0/4",
	"64:ff9b:1::/48",
	"fc00::/7", "fec0::/10",
}
