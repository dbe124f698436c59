package importer

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

func itoa(i int) string { return strconv.Itoa(i) }

// target is an entry of a list of hosts.
type target struct {
	host  string // as a rule spells it
	port  uint16
	entry *Entry
}

// targets reads entries as hosts with ports. One that is no host is left out, or a mistake if it denies.
func (t *Translation) targets(list []Listed, denies bool) []target {
	var out []target
	for _, l := range list {
		host, port := l.Path, uint64(0)
		if name, number, err := net.SplitHostPort(l.Path); err == nil {
			if port, err = strconv.ParseUint(number, 10, 16); err != nil || port == 0 {
				t.Faults = append(t.Faults, FaultOf(l.Entry, "it has no port that is one"))
				continue
			}
			if host = name; strings.Contains(name, ":") {
				host = "[" + name + "]"
			}
		}
		found, err := resolve.HostPattern(host)
		switch {
		case err != nil && denies:
			t.Faults = append(t.Faults, FaultOf(l.Entry, err.Error()))
		case err != nil:
			l.Entry.Become(LeftOut, "%s", err)
		case found.String() == ir.Localhost && !denies:
			l.Entry.Become(LeftOut, "here it would be every loopback address; write that rule yourself")
		case found.String() == "*" && !denies:
			l.Entry.Become(LeftOut, "it opens every host; write that rule yourself")
		default:
			out = append(out, target{found.String(), uint16(port), l.Entry})
		}
	}
	return out
}

// Hosts writes rules for hosts. In the settings an entry that denies wins; here the more exact host does.
func (t *Translation) Hosts(allowed, denied []Listed) {
	yes, no := t.targets(allowed, false), t.targets(denied, true)
	ports := []uint16{0}
	for _, a := range yes {
		ports = append(ports, a.port)
	}
	var open []target
	for _, a := range yes {
		if i := slices.IndexFunc(no, func(n target) bool {
			return Covers(n.host, a.host) && (n.port == 0 || n.port == a.port || a.port == 0 && web(n.port))
		}); i >= 0 {
			a.entry.Become(LeftOut, "%s denies it", no[i].entry.Key)
			continue
		}
		open = append(open, a)
		t.Draft.Net = append(t.Draft.Net, NetRule{Host: a.host, Port: a.port, Allow: true, From: a.entry.From()})
		if a.port == 0 {
			a.entry.Become(Narrowed, "access.net %s, ports 80 and 443 alone", a.host)
		} else {
			a.entry.Become(Carried, "access.net %s, port %d", a.host, a.port)
		}
	}
	for _, n := range no {
		t.deny(n, open, Without(ports))
	}
}

// deny writes rules below the wildcards that a denied host is in.
func (t *Translation) deny(n target, open []target, ports []uint16) {
	n.entry.Become(Carried, "no rule allows it")
	if !slices.ContainsFunc(open, func(a target) bool { return Covers(a.host, n.host) }) {
		return
	}
	if n.port != 0 {
		ports = []uint16{n.port}
	}
	for _, p := range ports {
		t.Draft.Net = append(t.Draft.Net, NetRule{Host: n.host, Port: p, From: n.entry.From()})
	}
	n.entry.Why = "access.net " + n.host
}

// Covers reports whether a pattern is about every host that another one is about.
func Covers(pattern, host string) bool {
	base, wildcard := strings.CutPrefix(pattern, "*.")
	return pattern == "*" || pattern == host || wildcard && strings.HasSuffix(host, "."+base) && host != "*."+base
}

// web reports whether a rule without a port is about one.
func web(port uint16) bool { return port == 80 || port == 443 }

// FaultOf is a mistake in an entry.
func FaultOf(e *Entry, what string) error {
	return &Fault{e.Place() + ": " + e.Key + " " + e.Text + ": " + what}
}

// Fault is a mistake with its place.
type Fault struct{ Text string }

// Error implements error.
func (f *Fault) Error() string { return f.Text }
