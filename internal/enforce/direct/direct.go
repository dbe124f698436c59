// Package direct starts a tool from an artifact without the configuration: for accessc exec --artifact, and for
// accessc-exec, which does nothing else. It reads the few flags of such a start itself, and links no compiler, no TOML
// and no command-line parser.
package direct

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// Artifact is a start from a compiled artifact.
type Artifact struct {
	File, Sum, Tool string
	Accept, Args    []string
	// Arguments and Call are those of Call.
	Arguments, Call string
	// Root is the workspace root that the caller named; otherwise it is looked for.
	Root string
	// Report, Quiet, Record and EvidenceLog are start.Request's.
	Report      string
	Quiet       bool
	Record      *start.Recording
	EvidenceLog *start.EvidenceLog
	// Contained is set for the start of a container that accessc oci wrote: the approvals are those
	// of that time, and the user's state is not there.
	Contained bool
	// Attested, if not nil, returns an error unless the artifact of a tool with a hash may be started in a
	// workspace.
	Attested func(root, tool, hash string) error
	// Within, if not nil, compares the policy of an artifact with the maximum of this machine, for start.Request.
	Within func(spec *start.Spec, hash string) (maximum.Stamp, error)
	// Proxyless is set where this program has no egress proxy.
	Proxyless bool
}

// Start loads the artifact and becomes the tool. It returns only when it could not.
func (a Artifact) Start() error {
	root, load := a.Root, start.Load
	if root == "" && a.Sum == "" {
		root, _ = Workspace()
	}
	if a.Contained {
		load = start.LoadContained
	}
	spec, hash, err := load(a.File, a.Sum, a.Tool, root)
	if err != nil {
		return err
	}
	if a.Proxyless && start.Proxied(spec) {
		return failed(errors.New("the policy names hosts (net.host), and this accessc-exec was built without the " +
			"egress proxy; start it by accessc exec --artifact"))
	}
	if a.Attested != nil {
		if err := a.Attested(filepath.FromSlash(spec.Launch.Workspace), spec.Launch.Tool, hash); err != nil {
			return failed(err)
		}
	}
	var under maximum.Stamp
	if a.Within != nil {
		if under, err = a.Within(spec, hash); err != nil {
			return failed(err)
		}
	}
	call, err := Call(a.Arguments, a.Call)
	if err != nil {
		return failed(err)
	}
	cwd, _ := os.Getwd() // without one the tool starts at the root
	denials := ""
	if state, err := userdir.For(spec.Workspace); err == nil && !a.Contained {
		denials = state.Denials(spec.Tool)
	}
	return start.Start(start.Request{
		Spec: spec, Dir: cwd, Args: a.Args, Call: call, Under: under, Accept: a.Accept,
		Environ: os.Environ(), Messages: visible.NewWriter(os.Stderr, false), Report: a.Report, Record: a.Record,
		EvidenceLog: a.EvidenceLog,
		Denials:     denials, Quiet: a.Quiet, Named: true,
	})
}

func failed(err error) error { return &start.Error{Code: start.CodeFailed, Err: err} }

// Call is the call of --arguments or --call, which are a JSON object and a file.
func Call(arguments, file string) (start.Call, error) {
	switch {
	case file == "":
		return start.Call{Arguments: json.RawMessage(arguments)}, nil
	case arguments != "":
		return start.Call{}, errors.New("--call has the arguments; leave out --arguments")
	case file == "-":
		return start.Call{}, errors.New("--call -: standard input is the tool's; pass a file, or a descriptor as " +
			"/dev/fd/N")
	}
	call, err := start.ReadCall(file)
	if err != nil {
		err = fmt.Errorf("--call: %w", err)
	}
	return call, err
}

// Workspace is the workspace that the caller is in, empty if it is in none. Tools start there only if ok: whether a
// workspace around it lists it says the ordinary start, which has the TOML reader.
func Workspace() (root string, ok bool) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", false
	}
	own, _ := userdir.Root() // without any there is none that a tool could write
	root, err = workspace.Find(cwd, own, nil)
	return root, err == nil
}

// CheckAccept refuses names that no gap has: they would change nothing, in silence.
func CheckAccept(names []string) error {
	var known []string
	for _, name := range names {
		if ir.Gap(name).Known() {
			continue
		}
		for _, g := range ir.Gaps() {
			known = append(known, string(g))
		}
		hint := suggest.Hint(name, known)
		if hint == "" {
			hint = "the gaps are " + strings.Join(known, ", ")
		}
		return usage.Errorf("--accept %s: there is no such gap; %s", name, hint)
	}
	return nil
}

// End says why a tool was not started, and returns the exit status.
func End(err error) int {
	_, _ = os.Stderr.WriteString("accessc: " + visible.Message(err.Error()) + "\n")
	var e *start.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return start.CodeFailed
}
