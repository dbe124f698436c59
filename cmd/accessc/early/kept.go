package early

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/compiled"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/visible"
)

// Repeat is a start of a configured tool by a kept compilation.
type Repeat struct {
	// Spec is the kept specification.
	Spec *start.Spec

	state                              userdir.Dir
	dir, tool, arguments, call, report string
	configs, untrusted, sets           []string
	accept, args                       []string
	shared, quiet, noPrompt            bool
}

// Kept reads a command line and finds the kept compilation for it. Without ok the ordinary start has to
// compile: there is none that holds, the user may have to be asked, or the command line has more
// than
//
//	accessc exec [-C DIR] [--config FILE]... [--untrusted FILE]... [--set KEY=VALUE]... [--shared]
//		[--accept GAP]... [--arguments JSON] [--call FILE] [--report FILE] [--no-summary] [--no-prompt] TOOL [-- ARG...]
//
// See decision D224.
func Kept(args []string) (*Repeat, bool) {
	c, ok := parseCall(args)
	if !ok || c.report != "" && !start.Observes {
		return nil, false
	}
	root := c.root()
	if root == "" {
		return nil, false
	}
	entry, ok := compiled.Load(compiled.Key{Root: root, Tool: c.tool, Flags: compiled.Flags(c.configs, c.untrusted, c.sets, c.shared)})
	if !ok || !start.Keeps(filepath.Dir(entry.File), root) || !entry.Holds() {
		return nil, false
	}
	var err error
	if c.state, err = userdir.For(filepath.ToSlash(root)); err != nil || !answered(c.state, c.tool, entry.Reaches) {
		return nil, false
	}
	c.Spec, err = start.Parse(entry.Artifact)
	return &c, err == nil
}

// Start becomes the tool. It returns only when it could not.
func (c *Repeat) Start() error {
	call, err := direct.Call(c.arguments, c.call)
	if err != nil {
		return &start.Error{Code: start.CodeFailed, Err: err}
	}
	cwd, _ := os.Getwd() // without one the tool starts at the root
	err = start.Start(start.Request{
		Spec: c.Spec, Dir: cwd, Args: c.args, Call: call, Accept: c.accept, Environ: os.Environ(),
		Messages: visible.NewWriter(os.Stderr, false), Report: c.report, Denials: c.state.Denials(c.tool), Quiet: c.quiet,
		Again: Traced(c.tool),
	})
	return ByWhichRule(err, c.Spec, c.tool)
}

// Traced is the start of a tool, or of a command without a name, under which every refusal is seen.
func Traced(tool string) string {
	if tool == "" {
		return "the same with --trace"
	}
	return "accessc exec --trace " + shellword.Quote(tool)
}

// ByWhichRule adds to a program that the policy of a tool keeps from starting how to ask why.
func ByWhichRule(err error, spec *start.Spec, tool string) error {
	var refused *start.Error
	cmd := spec.Launch.Command
	own := cmd != nil && !cmd.Shell && !errors.Is(err, syscall.ENOEXEC)
	if own && errors.As(err, &refused) && refused.Code == start.CodeNotRunnable {
		refused.Err = fmt.Errorf("%w; accessc can %s run %s says by which rule", refused.Err, tool, cmd.Program)
	}
	return err
}

// root is the canonical workspace root, empty if there is none to be had.
func (c *Repeat) root() string {
	if c.dir == "" {
		if root, ok := direct.Workspace(); ok {
			return root
		}
		return ""
	}
	own, _ := userdir.Root() // without any there is none that a tool could write
	dir, err := filepath.Abs(c.dir)
	if err == nil {
		err = workspace.Named(dir, own)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return ""
	}
	return dir
}

// answered reports whether nothing is to be asked about the sensitive paths that a tool reaches:
// there are none, or the user said in this session that it may start.
func answered(state userdir.Dir, tool string, reaches []string) bool {
	if len(reaches) == 0 {
		return true
	}
	store, err := approvals.Load(state.Approvals())
	if err != nil {
		return false
	}
	reply, known := store.Answered(userdir.Session(), tool, reaches)
	return known && reply != approvals.No
}

// parseCall reads a command line, if it has only the flags that are listed at Kept, as the ordinary parser
// reads it. A list of gaps is for that.
func parseCall(args []string) (c Repeat, ok bool) {
	var err error
	c.tool, c.args, err = direct.Words(args, func(name string) any {
		switch name {
		case "-C", "--dir":
			return &c.dir
		case "--config":
			return &c.configs
		case "--untrusted":
			return &c.untrusted
		case "--set":
			return &c.sets
		case "--shared":
			return &c.shared
		case "--accept":
			return &c.accept
		case "--arguments":
			return &c.arguments
		case "--call":
			return &c.call
		case "--report":
			return (*direct.Stream)(&c.report)
		case "--no-summary":
			return &c.quiet
		case "--no-prompt":
			return &c.noPrompt
		}
		return nil
	})
	return c, err == nil && direct.CheckAccept(c.accept) == nil
}
