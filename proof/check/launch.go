package check

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// launch is what the texts of loaders say alike: variables, limits, and programs.
type launch struct {
	env      []envRule
	private  bool // the home directory is the tool's own
	folds    bool // names of variables are compared in upper case
	limits   []limit
	listed   bool // only programs are started that are on the list
	programs []string
}

// loaderPrefixes begin variables that change how code is loaded: no rule for a prefix gives them.
var loaderPrefixes = []string{
	"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG_", "NPM_CONFIG_", "PIP_CONFIG_", "CARGO_BUILD_RUSTC", "GLIBC_TUNABLES",
}

// ownVariables are set by accessc itself, those of the second list where the home is the tool's own.
var ownVariables = [][]string{
	{"TMPDIR", "TEMP", "TMP", "ACCESSC_CONTEXT"},
	{"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"},
}

// launch is what a policy says of it.
func (p *Policy) launch() launch {
	l := launch{env: p.doc.Env.Rules, private: p.doc.Home == "private" || p.doc.Home == "shared", limits: p.doc.Limits}
	if l.listed = p.doc.Commands != nil; l.listed {
		for _, c := range p.doc.Commands.Rules {
			l.programs = append(l.programs, c.Program)
		}
	}
	return l
}

// answer is the verdict about a variable, a limit or a program.
func (l *launch) answer(q Question) Verdict {
	is := false
	switch q.Kind {
	case Variables:
		is = l.forwards(q.Target)
	case Programs:
		is = !l.listed || slices.Contains(l.programs, q.Target)
	case Limits:
		for _, k := range l.limits {
			if k.Kind == q.Target {
				return Verdict(k.Value)
			}
		}
	case Files, Moves, Hosts, Names:
	}
	if is {
		return Permit
	}
	return 0
}

// forwards reports whether a variable reaches the tool: by the last rule for its name, because accessc sets it, or by
// the last rule for the longest prefix.
func (l *launch) forwards(name string) bool {
	key := func(s string) string {
		if l.folds {
			return strings.ToUpper(s)
		}
		return s
	}
	by, length := -1, -1
	for i, r := range l.env {
		switch {
		case !r.Prefix && key(r.Name) == key(name):
			by, length = i, len(name)+1
		case r.Prefix && strings.HasPrefix(key(name), key(r.Name)) && len(r.Name) >= length:
			by, length = i, len(r.Name)
		}
	}
	own := slices.Contains(ownVariables[0], key(name)) || l.private && slices.Contains(ownVariables[1], key(name))
	loads := slices.ContainsFunc(loaderPrefixes, func(p string) bool {
		return strings.HasPrefix(strings.ToUpper(name), p)
	})
	switch {
	case length > len(name):
		return l.env[by].Read
	case own:
		return true
	}
	return by >= 0 && l.env[by].Read && !loads
}

// mentions are the variables, limits and programs of a list, and for prefixes a name that begins so.
func (l *launch) mentions(k Kind) (out []string) {
	switch k {
	case Variables:
		out = append(slices.Concat(ownVariables...), "ACCESSC_x0")
		for _, r := range l.env {
			if r.Prefix {
				out = append(out, r.Name+"_x0")
			} else {
				out = append(out, r.Name)
			}
		}
	case Programs:
		out = append(out, "not-listed")
		out = append(out, l.programs...)
	case Limits:
		for _, r := range l.limits {
			out = append(out, r.Kind)
		}
	case Files, Moves, Hosts, Names:
	}
	return out
}

// endpoint is a target of Hosts: "connect SCHEME HOST PORT /PATH", or "listen HOST PORT".
type endpoint struct {
	listen       bool
	scheme, host string
	port         uint16
	path         []string
}

func (e endpoint) String() string {
	if e.listen {
		return "listen " + e.host + " " + itoa(int(e.port))
	}
	return "connect " + e.scheme + " " + e.host + " " + itoa(int(e.port)) + " /" + strings.Join(e.path, "/")
}

func parseEndpoint(text string) (e endpoint) {
	f := strings.Fields(text)
	if len(f) == 3 && f[0] == "listen" {
		port, _ := strconv.ParseUint(f[2], 10, 16)
		return endpoint{listen: true, host: f[1], port: uint16(port)}
	}
	if len(f) == 5 && f[0] == "connect" {
		port, _ := strconv.ParseUint(f[3], 10, 16)
		e = endpoint{scheme: f[1], host: f[2], port: uint16(port)}
		if f[4] != "/" {
			e.path = strings.Split(f[4][1:], "/")
		}
	}
	return e
}

func defaultPort(scheme string) uint16 {
	switch scheme {
	case "http", "ws":
		return 80
	case "https", "wss":
		return 443
	case "ftp":
		return 21
	default:
		return 0
	}
}

// endpoints are targets that policies tell apart: for each rule what it is about, more of its path, another port,
// another scheme, and another host.
func (p *Policy) endpoints() (out []string) {
	add := func(e endpoint) { out = append(out, e.String()) }
	add(endpoint{scheme: "https", host: "x.invalid", port: 443})
	add(endpoint{scheme: "tcp", host: "192.0.2.1", port: 9})
	add(endpoint{listen: true, host: "127.0.0.1", port: 8080})
	for _, r := range p.doc.Net.Rules {
		host := strings.Replace(strings.Replace(r.Host, "*.", "x.", 1), "*", "x.invalid", 1)
		if r.Listen {
			add(endpoint{listen: true, host: host, port: max(r.Port, 8081*uint16(1-min(r.Port, 1)))})
			add(endpoint{listen: true, host: host, port: 8082})
			continue
		}
		schemes := []string{r.Scheme}
		if r.Scheme == "" {
			schemes = []string{"http", "https"}
		}
		for _, scheme := range append(schemes, "tcp") {
			port := r.Port
			if port == 0 {
				port = defaultPort(scheme)
			}
			for _, e := range []endpoint{
				{scheme: scheme, host: host, port: port, path: r.Path}, {scheme: scheme, host: host, port: port},
				{scheme: scheme, host: host, port: port, path: append(slices.Clone(r.Path), "x")},
				{scheme: scheme, host: host, port: 9, path: r.Path},
				{scheme: scheme, host: "x-" + host, port: port, path: r.Path},
			} {
				if _, err := netip.ParseAddr(host); err != nil || !strings.HasPrefix(e.host, "x-") {
					add(e)
				}
			}
		}
	}
	return out
}

// reaches reports whether the policy permits a connection or a listener, and the rule that decides.
func (p *Policy) reaches(e endpoint) (is bool, rule string) {
	best, most := -1, -1
	for i := range p.doc.Net.Rules {
		r := &p.doc.Net.Rules[i]
		if s := p.fits(r, e); s >= 0 && s >= most {
			best, most = i, s
		}
	}
	if best < 0 {
		return false, "default"
	}
	return p.doc.Net.Rules[best].Allow, "net[" + itoa(best) + "]"
}

// fits is how exactly a rule is about a target, -1 where it is not: by its host first, then by all else that it says.
func (p *Policy) fits(r *netRule, e endpoint) int {
	if r.Listen != e.listen {
		return -1
	}
	addr, err := netip.ParseAddr(strings.Trim(e.host, "[]"))
	isAddr, addr := err == nil, addr.Unmap()
	suffix, wild := strings.CutPrefix(r.Host, "*.")
	host := 0
	switch {
	case r.Host == e.host:
		host = 1 << 20
	case r.Host == "localhost" && isAddr && addr.IsLoopback():
		host = 1 << 19
	case wild && !isAddr && strings.HasSuffix(e.host, "."+suffix):
		host = len(suffix) << 8
	case r.Host == "*" && e.listen:
	case r.Host == "*" && e.host != "localhost" && !(isAddr && private(addr)):
	default:
		return -1
	}
	if e.listen {
		switch {
		case r.Port == e.port && r.Port != 0:
			return host + 1
		case r.Port == 0 && (e.port == 0 || e.port > 1023):
			return host
		}
		return -1
	}
	port, n := r.Port, len(r.Path)
	if port == 0 {
		port = defaultPort(e.scheme)
	} else {
		n++
	}
	if r.Scheme != "" {
		n++
	}
	if r.Scheme != "" && r.Scheme != e.scheme || len(r.Methods) > 0 || port == 0 || port != e.port ||
		len(r.Path) > len(e.path) || !slices.Equal(r.Path, e.path[:len(r.Path)]) ||
		e.scheme == "tcp" && r.Scheme != "tcp" && r.Allow && !p.plain(r) {
		return -1
	}
	return host + n
}

// private reports whether only a rule that names an address is about it.
func private(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() ||
		a.IsInterfaceLocalMulticast() || a.IsUnspecified()
}

// plain reports whether a rule is about all connections to an address, whatever is said on them.
func (p *Policy) plain(r *netRule) bool {
	shown := func(r *netRule) bool {
		return r.Scheme == "" && len(r.Path)+len(r.Methods) == 0 && !r.Inspect && !r.Opaque && len(r.Credential) == 0 &&
			(r.Port != 0 || r.Allow)
	}
	loopback := func(host string) bool {
		a, err := netip.ParseAddr(strings.Trim(host, "[]"))
		return err == nil && a.Unmap().IsLoopback()
	}
	_, err := netip.ParseAddr(strings.Trim(r.Host, "[]"))
	return (err == nil || r.Host == "localhost") && !r.Listen && shown(r) &&
		!slices.ContainsFunc(p.doc.Net.Rules, func(o netRule) bool {
			return !o.Listen && (o.Host == r.Host || r.Host == "localhost" && loopback(o.Host)) && !shown(&o)
		})
}
