package compiler

import (
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// lintNet warns about pairs of equal specificity, an allowing and a denying rule, that some target matches both of.
// Such pairs share a host, and their paths lie on one line and differ by at most the three other things that count.
func (c linter) lintNet(t *ir.Tool) {
	// at lists the rules of a path, under the rules of the paths below it.
	at, under := map[string][]*ir.NetRule{}, map[string][]*ir.NetRule{}
	for i := range t.Net {
		r := &t.Net[i]
		whole := len(r.Path)
		for n := max(whole-3, 0); n <= whole; n++ {
			c.compareNet(at[netKey(r, n)], r)
			if n < whole {
				remember(under, netKey(r, n), r)
			}
		}
		c.compareNet(under[netKey(r, whole)], r)
		remember(at, netKey(r, whole), r)
	}
}

// remember keeps the latest few rules of a key: a lint that names a single pair of a hundred thousand equal rules is as
// good as a lint that names all.
func remember(m map[string][]*ir.NetRule, key string, r *ir.NetRule) {
	const few = 8
	list := append(m[key], r)
	m[key] = list[max(len(list)-few, 0):]
}

func netKey(r *ir.NetRule, segments int) string {
	return strconv.FormatBool(r.Listen) + r.Host.String() + " " + strconv.Itoa(segments) + " " +
		strings.Join(r.Path[:segments], "/")
}

func (c linter) compareNet(earlier []*ir.NetRule, after *ir.NetRule) {
	for _, before := range earlier {
		if before.Allow == after.Allow || !before.Ties(after) {
			continue
		}
		verb := "denied"
		if after.Allow {
			verb = "allowed"
		}
		subject := "requests that both match are "
		if after.Listen {
			subject = "listening there is "
		}
		c.orderDecides(before, after, leafAt(after.Leaves, "host", after.Origin),
			subject+verb+", since this rule is later")
	}
}

// lintPassing warns of rules by which more or less passes than they say: paths that the proxy does
// not see, and protocols that it does not know.
// See decision D106.
func (c linter) lintPassing(t *ir.Tool) {
	inspected := map[netTarget]bool{}
	for _, r := range t.Net {
		if r.Inspect {
			inspected[targetOf(r)] = true
		}
	}
	warn := func(code diag.Code, r *ir.NetRule, key, label, hint string) {
		f := diag.New(code, leafAt(r.Leaves, key, r.Origin), 1)
		f.Path, f.Label, f.Hint = r.Origin.Path+"."+key, label, hint
		c.findings.Add(f)
	}
	for i := range t.Net {
		r := &t.Net[i]
		switch {
		case len(r.Path) > 0 && (r.Scheme == "" || r.Scheme == "https") && !inspected[targetOf(*r)]:
			warn(diag.NetUnseen, r, "path_prefix", "by https all paths of "+r.Host.String()+" are reached, or none",
				"add inspect = true")
		case !r.Allow || r.Listen || r.Scheme == "http" || r.Scheme == ir.Stream:
		case r.Opaque && !r.Inspect && inspected[targetOf(*r)]:
			warn(diag.NetOnlyWeb, r, "opaque", "another rule has "+r.Host.String()+" inspected",
				"remove one of the two")
		case r.Scheme == "https":
		case r.Scheme != "":
			warn(diag.NetOnlyWeb, r, "scheme",
				"no connection is taken for one of "+r.Scheme+": those of http, https and tcp are told apart",
				`write scheme = "tcp"; for a protocol that begins as HTTP, such as wss, "https" or "http"`)
		case onlyWeb(r):
			warn(diag.NetOnlyWeb, r, "port", "only HTTP and TLS pass there",
				`add scheme = "tcp" for another protocol, else scheme = "https" or "http"`)
		}
	}
}

// onlyWeb reports whether a rule without a scheme may be meant for a protocol that does not pass
// by it. Any pass to an address.
func onlyWeb(r *ir.NetRule) bool {
	local := r.Host.Kind == ir.HostAddr || r.Host == ir.Host{Kind: ir.HostName, Name: ir.Localhost}
	return !local && r.Port != 0 && r.Port != ir.DefaultPort("http") && r.Port != ir.DefaultPort("https") &&
		len(r.Path) == 0 && !r.Inspect
}

// netTarget is the host and port by which rules inspect a connection of https.
type netTarget struct {
	host ir.Host
	port uint16
}

func targetOf(r ir.NetRule) netTarget {
	if r.Port == 0 {
		r.Port = ir.DefaultPort("https")
	}
	return netTarget{r.Host, r.Port}
}
