// Command accessc compiles, explains and enforces the access policies of the tools
// that AI agents run. See README.md.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	// First of all, so that a start from a compiled artifact pays for nothing else.
	_ "github.com/accessc/accessc/cmd/accessc/early"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/enforce/kerneltest"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/internal/text/visible"
)

// Exit codes. exec uses those of package start besides.
const (
	exitOK          = 0
	exitFindings    = 1
	exitUsage       = 2
	exitUnenforced  = 3
	exitWidened     = 4
	exitUndecided   = 3 // of decide
	description     = "Compile, explain and enforce file, network, environment and program permissions for the tools of AI agents."
	descriptionMore = `

A policy is TOML, per tool: access.fs, access.net, access.env and access.commands under
[conversation.tools.NAME] or [tools.NAME]. Layers, later ones over earlier ones: the user's
own file, .jp/config.toml, accessc.toml, .accessc/local.toml, --config, --set.

Exit codes: 0 fine, 1 findings or denied, 2 usage, 3 this host cannot enforce the policy,
4 a comparison found a change that --fail-on names;
exec passes the tool's own status through and uses 125 to 127 when the tool did not start.`
)

// cli is the command line. Each command's struct is in a file of its own.
type cli struct {
	globals

	Init   initCmd   `cmd:"" group:"start" help:"Look at the repository, and write a policy for tools that build and test it."`
	Run    runCmd    `cmd:"" group:"start" help:"Run any command under the default policy, and what flags add to it or take away."`
	Exec   execCmd   `cmd:"" group:"start" help:"Run a tool, or any command, under its policy."`
	Preset presetCmd `cmd:"" group:"start" help:"List and show presets: the rules that toolchains and agents need."`

	Explain explainCmd `cmd:"" group:"understand" help:"Explain each tool's permissions, the line behind each, and how each system enforces it."`
	Can     canCmd     `cmd:"" group:"understand" help:"Ask whether a tool may do one operation, by which rule and why."`
	Denials denialsCmd `cmd:"" group:"understand" help:"Show the operations that a tool's last run was refused, and rules that would permit them."`
	Check   checkCmd   `cmd:"" group:"understand" help:"Find the mistakes of a configuration and write nothing."`
	Test    testCmd    `cmd:"" group:"understand" help:"Run each policy's own tests, and with --kernel try them on the kernel."`
	Fmt     fmtCmd     `cmd:"" group:"understand" help:"Lay out the text of layers; no policy changes."`
	Doctor  doctorCmd  `cmd:"" group:"understand" help:"Show which means of enforcement this host has, and how to get the missing ones."`
	Parity  parityCmd  `cmd:"" group:"understand" help:"Show which rule holds where: a table of rules and targets."`
	Changes changesCmd `cmd:"" group:"understand" help:"Show what a tool changed that ran under exec --undo."`
	Undo    undoCmd    `cmd:"" group:"understand" help:"Take back what a tool changed that ran under exec --undo."`
	Learn   learnCmd   `cmd:"" group:"understand" help:"Run a command, record what it uses and is refused, and propose rules."`

	Allow     allowCmd     `cmd:"" group:"permit" help:"Permit operations of a tool by rules in a layer."`
	Approve   approveCmd   `cmd:"" group:"permit" help:"Approve the targets of external rules, after showing them."`
	Approvals approvalsCmd `cmd:"" group:"permit" help:"List approvals, or withdraw them."`
	Grants    grantsCmd    `cmd:"" group:"permit" help:"List the grants of tools that run under exec --ask, revoke them, or answer questions."`
	Mount     mountCmd     `cmd:"" group:"permit" help:"Let tools reach a directory or file beside the workspace."`
	Unmount   unmountCmd   `cmd:"" group:"permit" help:"Undo mounts."`
	Home      homeCmd      `cmd:"" group:"permit" help:"List the private homes of tools, print where one is, or clear them."`

	Build    buildCmd    `cmd:"" group:"review" help:"Compile every tool's policy into reviewed artifacts."`
	Verify   verifyCmd   `cmd:"" group:"review" help:"Check a build's manifest against itself and against the artifacts beside it."`
	Evidence evidenceCmd `cmd:"" group:"review" help:"Check the evidence log of runs."`
	Fleet    fleetCmd    `cmd:"" group:"review" help:"Say what the tools of many repositories may touch, which hosts hold their rules, and what has changed."`

	Hook   hookCmd   `cmd:"" group:"agents" help:"Answer an agent that asks before it uses a tool, by a policy."`
	MCP    mcpCmd    `cmd:"" group:"agents" name:"mcp" help:"Start an MCP server under its policy, and judge the calls of its client."`
	ACP    acpCmd    `cmd:"" group:"agents" name:"acp" help:"Answer what an agent asks of its client, where a policy decides."`
	Adopt  adoptCmd  `cmd:"" group:"agents" help:"Have a client start its MCP servers through accessc mcp, or undo that."`
	Import importCmd `cmd:"" group:"agents" help:"Write a configuration from the settings of another program."`
	Decide decideCmd `cmd:"" group:"agents" help:"Ask a ruleset whether an agent may run a command line, or do another operation."`
	Serve  serveCmd  `cmd:"" group:"agents" help:"Start tools and answer questions for programs in any language, by lines of JSON."`
	LSP    lspCmd    `cmd:"" group:"agents" name:"lsp" help:"Answer an editor that changes policies."`
	OCI    ociCmd    `cmd:"" group:"agents" name:"oci" help:"Have the container of a bundle start a tool under its policy."`

	Schema     schemaCmd     `cmd:"" group:"more" help:"Print the JSON Schema of the configuration."`
	Completion completionCmd `cmd:"" group:"more" help:"Print a shell completion script."`
	Man        manCmd        `cmd:"" group:"more" help:"Print the manual page, or write one per command for a package."`
	Help       helpCmd       `cmd:"" group:"more" help:"Print the help of a command."`
	Version    versionCmd    `cmd:"" group:"more" help:"Print the version, as --version does."`
}

// groups are the headings of commands.
var groups = []kong.Group{
	{Key: "start", Title: "Start:"}, {Key: "understand", Title: "Understand:"}, {Key: "permit", Title: "Permit:"},
	{Key: "review", Title: "Review and ship:"}, {Key: "agents", Title: "Agents and other programs:"}, {Key: "more", Title: "More:"},
}

// first is what accessc prints without arguments.
const first = `accessc runs the tools of AI agents under policies that people can review.

  start       accessc run make -j4            run a command: the workspace is its, no other file and no network
              accessc init                    write a policy for the tools of this repository
              accessc exec TOOL               run a tool of the policy
  understand  accessc explain                 what each tool may do, by which line, and how each system holds it
              accessc denials TOOL            what its last run was refused, and the rules that would permit it
  review      accessc explain --diff REV      what a change permits
  agents      accessc init --agent NAME       write a policy for an agent; then accessc exec runs it
              accessc hook install NAME       have an agent ask before it acts
  more        accessc --help                  all commands; accessc COMMAND --help explains each
`

// exit is an error that is only a status: everything was said already.
type exit int

// Error implements error.
func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a mistake in how the program was called.
type usageError = usage.Error

func usagef(format string, args ...any) error { return usage.Errorf(format, args...) }

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the program without its process; testscript and main share it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) >= 2 && args[0] == start.SweepCommand {
		return status(start.Sweep(args[1], args[2:]...), stderr)
	}
	if len(args) >= 2 && args[0] == start.EnterCommand {
		return status(start.Enter(args[1:]), stderr)
	}
	if len(args) == 2 && args[0] == kerneltest.LoadCommand {
		return status(kerneltest.Load(args[1]), stderr)
	}
	if len(args) == 2 && args[0] == kerneltest.TryCommand {
		return status(kerneltest.Try(args[1], stdout), stderr)
	}
	if len(args) == 1 && args[0] == wire.Command {
		return status(serveEgress(), stderr)
	}
	var c cli
	shown := []*visible.Writer{visible.NewWriter(stdout, false), visible.NewWriter(stderr, false)}
	defer func() {
		for _, w := range shown {
			_ = w.Flush() // the reader has gone away
		}
	}()
	stdout, stderr = shown[0], shown[1]
	c.stdin, c.stdout, c.stderr = stdin, stdout, stderr
	if len(args) > 0 && args[0] == completeCommand {
		return status(complete(args[1:], stdout), stderr)
	}
	done := -1
	if len(args) == 0 {
		_, err := io.WriteString(stdout, first)
		return status(err, stderr)
	}
	if args[0] == "--version" || args[0] == "-V" {
		args = append([]string{"version"}, args[1:]...)
	}
	parser, err := newParser(&c, args[0], stdout, stderr, func(code int) { done = code })
	if err != nil {
		return status(err, stderr)
	}
	if args, err = divided(parser, args); err != nil {
		return status(notStarted(err), stderr)
	}
	c.behind = behind(args)
	ctx, err := parser.Parse(args)
	if done >= 0 {
		return done
	}
	for _, w := range shown {
		w.Color(c.colors(w) && (w == shown[1] || forPeople(ctx)))
	}
	if err == nil {
		err = ctx.Run(&c.globals)
	} else {
		err = callError{err}
	}
	code := status(err, stderr)
	if code == exitUsage && slices.Contains([]string{"exec", "run", "mcp", "acp"}, args[0]) {
		// 2 could be the status of the tool, the server or the agent.
		return start.CodeFailed
	}
	return code
}

// behind is how many words stand behind the first "--", -1 without one.
func behind(args []string) int {
	if i := slices.Index(args, "--"); i >= 0 {
		return len(args) - i - 1
	}
	return -1
}

// newParser makes the parser of a command line by its first word. If that is a command, the parser
// knows no other one: the model of all commands takes half the time of a short start.
func newParser(c *cli, word string, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	grammar, options := any(c), []kong.Option{
		kong.Name("accessc"),
		kong.Description(description + descriptionMore),
		kong.Vars{"formats": strings.Join(importer.Names(registry.Formats()), ", ")},
		kong.UsageOnError(),
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ExplicitGroups(groups),
	}
	commands := reflect.ValueOf(c).Elem()
	for field, value := range commands.Fields() {
		if name, help := commandOf(field); name == word && name != "" {
			grammar = &struct{}{}
			options = append(options, kong.Embed(&c.globals), kong.DynamicCommand(name, help, "", value.Addr().Interface()))
		}
	}
	return kong.New(grammar, options...)
}

// commandOf is the name and the help of the command in a field of cli, empty for another field.
func commandOf(field reflect.StructField) (name, help string) {
	if _, is := field.Tag.Lookup("cmd"); !is {
		return "", ""
	}
	return cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)), field.Tag.Get("help")
}

// status turns an error into an exit code and prints it, once.
func status(err error, stderr io.Writer) int {
	var code exit
	var mistake usageError
	var call callError
	var refused *start.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &refused):
		fmt.Fprintf(stderr, "accessc: %s\n", visible.Message(refused.Error()))
		return refused.Code
	case errors.As(err, &call):
		fmt.Fprintf(stderr, "accessc: %s\n%s\n", visible.Message(call.Error()), call.hint())
		return exitUsage
	case errors.As(err, &mistake):
		fmt.Fprintf(stderr, "accessc: %s\n", visible.Message(mistake.Error()))
		return exitUsage
	default:
		fmt.Fprintf(stderr, "accessc: %s\n", visible.Message(err.Error()))
		return exitUsage
	}
}

// forPeople reports whether a command's output is text for a terminal: no other format is
// coloured.
func forPeople(ctx *kong.Context) bool {
	return !slices.ContainsFunc(ctx.Flags(), func(f *kong.Flag) bool {
		value := ctx.FlagValue(f)
		return f.Name == "format" && value != "text" || f.Name == "html" && value == true
	})
}
