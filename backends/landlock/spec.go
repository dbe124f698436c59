package landlock

import "github.com/accessc/accessc/backends"

// format identifies the document.
const format = "accessc/landlock"

// formatVersion is the version of the document.
const formatVersion = 2

// Spec is the input of the loader for one tool on Linux, and a text for reviewers: everything
// that the sandbox grants, refuses and leaves to other means.
// See decision D25.
type Spec struct {
	backends.Header
	backends.Launch
	// Levels lists the rights that each ABI version handles: its own and the rights of the versions before it. A right
	// that is handled and not granted below is denied.
	Levels []Level `json:"levels"`
	// Paths are the rules of the ruleset on files and directories.
	Paths []Path `json:"paths"`
	// Programs are the files that may be started where the policy lists them; nil
	// means any that the paths let execute.
	Programs []Program `json:"programs"`
	// Ports are opened only where their gap is accepted.
	Ports []Port `json:"ports,omitempty"`
	// Calls is the version of the closed list of system calls (callsVersion), which every
	// filter begins with. Filter lists the further refusals of this policy.
	Calls  int     `json:"calls"`
	Filter []Block `json:"filter"`
	// Supervision is the addition of the supervisor; nil where the rest enforces everything.
	Supervision *Supervision `json:"supervision,omitempty"`
}

// Path grants rights on a file or on everything below a directory. A path that
// does not exist at the start is left out; nothing is granted in its place. Two paths mean
// something else for every tool: /proc/self is the directory of its first process, and
// /dev/tty also the controlling terminal by its own name.
type Path struct {
	Path   string  `json:"path"`   // absolute; symbols stand for places in a portable specification
	Access []Right `json:"access"` // the rights granted
	// Entries, where present, turns the grant into a grant on each entry that the
	// directory has at the start, and none on the directory itself.
	Entries *Entries `json:"entries,omitempty"`
	// Image is set for a place in an image that the compiler has not seen: a symlink there gets
	// nothing, as a path that does not exist, and the start goes on.
	Image bool `json:"image,omitempty"`
}

// Entries lists the entries of a directory that a grant leaves out.
type Entries struct {
	Except []string `json:"except"` // names, without their directory
}

// Program is a file that may be started, with the interpreter that it names. The
// tool's own has no name.
type Program struct {
	Name string `json:"name,omitempty"` // as the policy lists it
	// File is the canonical file; empty in a portable specification.
	File string `json:"file,omitempty"`
}

// Port grants rights on a TCP port of any host.
type Port struct {
	Port   uint16  `json:"port"`   // on any host
	Access []Right `json:"access"` // to bind, to connect, or both
	// Cell names the gap that must be accepted, such as "net.host".
	Cell string `json:"cell"`
}
