package resolve

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// URL parses a target. Userinfo never counts; a missing port is the scheme's.
func URL(s string) (ir.Endpoint, error) {
	u, err := url.Parse(s)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return ir.Endpoint{}, fmt.Errorf("not a URL: %w", err)
	}
	if u.Scheme == "" || u.Host == "" {
		such := strings.TrimLeft(s, "/")
		if such == "" || strings.Contains(such, "://") {
			such = "example.com"
		}
		return ir.Endpoint{}, errors.New("not a URL: expected scheme://host, such as https://" + such)
	}
	hostname := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		hostname = "[" + hostname + "]"
	}
	host, err := Host(hostname)
	if err != nil {
		return ir.Endpoint{}, err
	}
	e := ir.Endpoint{Scheme: strings.ToLower(u.Scheme), Host: host}
	if e.Port, err = targetPort(u.Port(), e.Scheme); err != nil {
		return ir.Endpoint{}, err
	}
	p := u.EscapedPath()
	if ir.DefaultPort(e.Scheme) != 0 {
		// For special schemes the URL standard reads "\" as "/".
		p = strings.ReplaceAll(strings.ReplaceAll(p, `\`, "/"), "%5C", "/")
	}
	e.Path = Segments(p)
	return e, nil
}

func targetPort(written, scheme string) (uint16, error) {
	if written == "" {
		if p := ir.DefaultPort(scheme); p != 0 {
			return p, nil
		}
		return 0, fmt.Errorf("the scheme %s has no default port; write one", scheme)
	}
	p, err := strconv.ParseUint(written, 10, 16)
	if err != nil || p == 0 {
		return 0, fmt.Errorf("found port %s, expected 1 to 65535", written)
	}
	return uint16(p), nil
}

// Segments normalises an escaped URL path as the URL standard does before
// comparing: percent-encoded unreserved characters are decoded, dot segments are
// removed. The path of a bare host has no segments.
func Segments(escaped string) []string {
	var out []string
	parts := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	for i, part := range parts {
		last := i == len(parts)-1
		switch seg := decodeUnreserved(part); seg {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, seg)
		}
	}
	if len(out) == 1 && out[0] == "" {
		return nil
	}
	return out
}

// decodeUnreserved decodes %XX of letters, digits and "-._~" (RFC 3986, 2.3) and
// writes every other escape with upper-case digits.
func decodeUnreserved(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		c := byte(n)
		switch {
		case err != nil:
			b.WriteByte('%')
			continue
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

// PathPrefix parses the path_prefix of a rule.
func PathPrefix(s string) ([]string, error) {
	switch {
	case !strings.HasPrefix(s, "/"):
		return nil, errors.New(`found a path prefix without a leading "/"`)
	case strings.ContainsAny(s, "?#"):
		return nil, errors.New(`found "?" or "#", which no path holds`)
	}
	u := url.URL{Path: s}
	if unescaped, err := url.PathUnescape(s); err == nil {
		u = url.URL{Path: unescaped, RawPath: s}
	}
	segs := Segments(u.EscapedPath())
	if n := len(segs); n > 0 && segs[n-1] == "" {
		segs = segs[:n-1]
	}
	return segs, nil
}

// Scheme parses the scheme of a rule (RFC 3986, 3.1).
func Scheme(s string) (string, error) {
	lower := strings.ToLower(s)
	for i := range len(lower) {
		c := lower[i]
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return "", fmt.Errorf("found %q in a scheme", rune(c))
		}
	}
	if lower == "" {
		return "", errors.New("found an empty scheme")
	}
	return lower, nil
}
