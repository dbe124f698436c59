package contextjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// ErrContext is wrapped by every refusal of a Context.
var ErrContext = errors.New("not a usable Context")

// Parse reads the text of a Context.
func Parse(data []byte) (*Context, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	var c Context
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrContext, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: data after the document", ErrContext)
	}
	return &c, nil
}

// Policy turns a Context back into rules that ir.Decide evaluates, the way a cooperating tool
// does; nil for a null access.
func (c *Context) Policy() (*ir.Tool, error) {
	if c.Access == nil {
		return nil, nil
	}
	t := &ir.Tool{Name: c.Tool, Home: ir.HomePrivate}
	var ok bool
	if t.Base, ok = ir.ParseBase(c.Access.Base.Name); !ok || c.Access.Base.Version != ir.BaseVersion {
		return nil, fmt.Errorf("%w: base %s, version %d", ErrContext, c.Access.Base.Name, c.Access.Base.Version)
	}
	if word := c.Access.Home; word != "" {
		if t.Home, t.HomeShared, ok = ir.ParseHome(word); !ok || word == ir.HomePrivate.String() {
			return nil, fmt.Errorf("%w: home %q", ErrContext, word)
		}
	}
	if p := c.Access.Protected; p != nil {
		if p.Version != ir.ProtectedVersion {
			return nil, fmt.Errorf("%w: version %d of the protected paths", ErrContext, p.Version)
		}
		t.Protects = true
		for _, path := range p.More {
			t.Protected = append(t.Protected, c.Access.protected(path))
		}
		for _, path := range p.Open {
			open := c.Access.protected(path)
			open.Open = true
			t.Protected = append(t.Protected, open)
		}
		for _, path := range p.Patterns {
			t.Protected = append(t.Protected, ir.ProtectedPath{Path: path, Pattern: true})
		}
	}
	if err := c.Access.checkNames(); err != nil {
		return nil, err
	}
	for _, r := range c.Access.Rules() {
		t.FS = append(t.FS, c.Access.rule(r))
	}
	for _, r := range c.Access.Net {
		t.Net = append(t.Net, r.rule())
	}
	for _, r := range c.Access.Listen {
		t.Net = append(t.Net, ir.NetRule{Host: host(r.Host), Port: value(r.Port), Listen: true, Allow: r.Allow})
	}
	for _, r := range c.Access.Env {
		name, prefix := strings.CutSuffix(r.Name, "*")
		t.Env = append(t.Env, ir.EnvRule{Name: name, Prefix: prefix, Read: r.Read})
	}
	if c.Access.Commands != nil {
		t.Commands = &ir.CommandSet{}
		for _, program := range slices.Sorted(maps.Keys(c.Access.Commands)) {
			r := c.Access.Commands[program]
			if r == nil {
				return nil, fmt.Errorf("%w: the program %q has no rule", ErrContext, program)
			}
			t.Commands.Rules = append(t.Commands.Rules, r.rule(program))
		}
	}
	return t, nil
}

// rule reads a rule. A rule that grants nothing and lies below the path of an external rule is about
// a place below its target.
// protected is a path that is relative to the root, or below the path of an external rule.
func (a *Access) protected(path string) ir.ProtectedPath {
	out := ir.ProtectedPath{Path: path}
	for _, r := range a.Rules() {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(r.LexicalPath, "/")+"/")
		if r.External && ok && len(r.LexicalPath) > len(out.Root.Name) {
			out.Root, out.Path = ir.Root{Kind: ir.External, Name: r.LexicalPath}, rest
		}
	}
	return out
}

// checkNames refuses names where a reader that does not know them would see rules, and lists of none, which would be
// about the path.
func (a *Access) checkNames() error {
	for _, r := range a.FS {
		if r.Names != nil || a.ByName != nil && !reflect.DeepEqual(r, denyFS) {
			return fmt.Errorf("%w: a rule by name, or one beside those, in fs", ErrContext)
		}
	}
	for _, r := range a.ByName {
		if r.Names != nil && len(r.Names) == 0 {
			return fmt.Errorf("%w: the rule on %q is about no name", ErrContext, r.LexicalPath)
		}
	}
	return nil
}

func (a *Access) rule(r FSRule) ir.FSRule {
	out := ir.FSRule{At: ir.In(strings.TrimPrefix(r.LexicalPath, "./")), Names: r.Names, External: r.External}
	for c, granted := range map[ir.Capability]bool{
		ir.Read: r.Read, ir.Create: r.Create, ir.Update: r.Update, ir.Delete: r.Delete, ir.Execute: r.Execute,
	} {
		if granted {
			out.Caps = out.Caps.With(c)
		}
	}
	if r.External {
		out.At = ir.Location{Root: ir.Root{Kind: ir.External, Name: r.LexicalPath}}
		return out
	}
	for _, o := range a.Rules() {
		rest, ok := strings.CutPrefix(r.LexicalPath+"/", o.LexicalPath+"/")
		if o.External && ok && out.Caps == 0 &&
			(out.At.Root.Kind != ir.External || len(o.LexicalPath) > len(out.At.Root.Name)) {
			out.At = ir.Location{Root: ir.Root{Kind: ir.External, Name: o.LexicalPath},
				Path: strings.TrimSuffix(rest, "/")}
		}
	}
	return out
}

func (r NetRule) rule() ir.NetRule {
	out := ir.NetRule{
		Host: host(r.Host), Scheme: value(r.Scheme), Port: value(r.Port), Methods: r.Methods,
		Inspect: r.Inspect, Opaque: r.Opaque, Allow: r.Allow,
	}
	if c := r.Credential; c != nil {
		out.Credential = &ir.Credential{Env: c.Env, As: c.As, Name: c.Name}
	}
	if r.PathPrefix != nil {
		out.Path = strings.Split(strings.TrimPrefix(*r.PathPrefix, "/"), "/")
	}
	return out
}

// value is the target of a pointer, the zero value for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// host reads a host that is canonical already.
func host(s string) ir.Host {
	if s == "*" {
		return ir.Host{Kind: ir.HostAny}
	}
	if name, ok := strings.CutPrefix(s, "*."); ok {
		return ir.Host{Kind: ir.HostSuffix, Name: name}
	}
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return ir.Host{Kind: ir.HostAddr, Addr: a}
	}
	return ir.Host{Kind: ir.HostName, Name: s}
}

func (c *Command) rule(program string) ir.CommandRule {
	out := ir.CommandRule{Program: program, AnyArgs: c.Args == nil, Envs: c.Envs, AllEnvs: c.Envs == nil}
	for _, words := range c.Args {
		p := ir.ArgPattern{Words: words}
		if n := len(words); n > 0 && words[n-1] == "**" {
			p.Words, p.Rest = words[:n-1], true
		}
		out.Args = append(out.Args, p)
	}
	return out
}
