package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/cmd/accessc/early"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/hostview"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/compiled"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/propose/survey"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// execCmd is "accessc exec".
type execCmd struct {
	Command            bool          `help:"Run a command that no configuration names, under the default policy, or that of --tool."`
	Under              string        `name:"tool" placeholder:"NAME" help:"With --command: run it under the policy of this tool."`
	Preset             []string      `placeholder:"NAME" help:"With --command: add the rules of this preset, such as rust. Repeatable."`
	Accept             []string      `placeholder:"GAP" help:"Start although this host has this gap, such as net.host. Repeatable."`
	Means              string        `enum:"landlock,bubblewrap" default:"landlock" help:"By which means: landlock, the system's own (also the profile of macOS and the objects of Windows), or bubblewrap, a program, on a Linux host without Landlock; accessc doctor says whether it can be used. It holds less: its gaps must be accepted by name."`
	Artifact           string        `placeholder:"FILE" help:"Start from a resolved artifact of this system that accessc build wrote."`
	Sha256             string        `name:"sha256" placeholder:"HEX" help:"With --artifact: its expected hash. Without it, the manifest beside the artifact must list it, in a place where no tool can write."`
	Contained          bool          `name:"in-container" hidden:"" help:"With --artifact and --sha256: the start of a container of accessc oci, where the approvals are those of that time and no state is kept."`
	RequireAttestation bool          `help:"Start only a policy that somebody has signed who may: attestation.toml beside your own layer says who. accessc build --sign writes attestations."`
	Attestation        string        `placeholder:"FILE" help:"The attestation; otherwise attestation.json of the workspace's access, or of the artifact's build."`
	Report             string        `placeholder:"FILE" help:"Write a line of JSON for every denial that the supervisor sees; - is standard output, /dev/fd/N a descriptor that you pass on."`
	Trace              bool          `help:"Send every call that could be refused to the supervisor, so that --report and the summary miss none. Slower."`
	Ask                bool          `help:"Ask, while the tool runs, about refused operations that access.may covers. Linux, slower; accessc grants revokes."`
	Record             string        `placeholder:"FILE" help:"Write a record of the run at its end: the policy, its enforcement and the exit status; - and /dev/fd/N as with --report. accessc stays until then."`
	Evidence           string        `placeholder:"FILE" help:"With --trace: write the operations that the tool used and was refused at its end, as accessc learn keeps them."`
	For                time.Duration `placeholder:"DURATION" help:"End the tool after this time, such as 30s, with SIGTERM, and five seconds later with SIGKILL."`
	NoSummary          bool          `help:"Print nothing about refusals after the tool's end; accessc denials shows them all the same."`
	Session            sessionID     `placeholder:"ID" help:"Count this start in the session, and hold the constraints of the tool: how often it may be started, and after which others."`
	Arguments          string        `placeholder:"JSON" help:"The JSON object for {{tool}} and {{tool.arguments.NAME}} in the command."`
	NoCache            bool          `help:"Compile the policy, also where an earlier start has left a compilation that still holds, and leave none."`
	Call               string        `placeholder:"FILE" help:"The host's call as JSON: action, arguments, answers, options, workspace_id and conversation_id, for placeholders and the Context; /dev/fd/N is a descriptor that you pass on."`
	NoPrompt           bool          `help:"Never prompt, as without a terminal: drop external rules without approval, and only warn about sensitive paths."`
	Tool               string        `arg:"" name:"tool" help:"The tool; with --command, the program."`
	Args               []string      `arg:"" optional:"" name:"arg" help:"Arguments to add to the tool's command."`

	// lists are further rules, those of accessc run.
	lists []list
	// made is the layer that makes a tool of a command with presets, empty where none does.
	made string
	// failed takes the count of the start back, nil for none.
	failed func()
	// wrapped is the artifact of a start by bubblewrap.
	wrapped []byte
}

// Help implements kong's detailed help.
func (execCmd) Help() string {
	return `Starts the tool under its policy; signals, job control and exit status are the tool's own.
It starts in your directory if that lies in the workspace, and otherwise at the workspace root.
accessc stays beside the tool and judges the calls that the kernel's rules cannot; where there are none, it becomes the tool.
If this host does not meet a requirement of the policy, the tool does not start unless you accept
the gap by name.
A start of a configured tool keeps its compilation for the next one, which uses it if nothing has
changed that the policy was compiled from.

  accessc exec TOOL                              run a tool of the configuration
  accessc run make -j4                           run any command under the default policy; see accessc run --help
  accessc exec --command --tool build -- make    and under that of a tool
  accessc exec --artifact D/TOOL/landlock.json TOOL   start from a resolved build, faster (seatbelt.sb on macOS, winjob.json on Windows)
  accessc exec --trace --report denials.jsonl TOOL    write down every refusal, and rules that would permit it
  accessc exec --ask TOOL                        ask at the terminal about operations that access.may covers;
                                                 with --no-prompt they wait for accessc grants answer
  accessc exec --means bubblewrap TOOL           without Landlock: by bubblewrap, which must be installed; what it cannot
                                                 hold stops the start unless --accept names it

Exit status: the tool's own; 125 accessc failed and the tool did not start, 126 the program was found
but cannot run, 127 it was not found.

Gaps that --accept and access.accept take, and their effect:

` + acceptHelp()
}

// Run implements the command. It returns only when the tool did not start.
func (c *execCmd) Run(g *globals) error {
	if err := checkAccept(c.Accept); err != nil {
		return notStarted(err)
	}
	if !start.Observes && (c.Report != "" || c.Trace || c.Record != "") {
		return notStarted(usagef("--report, --trace and --record are for Linux: here accessc becomes the tool and sees nothing of it"))
	}
	if err := c.checkAsk(); err != nil {
		return notStarted(err)
	}
	if err := c.checkMeans(); err != nil {
		return notStarted(err)
	}
	if c.Evidence != "" && !c.Trace {
		return notStarted(usagef("--evidence needs --trace: without it accessc sees only a part of what the tool does"))
	}
	if c.For < 0 || c.For > 0 && !c.Trace {
		return notStarted(usagef("--for needs --trace, and a positive duration: otherwise accessc may become the tool"))
	}
	if c.Under != "" && (!c.Command || c.Artifact != "") {
		return notStarted(usagef("--tool needs --command, and the configuration: an artifact has one tool"))
	}
	if len(c.Preset) > 0 && (!c.Command || c.Artifact != "") {
		return notStarted(usagef("--preset needs --command, and the configuration; a tool names its presets in access.extends"))
	}
	if c.Session != "" && c.Artifact != "" {
		return notStarted(usagef("--session needs the configuration: an artifact has no constraints"))
	}
	if c.Artifact != "" && c.Trace {
		return notStarted(usagef("--trace needs the configuration: an artifact has nothing to name the kernel's refusals by"))
	}
	if c.Artifact != "" && !c.Command {
		return c.fromArtifact(g)
	}
	call, err := early.Call(c.Arguments, c.Call)
	if err != nil {
		return notStarted(usageError{err})
	}
	cwd, _ := os.Getwd() // without one the tool starts at the root
	req := start.Request{
		Dir: cwd, Args: c.Args, Call: call, Accept: c.Accept,
		Environ: os.Environ(), Messages: g.stderr, Report: c.Report, Quiet: c.NoSummary, Evidence: c.Evidence, For: c.For,
		Again: early.Traced(c.again()),
	}
	defer func() {
		if c.failed != nil {
			c.failed() // accessc ends with a tool that has started
		}
	}()
	if err := c.policyOf(g, &req); err != nil {
		return req.Advised(notStarted(err))
	}
	if c.Command {
		req.Program = c.program()
	}
	err = c.start(req)
	if c.Command || c.Means != meansLandlock {
		return err
	}
	return early.ByWhichRule(err, req.Spec, c.Tool)
}

// again is the tool of the configuration that is started, empty for a command without one.
func (c *execCmd) again() string {
	if c.Command {
		return ""
	}
	return c.Tool
}

// byHook reports whether a hook wrote the command: its reports have a directory of their own.
func (c *execCmd) byHook(res *hostfacts.Result) bool {
	dir, err := userdir.For(res.Resolver.Root)
	return err == nil && c.Command && c.Report != "" && filepath.Dir(c.Report) == dir.Reports()
}

// fromArtifact starts the tool from an artifact, without the configuration.
func (c *execCmd) fromArtifact(g *globals) error {
	root := g.Dir
	if root != "" {
		var err error
		if root, err = filepath.Abs(root); err != nil {
			return notStarted(usageError{err})
		}
	}
	return early.Start(early.Artifact{
		File: c.Artifact, Sum: c.Sha256, Root: root, Tool: c.Tool, Arguments: c.Arguments, Call: c.Call, Accept: c.Accept, Args: c.Args,
		Report: c.Report, Quiet: c.NoSummary, Record: c.ofArtifact(), Contained: c.Contained,
		Attested: c.attestedArtifact(g),
	})
}

// program is the one of --command. A path counts from where the caller stands.
func (c *execCmd) program() string {
	if filepath.Base(c.Tool) != c.Tool {
		if abs, err := filepath.Abs(c.Tool); err == nil {
			return abs
		}
	}
	return c.Tool
}

// notStarted gives errors of the configuration the status that says that the tool
// did not run.
func notStarted(err error) error {
	var code exit
	var usage usageError
	if errors.As(err, &code) || errors.As(err, &usage) {
		if code == 0 {
			return &start.Error{Code: start.CodeFailed, Err: err}
		}
		return exit(start.CodeFailed)
	}
	return err
}

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
	if c.keeps() || c.RequireAttestation || userdir.Attests() {
		opts.View = hostview.New()
	}
	tools := c.named()
	res, err := g.compileAsking(opts, !c.NoPrompt && len(tools) > 0, tools...)
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
	if err := approved(res, t); err != nil {
		return err
	}
	artifact, err := c.artifact(req, res, t, facts)
	if err != nil {
		return err
	}
	if err := c.attestation(g, opts, res, t, artifact); err != nil {
		return err
	}
	if err := g.confirmSensitive(res, t, !c.NoPrompt); err != nil {
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
	if c.Ask {
		return c.asks(g, req, t, facts, opts)
	}
	if c.Trace {
		req.Trace = true
		return start.Traced(req.Spec, t, backends.Target{Form: backends.Resolved, Facts: facts})
	}
	return nil
}

// keeps reports whether the compilation is one that a later start of the tool may ask for: those
// with more to compile than a specification compile each time.
func (c *execCmd) keeps() bool {
	return !c.NoCache && c.Means == meansLandlock && !c.Command && !c.Trace && !c.Ask && c.Session == "" && c.Record == ""
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
	key := compiled.Key{Root: filepath.FromSlash(res.Resolver.Root), Tool: c.Tool, Flags: g.layers()}
	_ = compiled.Save(key, artifact, reaches, view)
}

// specify puts the tool's specification into the request, and its description for the record. It returns
// the text of the specification.
func (c *execCmd) specify(req *start.Request, t *ir.Tool, facts ir.Facts) ([]byte, error) {
	out, err := forHost(t, facts)
	if err != nil {
		return nil, err
	}
	text := out.Files[start.Artifact]
	if req.Spec, err = start.Parse(text); err != nil || c.Record == "" {
		return text, err
	}
	bare, err := irjson.MarshalBare(&ir.Program{Tools: []*ir.Tool{t}})
	req.Record = &start.Recording{
		File: c.Record, Accessc: version, Policy: build.Hash(bare), Artifact: build.Hash(text), Ledger: out.Ledger,
	}
	return text, err
}

// extend adds the presets and rules of the command line to the policy. They make a tool of a command that
// has no tool's policy.
func (c *execCmd) extend(g *globals) (*globals, error) {
	tool, sets, err := extending(c.Preset, c.Under, c.lists)
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
	session, err := counted(res, c.Session)
	if err == nil {
		err = session.Invoke(t)
	}
	if err != nil {
		return usageError{err}
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

// ofArtifact requests the record of a start from an artifact, with the manifest's entry of the
// tool, if there is a manifest beside it.
func (c *execCmd) ofArtifact() *start.Recording {
	if c.Record == "" {
		return nil
	}
	out := &start.Recording{File: c.Record, Accessc: version}
	manifest := filepath.Join(filepath.Dir(filepath.Dir(c.Artifact)), build.ManifestFile)
	for _, file := range []string{c.Artifact, manifest} {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return out
		}
	}
	data, err := os.ReadFile(c.Artifact)
	if err != nil {
		return out
	}
	out.Artifact = build.Hash(data)
	if data, err = os.ReadFile(manifest); err != nil {
		return out
	}
	m, err := build.ParseManifest(data)
	if err != nil {
		return out
	}
	for _, e := range m.Tools {
		if e.Name == c.Tool && e.Artifacts[filepath.Base(c.Artifact)] == out.Artifact {
			out.Policy = e.Hash
			// The ledger of a manifest that was edited is left out of the record.
			out.Ledger, _ = backends.Ledger(e.Ledger)
		}
	}
	return out
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
		found, err := findTool(res.Program, name)
		if agent := survey.AgentOf(name); err != nil && agent != "" && !c.Command {
			return nil, ir.Facts{}, usagef("%w; accessc init --agent %s writes it", err, agent)
		}
		if program, none := exec.LookPath(name); err != nil && !c.Command && none == nil {
			return nil, ir.Facts{}, usagef("%w; accessc run %s starts the program %s", err, shellword.Quote(name), program)
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

// approved refuses the start of a program that cannot run before the user approves its place.
func approved(res *hostfacts.Result, t *ir.Tool) error {
	if why := res.Unapproved(t); why != "" {
		return &start.Error{Code: start.CodeNotRunnable, Err: errors.New(why)}
	}
	return nil
}

// resolvedSpec compiles a tool for this host, with the Context that it will get.
func resolvedSpec(t *ir.Tool, facts ir.Facts) (*start.Spec, error) {
	data, err := resolvedArtifact(t, facts)
	if err != nil {
		return nil, err
	}
	return start.Parse(data)
}

func resolvedArtifact(t *ir.Tool, facts ir.Facts) ([]byte, error) {
	out, err := forHost(t, facts)
	return out.Files[start.Artifact], err
}

// forHost is a tool's artifact for this host, and its ledger.
func forHost(t *ir.Tool, facts ir.Facts) (build.Compiled, error) {
	target := backends.Target{Form: backends.Resolved, Facts: facts}
	i := slices.IndexFunc(registry.All, func(b backends.Backend) bool { return b.File() == start.Artifact })
	out, findings, err := build.Compile(t, []backends.Backend{contextjson.Backend{}, registry.All[i]}, target)
	if err == nil && findings.Failed() {
		err = fmt.Errorf("%s", findings[0].Label)
	}
	return out, err
}
