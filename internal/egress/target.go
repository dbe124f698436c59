package egress

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// target is where a request goes. In a tunnel it must be for the tunnel's host. A Host beside an
// absolute target counts for nothing (RFC 9112, 3.2.2) and is not forwarded.
func (s *requests) target(c *client, r *http.Request) (to ir.Endpoint, code int, why string) {
	host, port := c.origin.Host, c.origin.Port
	scheme := schemeHTTP
	if r.TLS != nil {
		scheme = schemeHTTPS
	}
	named, at, err := authority(r.Host, scheme)
	switch {
	case malformed(r):
		return to, http.StatusBadRequest, whyMalformed
	case err != nil:
		return to, http.StatusBadRequest, err.Error()
	case host == (ir.Host{}) && (!r.URL.IsAbs() || r.URL.Scheme != schemeHTTP):
		return to, http.StatusBadRequest, whyNotAbsolute
	case host == (ir.Host{}):
		host, port = s.pool.meant(named), at
	case r.URL.IsAbs() && r.URL.Scheme != scheme, !means(named, host) || at != port:
		why = fmt.Sprintf("a request for %s came by a connection to %s", r.Host,
			hostPort(ir.Endpoint{Host: host, Port: port}))
		return to, http.StatusMisdirectedRequest, why
	}
	return ir.Endpoint{Scheme: scheme, Host: host, Port: port, Path: resolve.Segments(r.URL.EscapedPath())}, 0, ""
}

// means reports whether a name means the host that a connection goes to. A client that wants
// localhost connects to an address.
func means(named, host ir.Host) bool {
	return named == host || named == (ir.Host{Kind: ir.HostName, Name: ir.Localhost}) && host.Kind == ir.HostAddr &&
		host.Addr.Unmap().IsLoopback()
}

// malformed reports whether a target has parts that programs read in different ways, whatever
// the rules are. The query may have a backslash: it belongs to the server. HTTP/2 has room for a
// second and a third host in the path and in a field.
func malformed(r *http.Request) bool {
	for _, host := range r.Header["Host"] {
		if host != r.Host {
			return true
		}
	}
	if r.URL.IsAbs() && r.URL.Host != r.Host {
		return true
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return r.URL.User != nil || r.URL.Opaque != "" || strings.ContainsFunc(r.RequestURI, outside) ||
		strings.Contains(path, "\\")
}

// outside reports whether a target cannot have a character (RFC 3986, 2; RFC 9112, 3.2). Some servers end the target at
// a blank of Latin-1 as well, and HTTP/2 carries them all.
func outside(c rune) bool { return c <= ' ' || c > '~' }

// authority parses a host with an optional port (RFC 3986, 3.2).
func authority(s, scheme string) (ir.Host, uint16, error) {
	name, port := s, ir.DefaultPort(scheme)
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		n, err := strconv.ParseUint(s[i+1:], 10, 16)
		if err != nil || n == 0 {
			return ir.Host{}, 0, fmt.Errorf("found the port %q, expected 1 to 65535", s[i+1:])
		}
		name, port = s[:i], uint16(n)
	}
	h, err := resolve.Host(name)
	if err != nil {
		return ir.Host{}, 0, err
	}
	if port == 0 {
		return ir.Host{}, 0, errors.New("found no port")
	}
	return h, port, nil
}

// acceptable refuses requests that servers may understand in another way than the policy.
func (s *requests) acceptable(to ir.Endpoint, r *http.Request) (code int, why string) {
	if strings.EqualFold(r.Method, http.MethodTrace) || strings.EqualFold(r.Method, "TRACK") {
		return http.StatusMethodNotAllowed, whyTrace
	}
	if !s.judge.policy(nil).Finer(to) {
		return 0, ""
	}
	switch {
	case ambiguous(r.URL):
		return http.StatusBadRequest, whyAmbiguous
	case strings.ToUpper(r.Method) != r.Method, overridden(r):
		return http.StatusBadRequest, whyOverride
	}
	return 0, ""
}

// ambiguous reports whether servers read a path in different ways.
func ambiguous(u *url.URL) bool {
	path := u.EscapedPath()
	if u.Opaque != "" || !strings.HasPrefix(path, "/") && path != "" || strings.Contains(path, "//") ||
		strings.ContainsAny(path, "\\;") {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	if misread(path) {
		return true
	}
	// A percent-encoded character that needs no encoding, or that separates or ends segments
	// where a server decodes first.
	for rest := path; ; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			return false
		}
		n, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil || len(after) < 2 || n < ' ' || n == 0x7f || strings.ContainsRune("./\\%;?#", rune(n)) ||
			unreserved(byte(n)) {
			return true
		}
		rest = after[2:]
	}
}

// unreserved reports whether a character never needs encoding (RFC 3986, 2.3).
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
