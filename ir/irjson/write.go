package irjson

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/accessc/accessc/ir"
)

// Marshal writes a program with its provenance.
func Marshal(p *ir.Program) ([]byte, error) {
	return text(p, true)
}

// MarshalBare writes the permissions of a program without origins. Two policies that differ
// only in spelling or place have equal bare forms; hash it.
func MarshalBare(p *ir.Program) ([]byte, error) {
	return text(p, false)
}

// HashBare writes the bare form of a single tool to a hash.
func HashBare(h io.Writer, t *ir.Tool) error {
	return write(&ir.Program{Tools: []*ir.Tool{t}}, false, func(text []byte) error {
		_, err := h.Write(text)
		return err
	})
}

func text(p *ir.Program, provenance bool) (out []byte, err error) {
	err = write(p, provenance, func(text []byte) error {
		out = bytes.Clone(text)
		return nil
	})
	return out, err
}

// write calls use with a text, which is void after that.
func write(p *ir.Program, provenance bool, use func(text []byte) error) error {
	e := encoder{provenance}
	d := document{Format: Format, Version: ir.FormatVersion, Tools: []ToolDoc{}}
	for _, t := range p.Tools {
		d.Tools = append(d.Tools, e.tool(t))
	}
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	b.compact.Reset()
	b.text.Reset()
	enc := json.NewEncoder(&b.compact)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return err
	}
	// The encoder could indent, but into a buffer that grows line by line.
	if err := json.Indent(&b.text, b.compact.Bytes(), "", "  "); err != nil {
		return err
	}
	return use(b.text.Bytes())
}

// buffer is memory that one document after the other is written in.
type buffer struct{ compact, text bytes.Buffer }

var buffers = sync.Pool{New: func() any { return &buffer{} }}

// Constraints returns the document form of constraints, nil for none.
func Constraints(c *ir.Constraints) *ConstraintsDoc { return encoder{true}.constraints(c) }

func (e encoder) constraints(c *ir.Constraints) *ConstraintsDoc {
	if c == nil {
		return nil
	}
	return &ConstraintsDoc{c.MaxInvocations, list(c.OnlyAfter), c.Forbidden, e.origin(c.Origin, nil)}
}

// Tool returns the document form of a tool, with its provenance.
func Tool(t *ir.Tool) ToolDoc { return encoder{true}.tool(t) }

// WriteOrigin returns the document form of an origin.
func WriteOrigin(o ir.Origin) *OriginDoc { return encoder{true}.origin(o, nil) }

type encoder struct{ provenance bool }

func (e encoder) tool(t *ir.Tool) ToolDoc {
	d := ToolDoc{
		Name: t.Name, Source: t.Source.String(), SourceAt: e.origin(t.Source.Origin, nil), Run: t.Run,
		Base: t.Base.String(), BaseVersion: ir.BaseVersion, Home: t.HomeWord(),
		FS:        fsList{t.Declared.FS, mapTo(t.FS, e.fs)},
		Net:       netList{t.Declared.Net, mapTo(t.Net, e.net)},
		Env:       envList{t.Declared.Env, mapTo(t.Env, e.env)},
		Sensitive: mapTo(t.Sensitive, e.pattern),
		Limits:    mapTo(t.Limits, e.limit),
		Tests:     mapTo(t.Tests, e.assertion),
		Accept:    mapTo(t.Accept, e.acceptance),
	}
	if c := t.Command; c != nil {
		d.Command = &command{c.Program, list(c.Args), c.Shell, e.origin(c.Origin, nil)}
	}
	if s := t.Commands; s != nil {
		d.Commands = &commands{mapTo(s.Rules, e.command), e.origin(s.Origin, nil)}
	}
	d.LateOpen, d.Disabled = t.LateOpen, t.Disabled
	if len(t.May) > 0 {
		d.May = mapTo(t.May, e.fs)
	}
	if len(t.MayNet) > 0 {
		d.MayNet = mapTo(t.MayNet, e.net)
	}
	if t.Protects {
		d.Protected = &protected{ir.ProtectedVersion, mapTo(t.Protected, e.protected)}
	}
	d.Constraints = e.constraints(t.Constraints)
	if t.LeastRisk != 0 {
		d.LeastRisk = t.LeastRisk.String()
	}
	if e.provenance && len(t.Removed) > 0 {
		d.Removed = mapTo(t.Removed, e.removal)
	}
	return d
}

func (e encoder) origin(o ir.Origin, leaves []ir.Leaf) *origin {
	if !e.provenance {
		return nil
	}
	out := &origin{Layer: o.Layer.String(), Path: o.Path, Label: o.Label}
	if o.Pos != (ir.Pos{}) {
		out.At = formatPos(o.Pos)
	}
	for _, l := range leaves {
		if out.Leaf == nil {
			out.Leaf = make(map[string]string, len(leaves))
		}
		out.Leaf[l.Key] = formatPos(l.At)
	}
	return out
}

func (e encoder) written(s string) string {
	if e.provenance {
		return s
	}
	return ""
}

func (e encoder) fs(r *ir.FSRule) fsRule {
	return fsRule{
		e.written(r.Written), r.At.String(), r.Names, r.External, locations(r.Links), r.Mount, formatCaps(r.Caps),
		e.origin(r.Origin, r.Leaves),
	}
}

func locations(in []ir.Location) []string {
	var out []string
	for _, l := range in {
		out = append(out, l.String())
	}
	return out
}

func (e encoder) protected(p *ir.ProtectedPath) protectedPath {
	out := protectedPath{Path: p.Path, Open: p.Open, Pattern: p.Pattern, Why: p.Why, Origin: e.origin(p.Origin, nil)}
	if p.Root.Kind == ir.External {
		out.Root = p.Root.String()
	}
	return out
}

func (e encoder) net(r *ir.NetRule) netRule {
	return netRule{
		e.written(r.Written), r.Host.String(), r.Scheme, r.Port, r.Path, r.Methods, r.Inspect, r.Opaque, r.Listen,
		(*credential)(r.Credential), r.Allow, e.origin(r.Origin, r.Leaves),
	}
}

func (e encoder) env(r *ir.EnvRule) envRule {
	return envRule{r.Name, r.Prefix, r.Read, r.Value, e.origin(r.Origin, r.Leaves)}
}

func (e encoder) command(r *ir.CommandRule) commandRule {
	d := commandRule{
		Program: r.Program, AnyArgs: r.AnyArgs, Envs: list(r.Envs), AllEnvs: r.AllEnvs,
		Args:   mapTo(r.Args, func(a *ir.ArgPattern) argPattern { return argPattern{list(a.Words), a.Rest} }),
		Origin: e.origin(r.Origin, r.Leaves),
	}
	if r.File != nil {
		d.File = r.File.String()
	}
	return d
}

func (e encoder) removal(r *ir.Removal) removal {
	return removal{r.Resource.String(), r.Subject, e.origin(r.Was, nil), e.origin(r.By, nil)}
}

func (e encoder) pattern(p *ir.SensitivePattern) pattern {
	return pattern{p.Pattern, e.origin(p.Origin, nil)}
}

func (e encoder) limit(l *ir.Limit) limit {
	return limit{l.Kind.String(), l.Value, e.origin(l.Origin, nil)}
}

func (e encoder) assertion(a *ir.Assertion) assertion {
	expect := ir.Deny
	if a.Allow {
		expect = ir.Allow
	}
	return assertion{expect.String(), a.Question, e.origin(a.Origin, nil)}
}

func (e encoder) acceptance(a *ir.Acceptance) acceptance {
	return acceptance{string(a.Gap), e.origin(a.Origin, nil)}
}

func mapTo[T, U any](in []T, f func(*T) U) []U {
	out := make([]U, len(in))
	for i := range in {
		out[i] = f(&in[i])
	}
	return out
}

// list returns s with nil written as an empty list.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
