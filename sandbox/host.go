package sandbox

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir"
)

// Config says which policies a host starts tools under. They are those that accessc exec would read
// in Dir with the flags of the same names.
type Config struct {
	// Dir is the root of the workspace; empty means the one that the current directory lies in.
	Dir string
	// Layers are further layers, later ones over earlier ones; a directory means its *.toml.
	Layers []string
	// Untrusted are further layers that may only narrow the permissions of the others.
	Untrusted []string
	// Set are assignments to dotted keys, KEY=VALUE, over every layer.
	Set []string
	// Shared leaves out the layers that are not committed: the user's own and .accessc/local.toml.
	Shared bool
	// Accept names the gaps of this system that are accepted for every tool, such as net.host.
	Accept []string
	// Env is the environment that policies forward variables from, in the form of os.Environ; nil
	// means that of the host at each start.
	Env []string
	// Messages gets texts for a person, such as rules that were dropped for want of an approval, in
	// lines; nil discards them.
	Messages io.Writer
}

// Host starts tools under the policies of one workspace. It is safe for concurrent use.
type Host struct {
	config   Config
	messages io.Writer

	mu       sync.Mutex
	making   sync.Mutex // held while facts are found, which a compilation keeps without a lock
	compiled *hostfacts.Result
	options  hostfacts.Options // of the compilation
	plans    map[planKey]*plan
	engine   *engine
	closed   bool
}

// planKey is the part of a request that its policy is compiled from.
type planKey struct {
	tool, program string
	ask           bool
}

// plan is a tool's policy, ready to be started.
type plan struct {
	once sync.Once
	// made is closed when the rest is final.
	made chan struct{}
	ask  bool
	tool *ir.Tool
	spec *start.Spec
	text []byte
	// under is the maximum of this machine that the policy is within.
	under maximum.Stamp
	err   error
	ready
}

// ErrClosed is the error of starts after Close.
var ErrClosed = errors.New("sandbox: the host is closed")

// ErrNoTool is the error of a start whose tool no layer names.
var ErrNoTool = errors.New("there is no tool")

// ErrElevated is the error of Open in a program that has more rights than the process that has started it: one
// with a set-user-ID or set-group-ID bit, or with file capabilities.
var ErrElevated = errors.New("sandbox: this program has more rights than its caller (set-user-ID, set-group-ID or file capabilities)," +
	" who chooses its arguments and environment")

// PolicyError is the error of a configuration that does not compile, for all tools or for one.
type PolicyError struct {
	// Text has the findings as accessc check prints them, without colour.
	Text string
}

// Error implements error.
func (e *PolicyError) Error() string { return "the policy does not compile:\n" + e.Text }

// Open compiles the policies of a workspace. Mistakes that concern one tool alone are the error of
// that tool's starts.
func Open(c Config) (*Host, error) {
	if elevated() {
		return nil, ErrElevated
	}
	h := &Host{config: c, messages: c.Messages, plans: map[planKey]*plan{}}
	if h.messages == nil {
		h.messages = io.Discard
	}
	h.messages = &lines{to: h.messages}
	if err := h.Reload(); err != nil {
		return nil, err
	}
	h.engine = newEngine()
	return h, nil
}

// lines lets many goroutines write.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// Reload compiles the policies again, for tools that start from now on. After an error those from
// before stay in force.
func (h *Host) Reload() error {
	opts, res, err := h.config.compile()
	if err != nil {
		return err
	}
	if res.Program == nil {
		return findings(res.Findings, res)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropPlans()
	h.compiled, h.options = res, opts
	return nil
}

// compile reads the layers.
func (c *Config) compile() (hostfacts.Options, *hostfacts.Result, error) {
	var opts hostfacts.Options
	root := c.Dir
	if root == "" {
		cwd, err := os.Getwd()
		if err != nil {
			return opts, nil, err
		}
		own, _ := userdir.Root() // without any there is none that a tool could write
		if root, err = workspace.Find(cwd, own, source.Lists(hostview.Now)); err != nil {
			return opts, nil, err
		}
	}
	for _, f := range slices.Concat(c.Layers, c.Untrusted) {
		if _, err := os.Stat(f); err != nil {
			return opts, nil, err
		}
	}
	home, _ := os.UserHomeDir()
	opts = hostfacts.Options{
		Options: compiler.Options{
			Root: root, Platforms: []ir.Platform{hostfacts.Platform()}, Apart: true,
			Layers: source.Request{
				User: userdir.UserConfig(), Shared: c.Shared, Configs: c.Layers, Untrusted: c.Untrusted, Sets: c.Set, Home: home,
			},
		},
		Resolve: true, Untested: true, Unadvised: true,
	}
	if userdir.Attests() || maximum.Exists() {
		opts.View = hostview.New()
	}
	res, err := hostfacts.Compile(opts)
	return opts, res, err
}

// findings is the error of findings that stop a tool, nil for none.
func findings(l diag.List, res *hostfacts.Result) error { return findingsIn(l, res.Files) }

func findingsIn(l diag.List, texts diag.Lines) error {
	if !l.Failed() {
		return nil
	}
	l = slices.DeleteFunc(slices.Clone(l), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	var b bytes.Buffer
	text := diag.Text{Lines: texts, Width: 100}
	if err := text.Write(&b, l); err != nil {
		return err
	}
	return &PolicyError{strings.TrimSuffix(b.String(), "\n")}
}

// Workspace is the root of the workspace, an absolute path without symlinks.
func (h *Host) Workspace() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.compiled.Resolver.Root
}

// Tools lists the names of the tools that the host can start, in the order of the configuration.
func (h *Host) Tools() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, t := range h.compiled.Program.Tools {
		if t.Source.Kind == ir.SourceLocal {
			out = append(out, t.Name)
		}
	}
	return out
}

// maxPlans bounds the policies that are kept ready, one per tool and program that replaces its own.
const maxPlans = 256

// plan returns the policy of a request, compiled.
func (h *Host) plan(r *Request) (*plan, error) {
	key := planKey{r.Tool, r.Program, r.Ask}
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, ErrClosed
	}
	p := h.plans[key]
	if p == nil {
		if len(h.plans) >= maxPlans {
			h.dropPlans()
		}
		p = &plan{ask: r.Ask, made: make(chan struct{})}
		h.plans[key] = p
	}
	res, opts := h.compiled, h.options
	h.mu.Unlock()
	p.once.Do(func() {
		defer close(p.made)
		if p.err = p.make(h, opts, res, r); p.err == nil {
			p.err = p.prepare(h)
		}
	})
	return p, p.err
}

// dropPlans forgets all plans. Called with the lock held.
func (h *Host) dropPlans() {
	for _, p := range h.plans {
		go p.end()
	}
	h.plans = map[planKey]*plan{}
}

// end drops a plan once it is ready. A start that has it goes on with it.
func (p *plan) end() {
	<-p.made
	p.drop()
}

// make compiles the policy of a request to this system's artifact, and reads it back.
func (p *plan) make(h *Host, opts hostfacts.Options, res *hostfacts.Result, r *Request) error {
	if r.Tool != "" {
		concerns := res.Concerning(r.Tool)
		if err := findings(concerns, res); err != nil {
			return err
		}
		for _, d := range concerns {
			if slices.Contains(dropped, d.Code) {
				fmt.Fprintf(h.messages, "%s: warning[%s]: %s: %s; %s\n", d.At, d.Code, d.Message, d.Label, d.Hint)
			}
		}
	}
	t, err := toolOf(res, r)
	if err != nil {
		return err
	}
	h.making.Lock()
	facts, why := res.Facts(t), res.Unapproved(t)
	under, above := res.Within(t, h.config.Accept)
	h.making.Unlock()
	if err := findings(above, res); err != nil {
		return err
	}
	if why != "" {
		return &start.Error{Code: start.CodeNotRunnable, Err: errors.New(why)}
	}
	out, err := resolved.Compile(t, facts)
	if err != nil {
		return err
	}
	p.tool, p.under, p.text = t, under, out.Files[start.Artifact]
	if err := attestation(opts, res, t, r, p.text); err != nil {
		return err
	}
	p.spec, err = start.Parse(p.text)
	if err != nil || !p.ask {
		return err
	}
	if len(t.May)+len(t.MayNet) == 0 {
		return fmt.Errorf("the policy of %s has nothing to be asked for: access.may lists what can be granted", t.Name)
	}
	if err := start.Asking(p.spec, t, backends.Target{Form: backends.Resolved, Facts: facts}); err != nil {
		return err
	}
	p.text, err = backends.JSON(p.spec)
	return err
}

// attestation holds a start to the attestation of its policy, where the administrator or the user requires one.
func attestation(opts hostfacts.Options, res *hostfacts.Result, t *ir.Tool, r *Request, artifact []byte) error {
	root := filepath.FromSlash(res.Resolver.Root)
	p, texts, found := attested.Signers(root)
	if err := findingsIn(found, texts); err != nil {
		return err
	}
	by := attested.Required(p, root, t.Name)
	switch {
	case by == "":
		return nil
	case r.Program != "" || opts.View == nil:
		return fmt.Errorf("an attestation is required by %s, and there is none for this start", by)
	}
	return attested.Start{Options: opts, Result: res, Tool: t, Artifact: artifact}.Check(p)
}

// dropped are the warnings without which a person could not tell why a rule has no effect.
var dropped = []diag.Code{diag.NotApproved, diag.BrokenLink, diag.Retargeted, diag.BadApprovals}

// toolOf is the tool of a request, with the program that replaces its own.
func toolOf(res *hostfacts.Result, r *Request) (*ir.Tool, error) {
	t := ir.NewTool("command")
	if r.Tool == "" && r.Program == "" {
		return nil, errors.New("sandbox: the request names neither a tool nor a program")
	}
	if r.Tool != "" {
		found, ok := res.Program.Tool(r.Tool)
		switch {
		case !ok:
			return nil, fmt.Errorf("%w %q", ErrNoTool, r.Tool)
		case found.Source.Kind != ir.SourceLocal:
			return nil, fmt.Errorf("%s is not started by accessc: its source is %s", found.Name, found.Source)
		case found.Constraints != nil && found.Constraints.Forbidden:
			return nil, fmt.Errorf("the constraints of %s forbid it: %s", found.Name, found.Constraints.Origin)
		}
		t = found
	}
	if r.Program != "" {
		own := *t
		own.Command = &ir.Command{Program: r.Program}
		t = &own
	}
	return t, nil
}

// count counts a start in the session of its request, unless the constraints of the tool refuse it. The session is nil for a
// request without one.
func (h *Host) count(r *Request, t *ir.Tool) (*invocations.Session, error) {
	if r.Session == "" {
		return nil, nil
	}
	if r.Tool == "" {
		return nil, errors.New("sandbox: a session counts the starts of tools, and the request names none")
	}
	state, err := userdir.For(h.Workspace())
	if err != nil {
		return nil, err
	}
	session, err := invocations.Open(state.Sessions(), r.Session)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return session, session.Invoke(t)
}

// Close kills all tools, waits until they have ended, and frees everything that the host has open.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.dropPlans()
	h.mu.Unlock()
	return h.engine.close()
}

// environ is the environment that a start forwards from.
func (h *Host) environ(r *Request) []string {
	switch {
	case r.Env != nil:
		return r.Env
	case h.config.Env != nil:
		return h.config.Env
	default:
		return os.Environ()
	}
}

// dir is where the tool of a request stands.
func (h *Host) dir(r *Request) string { return cmp.Or(r.Dir, h.Workspace()) }
