package hostfacts

import (
	"errors"
	"maps"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/files/owned"
	"github.com/accessc/accessc/internal/host/bounds"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// bound compares every tool with the maximum of this machine, or with the named one: what is above is an error of the
// tool, which stops it at every door, and a maximum that cannot be read is an error that stops all.
func (r *Result) bound(opts Options) error {
	m, findings := r.maximum(opts)
	if m == nil || findings.Failed() {
		r.Report(findings...)
		return nil
	}
	maps.Copy(r.Files, m.Files())
	locate := r.locate
	if !opts.Resolve {
		locate = nil
	}
	var err error
	if r.bounds, findings, err = m.In(opts.Options, locate); err != nil {
		return err
	}
	if findings.Failed() {
		r.bounds = nil
		findings.Add(voidMaximum(m.Name(), "it does not compile in this workspace", ""))
	} else if r.Program != nil {
		for _, t := range r.Program.Tools {
			findings.Add(r.above(t, nil)...)
		}
	}
	r.Report(findings...)
	return nil
}

// maximum reads the maximum; nil where there is none.
func (r *Result) maximum(opts Options) (*bounds.Maximum, diag.List) {
	file := &maximum.File{Path: opts.Maximum}
	var err error
	if opts.Maximum != "" {
		file.Data, err = owned.Read(opts.Maximum, maximum.MaxSize, nil)
	} else {
		file, err = maximum.Read()
	}
	switch {
	case err != nil:
		path, hint := opts.Maximum, ""
		var at *maximum.Unreadable
		var not *owned.Not
		if errors.As(err, &at) {
			path, err = at.Path, at.Err
		}
		if errors.As(err, &not) {
			hint = not.Hint
		}
		return nil, diag.List{voidMaximum(path, oserr.Reason(err).Error(), hint)}
	case file == nil:
		return nil, nil
	}
	m, findings := bounds.Read(file.Path, file.Data, file.Stamp)
	if findings.Failed() {
		maps.Copy(r.Files, m.Files())
		findings.Add(voidMaximum(file.Path, "it has mistakes", ""))
	}
	return m, findings
}

// voidMaximum is the finding about a maximum that cannot be held to.
func voidMaximum(path, why, hint string) diag.Diagnostic {
	d := diag.New(diag.BadMaximum, ir.Pos{File: path}, 0)
	d.Label, d.Hint = why+", so nothing is started", hint
	return d
}

// above words what a tool is permitted above the maximum, with the gaps that its start accepts besides its own.
func (r *Result) above(t *ir.Tool, accept []string) diag.List {
	path, at := "", r.First(t.Name)
	switch {
	case at.File == "":
	case t.Server():
		path = ir.ServersTable + "." + tomltext.Key(t.Name)
	default:
		path = "tools." + tomltext.Key(t.Name)
	}
	return r.bounds.Findings(r.bounds.Above(t, accept, r.external(t)), path, at)
}

// Within compares a policy that is about to be started, with the gaps that its start accepts, with the maximum. Without
// an error among the findings it returns the stamp that the loader asks for. It is about tools that no layer names, and
// tools of this compilation.
func (r *Result) Within(t *ir.Tool, accept []string) (maximum.Stamp, diag.List) {
	if r.bounds == nil {
		return "", nil
	}
	if len(accept) == 0 && slices.Contains(r.Program.Tools, t) {
		return r.bounds.Stamp(), nil // Compile has compared it
	}
	if found := r.above(t, accept); found.Failed() {
		return "", found
	}
	return r.bounds.Stamp(), nil
}

// Maximum is the maximum that policies of this compilation are within; nil for none.
func (r *Result) Maximum() *bounds.Bounds { return r.bounds }
