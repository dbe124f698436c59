package ir

// Request decides about a request to a target. The method is empty for a stream of bytes.
func (v *View) Request(to Endpoint, method string) Verdict {
	return v.Decide(Connect{To: to, Method: method})
}

// Reach decides whether any request to a scheme, host and port is granted, whatever its path and
// method. Among those that are, the first rule gives the verdict.
func (v *View) Reach(to Endpoint) Verdict {
	to.Path = nil
	out := v.net.decide(to, "")
	for class := range v.net.classes(to.Host) {
		for _, i := range class {
			r := &v.net.rules[i]
			if out.Allowed() {
				return out
			}
			to.Path = r.Path
			for _, m := range append([]string{""}, r.Methods...) {
				if w := v.net.decide(to, m); w.Allowed() {
					return w
				}
			}
		}
	}
	return out
}

// Named decides whether any request to a host is granted.
func (v *View) Named(h Host) Verdict {
	out := v.namedBy(v.net, h)
	if v.net.lent == nil || out.Allowed() {
		return out
	}
	// A grant may leave the scheme open that the list names, and the other way round.
	for _, list := range []*netIndex{v.net.lent.given, v.net.lent.may} {
		if w := v.namedBy(list, h); w.Allowed() {
			return w
		}
	}
	return out
}

// namedBy asks about the schemes and ports of the rules of a list.
func (v *View) namedBy(list *netIndex, h Host) Verdict {
	out := refuse(ReasonDefault)
	for class := range list.classes(h) {
		for _, i := range class {
			r := &list.rules[i]
			to := Endpoint{Scheme: r.Scheme, Host: h, Port: r.Port}
			for _, to.Scheme = range schemesOf(r) {
				if to.Port = r.Port; to.Port == 0 {
					to.Port = DefaultPort(to.Scheme)
				}
				if w := v.Reach(to); w.Allowed() {
					return w
				} else if w.Rule != nil {
					out = w
				}
			}
		}
	}
	return out
}

// schemesOf are the schemes that a rule can be about, as far as rules tell them apart.
func schemesOf(r *NetRule) []string {
	if r.Scheme != "" {
		return []string{r.Scheme}
	}
	return []string{"https", "http", "tcp", "ftp"}
}

// Finer reports whether rules for a scheme, host and port tell paths or methods apart.
func (v *View) Finer(to Endpoint) bool {
	return v.some(to, func(r *NetRule) bool { return len(r.Path) > 0 || len(r.Methods) > 0 })
}

// Inspects reports whether a rule for a host and port asks for TLS to be terminated.
func (v *View) Inspects(to Endpoint) bool {
	return v.some(to, func(r *NetRule) bool { return r.Inspect })
}

// some reports whether a rule that some request to a scheme, host and port matches has a
// property.
func (v *View) some(to Endpoint, is func(*NetRule) bool) bool {
	for class := range v.net.classes(to.Host) {
		for _, i := range class {
			r := v.net.rules[i]
			if !is(&r) {
				continue
			}
			if r.Path, r.Methods = nil, nil; v.net.matches(&r, to, "") {
				return true
			}
		}
		if v.net.settles(class, to) {
			return false
		}
	}
	return false
}
