// Package recorded has the accesses of a run as its record holds them: as JSON, and as operations
// that any policy can be asked about.
package recorded

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Access is an operation that a policy judged during a run.
type Access struct {
	// Allowed is the verdict, Times how often it was given.
	Allowed bool `json:"allowed"`
	Times   int  `json:"times"`
	// Operation is the verb, as in "accessc can"; "dial" connects to a socket file.
	Operation string `json:"operation"`
	// Paths are the absolute canonical paths of files: one, or the source and the destination.
	Paths []string `json:"paths,omitempty"`
	// Needs are the capabilities that the call needed on its only path.
	Needs []string `json:"needs,omitempty"`
	// Name is the kind of a name that is made or removed: "dir", "file" or "link".
	Name string `json:"name,omitempty"`
	// Kinds are the kinds of the nodes at Paths: "absent", "file" or "dir".
	Kinds []string `json:"kinds,omitempty"`
	// Interpreter is the program that runs a script.
	Interpreter string `json:"interpreter,omitempty"`
	// Scheme, Host, Port, Segments, Method and Own describe a connection, Host and Port also
	// listening.
	Scheme   string   `json:"scheme,omitempty"`
	Host     string   `json:"host,omitempty"`
	Port     uint16   `json:"port,omitempty"`
	Segments []string `json:"segments,omitempty"`
	Method   string   `json:"method,omitempty"`
	Own      bool     `json:"own,omitempty"`
	// Program and Args describe a start that a list of programs governs.
	Program string   `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
}

// Roots are the places of a run, absolute and canonical.
type Roots struct {
	Workspace string `json:"workspace"`
	Home      string `json:"home,omitempty"`
	Temp      string `json:"temp,omitempty"`
	// UserHome is the home of the user, from which rules count that begin with "~".
	UserHome string `json:"user_home,omitempty"`
	// External are the targets of external rules, by their paths.
	External map[string]string `json:"external,omitempty"`
}

// Words for kinds, by their values.
var (
	nodeKinds = []string{"", "absent", "file", "dir"}
	nameKinds = []string{"", "dir", "file", "link"}
)

// Of is an operation as a record holds it; false for an operation that a record cannot hold.
func Of(op ir.Operation, needs ir.CapSet, b *ir.Bindings) (Access, bool) {
	a := Access{Operation: ir.Describe(op).Verb}
	for _, p := range ir.Describe(op).Places {
		abs, ok := absolute(p, b)
		if !ok {
			return a, false
		}
		a.Paths = append(a.Paths, abs)
	}
	switch op := op.(type) {
	case ir.Access:
		for _, c := range needs.With(op.Cap).List() {
			a.Needs = append(a.Needs, c.String())
		}
		a.Operation, a.Name = op.Cap.String(), nameKinds[op.Name]
	case ir.Start:
		return a, op.Interpreter == nil || a.interpreted(*op.Interpreter, b)
	case ir.Dial:
		a.Operation = "dial"
	case ir.Copy:
		a.Kinds = []string{"", nodeKinds[op.DstKind]}
	case ir.Rename:
		a.Kinds = []string{nodeKinds[op.SrcKind], nodeKinds[op.DstKind]}
	case ir.Exchange:
		a.Kinds = []string{nodeKinds[op.AKind], nodeKinds[op.BKind]}
	case ir.Link:
	case ir.Connect:
		a.Scheme, a.Host, a.Port, a.Segments, a.Method, a.Own = op.To.Scheme, op.To.Host.String(), op.To.Port,
			op.To.Path, op.Method, op.Own
	case ir.Listen:
		a.Host, a.Port = op.Host.String(), op.Port
	case ir.Forward:
		return a, false // variables are forwarded before the run begins
	case ir.Run:
		a.Program, a.Args = op.Program, op.Args
		if op.File == nil {
			return a, true
		}
		abs, ok := absolute(*op.File, b)
		a.Paths = []string{abs}
		return a, ok
	default:
		return a, false
	}
	return a, true
}

func (a *Access) interpreted(on ir.Place, b *ir.Bindings) bool {
	abs, ok := absolute(on, b)
	a.Interpreter = abs
	return ok
}

func absolute(p ir.Place, b *ir.Bindings) (string, bool) {
	if p.Fault != 0 || p.Asked {
		return "", false
	}
	return b.Path(p.At)
}

// Operations are the operations of the access, all of which a policy has to permit, with the places
// of these bindings.
func (a Access) Operations(b *ir.Bindings) ([]ir.Operation, error) {
	places, err := a.places(b)
	if err != nil {
		return nil, err
	}
	two := map[string]bool{"copy": true, "rename": true, "exchange": true, "link": true}
	one := map[string]bool{"read": true, "create": true, "update": true, "delete": true, "execute": true, "dial": true}
	if two[a.Operation] && len(places) != 2 || one[a.Operation] && len(places) != 1 || len(places) > 2 {
		return nil, fmt.Errorf("%s of %d paths", a.Operation, len(places))
	}
	switch a.Operation {
	case "execute":
		return a.start(places[0], b)
	case "dial":
		return []ir.Operation{ir.Dial{On: places[0]}}, nil
	case "copy", "rename", "exchange", "link":
		return a.pair(places[0], places[1])
	case "connect", "listen":
		return a.network()
	case "run":
		op := ir.Run{Program: a.Program, Args: a.Args}
		if len(places) > 0 {
			op.File = &places[0]
		}
		return []ir.Operation{op}, nil
	}
	if len(places) != 1 {
		return nil, fmt.Errorf("an unknown operation %q", a.Operation)
	}
	return a.access(places[0])
}

func (a Access) places(b *ir.Bindings) ([]ir.Place, error) {
	var out []ir.Place
	for _, p := range a.Paths {
		if !clean(p) {
			return nil, fmt.Errorf("%q is no canonical path", p)
		}
		out = append(out, ir.Direct(b.Locate(p)))
	}
	return out, nil
}

func clean(p string) bool { return strings.HasPrefix(p, "/") && path.Clean(p) == p }

func (a Access) access(on ir.Place) ([]ir.Operation, error) {
	first, ok := ir.ParseCapability(a.Operation)
	name := slices.Index(nameKinds, a.Name)
	if !ok || name < 0 {
		return nil, fmt.Errorf("an unknown operation %q of %q", a.Operation, a.Name)
	}
	needs := ir.Caps(first)
	for _, n := range a.Needs {
		c, ok := ir.ParseCapability(n)
		if !ok {
			return nil, fmt.Errorf("an unknown capability %q", n)
		}
		needs = needs.With(c)
	}
	var out []ir.Operation
	for _, c := range needs.List() {
		out = append(out, ir.Access{Cap: c, On: on, Name: ir.NameKind(name)})
	}
	return out, nil
}

func (a Access) start(on ir.Place, b *ir.Bindings) ([]ir.Operation, error) {
	if slices.Contains(a.Needs, ir.Execute.String()) {
		return a.access(on)
	}
	op := ir.Start{On: on}
	if a.Interpreter != "" {
		if !clean(a.Interpreter) {
			return nil, fmt.Errorf("%q is no canonical path", a.Interpreter)
		}
		by := ir.Direct(b.Locate(a.Interpreter))
		op.Interpreter = &by
	}
	return []ir.Operation{op}, nil
}

func (a Access) pair(src, dst ir.Place) ([]ir.Operation, error) {
	var kinds [2]ir.NodeKind
	for i, k := range a.Kinds {
		n := slices.Index(nodeKinds, k)
		if n < 0 || i > 1 {
			return nil, fmt.Errorf("an unknown kind of node %q", k)
		}
		kinds[i] = ir.NodeKind(n)
	}
	switch a.Operation {
	case "copy":
		return []ir.Operation{ir.Copy{Src: src, Dst: dst, DstKind: kinds[1]}}, nil
	case "rename":
		return []ir.Operation{ir.Rename{Src: src, Dst: dst, SrcKind: kinds[0], DstKind: kinds[1]}}, nil
	case "exchange":
		return []ir.Operation{ir.Exchange{A: src, B: dst, AKind: kinds[0], BKind: kinds[1]}}, nil
	default:
		return []ir.Operation{ir.Link{Src: src, Dst: dst}}, nil
	}
}

func (a Access) network() ([]ir.Operation, error) {
	host, ok := host(a.Host)
	if !ok {
		return nil, fmt.Errorf("%q is no name or address of a host in its canonical form", a.Host)
	}
	if a.Operation == "listen" {
		return []ir.Operation{ir.Listen{Host: host, Port: a.Port}}, nil
	}
	to := ir.Endpoint{Scheme: a.Scheme, Host: host, Port: a.Port, Path: a.Segments}
	return []ir.Operation{ir.Connect{To: to, Method: a.Method, Own: a.Own}}, nil
}

// host reads a host as ir.Host.String writes it; a pattern is none.
func host(s string) (ir.Host, bool) {
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")); err == nil {
		h := ir.Host{Kind: ir.HostAddr, Addr: addr}
		return h, h.String() == s
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_."
	return ir.Host{Kind: ir.HostName, Name: s}, s != "" && strings.Trim(s, letters) == ""
}
