package irjson

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

// ErrVersion is returned for a document of a version that this program does not
// know.
var ErrVersion = errors.New("unknown format version")

// Unmarshal reads the output of Marshal, which nobody changes any more, and returns an equal value.
func Unmarshal(data []byte) (*ir.Program, error) {
	var d document
	if err := strictjson.Own(data, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", errText, err)
	}
	if d.Format != Format {
		return nil, fmt.Errorf("%w: format %q is not %q", errText, d.Format, Format)
	}
	if d.Version != ir.FormatVersion {
		return nil, fmt.Errorf("%w %d; this program reads %d", ErrVersion, d.Version, ir.FormatVersion)
	}
	p := &ir.Program{}
	for i := range d.Tools {
		t, err := d.Tools[i].Tool()
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", d.Tools[i].Name, err)
		}
		p.Tools = append(p.Tools, t)
	}
	return p, nil
}

// Tool returns the tool that the document describes.
func (d *ToolDoc) Tool() (*ir.Tool, error) {
	r := &decoder{}
	t := &ir.Tool{Name: d.Name, Run: d.Run}
	t.Source = check(r, ParseSource, d.Source)
	t.Source.Origin = r.origin(d.SourceAt)
	t.Base = r.base(d.Base, d.BaseVersion)
	at := check(r, parseHome, d.Home)
	t.Home, t.HomeShared = at.kind, at.shared
	t.LateOpen, t.Disabled = d.LateOpen, d.Disabled
	if d.Protected != nil {
		t.Protects, t.Protected = true, mapFrom(d.Protected.More, r.protected)
		if v := d.Protected.Version; v != ir.ProtectedVersion {
			r.fail(fmt.Errorf("%w of the protected paths: %d; this program knows %d", ErrVersion, v,
				ir.ProtectedVersion))
		}
	}
	t.FS, t.Declared.FS = mapFrom(d.FS.Rules, r.fs), d.FS.Declared
	t.May, t.MayNet = mapFrom(d.May, r.fs), mapFrom(d.MayNet, r.net)
	t.Net, t.Declared.Net = mapFrom(d.Net.Rules, r.net), d.Net.Declared
	t.Env, t.Declared.Env = mapFrom(d.Env.Rules, r.env), d.Env.Declared
	t.Sensitive = mapFrom(d.Sensitive, r.pattern)
	t.Limits = mapFrom(d.Limits, r.limit)
	t.Tests = mapFrom(d.Tests, r.assertion)
	t.Accept = mapFrom(d.Accept, r.acceptance)
	if c := d.Command; c != nil {
		t.Command = &ir.Command{Program: c.Program, Args: unlist(c.Args), Shell: c.Shell, Origin: r.origin(c.Origin)}
	}
	if s := d.Commands; s != nil {
		t.Commands = &ir.CommandSet{Rules: mapFrom(s.Rules, r.command), Origin: r.origin(s.Origin)}
	}
	t.Constraints, t.Removed = r.constraints(d.Constraints), mapFrom(d.Removed, r.removal)
	if d.LeastRisk != "" {
		t.LeastRisk = check(r, parseRisk, d.LeastRisk)
	}
	return t, r.err
}

// Constraints returns the value of the document, nil for nil.
func (c *ConstraintsDoc) Constraints() (*ir.Constraints, error) {
	r := &decoder{}
	out := r.constraints(c)
	return out, r.err
}

func (r *decoder) constraints(c *ConstraintsDoc) *ir.Constraints {
	if c == nil {
		return nil
	}
	return &ir.Constraints{
		MaxInvocations: c.MaxInvocations, OnlyAfter: unlist(c.OnlyAfter), Forbidden: c.Forbidden,
		Origin: r.origin(c.Origin),
	}
}

// decoder keeps the first error, so that the conversion reads as an expression per field.
type decoder struct{ err error }

func check[T any](r *decoder, parse func(string) (T, error), s string) T {
	v, err := parse(s)
	r.fail(err)
	return v
}

func (r *decoder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *decoder) base(name string, version int) ir.BaseName {
	b, ok := ir.ParseBase(name)
	if !ok {
		r.fail(fmt.Errorf("%w: base %q", errText, name))
	}
	if version != ir.BaseVersion {
		r.fail(fmt.Errorf("%w of the base: %d; this program knows %d", ErrVersion, version, ir.BaseVersion))
	}
	return b
}

func (r *decoder) origin(o *origin) ir.Origin {
	if o == nil {
		return ir.Origin{}
	}
	layer, ok := ir.ParseLayer(o.Layer)
	if !ok {
		r.fail(fmt.Errorf("%w: layer %q", errText, o.Layer))
	}
	out := ir.Origin{Layer: layer, Path: o.Path, Label: o.Label}
	if o.At != "" {
		out.Pos = check(r, parsePos, o.At)
	}
	return out
}

// Read returns the origin that the document describes.
func (o *origin) Read() (ir.Origin, error) {
	r := &decoder{}
	out := r.origin(o)
	return out, r.err
}

func (r *decoder) leaves(o *origin) []ir.Leaf {
	if o == nil {
		return nil
	}
	var out []ir.Leaf
	for k, at := range o.Leaf {
		out = append(out, ir.Leaf{Key: k, At: check(r, parsePos, at)})
	}
	slices.SortFunc(out, func(a, b ir.Leaf) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func (r *decoder) fs(d *fsRule) ir.FSRule {
	return ir.FSRule{
		Written: d.Written, At: check(r, ParseLocation, d.At), Names: r.names(d.Names),
		External: d.External, Mount: d.Mount,
		Links: mapFrom(d.Links, func(s *string) ir.Location { return check(r, ParseLocation, *s) }),
		Caps:  r.caps(d.Caps), Origin: r.origin(d.Origin), Leaves: r.leaves(d.Origin),
	}
}

// names are patterns in the order and form in which documents have them.
func (r *decoder) names(patterns []string) []string {
	for i, p := range patterns {
		if why := ir.BadName(p); why != "" || i > 0 && patterns[i-1] >= p {
			r.fail(fmt.Errorf("%w: names %q", errText, patterns))
		}
	}
	return patterns
}

func (r *decoder) protected(d *protectedPath) ir.ProtectedPath {
	out := ir.ProtectedPath{Path: d.Path, Open: d.Open, Pattern: d.Pattern, Why: d.Why, Origin: r.origin(d.Origin)}
	if d.Root != "" {
		out.Root = check(r, ParseLocation, d.Root).Root
	}
	return out
}

func (r *decoder) caps(names []string) ir.CapSet {
	s, err := parseCaps(names)
	r.fail(err)
	return s
}

func (r *decoder) net(d *netRule) ir.NetRule {
	return ir.NetRule{
		Written: d.Written, Host: check(r, parseHost, d.Host), Scheme: d.Scheme, Port: d.Port, Path: unlist(d.Path),
		Methods: unlist(d.Methods), Inspect: d.Inspect, Opaque: d.Opaque, Listen: d.Listen,
		Credential: (*ir.Credential)(d.Credential),
		Allow:      d.Allow, Origin: r.origin(d.Origin), Leaves: r.leaves(d.Origin),
	}
}

func (r *decoder) env(d *envRule) ir.EnvRule {
	return ir.EnvRule{Name: d.Name, Prefix: d.Prefix, Read: d.Read, Value: d.Value, Origin: r.origin(d.Origin),
		Leaves: r.leaves(d.Origin)}
}

func (r *decoder) command(d *commandRule) ir.CommandRule {
	c := ir.CommandRule{
		Program: d.Program, AnyArgs: d.AnyArgs, Envs: unlist(d.Envs), AllEnvs: d.AllEnvs,
		Args: mapFrom(d.Args, func(a *argPattern) ir.ArgPattern {
			return ir.ArgPattern{Words: unlist(a.Words), Rest: a.Rest}
		}),
		Origin: r.origin(d.Origin), Leaves: r.leaves(d.Origin),
	}
	if d.File != "" {
		l := check(r, ParseLocation, d.File)
		c.File = &l
	}
	return c
}

func (r *decoder) removal(d *removal) ir.Removal {
	return ir.Removal{
		Resource: check(r, parseResource, d.Resource), Subject: d.Subject, Was: r.origin(d.Origin), By: r.origin(d.By),
	}
}

func (r *decoder) pattern(d *pattern) ir.SensitivePattern {
	return ir.SensitivePattern{Pattern: d.Pattern, Origin: r.origin(d.Origin)}
}

func (r *decoder) limit(d *limit) ir.Limit {
	return ir.Limit{Kind: check(r, parseLimitKind, d.Kind), Value: d.Value, Origin: r.origin(d.Origin)}
}

func (r *decoder) assertion(d *assertion) ir.Assertion {
	if d.Expect != ir.Allow.String() && d.Expect != ir.Deny.String() {
		r.fail(fmt.Errorf("%w: expectation %q", errText, d.Expect))
	}
	return ir.Assertion{Allow: d.Expect == ir.Allow.String(), Question: d.Question, Origin: r.origin(d.Origin)}
}

func (r *decoder) acceptance(d *acceptance) ir.Acceptance {
	return ir.Acceptance{Gap: ir.Gap(d.Name), Origin: r.origin(d.Origin)}
}

func mapFrom[T, U any](in []T, f func(*T) U) []U {
	if len(in) == 0 {
		return nil
	}
	return mapTo(in, f)
}

// unlist is the inverse of list: the model writes an empty list as nil.
func unlist(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}
