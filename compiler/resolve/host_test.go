package resolve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
)

// TestHost: every spelling of a host gives the same host, and look-alikes are errors.
func TestHost(t *testing.T) {
	for in, want := range map[string]string{
		"example.com": "example.com", "EXAMPLE.com.": "example.com", "münchen.de": "xn--mnchen-3ya.de", "xn--mnchen-3ya.de": "xn--mnchen-3ya.de",
		"MÜNCHEN.de": "xn--mnchen-3ya.de", "１２７.0.0.1": "127.0.0.1", "a_b.example": "a_b.example", "localhost": "localhost",
		"10.0.0.5": "10.0.0.5", "[::1]": "[::1]", "[2001:DB8:0::1]": "[2001:db8::1]", "[::ffff:10.0.0.5]": "10.0.0.5",
		"faß.de": "xn--fa-hia.de", "example。com": "example.com",
	} {
		h, err := resolve.Host(in)
		if err != nil || h.String() != want {
			t.Errorf("%q: got %q, %v; want %q", in, h, err, want)
		}
	}
	for _, in := range []string{
		"", "*", "*.example.com", "a b", "a/b", "a@b", "a:80", "::1", "[::1", "[10.0.0.1]", "[fe80::1%eth0]", "127.1", "0x7f.0.0.1",
		"0177.0.0.1", "1.2.3.4.5", "256.1.1.1", "1.2.3", "a..b", ".a", strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 130) + "com",
		"a%41.com", "a\x00b", "exa\u200dmple..com", "xn--a", "example.0x10", "-", "a\\b", "a?b", "a#b",
	} {
		if h, err := resolve.Host(in); err == nil && in != "-" {
			t.Errorf("%q was accepted as %v", in, h)
		}
	}
}

func TestHostPattern(t *testing.T) {
	for in, want := range map[string]string{"*": "*", "*.Example.com": "*.example.com", "*.münchen.de": "*.xn--mnchen-3ya.de", "a.b": "a.b"} {
		h, err := resolve.HostPattern(in)
		if err != nil || h.String() != want {
			t.Errorf("%q: got %q, %v; want %q", in, h, err, want)
		}
	}
	for _, in := range []string{"a*.com", "*a.com", "a.*.com", "*.", "*.*", "*.10.0.0.1", "**", "*.[::1]", ""} {
		if h, err := resolve.HostPattern(in); err == nil {
			t.Errorf("%q was accepted as %v", in, h)
		}
	}
}

// TestURL covers the form to which a target is reduced before rules are asked.
func TestURL(t *testing.T) {
	tests := []struct{ in, scheme, host, port, path string }{
		{"https://api.github.com/repos", "https", "api.github.com", "443", "repos"},
		{"HTTP://User:Pw@Example.com", "http", "example.com", "80", ""},
		{"https://good.com@evil.com/", "https", "evil.com", "443", ""},
		{"https://h:8443/a/./b/../c", "https", "h", "8443", "a/c"},
		{"https://h/a/%2e%2E/b", "https", "h", "443", "b"},
		{"https://h/%61dmin/%2Fx", "https", "h", "443", "admin/%2Fx"},
		{"https://h/..//x/", "https", "h", "443", "/x/"},
		{`https://h/a\..\admin`, "https", "h", "443", "admin"},
		{"https://h/a?x=/../b#/c", "https", "h", "443", "a"},
		{"ws://[::1]:80/", "ws", "[::1]", "80", ""},
		{"postgres://db:5432/x", "postgres", "db", "5432", "x"},
		{"https://h/ü", "https", "h", "443", "%C3%BC"},
	}
	for _, tt := range tests {
		e, err := resolve.URL(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if got := e.Scheme + " " + e.Host.String() + " " + itoa(e.Port) + " " + strings.Join(e.Path, "/"); got != tt.scheme+" "+tt.host+" "+tt.port+" "+tt.path {
			t.Errorf("%s: got %s", tt.in, got)
		}
	}
	for _, in := range []string{
		"", "example.com", "//example.com", "https://", "https:///x", "https://h:0/", "https://h:70000/", "https://h:x/", "mailto:a@b",
		"postgres://db/x", "https://a b/", "https://127.1/", "https://0x7f000001/", "https://[::1/", "https://h\\@evil.com/", "https://h\n.com/",
		"https://*.example.com/",
	} {
		if e, err := resolve.URL(in); err == nil {
			t.Errorf("%q was accepted as %+v", in, e)
		}
	}
}

func itoa(n uint16) string {
	s := ""
	for ; n > 0; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

func TestPathPrefix(t *testing.T) {
	for in, want := range map[string][]string{
		"/": nil, "/admin": {"admin"}, "/admin/": {"admin"}, "/a/../b": {"b"}, "/%61/%2f": {"a", "%2F"}, "/ü x": {"%C3%BC%20x"}, "/..": nil,
	} {
		got, err := resolve.PathPrefix(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "admin", "/a?b", "/a#b"} {
		if got, err := resolve.PathPrefix(in); err == nil {
			t.Errorf("%q was accepted as %q", in, got)
		}
	}
}

func TestScheme(t *testing.T) {
	for in, want := range map[string]string{"HTTPS": "https", "git+ssh": "git+ssh", "x-1.a": "x-1.a"} {
		if got, err := resolve.Scheme(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "1a", "a b", "a:", "ä", "-a"} {
		if got, err := resolve.Scheme(in); err == nil {
			t.Errorf("%q was accepted as %q", in, got)
		}
	}
}

// TestLongHosts: mapping a name costs the square of its length, so it has a bound.
func TestLongHosts(t *testing.T) {
	for _, in := range []string{strings.Repeat("ä", 100_000), "*." + strings.Repeat("xn--a.", 100_000), strings.Repeat("a", 300)} {
		if got, err := resolve.HostPattern(in); err == nil {
			t.Errorf("%d bytes were accepted as %v", len(in), got)
		}
	}
}

// FuzzHost: an accepted host is canonical: parsed again it is itself, and no other parser could
// read more than a host in it.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "münchen.de", "10.0.0.5", "[::1]", "*.a.b", "0x7f.1", "a_b", "１.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := resolve.HostPattern(s)
		if err != nil {
			return
		}
		again, err := resolve.HostPattern(h.String())
		if err != nil || again != h {
			t.Fatalf("%q became %v, which becomes %v (%v)", s, h, again, err)
		}
		if strings.ContainsAny(h.Name, "/\\@?#%: []*\x00") {
			t.Fatalf("%q became %q", s, h.Name)
		}
	})
}

// FuzzURL: a target that is accepted has a canonical host, a port, and a path
// without dot segments.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"https://a.b/c/../d", "http://x@y:1/%2e%2e/z", "ftp://[::1]/", `https://a\b`, "ws://h:9/a//b/."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := resolve.URL(s)
		if err != nil {
			return
		}
		if again, err := resolve.Host(e.Host.String()); err != nil || again != e.Host || e.Port == 0 {
			t.Fatalf("%q: host %v, port %d", s, e.Host, e.Port)
		}
		if slices.ContainsFunc(e.Path, func(seg string) bool { return seg == "." || seg == ".." || strings.Contains(seg, "/") }) {
			t.Fatalf("%q: path %q", s, e.Path)
		}
	})
}
