// Package early starts a tool from a compiled artifact before the rest of the program is
// initialised.
//
// Go initialises packages in the order of their import paths, each after its imports. This
// package imports little and its path sorts early, so its init runs before the command-line
// parser, the TOML reader and the template engine are set up, and a start that needs none of
// them does not pay for them (docs/performance.md has the figures). It
// handles exactly
//
//	accessc exec --artifact FILE [--sha256 HEX [--in-container]] [--accept CELL]... [--arguments JSON | --call FILE] TOOL [-- ARG...]
//
// and leaves every other command line, mistakes included, to the ordinary parser, which does
// the same for this one.
package early

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// See decision D104.
func init() {
	// Who may sign is in files that only the ordinary start reads.
	if len(os.Args) < 2 || os.Args[1] != "exec" || userdir.Attests() {
		return
	}
	artifact, ok := parse(os.Args[2:])
	begin := func() error { return Start(artifact) }
	if !ok {
		kept, ok := Kept(os.Args[2:])
		if !ok {
			return
		}
		begin = kept.Start
	}
	start.Initialising()
	err := begin()
	_, _ = os.Stderr.WriteString("accessc: " + visible.Message(err.Error()) + "\n")
	code := start.CodeFailed
	var e *start.Error
	if errors.As(err, &e) {
		code = e.Code
	}
	os.Exit(code)
}

// Artifact is a start from a compiled artifact.
type Artifact struct {
	File, Sum, Tool string
	Accept, Args    []string
	// Arguments and Call are those of Call.
	Arguments, Call string
	// Root is the workspace root that the caller named; otherwise it is looked for.
	Root string
	// Report, Quiet and Record are start.Request's.
	Report string
	Quiet  bool
	Record *start.Recording
	// Contained is set for the start of a container that accessc oci wrote: the approvals are those
	// of that time, and the user's state is not there.
	Contained bool
	// Attested, if not nil, returns an error unless the artifact of a tool with a hash may be started in a
	// workspace.
	Attested func(root, tool, hash string) error
}

// Start loads the artifact and becomes the tool. It returns only when it could not.
func Start(a Artifact) error {
	root, load := a.Root, start.Load
	if root == "" && a.Sum == "" {
		root, _ = around()
	}
	if a.Contained {
		load = start.LoadContained
	}
	spec, hash, err := load(a.File, a.Sum, a.Tool, root)
	if err != nil {
		return err
	}
	if a.Attested != nil {
		if err := a.Attested(filepath.FromSlash(spec.Launch.Workspace), spec.Launch.Tool, hash); err != nil {
			return &start.Error{Code: start.CodeFailed, Err: err}
		}
	}
	call, err := Call(a.Arguments, a.Call)
	if err != nil {
		return &start.Error{Code: start.CodeFailed, Err: err}
	}
	cwd, _ := os.Getwd() // without one the tool starts at the root
	denials := ""
	if state, err := userdir.For(spec.Workspace); err == nil && !a.Contained {
		denials = state.Denials(spec.Tool)
	}
	return start.Start(start.Request{
		Spec: spec, Dir: cwd, Args: a.Args, Call: call, Accept: a.Accept,
		Environ: os.Environ(), Messages: visible.NewWriter(os.Stderr, false), Report: a.Report, Record: a.Record,
		Denials: denials, Quiet: a.Quiet, Named: true,
	})
}

// Call is the call of --arguments or --call, which are a JSON object and a file.
func Call(arguments, file string) (start.Call, error) {
	switch {
	case file == "":
		return start.Call{Arguments: json.RawMessage(arguments)}, nil
	case arguments != "":
		return start.Call{}, errors.New("--call has the arguments; leave out --arguments")
	case file == "-":
		return start.Call{}, errors.New("--call -: standard input is the tool's; pass a file, or a descriptor as /dev/fd/N")
	}
	call, err := start.ReadCall(file)
	if err != nil {
		err = fmt.Errorf("--call: %w", err)
	}
	return call, err
}

// around is the workspace that the caller is in, empty if it is in none. Tools start there only if ok: whether a workspace
// around it lists it says the ordinary start, which has the TOML reader.
func around() (root string, ok bool) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", false
	}
	own, _ := userdir.Root() // without any there is none that a tool could write
	root, err = workspace.Find(cwd, own, nil)
	return root, err == nil
}

// parse accepts the one form that this package handles.
func parse(args []string) (Artifact, bool) {
	var a Artifact
	for len(args) > 0 && strings.HasPrefix(args[0], "--") && args[0] != "--" {
		if args[0] == "--in-container" {
			a.Contained, args = true, args[1:]
			continue
		}
		name, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		if !joined {
			if len(args) == 0 {
				return a, false
			}
			value, args = args[0], args[1:]
		}
		switch name {
		case "--artifact":
			a.File = value
		case "--sha256":
			a.Sum = value
		case "--arguments":
			a.Arguments = value
		case "--call":
			a.Call = value
		case "--accept":
			if !slices.Contains(ir.Gaps(), ir.Gap(value)) {
				return a, false // a list, or a mistake
			}
			a.Accept = append(a.Accept, value)
		default:
			return a, false
		}
	}
	if a.File == "" || len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return a, false
	}
	a.Tool, args = args[0], args[1:]
	if len(args) > 0 {
		if args[0] != "--" {
			return a, false
		}
		a.Args = args[1:]
	}
	return a, true
}
