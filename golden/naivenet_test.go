package golden_test

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Connections, requests and listening in the second evaluator.

func (p naivePolicy) connect(target, method string) (string, string) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return "deny", "invalid"
	}
	scheme := strings.ToLower(u.Scheme)
	host, addr, ok := naiveHost(u)
	port := ports[scheme]
	if u.Port() != "" {
		n, err := strconv.ParseUint(u.Port(), 10, 16)
		ok = ok && err == nil
		port = int(n)
	}
	if !ok || port == 0 {
		return "deny", "invalid"
	}
	return p.reach(scheme, host, addr, port, naiveSegments(u, ports[scheme] != 0), method)
}

// naiveHost is a target's host in the form in which rules write it.
func naiveHost(u *url.URL) (host string, addr netip.Addr, ok bool) {
	host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		if addr.Is6() {
			return "[" + addr.String() + "]", addr, strings.HasPrefix(u.Host, "[")
		}
		return addr.String(), addr, true
	}
	host, err := idna.Lookup.ToASCII(host)
	last := host[strings.LastIndex(host, ".")+1:]
	return host, addr, err == nil && allowed.MatchString(host) && !number.MatchString(last)
}

func naiveSegments(u *url.URL, special bool) []string {
	p := escaped.ReplaceAllStringFunc(u.EscapedPath(), func(e string) string {
		n, _ := strconv.ParseUint(e[1:], 16, 8)
		if c := string(rune(n)); plain.MatchString(c) || c == `\` && special {
			return c
		}
		return strings.ToUpper(e)
	})
	if special {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	var out []string
	for part := range strings.SplitSeq(strings.TrimPrefix(p, "/"), "/") {
		switch part {
		case ".":
		case "..":
			out = out[:max(len(out)-1, 0)]
		default:
			out = append(out, part)
		}
	}
	return out
}

func (p naivePolicy) reach(scheme, host string, addr netip.Addr, port int, segments []string, method string) (string, string) {
	if p.Access == nil {
		return "allow", "unrestricted"
	}
	win, most := -1, []int{-1, 0}
	for i, r := range p.Access.Net {
		class := 0 // any host; then by the length of a suffix; then exact
		suffix, wild := strings.CutPrefix(r.Host, "*.")
		switch {
		case r.Host == host:
			class = 1000
		case r.Host == "localhost" && addr.IsLoopback():
			class = 1
		case wild && !addr.IsValid() && strings.HasSuffix(host, "."+suffix):
			class = len(suffix)
		case r.Host == "*" && !reserved(addr) && host != "localhost":
		default:
			continue
		}
		want := r.Port
		if want == 0 {
			want = ports[scheme]
		}
		prefix := slices.DeleteFunc(strings.Split(r.Prefix, "/"), func(s string) bool { return s == "" })
		if r.Scheme != "" && r.Scheme != scheme || want != port || len(prefix) > len(segments) || !slices.Equal(prefix, segments[:len(prefix)]) ||
			r.Methods != nil && !slices.Contains(r.Methods, method) || scheme == "tcp" && r.Scheme == "" && r.Allow && !p.plain(r) {
			continue
		}
		rank := []int{class, len(prefix)}
		if r.Scheme != "" {
			rank[1]++
		}
		if r.Port != 0 {
			rank[1]++
		}
		if r.Methods != nil {
			rank[1]++
		}
		if slices.Compare(rank, most) >= 0 {
			win, most = i, rank
		}
	}
	return byRule(win, win >= 0 && p.Access.Net[win].Allow)
}

// plain is a rule about every connection to an address.
func (p naivePolicy) plain(r naiveNet) bool {
	finer := func(o naiveNet) bool {
		a, err := netip.ParseAddr(strings.Trim(o.Host, "[]"))
		return (o.Host == r.Host || r.Host == "localhost" && err == nil && a.IsLoopback()) && (o.Scheme != "" || o.Prefix != "" || o.Methods != nil || o.Inspect || o.Opaque || !o.Allow && o.Port == 0)
	}
	_, err := netip.ParseAddr(strings.Trim(r.Host, "[]"))
	return (err == nil || r.Host == "localhost") && !slices.ContainsFunc(p.Access.Net, finer)
}

func (p naivePolicy) listen(target string) (string, string) {
	u, err := url.Parse("tcp://" + strings.TrimPrefix(target, "*"))
	if err != nil || u.Port() == "" {
		return "deny", "invalid"
	}
	host, addr, ok := naiveHost(u)
	if strings.HasPrefix(target, "*:") {
		host, ok = "[::]", true
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if !ok || err != nil || !addr.IsValid() && host != "localhost" && host != "[::]" {
		return "deny", "invalid"
	}
	win := p.listener(host, addr, int(port))
	if win < 0 || !p.Access.Listen[win].Allow || host != "[::]" && !(addr.IsValid() && addr.IsUnspecified()) {
		return byRule(win, win >= 0 && p.Access.Listen[win].Allow)
	}
	for _, r := range p.Access.Listen {
		a, _ := netip.ParseAddr(strings.Trim(r.Host, "[]"))
		if at := p.listener(r.Host, a, int(port)); r.Host != "*" && at >= 0 && !p.Access.Listen[at].Allow {
			return "deny", "rule"
		}
	}
	return byRule(win, true)
}

func (p naivePolicy) listener(host string, addr netip.Addr, port int) int {
	win, most := -1, []int{-1, 0}
	for i, r := range p.Access.Listen {
		class := 0 // any address; then localhost; then exact
		switch {
		case r.Host == host:
			class = 2
		case r.Host == "localhost" && addr.IsLoopback():
			class = 1
		case r.Host != "*":
			continue
		}
		if r.Port != port && (r.Port != 0 || port != 0 && port < 1024) {
			continue
		}
		if rank := []int{class, min(r.Port, 1)}; slices.Compare(rank, most) >= 0 {
			win, most = i, rank
		}
	}
	return win
}

// reserved are the addresses that no wildcard reaches.
func reserved(a netip.Addr) bool {
	return a.IsValid() && (a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() ||
		a.IsInterfaceLocalMulticast() || a.IsUnspecified())
}
