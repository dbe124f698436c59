package landlock

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Format identifies the document.
const Format = "accessc/landlock"

// FormatVersion is the version of the document.
const FormatVersion = 2

// Spec is the input of the loader for one tool on Linux, and a text for reviewers: everything
// that the sandbox grants, refuses and leaves to other means.
// See RATIONALE D23.
type Spec struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	// Form is "portable" or "resolved".
	Form string `json:"form"`
	Tool string `json:"tool"`
	// Command is the program to start; nil when the caller names it.
	Command *Command `json:"command,omitempty"`
	// Workspace is the working directory, Home the private home directory, empty
	// when HOME is the user's own. The private directory of a run is ${tmp}
	// everywhere: it is made anew for each.
	Workspace string `json:"workspace"`
	Home      string `json:"home"`
	// Environment lists the forwarded variables; no others are forwarded.
	Environment []Variable `json:"environment"`
	// Levels lists the rights that each ABI version handles: its own and those of the versions
	// before it. A right that is handled and not granted below is denied.
	Levels []Level `json:"levels"`
	// Paths are the rules of the ruleset on files and directories.
	Paths []Path `json:"paths"`
	// Programs are the files that may be started where the policy lists them; nil
	// means any that the paths let execute.
	Programs []Program `json:"programs"`
	// Ports are opened only where their gap is accepted.
	Ports []Port `json:"ports,omitempty"`
	// Calls is the version of the closed list of system calls (CallsVersion), which every
	// filter begins with. Filter lists the further refusals of this policy.
	Calls  int     `json:"calls"`
	Filter []Block `json:"filter"`
	// Supervision is the addition of the supervisor; nil where the rest enforces everything.
	Supervision *Supervision `json:"supervision,omitempty"`
	Limits      []Limit      `json:"limits,omitempty"`
	// Needs are the cells that these means do not hold by themselves.
	Needs []backends.Row `json:"needs"`
	// Accept are the gaps that the policy accepts.
	Accept []string `json:"accept,omitempty"`
	// Context is the text of the tool's Context, in a resolved specification.
	Context string `json:"context,omitempty"`
}

// The parts that a specification shares with the artifacts of other systems.
type (
	// Command is the program of a tool, with its arguments.
	Command = backends.Command
	// Variable is an environment rule.
	Variable = backends.Variable
	// Limit is a resource limit.
	Limit = backends.Limit
)

// Launch returns the data that a loader needs on every system.
func (s *Spec) Launch() backends.Launch {
	return backends.Launch{
		Tool: s.Tool, Command: s.Command, Workspace: s.Workspace, Home: s.Home, Environment: s.Environment,
		Limits: s.Limits, Needs: s.Needs, Accept: s.Accept, Context: s.Context,
	}
}

// Path grants rights on a file or on everything below a directory. A path that
// does not exist at the start is left out; nothing is granted in its place. Two paths mean
// something else for every tool: /proc/self is the directory of its first process, and
// /dev/tty also the controlling terminal by its own name.
type Path struct {
	Path   string  `json:"path"`
	Access []Right `json:"access"`
	// Entries, where present, turns the grant into one on each entry that the
	// directory has at the start, and none on the directory itself.
	Entries *Entries `json:"entries,omitempty"`
}

// Entries lists the entries of a directory that a grant leaves out.
type Entries struct {
	Except []string `json:"except"`
}

// Program is a file that may be started, with the interpreter that it names. The
// tool's own has no name.
type Program struct {
	Name string `json:"name,omitempty"`
	// File is the canonical file; empty in a portable specification.
	File string `json:"file,omitempty"`
}

// Port grants rights on a TCP port of any host.
type Port struct {
	Port   uint16  `json:"port"`
	Access []Right `json:"access"`
	// Cell names the gap that must be accepted, such as "net.host".
	Cell string `json:"cell"`
}

// needs turns the rows that are not held by themselves into needs.
func needs(l ir.Ledger) []backends.Row {
	out := []backends.Row{}
	for _, r := range l {
		if r.Is == ir.Exact || r.Is == ir.Stricter || r.Is == ir.Assumed || r.Levels.To == 0 {
			// Without Landlock there is nothing that a loader could do.
			continue
		}
		out = append(out, backends.NewRow(r))
	}
	return out
}
