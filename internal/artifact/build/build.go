package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/evidence"
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
	// External are backends of others, for a portable build.
	External []External
	// Facts describe the host for each tool of a resolved build; nil for a portable one. It
	// is called for one tool after the other.
	Facts func(*ir.Tool) ir.Facts
	// Node gives the kind of the file at a place of the host, and the target of a link there, as backends.Target
	// has them; nil for a portable build.
	Node func(place string) (ir.NodeKind, string)
	// Only names the tools to build; nil means all.
	Only []string
	// Workspace, unless empty, is the canonical root of the workspace, in which no symlink leads to the directory.
	Workspace string
	// Memory is the file of the record of the last build of the same directory, by which Write
	// does not compile tools that did not change. Without it every tool is compiled.
	Memory string
	// Certify also writes the certificate of the build, which is then portable.
	Certify bool
	// Attest, unless nil, signs the build: it gets the statement about it, and the attestation that is there,
	// nil for none, and returns the attestation to write.
	Attest func(said *attest.Statement, old []byte) ([]byte, error)

	// recall reports whether an earlier build has written a tool, and completes its part.
	recall func(*part) (bool, error)
}

// Build compiles the tools of a request, several at a time, and hands the files of each by name
// to take, which several goroutines call at a time. Memory holds only the files of these tools.
// Findings are refusals of backends, placed at the rule that was refused; with any of them, as
// with an error, there is no index, and all that take was handed is void. Both are the same as
// if one tool were built after the other. See decision D246.
func Build(req Request, take func(tool string, files map[string][]byte) error) (*Index, diag.List, error) {
	x := &Index{
		header: backends.Header{Format: manifestFormat, Version: manifestVersion, Form: req.Form.String()},
		kept:   &texts{}, partial: req.Only != nil,
	}
	tools := req.tools()
	x.parts = make([]*part, len(tools))
	findings := make([]diag.List, len(tools))
	var facts sync.Mutex
	err := inParallel(len(tools), func(i int) (err error) {
		target := backends.Target{Form: req.Form, Node: req.Node}
		if req.Facts != nil {
			facts.Lock()
			target.Facts = req.Facts(tools[i])
			facts.Unlock()
		}
		x.parts[i], findings[i], err = req.tool(tools[i], target, x.kept, take)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if all := diag.List(slices.Concat(findings...)); all.Failed() {
		all.Sort()
		return nil, all, nil
	}
	x.rulesets, err = rulesetEntries(req.Rulesets)
	return x, nil, err
}

// Refusals returns the findings of a portable build without the work for its files.
func Refusals(program *ir.Program, bs []backends.Backend) (diag.List, error) {
	findings := make([]diag.List, len(program.Tools))
	err := inParallel(len(program.Tools), func(i int) error {
		t := program.Tools[i]
		if t.Source.Kind != ir.SourceLocal {
			return nil
		}
		for _, b := range bs {
			refusals, err := backends.Refusals(b, t, backends.Target{Form: backends.Portable})
			if err != nil {
				return inBackend(b, t, err)
			}
			for _, r := range refusals {
				findings[i].Add(refusal(b, t, r))
			}
		}
		return nil
	})
	all := diag.List(slices.Concat(findings...))
	all.Sort()
	return all, err
}

// tools are the tools to be built.
func (req *Request) tools() []*ir.Tool {
	if req.Only == nil {
		return req.Program.Tools
	}
	return slices.DeleteFunc(slices.Clone(req.Program.Tools), func(t *ir.Tool) bool {
		return !slices.Contains(req.Only, t.Name)
	})
}

// inParallel calls do for each number below n, several at a time. The first error in the order of
// the numbers is returned, and no number is begun after an error.
func inParallel(n int, do func(int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var tasks sync.WaitGroup
	// Some of them wait for the disk.
	for range min(n, 2*runtime.GOMAXPROCS(0)) {
		tasks.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = do(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	tasks.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tool compiles a tool, hands its artifacts on and returns its part of the manifest.
func (req *Request) tool(t *ir.Tool, target backends.Target, kept *texts,
	take func(string, map[string][]byte) error) (*part, diag.List, error) {
	e := Entry{Name: t.Name, Source: t.Source.String(), Confined: t.Source.Kind == ir.SourceLocal}
	var err error
	if !e.Confined {
		e.Constraints, e.Disabled = irjson.Constraints(t.Constraints), t.Disabled
		e.Hash, err = Policy(t)
		return &part{entry: e}, nil, err
	}
	p, err := newPart(irjson.Tool(t), kept)
	if err != nil {
		return nil, nil, err
	}
	if p.input, err = req.input(p); err != nil {
		return nil, nil, err
	}
	if p.input != "" && req.recall != nil {
		if known, err := req.recall(p); known || err != nil {
			if p.ledger != nil {
				p.ledger = kept.add(p.ledger)
			}
			return p, nil, err
		}
	}
	v := ir.NewView(t, ir.Linux, ir.Facts{})
	if req.Facts == nil {
		target.Known = v
	}
	out, findings, err := Compile(t, req.Backends, target)
	if err != nil || findings.Failed() {
		return nil, findings, err
	}
	if e.External, findings, err = compileExternal(t, req.External, out.Files); err != nil || findings.Failed() {
		return nil, findings, err
	}
	if err := take(t.Name, out.Files); err != nil {
		return nil, nil, err
	}
	e.Artifacts = map[string]string{}
	for name, data := range out.Files {
		e.Artifacts[name] = Hash(data)
	}
	if e.Hash, err = policyHash(t); err != nil {
		return nil, nil, err
	}
	e.Risk, e.Ledger, e.Sensitive = v.Risk().String(), rows(out.Ledger, evidence.Committed()), v.Exposed()
	return p, nil, p.complete(e, kept)
}

// policyHash is the hash of a tool's permissions, independent of their origins.
func policyHash(t *ir.Tool) (string, error) {
	h := sha256.New()
	err := irjson.HashBare(h, t)
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), err
}

// Compiled is a tool's artifacts by file name, and its ledger on every system.
type Compiled struct {
	Files  map[string][]byte
	Ledger ir.Ledger
}

// Compile runs backends over a tool.
func Compile(t *ir.Tool, bs []backends.Backend, target backends.Target) (Compiled, diag.List, error) {
	out := Compiled{Files: map[string][]byte{}}
	var findings diag.List
	ledgers := make([]ir.Ledger, 0, len(bs))
	for _, b := range bs {
		o, err := b.Compile(t, target)
		if err != nil {
			return out, nil, inBackend(b, t, err)
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
		ledgers = append(ledgers, o.Ledger)
	}
	out.Ledger = slices.Concat(ledgers...)
	return out, findings, nil
}

// titled is a backend, of this module or of others.
type titled interface{ Name() string }

func inBackend(b titled, t *ir.Tool, err error) error {
	return errors.Join(errors.New(b.Name()+": "+t.Name), err)
}

// refusal places a backend's refusal at the rule that it is about.
func refusal(b titled, t *ir.Tool, r backends.Refusal) diag.Diagnostic {
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
