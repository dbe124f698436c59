package sbpl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a profile. Parameters are those of -D; a parameter that is used and not defined
// is an error, as is everything that this reader does not understand: a construct that were
// skipped could be a denial.
func Parse(text string, params map[string]string) (*Profile, error) {
	data, err := scan(text)
	if err != nil {
		return nil, err
	}
	r := &reader{params: params, out: &Profile{byOp: map[string][]*rule{}}}
	r.enter(map[string]datum{})
	for _, d := range data {
		if err := r.statement(d, nil); err != nil {
			return nil, err
		}
	}
	if r.out.Version == 0 {
		return nil, datum{line: 1}.fail("no version specified")
	}
	return r.out, nil
}

type reader struct {
	params map[string]string
	out    *Profile
	// The state and the bounds of a profile that computes.
	scope        *scope
	steps, depth int
}

// statement reads one expression at the top of a profile, or inside of one that contains
// others. Filters of with-filter that surround it are in outer.
func (r *reader) statement(d datum, outer allOf) error {
	switch d.head() {
	case "allow", "deny":
		return r.rule(d, outer)
	case "version":
		return r.version(d)
	case "with-filter":
		return r.withFilter(d, outer)
	case "debug", "trace":
		return nil
	case "import":
		return d.fail("the profile imports another one, which is not at hand")
	default:
		return r.scheme(d, outer)
	}
}

func (r *reader) version(d datum) error {
	args := d.args()
	if len(args) != 1 || args[0].kind != number || args[0].num < 1 || args[0].num > 3 {
		return d.fail("expected a version of the language")
	}
	r.out.Version = args[0].num
	return nil
}

func (r *reader) withFilter(d datum, outer allOf) error {
	args := d.args()
	if len(args) == 0 {
		return d.fail("expected a filter and rules")
	}
	value, err := r.eval(args[0])
	if err != nil {
		return err
	}
	f, err := r.filter(value)
	if err != nil {
		return err
	}
	return r.within(map[string]datum{}, args[1:], append(slices.Clip(outer), f))
}

// rule reads an allow or deny: operations, filters of which one must match, and
// modifiers.
func (r *reader) rule(d datum, outer allOf) error {
	out := &rule{allow: d.head() == "allow", index: len(r.out.rules), line: d.line}
	var filters anyOf
	for _, a := range d.args() {
		a, err := r.eval(a)
		if err != nil {
			return err
		}
		switch {
		case a.kind == symbol:
			op, err := operation(a.text)
			if err != nil {
				return a.fail("there is no operation %s", a.text)
			}
			out.ops = append(out.ops, op)
		case a.head() == "with":
			if err := r.modifier(a, out); err != nil {
				return err
			}
		default:
			f, err := r.filter(a)
			if err != nil {
				return err
			}
			filters = append(filters, f)
		}
	}
	if len(out.ops) == 0 {
		return d.fail("a rule names no operation")
	}
	out.filter = join(filters, outer)
	r.out.rules = append(r.out.rules, out)
	for _, op := range out.ops {
		r.out.byOp[op] = append(r.out.byOp[op], out)
	}
	return nil
}

// join combines a rule's own filters with those around it; nil means none at all.
func join(filters anyOf, outer allOf) filter {
	switch {
	case len(outer) == 0 && len(filters) == 0:
		return nil
	case len(outer) == 0:
		return filters
	case len(filters) == 0:
		return outer
	default:
		return append(slices.Clip(outer), filters)
	}
}

// modifiers are the words of (with ...), and the action that each is valid with.
var modifiers = map[string]string{
	"no-log": "", "no-report": "", "report": "", "message": "deny", "send-signal": "deny", "no-sandbox": "allow",
	"default-sandbox": "allow", "telemetry": "", "telemetry-backtrace": "", "no-callout": "", "grant": "", "partial-symbolication": "",
}

// modifier reads (with ...). A message on an allowing rule makes the system refuse the profile
// ("message modifier does not apply to allow action").
func (r *reader) modifier(d datum, out *rule) error {
	args := d.args()
	if len(args) == 0 || args[0].kind != symbol {
		return d.fail("expected a modifier")
	}
	name := args[0].text
	action, known := modifiers[name]
	switch {
	case !known:
		return d.fail("found the modifier %s", name)
	case action == "deny" && out.allow || action == "allow" && !out.allow:
		return d.fail("%s modifier does not apply to this action", name)
	case name == "message":
		if len(args) != 2 {
			return d.fail("expected a message")
		}
		var err error
		out.message, err = r.string(args[1])
		return err
	case name == "send-signal" && len(args) == 2, len(args) == 1:
		out.modifiers = append(out.modifiers, name)
		return nil
	default:
		return d.fail("found more than the modifier %s", name)
	}
}

// filter reads one filter.
func (r *reader) filter(d datum) (filter, error) {
	name, args := d.head(), d.args()
	switch name {
	case "literal", "path", "path-literal":
		return r.path(d, isLiteral)
	case "subpath":
		return r.path(d, isSubpath)
	case "prefix", "path-prefix":
		return r.path(d, isPrefix)
	case "path-ancestors":
		return r.path(d, isAncestor)
	case "regex", "path-regex":
		return r.pattern(d)
	case "require-all", "require-any":
		return r.several(d)
	case "require-not":
		if len(args) != 1 {
			return nil, d.fail("expected one filter")
		}
		f, err := r.filter(args[0])
		return notOf{f}, err
	case "vnode-type":
		return oneWord(d, func(s string) filter { return kindFilter{s} })
	case "target":
		return oneWord(d, func(s string) filter { return targetFilter{s} })
	case "process-path":
		s, err := r.only(d)
		return processFilter{s}, err
	case "remote", "to":
		return r.address(d, false)
	case "local", "from":
		return r.address(d, true)
	default:
		return r.value(d)
	}
}

func (r *reader) several(d datum) (filter, error) {
	var fs []filter
	for _, a := range d.args() {
		f, err := r.filter(a)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	if len(fs) == 0 {
		return nil, d.fail("expected filters")
	}
	if d.head() == "require-all" {
		return allOf(fs), nil
	}
	return anyOf(fs), nil
}

func oneWord(d datum, of func(string) filter) (filter, error) {
	if args := d.args(); len(args) == 1 && args[0].kind == symbol {
		return of(args[0].text), nil
	}
	return nil, d.fail("expected one word")
}

// only reads the one string that a filter has.
func (r *reader) only(d datum) (string, error) {
	if args := d.args(); len(args) == 1 {
		return r.string(args[0])
	}
	return "", d.fail("expected one string")
}

// string reads a string. Parameters and strings put together are evaluated by then; a
// parameter that is not defined is false, which no filter takes.
func (r *reader) string(d datum) (string, error) {
	switch {
	case d.kind == text:
		return d.text, nil
	case d.isFalse():
		return "", d.fail("found #f, expected a string: a parameter is not defined")
	default:
		return "", d.fail("expected a string")
	}
}

func (r *reader) path(d datum, how pathMatch) (filter, error) {
	s, err := r.only(d)
	if err != nil {
		return nil, err
	}
	if how == isAncestor && s == "/" {
		return nil, d.fail("argument expected but none provided")
	}
	if !strings.HasPrefix(s, "/") && how != isPrefix {
		return nil, d.fail("the path %q is not absolute", s)
	}
	return pathFilter{how, s, fold(s)}, nil
}

func (r *reader) pattern(d datum) (filter, error) {
	s, err := r.only(d)
	if err != nil {
		return nil, err
	}
	re, err := pattern(d, s)
	if err != nil {
		return nil, err
	}
	return patternFilter{re, regexp.MustCompile("(?i)" + re.String())}, nil
}

// pattern compiles a regular expression, if it has nothing that the engine of the
// system lacks: it knows no groups with a question mark, no classes by letter, and
// no counts.
func pattern(d datum, s string) (*regexp.Regexp, error) {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '(' && s[i+1] == '?' || s[i] == '\\' && isWord(s[i+1]) {
			return nil, d.fail("the regular expression %q is not one of the system's", s)
		}
		if s[i] == '\\' {
			i++
		}
	}
	if strings.Contains(s, "{") {
		return nil, d.fail("the regular expression %q is not one of the system's", s)
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, d.fail("%v", err)
	}
	return re, nil
}

func isWord(c byte) bool {
	letter := c | 0x20
	return 'a' <= letter && letter <= 'z' || '0' <= c && c <= '9'
}

var protocols = []string{"ip", "ip4", "ip6", "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6"}

// address reads an end of a connection: a protocol and a host with a port, of which
// the host is * or localhost; or a unix socket by its path.
func (r *reader) address(d datum, local bool) (filter, error) {
	args := d.args()
	if len(args) == 0 || args[0].kind != symbol {
		return nil, d.fail("expected a protocol")
	}
	if name := args[0].text; name == "unix-socket" || name == "unix" {
		return r.socket(d, args[1:])
	}
	f := addressFilter{local: local, protocol: args[0].text}
	if !slices.Contains(protocols, f.protocol) || len(args) > 2 {
		return nil, d.fail("expected a protocol and an address")
	}
	if len(args) == 1 {
		return f, nil
	}
	s, err := r.string(args[1])
	if err != nil {
		return nil, err
	}
	host, port, ok := strings.Cut(s, ":")
	switch {
	case !ok:
		return nil, d.fail("port missing in network address")
	case host != "*" && host != "localhost":
		return nil, d.fail("host must be * or localhost in network address")
	case port != "*":
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return nil, d.fail("invalid port in network address")
		}
		f.port = uint16(n)
	}
	f.own = host == "localhost"
	return f, nil
}

func (r *reader) socket(d datum, args []datum) (filter, error) {
	switch len(args) {
	case 0:
		return socketFilter{}, nil
	case 1:
		f, err := r.filter(args[0])
		return socketFilter{f}, err
	default:
		return nil, d.fail("expected one path")
	}
}

// values are the filters that compare one named value.
var values = []string{
	"global-name", "local-name", "xpc-service-name", "ipc-posix-name", "sysctl-name", "notification-name",
	"iokit-property", "iokit-registry-entry-class", "iokit-user-client-class", "preference-domain", "mac-policy-name",
	"mac-syscall-number", "ioctl-command", "fsctl-command", "syscall-number", "fcntl-command", "socket-domain",
	"socket-type", "socket-protocol", "kernel-mig-routine", "machtrap-number", "right-name", "info-type", "extension", "extension-class", "xattr", "signal-number", "file-mode",
}

func (r *reader) value(d datum) (filter, error) {
	f := valueFilter{name: d.head()}
	name, regex := strings.CutSuffix(f.name, "-regex")
	if regex {
		f.name = name
	} else if f.name, f.prefix = strings.CutSuffix(f.name, "-prefix"); !f.prefix {
		f.name = d.head()
	}
	if !slices.Contains(values, f.name) || len(d.args()) == 0 {
		return nil, d.fail("found (%s ...), expected a filter", d.head())
	}
	var any anyOf
	for _, a := range d.args() {
		g := f
		var err error
		if g.value, err = r.word(a); err == nil && regex {
			g.re, err = pattern(d, g.value)
		}
		if err != nil {
			return nil, err
		}
		any = append(any, g)
	}
	return any, nil
}

// word reads a value of a filter: a symbol, a number or a string.
func (r *reader) word(d datum) (string, error) {
	switch {
	case d.kind == symbol && !d.isFalse():
		return d.text, nil
	case d.kind == number:
		return strconv.FormatInt(d.num, 10), nil
	default:
		return r.string(d)
	}
}
