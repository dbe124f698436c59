// Package allow plans additions to a layer that permit operations of a tool: the rule in the
// spelling of the file, its reach beyond these operations, and the proof that it permits the
// operations and nothing sensitive or protected.
package allow

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// Request is one tool and the layer that its grants go to.
type Request struct {
	Compile hostfacts.Options // how the configuration is read
	Layer   ir.Layer          // local, workspace or user
	Tool    string
	// Fresh is text that the layer gets first: the table of a tool that no layer has.
	Fresh string
	// Wide is true where runs were under the default policy, which lets a tool change the workspace: a
	// rule that lets it may follow from such a run.
	Wide bool
}

// Planner knows a tool's policy and the text of a layer.
type Planner struct {
	req   Request
	Now   *hostfacts.Result
	Tool  *ir.Tool
	View  *ir.View
	asker resolve.Asker
	// root, dir and name are the file of the layer: a trusted directory, one in it, and a name.
	root, dir, name string
	// Name is the file as findings name it.
	Name string
	// disk is the text of the file, old the one that rules are added to: with Fresh, if any.
	disk, old []byte
	// reaches are the sensitive paths that the tool reaches by now, once they were looked for.
	reaches map[string]bool
	// served is a recorded operation on a place that the tool has under a supervisor alone.
	served string
	// mounts are the places for which mounts were proposed, by their names in lower case.
	mounts map[string]string
}

// ConfigError is a configuration that does not compile, now or After the change.
type ConfigError struct {
	Findings diag.List
	Files    source.Files
	After    bool
}

// Error implements error.
func (e *ConfigError) Error() string { return diag.Summary(e.Findings) }

// Begin compiles the configuration and reads the layer.
func Begin(req Request) (*Planner, error) {
	p := &Planner{req: req}
	if req.Fresh != "" {
		return p, p.fresh()
	}
	if err := p.begin(false); err != nil {
		return nil, err
	}
	if err := p.place(); err != nil {
		return nil, err
	}
	return p, p.read()
}

// read reads the file of the layer.
func (p *Planner) read() error {
	f, err := p.open()
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	defer f.Close()
	p.disk, p.old = f.Data, f.Data
	return nil
}

// fresh begins with a tool that the layer does not have yet.
func (p *Planner) fresh() error {
	resolver, err := resolve.New(p.req.Compile.Root, resolve.Through(hostview.Now))
	if err != nil {
		return err
	}
	p.root = filepath.FromSlash(resolver.Root)
	if err := p.place(); err != nil {
		return err
	}
	if err := p.read(); err != nil {
		return err
	}
	if len(p.disk) > 0 {
		p.old = append(append([]byte{}, bytes.TrimRight(p.disk, "\n")...), "\n\n"...)
	}
	p.old = append(p.old, p.req.Fresh...)
	edited := map[string][]byte{filepath.Join(p.root, p.dir, p.name): p.old}
	p.req.Compile.Layers.Edited = edited
	return p.begin(true)
}

// begin compiles the configuration.
func (p *Planner) begin(after bool) error {
	var err error
	if p.Now, p.Tool, err = compile(p.req.Compile, p.req.Tool, after); err != nil {
		return err
	}
	facts := p.Now.Facts(p.Tool)
	p.View = ir.NewView(p.Tool, hostfacts.Platform(), facts)
	p.asker = resolve.Asker{
		Resolver: p.Now.Resolver, Bindings: facts.Bindings, Program: facts.Program, Lookup: p.Now.Lookup(p.Tool), Kernel: true,
	}
	return nil
}

// ErrNoTool says that the configuration has no tool of a name.
var ErrNoTool = errors.New("there is no tool")

// compile compiles for this host and finds the tool.
func compile(opts hostfacts.Options, tool string, after bool) (*hostfacts.Result, *ir.Tool, error) {
	opts.Resolve, opts.Apart, opts.Untested = true, true, true
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, nil, err
	}
	if res.Program == nil || res.Wrong(tool) {
		return nil, nil, &ConfigError{Findings: res.Concerning(tool), Files: res.Files, After: after}
	}
	t, ok := res.Program.Tool(tool)
	switch {
	case !ok:
		return nil, nil, fmt.Errorf("%w %q", ErrNoTool, tool)
	case t.Source.Kind != ir.SourceLocal:
		return nil, nil, fmt.Errorf("%s has no policy: its source is %s", tool, t.Source)
	}
	return res, t, nil
}

// place finds the file of the layer. The one of the workspace is the file that defines the tool.
func (p *Planner) place() error {
	if p.Now != nil {
		p.root = filepath.FromSlash(p.Now.Resolver.Root)
	}
	//exhaustive:ignore
	switch p.req.Layer {
	case ir.LayerUser:
		file := userdir.UserConfig()
		if file == "" {
			return errors.New("there is no directory for your own layer")
		}
		p.root, p.dir, p.name = filepath.Dir(file), ".", filepath.Base(file)
		p.Name = file
		return nil
	case ir.LayerWorkspace:
		p.dir, p.name = ".", "accessc.toml"
		const other = ".jp/config.toml"
		if p.Now != nil && (p.Tool.Source.Origin.Pos.File == other || p.Now.Files[p.name] == nil && p.Now.Files[other] != nil) {
			p.dir, p.name = ".jp", "config.toml"
		}
	default:
		p.dir, p.name = ".accessc", "local.toml"
	}
	p.Name = path.Join(p.dir, p.name)
	return nil
}

func (p *Planner) open() (*layerfile.File, error) {
	root, err := os.OpenRoot(p.root)
	if errors.Is(err, os.ErrNotExist) && p.req.Layer == ir.LayerUser {
		return &layerfile.File{Name: p.name}, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return layerfile.Open(root, p.dir, p.name)
}

// Ask is an operation that shall be permitted.
type Ask struct {
	// Operation is the question to the policy; Needs are the capabilities that it needs besides.
	Operation ir.Operation
	Needs     ir.CapSet
	// At, unless nil, is the directory that the rule is on.
	At *ir.Location
	// own are the capabilities that the refused call needed, where a rule would grant more.
	own ir.CapSet
	// question are the words that it was read from, entry is the index of the record that it is of.
	question []string
	entry    int
	// recorded is true for operations of runs that are learned from.
	recorded bool
	// bound is true for a connection to a socket file that the tool had bound itself, sought for a file of the user's
	// home that it looked for in its own.
	bound, sought bool
	// external, unless nil, is the place outside of the workspace that the rule is on.
	external *outer
	// extends is the preset that permits the operation, empty for none.
	extends string
}

// Question reads an operation as "accessc can" takes it, and as a call of the kernel is judged.
func (p *Planner) Question(words []string) (Ask, error) {
	q, err := resolve.ParseQuestion(words)
	if err != nil {
		return Ask{}, err
	}
	op, err := p.asker.Operation(q)
	return Ask{Operation: op, question: words}, err
}

// again is the operation as a changed policy is asked about it: a further external rule gives places
// another root.
func (a Ask) again(p *Planner) (Ask, error) {
	if a.external == nil && a.extends == "" {
		return a, nil
	}
	out, err := p.Question(a.question)
	out.Needs = a.Needs
	return out, err
}

// operations are those that all have to be permitted.
func (a Ask) operations() []ir.Operation {
	op, ok := a.Operation.(ir.Access)
	if !ok {
		return []ir.Operation{a.Operation}
	}
	var out []ir.Operation
	for _, c := range a.Needs.With(op.Cap).List() {
		out = append(out, ir.Access{Cap: c, On: op.On, Name: op.Name})
	}
	return out
}

// Allowed reports whether a view permits the operation.
func (a Ask) Allowed(v *ir.View) bool { return a.denied(v) == nil }

// denied is the verdict that refuses the operation, nil where it is permitted.
func (a Ask) denied(v *ir.View) *ir.Verdict {
	for _, op := range a.operations() {
		verdict := v.Decide(op)
		if c, ok := op.(ir.Connect); ok && c.To.Port == 0 {
			verdict = v.Named(c.To.Host)
		}
		if !verdict.Allowed() {
			return &verdict
		}
	}
	return nil
}

// Refusal is the reason why an operation is not to be granted so.
type Refusal struct{ Why string }

// Error implements error.
func (r *Refusal) Error() string { return r.Why }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// guard refuses places that no addition is on: those outside of the workspace, sensitive and
// protected ones.
// See decision D176.
func (p *Planner) guard(at ir.Location) error {
	name := at.Short()
	switch at.Root.Kind {
	case ir.Workspace:
	case ir.External:
		return refuse("%s lies in the mount %s: accessc mount changes what it grants", name, at.Root.Name)
	case ir.System:
		return refuse("%s lies outside of the workspace: accessc mount makes such a place reachable", name)
	case ir.Home, ir.Temp:
		return refuse("%s is the tool's own", name)
	default:
		return refuse("%s is no place of a rule", name)
	}
	if why := denial.Reserved(p.View, at); why != "" {
		return refuse("%s; if it is meant, write the rule yourself", why)
	}
	return resolve.CheckText(name)
}

// leads refuses a rule on a directory that leads to protected paths if it lets that directory be
// made anew, as a file or a symlink.
func (p *Planner) leads(r ir.FSRule) error {
	if why := denial.Leads(p.View, r); why != "" {
		return refuse("%s; if it is meant, write the rule yourself", why)
	}
	return nil
}

// harmless makes sure that a policy has nothing sensitive or protected that it did not have, and that
// the tests of the policy hold that held before.
func (p *Planner) harmless(then *hostfacts.Result, t *ir.Tool, v *ir.View) error {
	if p.reaches == nil {
		p.reaches = map[string]bool{}
		for _, r := range p.Now.Reaches(p.Tool) {
			p.reaches[r.String()] = true
		}
	}
	for _, r := range then.Reaches(t) {
		if !p.reaches[r.String()] {
			return refuse("it would reach %s, which is sensitive; if it is meant, write the rule yourself", r)
		}
	}
	before := p.Now.Test(p.Tool)
	for i, x := range then.Test(t) {
		if !x.Holds() && i < len(before) && before[i].Holds() {
			return refuse("a test of the policy denies it: %s", x.Assertion.Origin.Pos)
		}
	}
	for _, g := range p.View.Protected() {
		if g.Pattern {
			continue // no rule grants what it protects but one on the place itself, which is reserved
		}
		for _, c := range ir.Write.List() {
			op := ir.Access{Cap: c, On: ir.Direct(ir.In(g.Path))}
			if v.Decide(op).Allowed() && !p.View.Decide(op).Allowed() {
				return refuse("it would let %s %s, which is protected: %s", c, g.Path, g.Why)
			}
		}
	}
	return nil
}
