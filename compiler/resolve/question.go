package resolve

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Question is a question to a policy, in the words of a user: "read src/a", "connect POST
// https://example.com", "run git status".
type Question struct {
	// Verb is one of the verbs below, such as "read".
	Verb string
	// Method is the method of a request of "connect", empty for a method that no rule names.
	// See decision D108.
	Method string
	// Operands are the paths, the URL, the address, the variable, or the program.
	Operands []string
	// Args are the arguments of the program of "run".
	Args []string
}

// verbs are the questions, by how many operands each takes.
var verbs = []struct {
	verb     string
	operands int
	usage    string
}{
	{"read", 1, "PATH"}, {"create", 1, "PATH"}, {"update", 1, "PATH"}, {"delete", 1, "PATH"}, {"execute", 1, "PATH"},
	{"copy", 2, "SRC DST"}, {"rename", 2, "SRC DST"}, {"link", 2, "SRC DST"}, {"exchange", 2, "A B"},
	{"symlink", 1, "PATH"},
	{"dial", 1, "SOCKET"}, {"connect", 1, "[METHOD] URL"}, {"listen", 1, "ADDRESS:PORT"}, {"env", 1, "NAME"},
	{"run", 1, "PROG ARG..."},
}

// Verbs lists the questions with their operands, for help texts.
func Verbs() []string {
	out := make([]string, len(verbs))
	for i, v := range verbs {
		out[i] = v.verb + " " + v.usage
	}
	return out
}

// ParseQuestion checks the form of a question, not its operands.
func ParseQuestion(words []string) (Question, error) {
	if len(words) == 0 {
		return Question{}, errors.New("found nothing, expected a question such as \"read src/a\"")
	}
	i := slices.IndexFunc(verbs, func(v struct {
		verb     string
		operands int
		usage    string
	}) bool {
		return v.verb == words[0]
	})
	if i < 0 {
		var names []string
		for _, v := range verbs {
			names = append(names, v.verb)
		}
		return Question{}, fmt.Errorf("found %q, expected one of %s", words[0], strings.Join(names, ", "))
	}
	v, rest, method := verbs[i], words[1:], ""
	if v.verb == "connect" && len(rest) == 2 {
		method, rest = rest[0], rest[1:]
		if strings.Trim(method, methodLetters) != "" || method == "" {
			return Question{}, fmt.Errorf("found %q, expected a method such as GET, or a URL alone", method)
		}
	}
	if len(rest) < v.operands || len(rest) > v.operands && v.verb != "run" {
		return Question{}, fmt.Errorf("found %q, expected %s %s", strings.Join(words, " "), v.verb, v.usage)
	}
	return Question{Verb: v.verb, Method: method, Operands: rest[:v.operands], Args: rest[v.operands:]}, nil
}

// methodLetters are the letters of methods, which are told apart by case (RFC 9110, 9.1).
const methodLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-"

// Asker turns questions into operations for a tool on a host.
type Asker struct {
	Resolver *Resolver    // evaluates paths
	Bindings *ir.Bindings // where the roots lie on the host
	// Program is the tool's own program, to which its /proc/self/exe leads; nil where it is not
	// known.
	Program *ir.Location
	// Kernel asks as the kernel is asked: paths lead where they lead, absolute or not.
	Kernel bool
	// Lookup finds a program by name; nil finds none.
	Lookup func(name string) (abs string, ok bool)
	// Named asks about a program that its name does not suffice to find.
	Named bool
}

// Operation evaluates the paths of a question. The error is about the question;
// a path that evaluation refuses yields an operation that Decide refuses.
func (a Asker) Operation(q Question) (ir.Operation, error) {
	switch q.Verb {
	case "connect":
		if to, ok := address(q.Operands[0]); ok && a.Kernel && q.Method == "" {
			return ir.Connect{To: to}, nil
		}
		to, err := URL(q.Operands[0])
		if err == nil && to.Scheme == ir.Stream && q.Method != "" {
			err = fmt.Errorf("found the method %s of a stream, which has none", q.Method)
		}
		return ir.Connect{To: to, Method: q.Method}, err
	case "listen":
		return listen(q.Operands[0])
	case "env":
		return ir.Forward{Name: q.Operands[0]}, nil
	case "run":
		return a.run(q)
	case "read", "create", "update":
		c, _ := ir.ParseCapability(q.Verb)
		on, _, err := a.place(q.Operands[0], true)
		return ir.Access{Cap: c, On: on, Name: made(q.Operands[0])}, err
	case "execute":
		on, _, err := a.place(q.Operands[0], true)
		return ir.Start{On: on}, err
	case "symlink": // see decision D108
		on, _, err := a.place(q.Operands[0], false)
		return ir.Access{Cap: ir.Create, On: on, Name: ir.NameLink}, err
	case "delete":
		on, kind, err := a.place(q.Operands[0], false)
		return ir.Access{Cap: ir.Delete, On: on, Name: removed(kind)}, err
	case "dial":
		on, _, err := a.place(q.Operands[0], true)
		return ir.Dial{On: on}, err
	default:
		return a.pair(q)
	}
}

// address reads a target as the kernel is asked for it: an address and a port, or as a resolver is
// asked for it: a name.
func address(s string) (ir.Endpoint, bool) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		h, err := Host(s)
		return ir.Endpoint{Host: h}, err == nil && h.Kind == ir.HostName
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return ir.Endpoint{}, false
	}
	h, err := Host(host)
	return ir.Endpoint{Host: h, Port: uint16(n)}, err == nil && (h.Kind == ir.HostAddr || h.Kind == ir.HostName)
}

// listen reads an address and a port. Every address stands for both families at once.
func listen(address string) (ir.Operation, error) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 || strings.HasSuffix(address, "]") {
		return nil, fmt.Errorf("found %q, expected an address and a port, such as localhost:8080", address)
	}
	port, err := strconv.ParseUint(address[i+1:], 10, 16)
	if err != nil {
		return nil, fmt.Errorf("found port %q, expected 0 to 65535", address[i+1:])
	}
	op := ir.Listen{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.IPv6Unspecified()}, Port: uint16(port)}
	if address[:i] == "*" {
		return op, nil
	}
	if op.Host, err = Host(address[:i]); err != nil {
		return nil, err
	}
	if op.Host.Kind == ir.HostName && op.Host.Name != ir.Localhost {
		return nil, fmt.Errorf("found the name %s, expected localhost, an address of this host, or *", op.Host)
	}
	return op, nil
}

// pair evaluates the operations on two paths. Copying opens both; the others act
// on the names themselves.
func (a Asker) pair(q Question) (ir.Operation, error) {
	follow := q.Verb == "copy"
	one, oneKind, err := a.place(q.Operands[0], follow)
	if err != nil {
		return nil, err
	}
	two, twoKind, err := a.place(q.Operands[1], follow)
	if err != nil {
		return nil, err
	}
	switch q.Verb {
	case "copy":
		return ir.Copy{Src: one, Dst: two, DstKind: twoKind}, nil
	case "link":
		return ir.Link{Src: one, Dst: two}, nil
	case "exchange":
		return ir.Exchange{A: one, B: two, AKind: present(oneKind), BKind: present(twoKind)}, nil
	default:
		return ir.Rename{Src: one, Dst: two, SrcKind: present(oneKind), DstKind: twoKind}, nil
	}
}

// made is the kind of name that a question makes: a directory if the path ends in a slash.
func made(path string) ir.NameKind {
	if strings.HasSuffix(filepath.ToSlash(path), "/") {
		return ir.NameDir
	}
	return ir.NameFile
}

// removed is the kind of name that is removed where a node of a kind is now.
func removed(k ir.NodeKind) ir.NameKind {
	switch k {
	case ir.Dir:
		return ir.NameDir
	case ir.File:
		return ir.NameFile
	case ir.Absent, ir.Unknown:
	}
	return ir.NameAny
}

// present reads a name that is not there as a name that could be anything: the
// question is about the day when it is.
func present(k ir.NodeKind) ir.NodeKind {
	if k == ir.Absent {
		return ir.Unknown
	}
	return k
}

// place evaluates a path, with the tool's program where it has the link of a process to its own.
func (a Asker) place(p string, follow bool) (ir.Place, ir.NodeKind, error) {
	on, kind, err := a.evaluate(p, follow)
	if follow && a.Program != nil && on.At == ir.Sys(ownProgram[1:]) {
		on.At = *a.Program
	}
	return on, kind, err
}

// maxAsked bounds a path that is asked about, in bytes: Linux takes 4 KiB (PATH_MAX), macOS 1 KiB, and Windows 32,767
// characters. To follow a path takes time by the square of its length, and accessc serve answers the questions of all
// of its clients one after the other.
const maxAsked = 32 << 10

func (a Asker) evaluate(p string, follow bool) (ir.Place, ir.NodeKind, error) {
	if len(p) > maxAsked {
		return ir.Place{}, ir.Absent, fmt.Errorf("found a path of %d bytes, expected at most %d", len(p), maxAsked)
	}
	if at, ok := own(p); ok {
		if abs, bound := a.Bindings.Path(at); bound {
			return a.Resolver.Kernel(abs, follow, a.Bindings)
		}
		return ir.Direct(at), ir.Absent, nil
	}
	// A program is given such a path as a shell expands it.
	if asked, err := Spelling(p); a.Kernel && err == nil && asked.Direct {
		if abs, err := a.Resolver.direct(asked.Lexical); err == nil {
			return a.Resolver.Kernel(abs, follow, a.Bindings)
		}
	}
	switch {
	case a.Kernel && volume(p) != "":
		return a.Resolver.Kernel(p, follow, a.Bindings)
	case a.Kernel && p != "":
		return a.Resolver.Kernel(a.Resolver.abs(p), follow, a.Bindings)
	}
	return a.Resolver.Asked(p, follow, a.Bindings)
}

// own reads a path in a directory of the tool's own, as explain writes it: ${home}/x.
func own(p string) (ir.Location, bool) {
	for _, k := range []ir.RootKind{ir.Home, ir.Temp} {
		root := ir.Location{Root: ir.Root{Kind: k}}
		rest, ok := strings.CutPrefix(p, root.String())
		if ok && (rest == "" || rest[0] == '/') {
			return ir.Location{Root: root.Root, Path: strings.Trim(path.Clean("/"+rest), "/")}, true
		}
	}
	return ir.Location{}, false
}

func (a Asker) run(q Question) (ir.Operation, error) {
	op := ir.Run{Program: filepath.ToSlash(q.Operands[0]), Args: q.Args}
	file := op.Program
	if !strings.Contains(file, "/") {
		if a.Lookup == nil {
			return op, nil
		}
		abs, ok := a.Lookup(file)
		switch {
		case !ok && a.Named:
			return op, nil
		case !ok:
			op.File = &ir.Place{Fault: ir.ReasonMissing}
			return op, nil
		}
		file = abs
	}
	on, err := a.Resolver.Program(file, a.Bindings)
	op.File = &on
	return op, err
}
