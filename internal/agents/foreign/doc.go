// Package foreign has what the evaluations of other programs' settings are written with: which files, hosts and command
// lines a program permits under its settings, and the patterns and paths of such settings. The evaluations themselves are
// model.go of each program's package. All of it is written from the programs' documentation and their behaviour, knows
// nothing of this project's policies, and shares no code with the translation into them, so that the one can be checked
// against the other.
//
// Where a program is documented in two ways, or differs between systems, the evaluation takes the answer
// that permits less.
package foreign

// Policy answers which accesses a program permits without asking a person.
type Policy interface {
	// Reads and Writes are about an absolute path without "." and "..".
	Reads(path string) bool
	Writes(path string) bool
	// Connects is about a connection that a command opens to a name or an address.
	Connects(host string, port uint16) bool
	// Fetches is about the agent's own means of getting a page.
	Fetches(host string) bool
	// Passes is about a variable of the caller's environment.
	Passes(name string) bool
	// Runs is about one command without lists, pipes and redirections.
	Runs(line string) bool
	// Marks are the places that the policy tells apart.
	Marks() Marks
}

// Detailed is a policy that tells more operations apart than reading and writing.
type Detailed interface {
	Policy
	// Permits is about an operation by its name: read, execute, create, update or delete.
	Permits(operation, path string) bool
	// Moves is about a file or a directory that gets another name, or a file that gets a further one.
	Moves(from, to string, dir bool) bool
	// Listens is about connections that a command accepts, at any address of this machine.
	Listens(port uint16) bool
}

// Stopper is a policy whose settings refuse some commands, or have a person asked about them, by an entry of their own.
type Stopper interface {
	// Stops is about one command without lists, pipes and redirections.
	Stops(line string) bool
}

// Caller is a policy about the tools of MCP servers.
type Caller interface {
	// Calls is about a call that nobody is asked about, StopsCall about one that the settings refuse or ask about.
	Calls(server, tool string) bool
	StopsCall(server, tool string) bool
}

// Starter is a policy that keeps processes from starting some programs.
type Starter interface {
	// Starts is about a program by its name.
	Starts(program string) bool
}

// Marks are the places at which a policy may change its answer.
type Marks struct {
	// Paths are the absolute paths that the settings name.
	Paths []string
	// Patterns are about names that the settings do not spell out.
	Patterns []Pattern
	// Hosts are names, addresses and "*.name"; Ports are those that entries name.
	Hosts []string
	Ports []uint16
	// Vars are variables.
	Vars []string
	// Linux is true for an evaluation that says nothing about the system's files elsewhere.
	Linux bool
	// Commands are lines with "*" for any text.
	Commands []string
	// Programs are names of programs, Calls those of servers' tools, joined by "__".
	Programs, Calls []string
}
