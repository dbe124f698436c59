package fleet

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
)

// Question is a question that is put to every policy: whether it grants an operation on anything at or below a place,
// on a target of the network, a variable or a program.
type Question struct {
	Text string

	// files are the capabilities of which any is asked about, at or below path: a path of the workspace, a
	// path that begins with "~", or an absolute path.
	files ir.CapSet
	path  string
	// host is set for a question about the network, with the scheme, port, path and method if they are named.
	host         ir.Host
	scheme       string
	port         uint16
	segments     []string
	method       string
	listen       *ir.Listen
	variable     string
	program      string
	arguments    []string
	anyArguments bool
}

// Verdict is an answer.
type Verdict string

// The verdicts.
const (
	No Verdict = "no"
	// Yes: the policy grants it.
	Yes Verdict = "yes"
	// Ask: the user can grant it while the tool runs.
	Ask Verdict = "ask"
	// Maybe: it is granted where a symlink of the workspace leads, which no manifest says.
	Maybe Verdict = "maybe"
)

// Answer is the answer of a policy.
type Answer struct {
	Verdict Verdict
	// Operation is an operation that is granted: the question, or an operation on something
	// below its place.
	Operation string
	// Rule is the rule that grants it, At its place; empty where none is needed.
	Rule, At string
}

// write stands for all capabilities that change something.
const write = "write"

// ParseQuestion reads a question, in the words of accessc can, with a few more: "write PATH" for any change, "connect
// HOST", "connect HOST:PORT" and "connect *" for any request to them.
func ParseQuestion(text string) (*Question, error) {
	all, err := split.Words(text)
	if err != nil {
		return nil, err
	}
	q := &Question{Text: text}
	switch {
	case len(all) == 2 && all[0] == write:
		q.files, q.path = ir.Write, all[1]
		return q, q.place()
	case len(all) == 2 && all[0] == "connect" && !strings.Contains(all[1], "://"):
		return q, q.address(all[1])
	}
	asked, err := resolve.ParseQuestion(all)
	if err != nil {
		return nil, err
	}
	return q, q.of(asked)
}

// of takes over a question in the words of accessc can.
func (q *Question) of(asked resolve.Question) error {
	switch asked.Verb {
	case "connect":
		to, err := resolve.URL(asked.Operands[0])
		q.host, q.scheme, q.port, q.segments, q.method = to.Host, to.Scheme, to.Port, to.Path, asked.Method
		return err
	case "listen":
		op, err := resolve.Asker{}.Operation(asked)
		if l, ok := op.(ir.Listen); ok {
			q.listen = &l
		}
		return err
	case "env":
		q.variable = asked.Operands[0]
		return nil
	case "run":
		q.program, q.arguments, q.anyArguments = asked.Operands[0], asked.Args, len(asked.Args) == 0
		return nil
	}
	c, ok := ir.ParseCapability(asked.Verb)
	if !ok {
		return fmt.Errorf("found %q, which depends on two places or on what is made; expected one of "+
			"read, create, update, delete, execute, write, connect, listen, env, run", asked.Verb)
	}
	q.files, q.path = ir.Caps(c), asked.Operands[0]
	return q.place()
}

// place makes the path canonical.
func (q *Question) place() (err error) {
	if q.path, err = resolve.RuleName(q.path); err == nil {
		err = resolve.CheckText(q.path)
	}
	return err
}

// address reads HOST or HOST:PORT; the host may be a pattern.
func (q *Question) address(text string) (err error) {
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		host, port = text[:i], text[i+1:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf("found port %q, expected 1 to 65535", port)
		}
		q.port = uint16(n)
	}
	q.host, err = resolve.HostPattern(host)
	return err
}

// Put asks a tool. Tools that accessc does not confine have no policy to ask.
func (q *Question) Put(t *ir.Tool) Answer {
	a := q.put(ir.NewView(t, ir.Linux, ir.Facts{}))
	if a.Verdict != Yes && len(t.May)+len(t.MayNet) > 0 {
		if may := q.put(ir.NewView(ir.Grantable(t), ir.Linux, ir.Facts{})); may.Verdict == Yes {
			may.Verdict = Ask
			return may
		}
	}
	return a
}

func (q *Question) put(v *ir.View) Answer {
	switch {
	case q.files != 0:
		return q.putFiles(v)
	case q.listen != nil:
		return answer(v.Decide(*q.listen), q.Text)
	case q.variable != "":
		return answer(v.Decide(ir.Forward{Name: q.variable}), q.Text)
	case q.program != "":
		return q.putProgram(v)
	default:
		return q.putNetwork(v)
	}
}

// answer is the answer to an operation.
func answer(v ir.Verdict, operation string) Answer {
	if !v.Allowed() {
		return Answer{Verdict: No}
	}
	out := Answer{Verdict: Yes, Operation: operation}
	if v.Rule != nil {
		out.Rule, out.At = v.Rule.Subject(), v.Rule.Source().String()
	}
	return out
}

// fresh is a name below a place that no rule is about, as far as names tell.
const fresh = "any-other-name"

// userHome stands for the home directory of any user: below the directory that Linux has homes in.
const userHome = "/home/~"

// putFiles asks about one place of every region at or below the path: none of the rules tells the places of a region
// apart. See decision D273.
func (q *Question) putFiles(v *ir.View) Answer {
	maybe := Answer{Verdict: No}
	for _, at := range q.places(v) {
		for _, c := range q.files.List() {
			if a := answer(v.Decide(ir.Access{Cap: c, On: ir.Direct(at)}),
				c.String()+" "+at.Short()); a.Verdict == Yes {
				return a
			}
		}
	}
	if q.inWorkspace() {
		return maybe
	}
	for _, root := range v.Roots() {
		if root.Kind != ir.External || root.Direct() {
			continue
		}
		v.Regions(root).WalkRoot(func(r *ir.Region) {
			for _, name := range append([]string{fresh}, namesIn(r)...) {
				for _, c := range q.files.List() {
					asked := ir.Access{Cap: c, On: ir.Direct(r.At.Child(name))}
					a := answer(v.Decide(asked), c.String()+" "+r.At.Short())
					if a.Verdict == Yes && maybe.Verdict == No {
						maybe = a
						maybe.Verdict = Maybe
					}
				}
			}
		})
	}
	return maybe
}

// inWorkspace reports whether the path belongs to the workspace.
func (q *Question) inWorkspace() bool {
	return !strings.HasPrefix(q.path, "~") && !strings.HasPrefix(q.path, "/")
}

// places are the path itself, and a place of each region below it.
func (q *Question) places(v *ir.View) []ir.Location {
	b := bindings(v)
	var out []ir.Location
	add := func(at ir.Location) { out = append(out, at, at.Child(fresh)) }
	addNames := func(r *ir.Region, at ir.Location) {
		for _, name := range namesIn(r) {
			add(at.Child(name))
		}
	}
	var around *ir.Region // the deepest region that the place is in
	asked := q.path
	if !q.inWorkspace() {
		asked = absolute(q.path)
		add(b.Locate(asked))
	} else if root, rest, ok := linked(v, q.path); ok {
		add(ir.Location{Root: root, Path: rest})
	} else {
		add(ir.In(q.path))
	}
	for _, root := range v.Roots() {
		base, bound := b.Path(ir.Location{Root: root})
		switch {
		case q.inWorkspace() && root.Kind == ir.Workspace:
			base = ""
		case q.inWorkspace() && root.Kind == ir.External && !root.Direct():
			base = root.Name
		case q.inWorkspace() || !bound, root.Kind == ir.System && strings.HasPrefix(q.path, "~"):
			continue // the base names nothing in a home
		}
		v.Regions(root).WalkRoot(func(r *ir.Region) {
			switch at := join(base, r.At.Path); {
			case ir.Within(at, asked):
				addNames(r, r.At)
				add(r.At)
			case ir.Within(asked, at):
				around = r
			}
		})
	}
	if around != nil {
		addNames(around, out[0])
	}
	return out
}

// namesIn are names that stand for all that rules by name tell apart in a region.
func namesIn(r *ir.Region) []string {
	var lists [][]string
	for _, e := range r.ByName {
		lists = append(lists, e.Rule.Names)
	}
	if len(lists) == 0 {
		return nil
	}
	names, _ := ir.NameClasses(lists, nil)
	return names
}

func join(base, below string) string {
	switch {
	case base == "" || below == "":
		return base + below
	default:
		return strings.TrimSuffix(base, "/") + "/" + below
	}
}

// linked finds the external rule by whose symlink a path of the workspace leads out of it.
func linked(v *ir.View, name string) (root ir.Root, rest string, ok bool) {
	for _, r := range v.Roots() {
		if r.Kind == ir.External && !r.Direct() && ir.Within(name, r.Name) && len(r.Name) >= len(root.Name) {
			root, rest, ok = r, strings.TrimPrefix(strings.TrimPrefix(name, r.Name), "/"), true
		}
	}
	return root, rest, ok
}

// absolute puts a path of the user's home, or an absolute path, where bindings has the paths of
// rules.
func absolute(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		return path.Join(userHome, rest)
	}
	return path.Clean(name)
}

// bindings are the places of external rules that name them by themselves. The workspace and the targets of symlinks
// are nowhere.
func bindings(v *ir.View) *ir.Bindings {
	b := &ir.Bindings{External: map[string]string{}}
	for _, r := range v.Roots() {
		if r.Direct() {
			b.External[r.Name] = absolute(r.Name)
		}
	}
	return b
}

// putProgram asks about a program by its name; without arguments, whether it may be started with any.
func (q *Question) putProgram(v *ir.View) Answer {
	first := answer(v.Decide(ir.Run{Program: q.program, Args: q.arguments}), q.Text)
	if first.Verdict == Yes || !q.anyArguments || v.Tool.Commands == nil {
		return first
	}
	for _, r := range v.Tool.Commands.Rules {
		for _, args := range r.Args {
			if a := answer(v.Decide(ir.Run{Program: q.program, Args: args.Words}),
				q.Text+" "+strings.Join(args.Words, " ")); a.Verdict == Yes {
				return a
			}
		}
	}
	return first
}

// putNetwork asks about every host of the rules that the question is about, besides a host that no rule is
// about.
func (q *Question) putNetwork(v *ir.View) Answer {
	hosts := []ir.Host{someHost(q.host)}
	if q.host.Kind == ir.HostSuffix || q.host.Kind == ir.HostAny {
		for i := range v.Tool.Net {
			if h := someHost(v.Tool.Net[i].Host); q.covers(h) && !slices.Contains(hosts, h) {
				hosts = append(hosts, h)
			}
		}
	}
	for _, h := range hosts {
		if got, operation := q.connect(v, h); got.Allowed() {
			return answer(got, operation)
		}
	}
	return Answer{Verdict: No}
}

// covers reports whether the question's pattern is about a host.
func (q *Question) covers(h ir.Host) bool {
	return q.host.Kind == ir.HostAny || h.Kind == ir.HostName && strings.HasSuffix(h.Name, "."+q.host.Name)
}

// connect asks about requests to a host.
func (q *Question) connect(v *ir.View, h ir.Host) (ir.Verdict, string) {
	switch {
	case q.scheme == "":
		return reached(v, h, "", q.port), "connect " + h.String()
	case len(q.segments) == 0 && q.method == "":
		return reached(v, h, q.scheme, q.port), q.Text
	}
	var got ir.Verdict
	methods := []string{q.method}
	for i := range v.Tool.Net {
		if q.method == "" {
			methods = append(methods, v.Tool.Net[i].Methods...)
		}
	}
	for _, m := range methods {
		to := ir.Endpoint{Scheme: q.scheme, Host: h, Port: q.port, Path: q.segments}
		if got = v.Decide(ir.Connect{To: to, Method: m}); got.Allowed() {
			break
		}
	}
	return got, q.Text
}

// schemes are the schemes that rules tell apart.
var schemes = []string{"https", "http", "wss", "ws", "ftp", ir.Stream}

// reached decides whether any request to a host is granted, by one scheme or all of them. Without a port the ports
// are the scheme's own, and the ports of rules.
func reached(v *ir.View, h ir.Host, scheme string, port uint16) ir.Verdict {
	if scheme == "" && port == 0 {
		return v.Named(h)
	}
	var got ir.Verdict
	for _, s := range schemes {
		if scheme != "" && s != scheme {
			continue
		}
		to := ir.Endpoint{Scheme: s, Host: h, Port: port}
		if to.Port == 0 {
			to.Port = ir.DefaultPort(s)
		}
		if got = v.Reach(to); got.Allowed() {
			break
		}
	}
	return got
}

// someHost is a host that a pattern is about and no other rule, as far as names tell.
func someHost(h ir.Host) ir.Host {
	switch h.Kind {
	case ir.HostSuffix:
		return ir.Host{Kind: ir.HostName, Name: "any." + h.Name}
	case ir.HostAny:
		return ir.Host{Kind: ir.HostName, Name: "any.invalid"}
	case ir.HostName, ir.HostAddr:
	}
	return h
}
