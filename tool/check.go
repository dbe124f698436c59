package tool

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// CheckRead reports whether the file at path may be read, or the directory listed. It returns
// the place that the path leads to, absolute and without symlinks. The error is an
// *OutsideError, *EscapeError or *DeniedError, or the reason why the path does not resolve.
// Prefer Open: the answer is true only for the moment.
func (p *Policy) CheckRead(path string) (resolved string, err error) {
	return p.check(ir.Read, path)
}

// CheckCreate reports whether a name may be made at path; otherwise it is as CheckRead.
// A symlink is followed also where it leads to nothing, since creating writes there.
func (p *Policy) CheckCreate(path string) (resolved string, err error) {
	return p.check(ir.Create, path)
}

// CheckUpdate reports whether an existing file at path may be changed; otherwise it is as
// CheckRead.
func (p *Policy) CheckUpdate(path string) (resolved string, err error) {
	return p.check(ir.Update, path)
}

// CheckDelete reports whether the name path may be removed; otherwise it is as CheckRead.
// A symlink is removed by its own name and not followed.
func (p *Policy) CheckDelete(path string) (resolved string, err error) {
	return p.check(ir.Delete, path)
}

// CheckExecute reports whether the file at path may be started, whatever its arguments;
// otherwise it is as CheckRead. The error may be a *CommandError.
func (p *Policy) CheckExecute(path string) (resolved string, err error) {
	return p.check(ir.Execute, path)
}

// CheckConnect reports whether a connection to an URL is allowed, whose requests have methods that
// no rule names. The error is a *NetError. Check every redirect as well.
func (p *Policy) CheckConnect(url string) error { return p.checkNet("", url) }

// CheckRequest reports whether a request by a method, such as "GET", to an URL is allowed;
// otherwise it is as CheckConnect.
func (p *Policy) CheckRequest(method, url string) error {
	if err := resolve.Method(method); err != nil {
		return &NetError{URL: url, Method: method, Why: err.Error(), Allowed: p.hosts(false)}
	}
	return p.checkNet(method, url)
}

func (p *Policy) checkNet(method, url string) error {
	to, err := resolve.URL(url)
	if err != nil {
		return &NetError{URL: url, Method: method, Why: err.Error(), Allowed: p.hosts(false)}
	}
	if p.free {
		return nil
	}
	v := p.view.Decide(ir.Connect{To: to, Method: method})
	if v.Allowed() {
		return nil
	}
	return &NetError{URL: url, Method: method, Rule: subject(v.Rule), Allowed: p.hosts(false)}
}

// CheckListen reports whether connections may be accepted at an address as net.Listen takes it,
// with a number for the port: "localhost:8080", "[::1]:0", ":80" for all addresses of this host.
// The error is a *NetError.
func (p *Policy) CheckListen(address string) error {
	written := address
	if strings.HasPrefix(written, ":") {
		written = "*" + written
	}
	op, err := resolve.Asker{}.Operation(resolve.Question{Verb: "listen", Operands: []string{written}})
	if err != nil {
		return &NetError{URL: address, Listen: true, Why: err.Error(), Allowed: p.hosts(true)}
	}
	if p.free {
		return nil
	}
	v := p.view.Decide(op)
	if v.Allowed() {
		return nil
	}
	return &NetError{URL: address, Listen: true, Rule: place(subject(v.Rule)), Allowed: p.hosts(true)}
}

// CheckEnv reports whether the policy forwards an environment variable. The error is an
// *EnvError.
func (p *Policy) CheckEnv(name string) error {
	if p.free {
		return nil
	}
	v := p.view.Decide(ir.Forward{Name: name})
	if v.Allowed() {
		return nil
	}
	e := &EnvError{Name: name, Rule: subject(v.Rule)}
	for i := range p.tool.Env {
		if p.tool.Env[i].Read {
			e.Granted = append(e.Granted, p.tool.Env[i].Subject())
		}
	}
	return e
}

// CheckRun reports whether a program may be started with arguments, of which the program
// itself is the first. A program without a slash is a name that is looked up in PATH, another program a path, absolute
// or from the workspace: as the kernel does, this judges the file that it leads to. The error is a *CommandError, or
// the error of CheckExecute.
func (p *Policy) CheckRun(program string, args ...string) error {
	if p.free && !strings.Contains(program, "/") {
		return nil
	}
	program = filepath.ToSlash(program)
	op := ir.Run{Program: program, Args: args}
	file := target{asked: program}
	if strings.Contains(program, "/") {
		var err error
		if file, err = p.started(program); err != nil {
			return err
		}
		op.File = &file.Place
	} else if at, ok := p.program(program); ok && at.Root.Kind != ir.System {
		// Places outside of the policy's own roots are for the kernel to judge.
		file.Place = ir.Direct(at)
		op.File = &file.Place
	}
	v := p.view.Decide(op)
	if v.Allowed() && op.File != nil && p.folded != nil {
		v = p.folded.Decide(ir.Access{Cap: ir.Execute, On: foldedPlace(file.Place)})
	}
	return p.refusal(v, file, op)
}

// started finds the file that a program's path leads to. Without a policy it has to lie in
// the workspace.
func (p *Policy) started(program string) (target, error) {
	if p.free {
		return p.evaluate("run", program, true)
	}
	spelled, why := spelling(program, aliases)
	if why != "" {
		return target{}, &OutsideError{Path: program, Why: why}
	}
	r := resolve.Resolver{Disk: resolve.Through(hostview.Now), Root: p.root}
	place, err := r.Program(spelled, p.bindings)
	if err != nil {
		return target{}, answer("run", program, err)
	}
	return target{Place: place, asked: program}, nil
}

// check decides a capability.
func (p *Policy) check(need ir.Capability, path string) (string, error) {
	at, err := p.evaluate("check", path, need != ir.Delete)
	if err != nil {
		return "", err
	}
	if err := p.judge(need, at); err != nil {
		return "", err
	}
	return p.absolute(at.At), nil
}

// target is the place that a requested path leads to.
type target struct {
	ir.Place
	asked string
	kind  ir.NodeKind
}

// evaluate finds the place that a path leads to now. A path that evaluation refuses is a target
// that the policy refuses; the error is one of the disk.
func (p *Policy) evaluate(op, path string, follow bool) (target, error) {
	spelled, why := spelling(path, aliases)
	if why != "" {
		return target{}, &OutsideError{Path: path, Why: why}
	}
	r := resolve.Resolver{Disk: resolve.Through(hostview.Now), Root: p.root}
	place, kind, err := r.Asked(spelled, follow, p.bindings)
	if err != nil {
		return target{}, answer(op, path, err)
	}
	return target{place, path, kind}, nil
}

func (p *Policy) absolute(at ir.Location) string {
	abs, _ := p.bindings.Path(at)
	return filepath.FromSlash(abs)
}

// judge decides capabilities on a target, and returns the first refusal.
// See decision D86.
func (p *Policy) judge(need ir.Capability, on target) error {
	op := operation(need, on.Place)
	v := p.view.Decide(op)
	if v.Allowed() && p.folded != nil {
		v = p.folded.Decide(operation(need, foldedPlace(on.Place)))
	}
	return p.refusal(v, on, op)
}

func operation(need ir.Capability, on ir.Place) ir.Operation {
	if need == ir.Execute {
		return ir.Start{On: on}
	}
	return ir.Access{Cap: need, On: on}
}

// refusal turns a verdict into an error, nil where it allows.
func (p *Policy) refusal(v ir.Verdict, on target, op ir.Operation) error {
	if v.Allowed() {
		return nil
	}
	switch v.Reason {
	case ir.ReasonAbsolute:
		return &OutsideError{Path: on.asked, Why: "absolute paths are not permitted; write it relative to the " +
			"workspace"}
	case ir.ReasonOutside:
		return &OutsideError{Path: on.asked, Why: "the path leaves the workspace"}
	case ir.ReasonEscape:
		return &EscapeError{Path: on.asked, Target: p.absolute(on.At)}
	case ir.ReasonLoop:
		return &fs.PathError{Op: "check", Path: on.asked, Err: resolve.ErrLoop}
	case ir.ReasonCommand, ir.ReasonArgs, ir.ReasonName, ir.ReasonMissing:
		return p.commandError(v, on, op)
	case ir.ReasonNone, ir.ReasonRule, ir.ReasonDefault, ir.ReasonAny, ir.ReasonPinned, ir.ReasonNoGain,
		ir.ReasonRoot, ir.ReasonLoader, ir.ReasonLeads, ir.ReasonOwn:
	}
	e := &DeniedError{
		Capability: v.Need.String(), Path: on.asked, Target: v.At.Short(), Rule: subject(v.Rule),
		Reason: v.Reason.String(),
	}
	for i := range p.tool.FS {
		if r := &p.tool.FS[i]; r.Caps.Has(v.Need) {
			e.Granted = append(e.Granted, r.Subject())
		}
	}
	return e
}

func (p *Policy) commandError(v ir.Verdict, on target, op ir.Operation) error {
	e := &CommandError{Program: on.asked, Listed: v.Reason == ir.ReasonArgs}
	if rule := v.Rule; rule != nil && v.Reason == ir.ReasonName {
		e.NameOf = rule.Subject()
	}
	if run, ok := op.(ir.Run); ok {
		e.Args = run.Args
	}
	if rule, ok := v.Rule.(*ir.CommandRule); ok && e.Listed {
		for _, pattern := range rule.Args {
			words := pattern.Words
			if pattern.Rest {
				words = append(words[:len(words):len(words)], "**")
			}
			e.Allowed = append(e.Allowed, strings.Join(append([]string{rule.Program}, words...), " "))
		}
		return e
	}
	for i := range p.tool.Commands.Rules {
		e.Allowed = append(e.Allowed, p.tool.Commands.Rules[i].Program)
	}
	return e
}

// hosts lists the targets that the net rules allow, or those at which they allow listening.
func (p *Policy) hosts(listen bool) []string {
	var out []string
	for i := range p.tool.Net {
		if r := &p.tool.Net[i]; r.Allow && r.Listen == listen {
			out = append(out, place(r.Subject()))
		}
	}
	return out
}

// place is the subject of a rule about listening without its verb.
func place(subject string) string { return strings.TrimPrefix(subject, "listen ") }

func subject(r ir.Rule) string {
	if r == nil {
		return ""
	}
	return r.Subject()
}

// program finds the file of a program as it is found when it is started.
func (p *Policy) program(name string) (ir.Location, bool) {
	abs := p.root + "/" + name
	if !strings.Contains(name, "/") {
		found, err := exec.LookPath(name)
		if err != nil {
			return ir.Location{}, false
		}
		if abs, err = filepath.Abs(found); err != nil {
			return ir.Location{}, false
		}
	}
	found, err := resolve.Through(hostview.Now).Follow(filepath.ToSlash(abs))
	if err != nil || found.Kind != ir.File {
		return ir.Location{}, false
	}
	return p.bindings.Locate(found.Abs), true
}

// locatePrograms finds the files of the listed programs, which may be started by their
// paths as well.
func (p *Policy) locatePrograms(t *ir.Tool) {
	if t.Commands == nil {
		return
	}
	for i := range t.Commands.Rules {
		r := &t.Commands.Rules[i]
		if at, ok := p.program(r.Program); ok {
			r.File = &at
		}
	}
}
