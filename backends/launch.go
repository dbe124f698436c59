package backends

import (
	"github.com/accessc/accessc/ir"
)

// Header begins every artifact that is JSON, and the manifest of a build.
type Header struct {
	Format  string `json:"format"`         // the kind of document
	Version int    `json:"format_version"` // of the format
	// Form is "portable" or "resolved".
	Form string `json:"form"`
}

// Launch is what a loader needs to know of a tool beside what confines it. It is the
// same on every system, and part of the artifact of each.
type Launch struct {
	Tool string `json:"tool"` // the tool's name
	// Command is what is started; nil when the caller names it.
	Command *Command `json:"command,omitempty"`
	// Workspace is the working directory, Home the private home directory, empty
	// when HOME is the user's own. The private directory of a run is ${tmp}: it is
	// made anew for each.
	Workspace string `json:"workspace"`
	Home      string `json:"home"`
	// Environment is what is forwarded; everything else is not.
	Environment []Variable `json:"environment"`
	Limits      []Limit    `json:"limits,omitempty"` // of resources
	// Needs are the rows that a loader must meet by other means, or that must be accepted.
	// Their levels are versions of Landlock's ABI on Linux and tiers on Windows.
	Needs []Row `json:"needs"`
	// Accept are the gaps that the policy accepts.
	Accept []string `json:"accept,omitempty"`
	// Context is the text of the tool's Context, in a resolved artifact.
	Context string `json:"context,omitempty"`
}

// Command is what a tool runs.
type Command struct {
	Program string   `json:"program"`         // a name to look up, or a path
	Args    []string `json:"args"`            // with placeholders
	Shell   bool     `json:"shell,omitempty"` // has the system shell run Program
}

// Variable is an environment rule. The name of a prefix is its literal part.
type Variable struct {
	Name   string `json:"name"`             // without the "*" of a prefix
	Prefix bool   `json:"prefix,omitempty"` // whether more may follow the name
	Read   bool   `json:"read"`             // whether matching variables are forwarded
	// Value is the variable's value where no other rule forwards the user's own.
	Value string `json:"value,omitempty"`
}

// Limit is a resource limit, in the unit of its kind.
type Limit struct {
	Kind  string `json:"kind"`  // as in a policy
	Value uint64 `json:"value"` // in bytes, milliseconds or pieces
}

// NewLaunch writes a tool's part of an artifact for a target. Its needs are the rows of the
// ledger that the system does not hold by itself.
func NewLaunch(t *ir.Tool, target Target, ledger ir.Ledger) Launch {
	l := Launch{
		Tool: t.Name, Workspace: target.Place(ir.In("")), Environment: []Variable{}, Needs: []Row{},
		Context: target.Context,
	}
	for _, r := range ledger {
		if r.Is == ir.Supervised && r.Gap != "" || !r.Is.Held() {
			l.Needs = append(l.Needs, NewRow(r))
		}
	}
	if t.Home == ir.HomePrivate {
		l.Home = target.Place(ir.Location{Root: ir.Root{Kind: ir.Home}})
	}
	if c := t.Command; c != nil {
		l.Command = &Command{c.Program, append([]string{}, c.Args...), c.Shell}
	}
	for _, r := range t.Env {
		l.Environment = append(l.Environment, Variable{r.Name, r.Prefix, r.Read, r.Value})
	}
	for _, k := range t.Limits {
		l.Limits = append(l.Limits, Limit{k.Kind.String(), k.Value})
	}
	for _, a := range t.Accept {
		l.Accept = append(l.Accept, string(a.Gap))
	}
	return l
}
