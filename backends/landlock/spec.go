package landlock

import "github.com/accessc/accessc/ir"

// Format identifies the document.
const Format = "accessc/landlock"

// FormatVersion is the version of the document.
const FormatVersion = 1

// Spec is what the loader needs to start one tool on Linux, and what a reviewer
// reads: everything that the sandbox grants, refuses and leaves to other means.
type Spec struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	Form    string `json:"form"`
	Tool    string `json:"tool"`
	// Command is what is started; nil when the caller names it.
	Command *Command `json:"command,omitempty"`
	// Workspace is the working directory, Home the private home directory, empty
	// when HOME is the user's own. The private directory of a run is ${tmp}
	// everywhere: it is made anew for each.
	Workspace string `json:"workspace"`
	Home      string `json:"home"`
	// Environment is what is forwarded; everything else is not.
	Environment []Variable `json:"environment"`
	// Levels says which rights each ABI version handles: its own and those of the
	// versions before it. What is handled and not granted below is denied.
	Levels []Level `json:"levels"`
	Paths  []Path  `json:"paths"`
	// Programs are the files that may be started where the policy lists them; nil
	// means any that the paths let execute.
	Programs []Program `json:"programs"`
	// Ports are opened only where their cell is accepted.
	Ports  []Port  `json:"ports,omitempty"`
	Filter []Block `json:"filter"`
	// Supervision is what a supervisor adds; nil where the rest holds everything.
	Supervision *Supervision `json:"supervision,omitempty"`
	Limits      []Limit      `json:"limits,omitempty"`
	// Needs are the cells that these means do not hold by themselves.
	Needs []Need `json:"needs"`
	// Accept are the cells that the policy accepts unheld.
	Accept []string `json:"accept,omitempty"`
	// Context is the text of the tool's Context, in a resolved specification.
	Context string `json:"context,omitempty"`
}

// Command is what a tool runs.
type Command struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Shell   bool     `json:"shell,omitempty"`
}

// Variable is an environment rule. The name of a prefix is its literal part.
type Variable struct {
	Name   string `json:"name"`
	Prefix bool   `json:"prefix,omitempty"`
	Read   bool   `json:"read"`
}

// Path grants rights on a file or on everything below a directory. A path that
// does not exist at the start is left out; nothing is granted in its place.
type Path struct {
	Path   string  `json:"path"`
	Access []Right `json:"access"`
	// Entries, where present, turns the grant into one on each entry that the
	// directory has at the start, and none on the directory itself.
	Entries *Entries `json:"entries,omitempty"`
}

// Entries says which entries of a directory a grant leaves out.
type Entries struct {
	Except []string `json:"except"`
	// OwnProcess is for /proc: of the directories of processes only the tool's own.
	OwnProcess bool `json:"own_process,omitempty"`
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
	Cell   string  `json:"cell"`
}

// Limit is a resource limit, in the unit of its kind.
type Limit struct {
	Kind  string `json:"kind"`
	Value uint64 `json:"value"`
}

// Need is a row of the ledger that a loader must meet by other means, or that must
// be accepted.
type Need struct {
	Cell    string   `json:"cell"`
	Is      string   `json:"is"`
	From    int      `json:"from_abi"`
	To      int      `json:"to_abi"`
	Rules   []string `json:"rules"`
	Aspects []string `json:"aspects"`
	Why     string   `json:"why"`
}

// needs turns the rows that are not held by themselves into needs.
func needs(l ir.Ledger) []Need {
	out := []Need{}
	for _, r := range l {
		if r.Is == ir.Exact || r.Is == ir.Stricter || r.Levels.To == 0 {
			// Without Landlock there is nothing that a loader could do.
			continue
		}
		n := Need{
			Cell: r.Accept, Is: r.Is.String(), From: r.Levels.From, To: r.Levels.To, Rules: r.Rules, Why: r.Why,
		}
		for _, a := range r.Aspects {
			n.Aspects = append(n.Aspects, r.Resource.String()+"."+string(a))
		}
		out = append(out, n)
	}
	return out
}
