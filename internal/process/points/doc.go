// Package points names the places in the product at which a test can hold a process, so that the
// test chooses the order of a race. A place calls Reach with its name, which does nothing:
// without the build tag accessc_points the function is empty and the compiler leaves nothing of
// a call (test/attacks looks through the program for it). With the tag a call tells the test that
// the place is reached, and returns once the test lets it.
//
// The supervisor, the loader and the egress proxy call Reach, each at a constant of this package
// and with no lock held except the locks that the place is about: whoever waits for such a lock waits as
// well. A place lies between a decision and what rests on it. A process that has become a clone with
// no runtime, or the tool, calls nothing of Go and has no places.
//
// A process of the tagged build belongs to a test if the variable ACCESSC_POINTS of its environment, or of
// the environment of the process that has started it as an egress proxy, is the address of a test's socket
// (package held). It connects before main, while nothing confines it. Without the variable it runs like any other.
// A released program never has the tag.
package points

// Name is the name of a place.
type Name string

// Places of the supervisor.
const (
	// Read: the worker has a call and, for a call that it may answer at once, the path. It
	// judges by what it has read, whatever the memory of the tool says now.
	Read Name = "supervisor.read"
	// Found: the paths of a call are resolved, and the policy is about to be asked.
	Found Name = "supervisor.found"
	// Acting: the call is granted, and is about to be carried out here.
	Acting Name = "supervisor.acting"
	// Moved: the kernel has moved or exchanged names, and the supervisor has not looked yet whether
	// they named the judged files.
	Moved Name = "supervisor.moved"
	// Retreating: a move is about to be taken back, and the supervisor has looked at what stands at its names.
	Retreating Name = "supervisor.retreating"
	// Answering: the call is judged and, where it is carried out here, done. The tool does not have the
	// answer, which may be that the kernel carries it out.
	Answering Name = "supervisor.answering"
)

// Places of the loader.
const (
	// Opened: the file or directory of a rule is open, and the rule is not in the ruleset. It is of the path.
	Opened Name = "start.opened"
	// Becoming: all is prepared, and the tool is about to be started, or this process to become it.
	Becoming Name = "start.becoming"
)

// Undoing: an undo is about to move, make, remove or rewrite one of its files.
const Undoing Name = "undo.undoing"

// Places of the egress proxy.
const (
	// Dialing: a connection is granted, and its host has not been called.
	Dialing Name = "egress.dialing"
	// Revoked: a grant is no longer in force, and the connections that rest on it go on.
	Revoked Name = "egress.revoked"
	// Cut: the connections of a revoked grant are told to end, and nobody has looked whether they do.
	Cut Name = "egress.cut"
	// Ended: the connections of a revoked grant have ended, and the supervisor has not heard of it.
	Ended Name = "egress.ended"
)
