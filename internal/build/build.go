package build

import (
	"errors"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/ruleset"
)

// Request is the input of a build.
type Request struct {
	Program  *ir.Program
	Rulesets []*ruleset.Set // by name
	Backends []backends.Backend
	Form     backends.Form
	// Facts describe the host for each tool of a resolved build; nil for a portable one.
	Facts func(*ir.Tool) ir.Facts
	// Only names the tools to build; nil means all.
	Only []string
}

// Build compiles the tools of a request into files. Findings are refusals of
// backends, placed at the rule that was refused; with any of them there is no tree.
func Build(req Request) (*Tree, diag.List, error) {
	m := &Manifest{
		Header: backends.Header{Format: manifestFormat, Version: manifestVersion, Form: req.Form.String()}, Tools: []Entry{},
	}
	tree := &Tree{Files: map[string][]byte{}, Manifest: m, partial: req.Only != nil}
	var findings diag.List
	for _, t := range req.Program.Tools {
		if req.Only != nil && !slices.Contains(req.Only, t.Name) {
			continue
		}
		entry, refused, err := tree.tool(req, t)
		if err != nil {
			return nil, nil, err
		}
		findings.Add(refused...)
		m.Tools = append(m.Tools, entry)
	}
	if findings.Failed() {
		findings.Sort()
		return nil, findings, nil
	}
	var err error
	if m.Rulesets, err = rulesetEntries(req.Rulesets); err != nil {
		return nil, nil, err
	}
	m.seal()
	return tree, findings, nil
}

// tool adds one tool's artifacts to the tree.
func (tree *Tree) tool(req Request, t *ir.Tool) (Entry, diag.List, error) {
	e := Entry{Name: t.Name, Source: t.Source.String(), Confined: t.Source.Kind == ir.SourceLocal}
	if !e.Confined {
		var err error
		if e.Constraints = irjson.Constraints(t.Constraints); e.Constraints != nil {
			e.Hash, err = policyHash(t)
		}
		return e, nil, err
	}
	target := backends.Target{Form: req.Form}
	if req.Facts != nil {
		target.Facts = req.Facts(t)
	}
	out, findings, err := Compile(t, req.Backends, target)
	if err != nil || findings.Failed() {
		return e, findings, err
	}
	e.Artifacts = map[string]string{}
	for name, data := range out.Files {
		tree.Files[t.Name+"/"+name] = data
		e.Artifacts[name] = Hash(data)
	}
	doc := irjson.Tool(t)
	e.Hash, err = policyHash(t)
	v := ir.NewView(t, ir.Linux, ir.Facts{})
	e.Policy, e.Risk, e.Ledger, e.Sensitive = &doc, v.Risk().String(), rows(out.Ledger), v.Exposed()
	return e, findings, err
}

// policyHash is the hash of a tool's permissions, independent of their origins.
func policyHash(t *ir.Tool) (string, error) {
	bare, err := irjson.MarshalBare(&ir.Program{Tools: []*ir.Tool{t}})
	return Hash(bare), err
}

// Compiled is one tool's artifacts by file name, and its ledger on every system.
type Compiled struct {
	Files  map[string][]byte
	Ledger ir.Ledger
}

// Compile runs backends over one tool.
func Compile(t *ir.Tool, bs []backends.Backend, target backends.Target) (Compiled, diag.List, error) {
	out := Compiled{Files: map[string][]byte{}}
	var findings diag.List
	for _, b := range bs {
		o, err := b.Compile(t, target)
		if err != nil {
			return out, nil, errors.Join(errors.New(b.Name()+": "+t.Name), err)
		}
		for _, r := range o.Refusals {
			findings.Add(refusal(b, t, r))
		}
		if o.Data != nil {
			out.Files[b.File()] = o.Data
		}
		if b.Platform() == 0 && target.Form == backends.Resolved && target.Context == "" {
			target.Context = string(o.Data)
		}
		out.Ledger = append(out.Ledger, o.Ledger...)
	}
	return out, findings, nil
}

// refusal places a backend's refusal at the rule that it is about.
func refusal(b backends.Backend, t *ir.Tool, r backends.Refusal) diag.Diagnostic {
	code := diag.Inexpressible
	if r.TooMany {
		code = diag.TooManyRules
	}
	at := t.Source.Origin
	hint := "build for the other systems with --target, or change the rule"
	switch {
	case r.Rule != nil:
		at = r.Rule.Source()
	case r.TooMany:
		hint = "build for the other systems with --target, or write rules for the directories above these"
		if last := lastWritten(t.FS); last != nil {
			at = last.Origin
		}
	}
	d := diag.New(code, at.Pos, 1)
	d.Path, d.Label, d.Hint = at.Path, b.Name()+": "+r.Why, hint
	return d
}

// lastWritten is the last rule that stands in a file, of which there may be too many.
func lastWritten(rules []ir.FSRule) *ir.FSRule {
	for i := range slices.Backward(rules) {
		if rules[i].Origin.Pos.File != "" {
			return &rules[i]
		}
	}
	return nil
}
