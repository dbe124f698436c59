package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/accessc/accessc/cmd/accessc/early"
	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
)

// execCmd is "accessc exec".
type execCmd struct {
	Command            bool     `help:"Run a command that no configuration names, under the default policy, or that of --tool."`
	Under              string   `name:"tool" placeholder:"NAME" help:"With --command: run it under the policy of this tool."`
	Preset             []string `placeholder:"NAME" help:"With --command: add the rules of this preset, such as rust. Repeatable."`
	Accept             []string `placeholder:"GAP" help:"Start although this host has this gap, such as net.host. Repeatable."`
	Means              string   `enum:"landlock,bubblewrap" default:"landlock" help:"By which means: landlock, the system's own (also the profile of macOS and the objects of Windows), or bubblewrap, a program, on a Linux host without Landlock; accessc doctor says whether it can be used. It holds less: its gaps must be accepted by name."`
	Artifact           string   `placeholder:"FILE" help:"Start from a resolved artifact of this system that accessc build wrote."`
	Sha256             string   `name:"sha256" placeholder:"HEX" help:"With --artifact: its expected hash. Without it, the manifest beside the artifact must list it, in a place where no tool can write."`
	Contained          bool     `name:"in-container" hidden:"" help:"With --artifact and --sha256: the start of a container of accessc oci, where the approvals are those of that time and no state is kept."`
	RequireAttestation bool     `help:"Start only a policy that somebody has signed who may: attestation.toml beside your own layer says who. accessc build --sign writes attestations."`
	Attestation        string   `placeholder:"FILE" help:"The attestation; otherwise attestation.json of the workspace's access, or of the artifact's build."`
	Report             string   `placeholder:"FILE" help:"Write a line of JSON for every denial that the supervisor sees; - is standard output, /dev/fd/N a descriptor that you pass on."`
	Trace              bool     `help:"Send every call that could be refused to the supervisor, so that --report and the summary miss none. Slower."`
	Ask                bool     `help:"Ask, while the tool runs, about refused operations that access.may covers. Linux, slower; accessc grants revokes."`
	Undo               bool     `help:"Keep what the tool changes, for accessc changes and undo. Linux."`
	Record             string   `placeholder:"FILE" help:"Write a record of the run at its end: the policy, its enforcement and the exit status; - and /dev/fd/N as with --report. accessc stays until then."`
	Evidence           string   `placeholder:"FILE" help:"With --trace: write the operations that the tool used and was refused at its end, as accessc learn keeps them."`
	evidenceFlags
	For       time.Duration `placeholder:"DURATION" help:"End the tool after this time, such as 30s, with SIGTERM, and five seconds later with SIGKILL."`
	NoSummary bool          `help:"Print nothing about refusals after the tool's end; accessc denials shows them all the same."`
	Session   sessionID     `placeholder:"ID" help:"Count this start in the session, and hold the constraints of the tool: how often it may be started, and after which others."`
	Arguments string        `placeholder:"JSON" help:"The JSON object for {{tool}} and {{tool.arguments.NAME}} in the command."`
	NoCache   bool          `help:"Compile the policy, also where an earlier start has left a compilation that still holds, and leave none."`
	Call      string        `placeholder:"FILE" help:"The host's call as JSON: action, arguments, answers, options, workspace_id and conversation_id, for placeholders and the Context; /dev/fd/N is a descriptor that you pass on."`
	NoPrompt  bool          `help:"Never prompt, as without a terminal: drop external rules without approval, and only warn about sensitive paths."`
	Tool      string        `arg:"" name:"tool" help:"The tool; with --command, the program."`
	Args      []string      `arg:"" optional:"" name:"arg" help:"Arguments to add to the tool's command."`

	// lists are further rules, those of accessc run.
	lists []config.List
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

  accessc exec TOOL -x                           run a tool of the configuration; options behind its name are its own
  accessc run make -j4                           run any command under the default policy; see accessc run --help
  accessc exec --command --tool build -- make    and under that of a tool
  accessc exec --artifact D/TOOL/landlock.json TOOL   start from a resolved build, faster (seatbelt.sb on macOS, winjob.json on Windows)
  accessc exec --trace --report denials.jsonl TOOL    write down every refusal, and rules that would permit it
  accessc exec --undo TOOL                       keep the originals of what it changes, for accessc undo
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
	if err := c.check(); err != nil {
		return notStarted(err)
	}
	if c.Artifact != "" && !c.Command {
		return c.fromArtifact(g)
	}
	call, err := direct.Call(c.Arguments, c.Call)
	if err != nil {
		return notStarted(usageError{Err: err})
	}
	cwd, _ := os.Getwd() // without one the tool starts at the root
	req := start.Request{
		Dir: cwd, Args: c.Args, Call: call, Accept: c.Accept,
		Environ: os.Environ(), Messages: g.stderr, Report: c.Report, Quiet: c.NoSummary, Evidence: c.Evidence,
		For:   c.For,
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

// check refuses flags that do not go together, or not on this system.
func (c *execCmd) check() error {
	if err := direct.CheckAccept(c.Accept); err != nil {
		return err
	}
	if !start.Observes && (c.Report != "" || c.Trace || c.Record != "" || c.EvidenceLog != "") {
		return usagef("--report, --trace, --record and --evidence-log are for Linux: here accessc becomes the tool and sees " +
			"nothing of it")
	}
	if err := cmp.Or(c.checkUndo(), c.checkAsk(), c.checkMeans(), c.evidenceFlags.check()); err != nil {
		return err
	}
	switch {
	case c.Evidence != "" && !c.Trace:
		return usagef("--evidence needs --trace: without it accessc sees only a part of what the tool does")
	case c.For < 0 || c.For > 0 && !c.Trace:
		return usagef("--for needs --trace, and a positive duration: otherwise accessc may become the tool")
	case c.Under != "" && (!c.Command || c.Artifact != ""):
		return usagef("--tool needs --command, and the configuration: an artifact has one tool")
	case len(c.Preset) > 0 && (!c.Command || c.Artifact != ""):
		return usagef("--preset needs --command, and the configuration; a tool names its presets in access.extends")
	case c.Session != "" && c.Artifact != "":
		return usagef("--session needs the configuration: an artifact has no constraints")
	case c.Artifact != "" && c.Trace:
		return usagef("--trace needs the configuration: an artifact has nothing to name the kernel's refusals by")
	}
	return nil
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
			return notStarted(usageError{Err: err})
		}
	}
	var record *start.Recording
	log, err := c.log()
	if err != nil {
		return notStarted(err)
	}
	if c.Record != "" || log != nil {
		record = resolved.RecordingOf(c.Artifact, c.Tool, c.Record, programVersion())
	}
	if log != nil {
		log.Policy, log.Artifact = record.Policy, record.Artifact
	}
	if c.Record == "" {
		record = nil
	}
	return direct.Artifact{
		File: c.Artifact, Sum: c.Sha256, Root: root, Tool: c.Tool, Arguments: c.Arguments, Call: c.Call,
		Accept: c.Accept, Args: c.Args,
		Report: c.Report, Quiet: c.NoSummary, Record: record, EvidenceLog: log,
		Contained: c.Contained,
		Attested:  c.attestedArtifact(g),
		Within:    c.artifactWithin(g),
	}.Start()
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
