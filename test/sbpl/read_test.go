package sbpl

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *Profile {
	t.Helper()
	p, err := Parse(text, map[string]string{"W": "/w", "D": `/a "b\`})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// TestStrings reads the strings of the language. Escapes that other languages have
// are no escapes here.
func TestStrings(t *testing.T) {
	for in, want := range map[string]string{
		`"/a b"`:              "/a b",
		`"/a\"b\\c"`:          `/a"b\c`,
		`"/\n\t\r"`:           "/\n\t\r",
		`"/\x41\X42"`:         "/AB",
		`"/\101\7x\0601"`:     "/A\ax01",
		`"/\u00e9\a\b\/"`:     "/u00e9ab/",
		`"/` + "ü%41$h" + `"`: "/ü%41$h",
		`#"/a\b"`:             `/a\b`,
		`#"/^x[.]$"`:          "/^x[.]$",
	} {
		data, err := scan(in)
		if err != nil || len(data) != 1 || data[0].kind != text || data[0].text != want {
			t.Errorf("%s: got %+v, %v, want %q", in, data, err, want)
		}
	}
}

// TestParseRefuses checks that nothing is skipped: a construct that the reader does not
// understand could be a denial.
func TestParseRefuses(t *testing.T) {
	long := strings.Repeat("x", 1024)
	for _, in := range []string{
		"(version 1) ; ü", "(version 1)\n; –\n(deny default)", "(version 1) (allow ü)",
		"", "(deny default)", "(version 4)", "(version)", `(version "1")`, ")", "(", "(version 1", `(version 1) "text"`, "(version 1) x",
		`(version 1) (allow file-read-data (literal "/a)`, `(version 1) (allow file-read-data (literal "/` + long + `"))`,
		`(version 1) (allow file-read-data (literal #"/` + long + `"))`, `(version 1) (allow file-read-data (literal #"/a))`,
		`(version 1) (allow file-read-data (literal "/\x4"))`, `(version 1) (allow file-read-data (literal "/\777"))`, `(version 1) (allow file-read-data (literal "/\`,
		"(version 1) (allow)", "(version 1) (allow file-read-dat)", "(version 1) (allow file-write)", `(version 1) (allow (literal "/a"))`,
		"(version 1) (allow file-read-data (literal))", "(version 1) (allow file-read-data (literal 1))",
		`(version 1) (allow file-read-data (literal "a"))`, `(version 1) (allow file-read-data (literal (param "NO")))`,
		`(version 1) (allow file-read-data (literal (string-append "/a" x)))`, `(version 1) (allow file-read-data (nope "/a"))`,
		`(version 1) (allow file-read-data (path-ancestors "/"))`, "(version 1) (allow file-read-data (require-all))",
		"(version 1) (allow file-read-data (require-not))", "(version 1) (allow file-read-data (vnode-type))",
		`(version 1) (allow file-read-data (regex "(?:a)"))`, `(version 1) (allow file-read-data (regex #"\d+"))`,
		`(version 1) (allow file-read-data (regex "a{2}"))`, `(version 1) (allow file-read-data (regex "(a"))`,
		`(version 1) (allow network-outbound (remote tcp "example.com:443"))`, `(version 1) (allow network-outbound (remote tcp "*:0"))`,
		`(version 1) (allow network-outbound (remote tcp "*:70000"))`, `(version 1) (allow network-outbound (remote tcp "localhost"))`,
		`(version 1) (allow network-outbound (remote tcp "*:1-2"))`, `(version 1) (allow network-outbound (remote sctp "*:1"))`,
		"(version 1) (allow network-outbound (remote))", "(version 1) (import \"system.sb\")", "(version 1) (set! x 1)",
		"(version 1) (if (defined? 'a))", "(version 1) (if a (deny default))", "(version 1) (with-filter)",
		`(version 1) (allow signal (with message "m"))`, `(version 1) (deny signal (with message))`, "(version 1) (deny signal (with))",
		"(version 1) (deny signal (with nope))", "(version 1) (deny process-exec (with no-sandbox))", "(version 1) (deny signal (with no-log x))",
		"(version 1)" + strings.Repeat("(", 200),
	} {
		if _, err := Parse(in, nil); !errors.Is(err, ErrProfile) {
			t.Errorf("%.80s: got %v, want a refusal", in, err)
		}
	}
}

// TestFilters puts one rule of every shape to requests that it is about, and to others.
func TestFilters(t *testing.T) {
	file := func(path string) Request { return Request{Path: path} }
	value := func(name, v string) Request { return Request{Values: map[string]string{name: v}} }
	tcp := func(addr string, port uint16, own bool) Request {
		return Request{Remote: &Address{Protocol: "tcp", Addr: netip.MustParseAddr(addr), Port: port, Own: own}}
	}
	local := Request{Local: &Address{Protocol: "udp", Addr: netip.MustParseAddr("10.0.0.1"), Port: 5}}
	for _, c := range []struct {
		rule    string
		yes, no []Request
	}{
		{`file-read-data (literal "/a")`, []Request{file("/a")}, []Request{file("/a/b"), file("/A"), file("/ab"), {}}},
		{`file-read-data (path "/a")`, []Request{file("/a")}, []Request{file("/a/b")}},
		{`file-read-data (subpath "/a")`, []Request{file("/a"), file("/a/b/c")}, []Request{file("/ab"), file("/")}},
		{`file-read-data (subpath "/")`, []Request{file("/"), file("/a/b")}, []Request{{}}},
		{`file-read-data (prefix "/a")`, []Request{file("/a"), file("/ab")}, []Request{file("/b")}},
		{`file-read-data (literal "/a") (vnode-type DIRECTORY)`, []Request{file("/a"), {Path: "/b", Kind: "DIRECTORY"}}, []Request{file("/b")}},
		{`file-read-data (require-all (literal "/a") (vnode-type DIRECTORY))`, []Request{{Path: "/a", Kind: "DIRECTORY"}}, []Request{file("/a")}},
		{`file-read-data (require-not (require-any (literal "/a") (literal "/b")))`, []Request{file("/c")}, []Request{file("/a"), file("/b")}},
		{`file-read-data (regex #"^/dev/ttys[0-9]+$")`, []Request{file("/dev/ttys01")}, []Request{file("/dev/ttysx"), file("/dev/ttys0/x"), file("x/dev/ttys0")}},
		{`file-read-data (path-ancestors (param "W"))`, []Request{file("/")}, []Request{file("/w"), file("/x")}},
		{`file-read-data (path-ancestors "/a/b/c")`, []Request{file("/"), file("/a"), file("/a/b")}, []Request{file("/a/b/c"), file("/a/c")}},
		{`file-read-data (literal (param "D"))`, []Request{file(`/a "b\`)}, []Request{file("/a")}},
		{`file-read-data (subpath (string-append (param "W") "/s" "rc"))`, []Request{file("/w/src/x")}, []Request{file("/w/s")}},
		{`process-exec (process-path "/bin/sh")`, []Request{{Process: "/bin/sh"}}, []Request{{Process: "/bin/s"}}},
		{`signal (target same-sandbox)`, []Request{{Target: "same-sandbox"}, {Target: "self"}}, []Request{{Target: "others"}, {}}},
		{`signal (target self)`, []Request{{Target: "self"}}, []Request{{Target: "same-sandbox"}}},
		{`mach-lookup (global-name "a.b")`, []Request{value("global-name", "a.b")}, []Request{value("global-name", "a.bc"), value("local-name", "a.b"), {}}},
		{`mach-lookup (xpc-service-name-prefix "")`, []Request{value("xpc-service-name", "x")}, []Request{value("global-name", "x")}},
		{`mach-lookup (global-name-regex "^a[.]")`, []Request{value("global-name", "a.b")}, []Request{value("global-name", "ab")}},
		{`sysctl-read (sysctl-name-prefix "kern.")`, []Request{value("sysctl-name", "kern.x")}, []Request{value("sysctl-name", "hw.x")}},
		{`file-ioctl (ioctl-command 2147578994)`, []Request{value("ioctl-command", "2147578994")}, []Request{value("ioctl-command", "1")}},
		{`file-ioctl (ioctl-command #x80017472)`, []Request{value("ioctl-command", "2147578994")}, nil},
		{`system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2))`,
			[]Request{{Values: map[string]string{"socket-domain": "AF_SYSTEM", "socket-protocol": "2"}}}, []Request{value("socket-domain", "AF_SYSTEM")}},
		{`network-outbound (remote tcp "localhost:80")`,
			[]Request{tcp("127.0.0.1", 80, false), tcp("::1", 80, false), tcp("0.0.0.0", 80, false), tcp("10.0.0.9", 80, true)},
			[]Request{tcp("127.0.0.2", 80, false), tcp("10.0.0.8", 80, false), tcp("127.0.0.1", 81, false), {}}},
		{`network-outbound (remote tcp4 "*:*")`, []Request{tcp("1.2.3.4", 1, false)}, []Request{tcp("::2", 1, false)}},
		{`network-outbound (remote ip6 "*:443")`, []Request{tcp("::2", 443, false)}, []Request{tcp("1.2.3.4", 443, false)}},
		{`network-outbound (remote udp)`, nil, []Request{tcp("1.2.3.4", 1, false)}},
		{`network-outbound (local ip "localhost:*")`, []Request{local}, []Request{tcp("1.2.3.4", 1, false)}},
		{`network-outbound (remote unix-socket (path-literal "/s"))`, []Request{file("/s")}, []Request{file("/t"), {}}},
		{`network-outbound (remote unix-socket)`, []Request{file("/s")}, []Request{tcp("1.2.3.4", 1, false)}},
		{`file-read-data file-write-data (literal "/a") (with no-log) (with report)`, []Request{file("/a")}, []Request{file("/b")}},
	} {
		p := parse(t, "(version 1)(deny default)\n(allow "+c.rule+")")
		op, _, _ := strings.Cut(c.rule, " ")
		for want, requests := range map[bool][]Request{true: c.yes, false: c.no} {
			for _, r := range requests {
				if got, err := p.Allows(op, r); err != nil || got != want {
					t.Errorf("%s on %+v: got %v, %v, want %v", c.rule, r, got, err, want)
				}
			}
		}
	}
}

func TestFold(t *testing.T) {
	p := parse(t, `(version 1)(deny default)(allow file-read-data (subpath "/Ws/Ünder") (regex "^/Re/x"))`)
	for path, want := range map[string]bool{"/wS/üNDER/x": true, "/re/X": true, "/ws": false} {
		if got, err := p.Allows("file-read-data", Request{Path: path, Fold: true}); got != want || err != nil {
			t.Errorf("%s: got %v, %v", path, got, err)
		}
		if got, _ := p.Allows("file-read-data", Request{Path: path}); got {
			t.Errorf("%s: allowed with regard to case", path)
		}
	}
}

func TestWrappers(t *testing.T) {
	p := parse(t, `(version 1)(deny default)(debug deny)
		(with-filter (process-path "/p") (allow file-read-data (literal "/a") (literal "/b")) (allow file-write-data))
		(if (defined? 'file-graft) (deny file-graft)) (when (defined? 'x) (allow mach-lookup) (allow signal))`)
	for _, c := range []struct {
		op   string
		r    Request
		want bool
	}{
		{"file-read-data", Request{Path: "/a", Process: "/p"}, true},
		{"file-read-data", Request{Path: "/a", Process: "/q"}, false},
		{"file-read-data", Request{Path: "/c", Process: "/p"}, false},
		{"file-write-data", Request{Path: "/c", Process: "/p"}, true},
		{"file-graft", Request{}, false}, {"mach-lookup", Request{}, true}, {"signal", Request{}, true},
	} {
		if got, err := p.Allows(c.op, c.r); err != nil || got != c.want {
			t.Errorf("%s %+v: got %v, %v", c.op, c.r, got, err)
		}
	}
	if _, err := p.Allows("file-reed", Request{}); !errors.Is(err, ErrProfile) {
		t.Errorf("an unknown operation: %v", err)
	}
}

// FuzzParse checks that no text makes the reader panic, hang or permit an operation that it
// cannot read, and that an accepted profile answers.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"(version 1)(deny default)", `(version 1)(allow file-read* (subpath "/a\x41\101\"") (with no-log))`, `#"raw"`, "(((", "'x", "; c",
		`(version 1)(allow network-outbound (remote tcp "localhost:80"))(with-filter (literal "/a") (deny signal))`,
		`(version 1)(if (defined? 'a) (allow file-read-data (regex #"^/x[0-9]+$") (require-not (vnode-type TTY))))`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		p, err := Parse(in, map[string]string{"W": "/w"})
		if err != nil {
			if p != nil || !errors.Is(err, ErrProfile) {
				t.Fatalf("%q: %v, %v", in, p, err)
			}
			return
		}
		if _, err := p.Allows("file-read-data", Request{Path: "/a", Fold: true}); err != nil && !errors.Is(err, ErrDisagree) {
			t.Fatalf("%q: %v", in, err)
		}
	})
}
