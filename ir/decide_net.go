package ir

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
)

// netIndex finds the rules that can match a host without looking at the others.
type netIndex struct {
	rules    []NetRule
	byName   map[string][]int
	byAddr   map[string][]int
	bySuffix map[string][]int
	any      []int
	// listens are the rules about listening, which no other list has.
	listens []int
	// lent, if not nil, is granted beside the rules.
	lent *lent
}

// lent are grants of a run: given as far as may permits it.
type lent struct{ may, given *netIndex }

func indexNet(rules []NetRule) *netIndex {
	x := &netIndex{
		rules: rules, byName: map[string][]int{}, byAddr: map[string][]int{}, bySuffix: map[string][]int{},
	}
	for i := range rules {
		h := rules[i].Host
		if rules[i].Listen {
			x.listens = append(x.listens, i)
			continue
		}
		switch h.Kind {
		case HostName:
			x.byName[h.Name] = append(x.byName[h.Name], i)
		case HostAddr:
			x.byAddr[h.Addr.String()] = append(x.byAddr[h.Addr.String()], i)
		case HostSuffix:
			x.bySuffix[h.Name] = append(x.bySuffix[h.Name], i)
		case HostAny:
			x.any = append(x.any, i)
		}
	}
	return x
}

// decide finds the winning rule, or the grant of a run where the rules deny.
func (x *netIndex) decide(to Endpoint, method string) Verdict {
	out := x.ruled(to, method)
	if x.lent == nil || out.Allowed() {
		return out
	}
	if v := x.lent.ruled(to); v.Allowed() || out.Rule == nil {
		return v
	}
	return out
}

// ruled is the verdict of the list that can be granted, as far as it was. A request always has a
// scheme; the kernel's calls have none, and are never granted.
func (l *lent) ruled(to Endpoint) Verdict {
	v := l.may.ruled(to, "")
	if v.Allowed() && (to.Scheme == "" || !l.given.ruled(to, "").Allowed()) {
		return refuse(ReasonDefault)
	}
	return v
}

// ruled finds the winning rule. The more exact kind of host wins before anything
// else counts; then the more specific rule; then the later rule.
func (x *netIndex) ruled(to Endpoint, method string) Verdict {
	for class := range x.classes(to.Host) {
		if i := x.best(class, to, method); i >= 0 {
			out := Verdict{Reason: ReasonRule, Rule: &x.rules[i]}
			if x.rules[i].Allow {
				out.Effect = Allow
			}
			return out
		}
	}
	return refuse(ReasonDefault)
}

// classes yields the candidates by how exactly they name h, most exact first.
func (x *netIndex) classes(h Host) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		if h.Kind == HostAddr {
			switch {
			case !yield(x.byAddr[h.Addr.String()]):
			case loopback(h):
				yield(x.byName[Localhost])
			case !OnlyNamed(h):
				yield(x.any)
			}
			return
		}
		if !yield(x.byName[h.Name]) {
			return
		}
		for name := h.Name; len(x.bySuffix) > 0; {
			_, parent, ok := strings.Cut(name, ".")
			if !ok {
				break
			}
			if c := x.bySuffix[parent]; c != nil && !yield(c) {
				return
			}
			name = parent
		}
		if !OnlyNamed(h) {
			yield(x.any)
		}
	}
}

// Localhost is the name of this host. A rule about it is about the loopback addresses, too
// (RFC 6761, 6.3).
const Localhost = "localhost"

// listen finds the winning rule about listening. A listener at every address also listens at each address that a rule
// names.
func (x *netIndex) listen(op Listen) Verdict {
	win := x.listener(op)
	if win < 0 {
		return refuse(ReasonDefault)
	}
	if no := x.denies(op); x.rules[win].Allow && no >= 0 {
		win = no
	}
	out := Verdict{Reason: ReasonRule, Rule: &x.rules[win]}
	if x.rules[win].Allow {
		out.Effect = Allow
	}
	return out
}

// listener finds the rule about an address, -1 for none: an address wins over localhost, which wins
// over every address; then the rule with a port; then the later rule.
func (x *netIndex) listener(op Listen) int {
	win, most := -1, -1
	for _, i := range x.listens {
		if s := x.rules[i].listens(op); s >= 0 && s >= most {
			win, most = i, s
		}
	}
	return win
}

// denies finds a rule against listening at one of the addresses that a listener at all of them has,
// -1 for none.
func (x *netIndex) denies(op Listen) int {
	if op.Host.Kind != HostAddr || !op.Host.Addr.Unmap().IsUnspecified() {
		return -1
	}
	for _, i := range x.listens {
		if x.rules[i].Host.Kind == HostAny {
			continue
		}
		if at := x.listener(Listen{Host: x.rules[i].Host, Port: op.Port}); at >= 0 && !x.rules[at].Allow {
			return at
		}
	}
	return -1
}

// Nearer is the loopback address at which a listener at every address may be made instead: the policy grants the
// loopback address and not the listener at every address. A dual-stack listener (ipv6(7), IPV6_V6ONLY) takes the mapped
// address of IPv4, which most clients try.
func (v *View) Nearer(op Listen, dual bool) (near Listen, ok bool) {
	if op.Host.Kind != HostAddr || !op.Host.Addr.Unmap().IsUnspecified() || v.Decide(op).Allowed() {
		return op, false
	}
	near = op
	if near.Host.Addr = netip.IPv6Loopback(); dual || op.Host.Addr.Is4() {
		near.Host.Addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return near, v.Decide(near).Allowed()
}

// lastPrivileged is the last port that needs a privilege (ip(7), ip_unprivileged_port_start).
const lastPrivileged = 1023

// listens returns how exactly a rule is about listening at an address, -1 if it is not.
func (r *NetRule) listens(op Listen) int {
	score := r.binds(op.Host)
	switch {
	case score < 0:
	case r.Port == 0 && (op.Port == 0 || op.Port > lastPrivileged):
		return score
	case r.Port != 0 && r.Port == op.Port:
		return score + 1
	}
	return -1
}

// binds returns how exactly the host of a rule matches an address of this host, -1 if it does not.
func (r *NetRule) binds(h Host) int {
	switch {
	case r.Host == h:
		return 4
	case r.Host.Kind == HostName && h.Kind == HostAddr && h.Addr.Unmap().IsLoopback():
		return 2
	case r.Host.Kind == HostAny:
		return 0
	}
	return -1
}

// best returns the most specific matching rule of a class, the last such rule on a tie.
func (x *netIndex) best(class []int, to Endpoint, method string) int {
	win, most := -1, -1
	for _, i := range class {
		r := &x.rules[i]
		if !x.matches(r, to, method) {
			continue
		}
		if s := r.specificity(); s >= most {
			win, most = i, s
		}
	}
	return win
}

// matches compares everything but the host.
func (x *netIndex) matches(r *NetRule, to Endpoint, method string) bool {
	return r.matches(to, method) && (to.Scheme != Stream || r.Scheme == Stream || !r.Allow || Plain(r, x.rules))
}

func loopback(h Host) bool { return h.Kind == HostAddr && h.Addr.Unmap().IsLoopback() }

// Plain reports whether a rule is about every connection to an address, whatever its bytes: it
// names an address or this host, it says nothing about requests, and neither does another rule
// about that address. See decision D106.
func Plain(r *NetRule, all []NetRule) bool {
	shown := func(r *NetRule) bool {
		return r.Scheme == "" && len(r.Path) == 0 && len(r.Methods) == 0 && !r.Inspect && !r.Opaque &&
			r.Credential == nil &&
			(r.Port != 0 || r.Allow) // else it is about the ports that schemes imply
	}
	one := r.Host.Kind == HostAddr || r.Host.Kind == HostName && r.Host.Name == Localhost
	return one && !r.Listen && shown(r) &&
		!slices.ContainsFunc(all, func(o NetRule) bool {
			return !o.Listen && (o.Host == r.Host || r.Host.Kind == HostName && loopback(o.Host)) && !shown(&o)
		})
}

// matches compares the fields of a rule.
func (r *NetRule) matches(to Endpoint, method string) bool {
	if r.Scheme != "" && r.Scheme != to.Scheme || len(r.Methods) > 0 && !slices.Contains(r.Methods, method) {
		return false
	}
	want := r.Port
	if want == 0 {
		want = DefaultPort(to.Scheme)
	}
	if want == 0 || want != to.Port || len(r.Path) > len(to.Path) {
		return false
	}
	for i, seg := range r.Path {
		if seg != to.Path[i] {
			return false
		}
	}
	return true
}

// settles reports whether some rule of a class matches every request to a scheme, host and port, so
// that less exact hosts have no say.
func (x *netIndex) settles(class []int, to Endpoint) bool {
	return slices.ContainsFunc(class, func(i int) bool {
		r := &x.rules[i]
		return len(r.Path) == 0 && len(r.Methods) == 0 && x.matches(r, to, "")
	})
}

// specificity returns the number of constraints that the rule has beside its host.
func (r *NetRule) specificity() int {
	n := len(r.Path)
	if r.Scheme != "" {
		n++
	}
	if r.Port != 0 {
		n++
	}
	if len(r.Methods) > 0 {
		n++
	}
	return n
}

// Ties reports whether some target matches both rules and neither is more
// specific, so that only their order decides. Both must be about the same host.
func (r *NetRule) Ties(o *NetRule) bool {
	if r.Listen || o.Listen {
		return r.Listen && o.Listen && r.Port == o.Port
	}
	if r.specificity() != o.specificity() || !r.sharesScheme(o) || !r.sharesMethod(o) {
		return false
	}
	short, long := r.Path, o.Path
	if len(short) > len(long) {
		short, long = long, short
	}
	for i := range short {
		if short[i] != long[i] {
			return false
		}
	}
	return r.sharesPort(o)
}

// sharesScheme reports whether the two rules can match the same scheme.
func (r *NetRule) sharesScheme(o *NetRule) bool {
	if r.Scheme == "" {
		r, o = o, r
	}
	return r.Scheme == o.Scheme || o.Scheme == "" && (r.Scheme != Stream || !o.Allow)
}

// sharesMethod reports whether the two rules can match the same method.
func (r *NetRule) sharesMethod(o *NetRule) bool {
	return len(r.Methods) == 0 || len(o.Methods) == 0 ||
		slices.ContainsFunc(r.Methods, func(m string) bool { return slices.Contains(o.Methods, m) })
}

// sharesPort reports whether the two rules can match the same port. A rule without a
// port matches the default port of the target's scheme, if the scheme has a default port.
func (r *NetRule) sharesPort(o *NetRule) bool {
	if r.Port != 0 && o.Port != 0 {
		return r.Port == o.Port
	}
	schemes := []string{max(r.Scheme, o.Scheme)}
	if schemes[0] == "" {
		schemes = []string{"http", "https", "ftp"}
	}
	for _, s := range schemes {
		if p := DefaultPort(s); p != 0 && (r.Port|o.Port == 0 || r.Port|o.Port == p) {
			return true
		}
	}
	return false
}

// OnlyNamed reports whether a rule about every host is not about h: this host, and addresses that
// are private, link-local or unspecified (RFC 1918, RFC 4193, RFC 4291).
func OnlyNamed(h Host) bool {
	if h.Kind != HostAddr {
		return h.Kind == HostName && h.Name == Localhost
	}
	a := h.Addr.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() ||
		a.IsInterfaceLocalMulticast() || a.IsUnspecified()
}
