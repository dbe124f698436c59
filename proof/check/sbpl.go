package check

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A profile is a text of the macOS sandbox, as far as it is about files, programs and connections. What else such a
// text says has to be a statement of frame.
//
// Two readings of it are published (docs/platforms/macos.md): among the rules with a filter that name an operation the
// last match wins, a rule without a filter is a default, and an operation's own rules go before its family's; or the
// last match wins whatever it names. A text on which they differ is refused.
type profile struct {
	rules  []sbRule
	places []string      // paths at which an answer may change
	names  []sbNames     // the regular expressions, taken apart
	hosts  []string      // targets by addresses
	loader string        // the document in the comments at the end
	last   map[sbAt]sbOf // answers so far
}

type sbAt struct {
	path string
	dir  bool
}

// An sbOf is the decision on each operation at one place.
type sbOf struct {
	allows map[string]bool
	err    error
}

type sbRule struct {
	allow   bool
	ops     []string
	literal map[string]bool
	subpath map[string]bool
	filters []sbFilter // the others; any of all matches
	net     bool
}

// An sbFilter matches a path, or "remote tcp HOST:PORT" and "local tcp HOST:PORT".
type sbFilter func(at string, dir bool) bool

// An sbNames is a regular expression in the form that rules by name take: below a place, at a component with one of
// some names, or a number of components below it, or deeper.
type sbNames struct {
	below string
	name  *regexp.Regexp // of bytes, as the system's
	globs []string       // the patterns of names that it stands for
	depth int
	tree  bool
}

func (n *sbNames) matches(at string, _ bool) bool {
	rest, ok := strings.CutPrefix(at, n.below+"/")
	all := strings.Split(rest, "/")
	for i := 0; ok && i < len(all)-n.depth; i++ {
		if (n.tree || i == len(all)-1-n.depth) && n.name.MatchString(latin(all[i])) {
			return true
		}
	}
	return false
}

// latin spells each byte as a character.
func latin(s string) string {
	out := make([]rune, len(s))
	for i := range len(s) {
		out[i] = rune(s[i])
	}
	return string(out)
}

// frameText lists what a profile says beside the policy, in its order: that it may be so is an assumption. A text has
// to say what is marked with an exclamation mark.
const frameText = `
!(version 1)
!(deny default)
!(deny file-clone)
!(deny file-link)
!(deny file-map-executable)
!(deny file-write-setugid)
!(deny process-info*)
!(deny fs-snapshot-mount)
!(if (defined? (quote file-graft)) (deny file-graft))
!(if (defined? (quote file-ungraft)) (deny file-ungraft))
(allow file-test-existence)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow file-read-data file-read-metadata (literal "/"))
(allow file-read-metadata (literal "/etc") (literal "/tmp") (literal "/var") (literal "/private/etc/localtime") ` +
	`(literal "/dev/stdin") (literal "/dev/stdout") (literal "/dev/stderr"))
(allow file-ioctl (literal "/dev/autofs_nowait") (literal "/dev/dtracehelper") (literal "/dev/fd") ` +
	`(literal "/dev/null") (literal "/dev/random") (literal "/dev/tty") (literal "/dev/urandom") (literal "/dev/zero"))
(allow file-ioctl (literal "/dev/autofs_nowait") (literal "/dev/dtracehelper") (literal "/dev/fd") ` +
	`(literal "/dev/null") (literal "/dev/random") (literal "/dev/urandom"))
(allow file-read-data file-read-metadata (literal "/private/var/db/xcode_select_link"))
(allow file-read-metadata (literal "/private/tmp") (subpath "/private/tmp"))
(allow file-read-metadata file-ioctl (regex "^/dev/ttys[0-9]+$"))
(allow sysctl-read)
(deny sysctl-read (sysctl-name-prefix "kern.proc"))
(allow sysctl-read (sysctl-name-prefix "kern.proc.pid.") (sysctl-name-prefix "kern.proc.pgrp."))
(allow sysctl-write (sysctl-name "kern.grade_cputype"))
(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow system-fsctl (fsctl-command FSIOC_CAS_BSDFLAGS))
(allow system-mac-syscall (mac-policy-name "vnguard"))
(allow system-mac-syscall (require-all (mac-policy-name "Sandbox") (mac-syscall-number 67)))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") ` +
	`(global-name "com.apple.system.opendirectoryd.membership"))
(allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))
(allow ipc-posix-sem*)
!(deny file-ioctl (ioctl-command 2147578994))
!(deny mach-lookup (xpc-service-name-prefix ""))
!(deny system-fcntl (fcntl-command 64 80 110))
`

func frame() []string { return strings.Split(strings.TrimSpace(frameText), "\n") }

// The operations that a policy decides, and those by which parts of a capability are exercised.
var (
	sbMetadata = []string{
		"file-write-mode", "file-write-flags", "file-write-times", "file-write-xattr", "file-write-owner",
		"file-write-acl", "file-write-finderinfo",
	}
	sbFiles = []string{
		"file-read-data", "file-read-metadata", "file-read-xattr", "file-clone", "file-link", "file-map-executable",
		"file-write*", "file-write-data", "file-write-create", "file-write-unlink", "file-write-setugid",
		"process-exec*", "process-exec-interpreter",
		"file-write-mode", "file-write-flags", "file-write-times", "file-write-xattr", "file-write-owner",
		"file-write-acl", "file-write-finderinfo", // sbMetadata
	}
	sbNet = []string{"network-outbound", "network-bind", "network-inbound"}
)

// readProfile reads a text whose parameters have the given values.
func readProfile(text string, params map[string]string) (*profile, error) {
	p, frame := &profile{last: map[sbAt]sbOf{}}, frame()
	forms, comments, err := readForms(text)
	if err != nil {
		return nil, err
	}
	for _, line := range comments {
		if doc, ok := strings.CutPrefix(line, "!"); ok {
			p.loader += doc + "\n"
		}
	}
	next := 0
	for _, f := range forms {
		if !f.told() {
			return nil, fmt.Errorf("%s: has a modifier that is no message of a denial", clip(f.String()))
		}
		says := f.without("with").String()
		i := slices.IndexFunc(frame[next:], func(s string) bool { return strings.TrimPrefix(s, "!") == says })
		if i >= 0 {
			if err := lacks(frame[next : next+i]); err != nil {
				return nil, err
			}
			next += i + 1
			continue
		}
		r, err := p.rule(f, params)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", clip(says), err)
		}
		p.rules = append(p.rules, r)
	}
	return p, lacks(frame[next:])
}

// lacks returns an error where a statement that has to be there was left out.
func lacks(statements []string) error {
	if i := slices.IndexFunc(statements, func(s string) bool { return s[0] == '!' }); i >= 0 {
		return fmt.Errorf("the profile lacks %s, or has it in another place", statements[i][1:])
	}
	return nil
}

// rule reads a statement about operations of the policy.
func (p *profile) rule(f form, params map[string]string) (sbRule, error) {
	if len(f.list) < 3 || f.list[0].word != "allow" && f.list[0].word != "deny" {
		return sbRule{}, fmt.Errorf("is no statement that a policy leads to")
	}
	r := sbRule{allow: f.list[0].word == "allow", literal: map[string]bool{}, subpath: map[string]bool{}}
	places := 0
	for _, x := range f.list[1:] {
		if x.word == "" {
			if x.head() == "with" {
				continue
			}
			places++
			filter, net, err := p.filter(x, params)
			if err != nil {
				return r, err
			}
			if places > 1 && net != r.net {
				return r, fmt.Errorf("mixes paths and addresses")
			}
			switch r.net = net; x.head() {
			case "literal":
				r.literal[p.places[len(p.places)-1]] = true
			case "subpath":
				r.subpath[p.places[len(p.places)-1]] = true
			default:
				r.filters = append(r.filters, filter)
			}
			continue
		}
		if places > 0 || !slices.Contains(sbFiles, x.word) && !slices.Contains(sbNet, x.word) {
			return r, fmt.Errorf("%s is no operation of a policy here", x.word)
		}
		r.ops = append(r.ops, x.word)
	}
	if len(r.ops) == 0 || places == 0 {
		return r, fmt.Errorf("names no operation or no place")
	}
	for _, op := range r.ops {
		if slices.Contains(sbNet, op) != r.net {
			return r, fmt.Errorf("%s takes no such filter", op)
		}
	}
	return r, nil
}

// filter reads a filter and reports whether it is about addresses.
func (p *profile) filter(f form, params map[string]string) (sbFilter, bool, error) {
	bad := func(why string) (sbFilter, bool, error) {
		return nil, false, fmt.Errorf("%s: %s", clip(f.String()), why)
	}
	switch f.head() {
	case "require-all", "require-any", "require-not":
		var all []sbFilter
		for _, x := range f.list[1:] {
			one, net, err := p.filter(x, params)
			if err != nil || net {
				return bad("is no combination of places")
			}
			all = append(all, one)
		}
		want := f.head() == "require-all"
		if len(all) == 0 || f.head() == "require-not" && len(all) != 1 {
			return bad("has no parts, or too many")
		}
		if f.head() == "require-not" {
			return func(at string, dir bool) bool { return !all[0](at, dir) }, false, nil
		}
		return func(at string, dir bool) bool {
			return slices.ContainsFunc(all, func(x sbFilter) bool { return x(at, dir) != want }) != want
		}, false, nil
	case "vnode-type":
		if len(f.list) == 2 && f.list[1].word == "DIRECTORY" {
			return func(_ string, dir bool) bool { return dir }, false, nil
		}
		return bad("is no kind of file that occurs")
	case "remote", "local":
		if len(f.list) != 3 || f.list[1].word != "tcp" {
			return bad("is no address of TCP")
		}
		text, err := p.text(f.list[2], params, false)
		host, port, ok := strings.Cut(text, ":")
		if err != nil || !ok || host != "*" && host != "localhost" || strings.Contains(port, ":") {
			return bad("is no * or localhost with a port")
		}
		e := endpoint{listen: f.head() == "local", scheme: "tcp", host: host, port: 9}
		if host == "*" {
			e.host = "192.0.2.1"
		}
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			e.port = uint16(n)
		}
		if port != "${proxy}" {
			p.hosts = append(p.hosts, e.String())
		}
		side := f.head() + " tcp "
		return func(at string, _ bool) bool {
			h, o, _ := strings.Cut(strings.TrimPrefix(at, side), ":")
			return strings.HasPrefix(at, side) && (host == "*" || h == host) && (port == "*" || o == port)
		}, true, nil
	}
	if len(f.list) != 2 {
		return bad("is no filter that occurs")
	}
	text, err := p.text(f.list[1], params, f.head() == "regex")
	if err != nil {
		return bad(err.Error())
	}
	if f.head() == "regex" {
		n, err := readNames(text)
		if err != nil {
			return bad(err.Error())
		}
		p.names, p.places = append(p.names, *n), append(p.places, n.below)
		return n.matches, false, nil
	}
	if text != "/" && (strings.HasSuffix(text, "/") || strings.Contains(text, "//") || text == "" ||
		slices.Contains(strings.Split(text, "/"), "..") || slices.Contains(strings.Split(text, "/"), ".")) {
		return bad("is no clean path, and matches nothing")
	}
	switch f.head() {
	case "literal":
		p.places = append(p.places, text)
		return func(at string, _ bool) bool { return at == text }, false, nil
	case "subpath":
		p.places = append(p.places, text)
		return func(at string, _ bool) bool {
				return at == text || strings.HasPrefix(at, strings.TrimSuffix(text, "/")+"/")
			},
			false, nil
	case "path-ancestors":
		return func(at string, _ bool) bool {
				return strings.HasPrefix(text, strings.TrimSuffix(at, "/")+"/") && at != text
			},
			false, nil
	}
	return bad("is no filter that occurs")
}

// text reads a string of literals and parameters. In an expression a parameter stands quoted, and quote puts the value
// in unquoted between two zero bytes, which no path has.
func (p *profile) text(f form, params map[string]string, quote bool) (string, error) {
	switch {
	case f.text:
		if len(f.word) > 1000 {
			return "", fmt.Errorf("a string is longer than the system reads")
		}
		return f.word, nil
	case f.head() == "param" && len(f.list) == 2 && f.list[1].text && !quote:
		v, ok := params[f.list[1].word]
		if !ok {
			return "", fmt.Errorf("has a parameter without a value")
		}
		return v, nil
	case f.head() == "regex-quote" && len(f.list) == 2 && quote:
		v, err := p.text(f.list[1], params, false)
		return "\x00" + v + "\x00", err
	case f.head() == "string-append":
		out := ""
		for _, x := range f.list[1:] {
			s, err := p.text(x, params, quote)
			if err != nil {
				return "", err
			}
			out += s
		}
		return out, nil
	}
	return "", fmt.Errorf("is no string")
}

// readNames takes an expression apart. What it quotes stands between zero bytes.
func readNames(text string) (*sbNames, error) {
	const way, one, rest = "/(.*/)?", "/[^/]*", "(/.*)?"
	n := &sbNames{}
	odd := fmt.Errorf("is no expression of rules by name")
	text, ok := strings.CutPrefix(text, "^")
	text, end := strings.CutSuffix(text, "$")
	head, tail, cut := strings.Cut(text, way)
	if !ok || !end || !cut {
		return nil, odd
	}
	for i, s := range strings.Split(head, "\x00") {
		if i%2 == 0 {
			if sbPlain.get().ReplaceAllString(s, "") != "" {
				return nil, odd
			}
			s = sbPlain.get().ReplaceAllString(s, "$1$2")
		}
		n.below += s
	}
	tail, n.tree = strings.CutSuffix(tail, rest)
	for cut = true; cut; {
		if tail, cut = strings.CutSuffix(tail, one); cut {
			n.depth++
		}
	}
	globs, left := readChoice(tail)
	x, err := regexp.Compile("^(?s:" + latin(tail) + ")$")
	if err != nil || left != "" || len(globs) == 0 || len(globs) > 256 {
		return nil, odd
	}
	n.name, n.globs = x, globs
	return n, nil
}

// The parts of expressions: plain and quoted characters; for names, those and any run or one of a set.
var (
	sbPlain = expression{text: `\\([^A-Za-z0-9])|([^\\.\[\]()*+?|^${}])`}
	sbPart  = expression{text: `^(?:\[\^/\]\*?|\[\^?[^\[\]^\\]+\]|\\[^A-Za-z0-9/]|[^\\.\[\]()*+?|^${}/])`}
)

// expression is compiled when it is first used: nothing of the checker is initialised with a program.
type expression struct {
	text string
	once sync.Once
	made *regexp.Regexp
}

func (x *expression) get() *regexp.Regexp {
	x.once.Do(func() { x.made = regexp.MustCompile(x.text) })
	return x.made
}

// oneCase reports whether a set or a character stands for a letter in one case: file systems do not tell cases apart.
func oneCase(part string) bool {
	other := func(r rune) rune {
		if unicode.IsLower(r) {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}
	return strings.ContainsFunc(part, func(r rune) bool {
		return r < utf8.RuneSelf && unicode.IsLetter(r) && !strings.ContainsRune(part, other(r))
	})
}

// readChoice spells the alternatives at the beginning of an expression as patterns of names, and returns what is left.
func readChoice(s string) (globs []string, left string) {
	runs := []string{""}
	for {
		part, inner := sbPart.get().FindString(s), []string(nil)
		switch {
		case part != "" && part[0] != '\\' && oneCase(part):
			return nil, s
		case part != "":
			s = s[len(part):]
			inner = []string{map[string]string{"[^/]*": "*", "[^/]": "?"}[part]}
			if inner[0] == "" {
				inner[0] = part
			}
		case strings.HasPrefix(s, "("):
			if inner, s = readChoice(s[1:]); !strings.HasPrefix(s, ")") {
				return nil, s
			}
			s = s[1:]
		default:
			globs = append(globs, runs...)
			if !strings.HasPrefix(s, "|") {
				return globs, s
			}
			runs, s = []string{""}, s[1:]
			continue
		}
		var next []string
		for _, r := range runs {
			for _, x := range inner {
				next = append(next, r+x)
			}
		}
		if runs = next; len(runs) > 256 {
			return nil, s
		}
	}
}

// families are the names under which rules cover an operation, the nearest first.
func families(op string) []string {
	out := []string{op}
	base := strings.TrimSuffix(op, "*")
	for i := len(base); i > 0; i = strings.LastIndexByte(base[:i], '-') {
		if name := base[:i] + "*"; name != op {
			out = append(out, name)
		}
	}
	return out
}

// allows says whether the system carries out an operation at a place: of a file, or of a directory.
func (p *profile) allows(op, at string, dir bool) (bool, error) {
	key := sbAt{at, dir}
	of, ok := p.last[key]
	if !ok {
		of = p.decide(at, dir)
		p.last[key] = of
	}
	if of.err != nil {
		return false, of.err
	}
	return of.allows[op], nil
}

func (p *profile) decide(at string, dir bool) sbOf {
	of := sbOf{allows: map[string]bool{}}
	named, last, way := map[string]bool{}, map[string]bool{}, prefixes(at)
	for _, r := range p.rules {
		if !r.literal[at] && !slices.ContainsFunc(way, func(up string) bool { return r.subpath[up] }) &&
			!slices.ContainsFunc(r.filters, func(f sbFilter) bool { return f(at, dir) }) {
			continue
		}
		for _, op := range r.ops {
			named[op] = r.allow
			if !strings.HasSuffix(op, "*") {
				last[op] = r.allow
				continue
			}
			for _, leaf := range append(sbFiles, sbNet...) {
				if slices.Contains(families(leaf), op) {
					last[leaf] = r.allow
				}
			}
		}
	}
	for _, op := range append(sbFiles, sbNet...) {
		for _, name := range families(op) {
			if v, ok := named[name]; ok {
				of.allows[op] = v
				break
			}
		}
		if of.allows[op] != last[op] {
			of.err = fmt.Errorf("the readings of the profile differ: %s at %s", op, at)
		}
	}
	return of
}
