package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/seat"
	"github.com/accessc/accessc/internal/host/compiled"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/consent"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/propose/survey"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// policyOf compiles the policy of one start into the request.
func (c *execCmd) policyOf(g *globals, req *start.Request) error {
	g, err := c.extend(g)
	if err != nil {
		return err
	}
	opts, err := g.asking().options(true, hostfacts.Platform())
	if err != nil {
		return err
	}
	opts.Apart, opts.Unadvised = true, true
	if c.keeps() || c.RequireAttestation || userdir.Attests() || maximum.Exists() {
		opts.View = hostview.New()
	}
	tools := c.named()
	res, err := consent.Compile(opts, !c.NoPrompt && len(tools) > 0, g.stderr, tools...)
	if err != nil {
		return err
	}
	if err := g.sayErrors(res, tools...); err != nil {
		return err
	}
	req.Hook = c.byHook(res)
	t, facts, err := c.policy(res)
	if err != nil {
		return err
	}
	if _, err := res.Approvals(); err == nil {
		req.Denials = res.State.Denials(strings.Join(tools, ""))
	}
	if err := resolved.Approved(res, t); err != nil {
		return err
	}
	artifact, err := c.artifact(req, res, t, facts)
	if err != nil {
		return err
	}
	if err := c.attestation(g, opts, res, t, artifact); err != nil {
		return err
	}
	if req.Under, err = g.within(res, t, c.Accept); err != nil {
		return err
	}
	if err := consent.Sensitive(res, t, !c.NoPrompt, g.stderr); errors.Is(err, consent.ErrRefused) {
		return &start.Error{Code: start.CodeFailed, Err: err}
	} else if err != nil {
		return err
	}
	if err := c.invoke(req, res, t); err != nil {
		return err
	}
	if c.Means == meansBubblewrap {
		return nil
	}
	if c.keeps() {
		c.keep(g, res, t, artifact, opts.View)
	}
	if t, err = c.keepsOriginals(req, t, facts); err != nil {
		return err
	}
	if c.Ask {
		return c.asks(g, req, t, facts, opts)
	}
	return c.traces(req, t, facts)
}

// traces has every call that could be refused sent to the supervisor, if that is wanted.
func (c *execCmd) traces(req *start.Request, t *ir.Tool, facts ir.Facts) error {
	if !c.Trace {
		return nil
	}
	req.Trace = true
	return start.Traced(req.Spec, t, backends.Target{Form: backends.Resolved, Facts: facts})
}

// keepsOriginals has the originals of what the tool changes kept, if that is wanted. The artifact stays that of the
// policy, which an attestation is about.
func (c *execCmd) keepsOriginals(req *start.Request, t *ir.Tool, facts ir.Facts) (*ir.Tool, error) {
	if !c.Undo {
		return t, nil
	}
	own := *t
	own.Undo = true
	out, err := resolved.Compile(&own, facts)
	if err == nil {
		req.Spec, err = start.Parse(out.Files[start.Artifact])
	}
	return &own, err
}

// keeps reports whether the compilation is one that a later start of the tool may ask for: those
// with more to compile than a specification compile each time.
func (c *execCmd) keeps() bool {
	return !c.NoCache && c.Means == meansLandlock && !c.Command && !c.Trace && !c.Ask && !c.Undo && c.Session == "" &&
		c.Record == "" && c.EvidenceLog == ""
}

// keep leaves the compilation to later starts. One with anything to say, or to ask, is not kept. A
// start whose compilation cannot be kept is as good as any.
func (c *execCmd) keep(g *globals, res *hostfacts.Result, t *ir.Tool, artifact []byte, view *hostview.View) {
	says := func(d diag.Diagnostic) bool { return d.Severity == diag.Error || slices.Contains(dropped, d.Code) }
	if _, err := res.Approvals(); err != nil || slices.ContainsFunc(res.Concerning(c.Tool), says) {
		return
	}
	var reaches []string
	for _, r := range res.Reaches(t) {
		reaches = append(reaches, r.String())
	}
	key := compiled.Key{Root: filepath.FromSlash(res.Resolver.Root), Tool: c.Tool, Flags: g.config().Words()}
	_ = compiled.Save(key, artifact, reaches, view)
}

// specify puts the tool's specification into the request, and its description for the record. It returns
// the text of the specification.
func (c *execCmd) specify(req *start.Request, t *ir.Tool, facts ir.Facts) ([]byte, error) {
	out, err := resolved.Compile(t, facts)
	if err != nil {
		return nil, err
	}
	text := out.Files[start.Artifact]
	if req.Spec, err = start.Parse(text); err != nil || c.Record == "" && c.EvidenceLog == "" {
		return text, err
	}
	record, err := resolved.Recording(c.Record, programVersion(), t, out)
	if err != nil {
		return text, err
	}
	if c.Record != "" {
		req.Record = record
	}
	if req.EvidenceLog, err = c.log(); req.EvidenceLog != nil {
		req.EvidenceLog.Policy, req.EvidenceLog.Artifact = record.Policy, record.Artifact
	}
	return text, err
}

// extend adds the presets and rules of the command line to the policy. They make a tool of a command that
// has no tool's policy.
func (c *execCmd) extend(g *globals) (*globals, error) {
	tool, sets, err := config.Extending(c.Preset, c.Under, c.lists)
	if err != nil || len(sets) == 0 {
		return g, err
	}
	if c.Under == "" {
		c.Under, c.made = tool, "--set["+strconv.Itoa(len(g.Set))+"]"
	}
	out := *g
	out.Set = slices.Concat(g.Set, sets)
	return &out, nil
}

// invoke counts the start in the session, and refuses one that the constraints of the tool forbid.
func (c *execCmd) invoke(req *start.Request, res *hostfacts.Result, t *ir.Tool) error {
	if t.Constraints != nil && t.Constraints.Forbidden {
		return usagef("the constraints of %s forbid it: %s", t.Name, t.Constraints.Origin)
	}
	if c.Session == "" || len(c.named()) == 0 {
		return nil
	}
	session, err := seat.Session(res, string(c.Session))
	if err == nil {
		err = session.Invoke(t)
	}
	if err != nil {
		return usageError{Err: err}
	}
	c.failed = func() { _ = session.Failed(t) } // one that stays counted uses up too much
	req.Ended = func(status int) {
		if status != 0 {
			return
		}
		if err := session.Completed(t); err != nil {
			fmt.Fprintf(req.Messages, "accessc: --session: %s\n", visible.Message(err.Error()))
		}
	}
	return nil
}

// named is the tool whose policy holds, none for the default policy.
func (c *execCmd) named() []string {
	switch {
	case !c.Command:
		return []string{c.Tool}
	case c.Under != "":
		return []string{c.Under}
	default:
		return nil
	}
}

// policy returns the tool that is started and what is known of this host for it.
func (c *execCmd) policy(res *hostfacts.Result) (*ir.Tool, ir.Facts, error) {
	t := ir.NewTool("command")
	for _, name := range c.named() {
		found, err := config.Tool(res.Program, name)
		if agent := survey.AgentOf(name); err != nil && agent != "" && !c.Command {
			return nil, ir.Facts{}, usagef("%w; accessc init --agent %s writes it", err, agent)
		}
		if program, none := exec.LookPath(name); err != nil && !c.Command && none == nil {
			return nil, ir.Facts{}, usagef("%w; accessc run %s starts the program %s", err, shellword.Quote(name),
				program)
		}
		if err != nil {
			return nil, ir.Facts{}, err
		}
		if at := res.First(name); c.made != "" && at.File != c.made {
			return nil, ir.Facts{}, usagef("%s has a tool %s, whose name a command with these presets needs", at, name)
		}
		if found.Source.Kind != ir.SourceLocal {
			return nil, ir.Facts{}, usagef("%s is not started by accessc: its source is %s", found.Name, found.Source)
		}
		t = found
	}
	if c.Command {
		own := *t
		own.Command = &ir.Command{Program: c.Tool}
		t = &own
	}
	return t, res.Facts(t), nil
}
