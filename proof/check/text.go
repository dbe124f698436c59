package check

// Kind is what a question is about.
type Kind string

// The kinds of question. Target and To of a Question mean for each what stands beside it.
const (
	Files     Kind = "files"     // a place: the acts on it, and on a name that is made there later
	Moves     Kind = "moves"     // two places: moving or linking the first to the second
	Hosts     Kind = "hosts"     // scheme://host:port/path, or a listener's address:port
	Variables Kind = "variables" // the name of a variable
	Programs  Kind = "programs"  // a program by its name in the policy, or a name that is not there
	Limits    Kind = "limits"    // the kind of a limit; the answer is its value in the text, 0 for none
	Names     Kind = "names"     // patterns of names; nothing is asked about them by themselves
)

// Question asks what a policy or a text permits. To is the second place of a move. Of Files it is the deepest place on
// the way to Target that existed when the tool started: for the acts that are late, the rest of the way did not.
type Question struct {
	Kind       Kind
	Target, To string
}

// Verdict is the set of acts that are permitted, or for Limits a value.
type Verdict uint64

// Acts on a place, one bit each. A policy has fewer words than systems have acts: each stands for the capability that
// actCaps names. The same bits shifted by Late are the acts on a name that did not exist when the tool started, and on
// all below it.
const (
	Read     Verdict = 1 << iota // open a file for reading
	List                         // open a directory for reading
	Write                        // open a file for writing
	Truncate                     // empty a file
	Create                       // make a file
	Fill                         // make a file that is open for writing
	Mkdir
	Symlink
	Fifo
	Socket // make the name of a socket
	Delete // remove a name that is no directory
	Rmdir
	Execute
	Metadata // change mode, owner, times or attributes
	Dial     // connect to a socket
	acts     = iota
	Late     = 16 // the shift
)

// every is all acts on places.
const every = (1<<acts - 1) * (1 + 1<<Late)

// The acts of Moves.
const (
	RenameFile  Verdict = 1 << iota // to a name that does not exist
	RenameDir                       // to a name that does not exist
	ReplaceFile                     // rename a file over a file
	Link
)

// Permit is the act of every kind that has one alone.
const Permit Verdict = 1

// Level is a way in which a text is put in force: the versions of a system's means that do alike, and whether a
// supervisor is there. Answers of a text are per level.
type Level struct {
	From int `json:"from_level"` // as in the rows of ledgers
	To   int `json:"to_level"`
	// Alone is true without the supervisor that the text asks for: rows that say "supervised" then explain a
	// difference if the text lists their gap among its needs.
	Alone bool `json:"alone,omitempty"`
}

// Text is an emitted artifact that a model has read.
type Text interface {
	// Platform is the system of the rows of the ledger that are about the text.
	Platform() string
	// Levels lists the ways in which it is put in force.
	Levels() []Level
	// Acts are the acts on places that the model knows; nothing is said about the others.
	Acts() Verdict
	// Needs are the rows that its loader must meet or have accepted, nil where the text has no such list.
	Needs() []Row
	// Mentions lists what the text says something of its own about: for Files the places, in the spelling of policies,
	// at which its answers may differ from those at the directory around, for Names patterns of names, for Hosts,
	// Variables, Programs and Limits targets. Between what the policy and the text mention, answers are constant.
	Mentions(k Kind) []string
	// Answer returns a verdict for each level.
	Answer(q Question) []Verdict
}

// Model reads the texts of one system.
type Model struct {
	// Platform is the system that the policy is asked for.
	Platform string
	// Assumes says in a sentence what the system is taken to do with the text.
	Assumes string
	// Read reads a text strictly. The policy is the tool's, for what a text leaves to a judge that has it.
	Read func(text []byte, p *Policy) (Text, error)
}

// Modelled returns the system of an artifact, and what is assumed about it; false where there is no model.
func Modelled(file string) (platform, assumes string, ok bool) {
	m, ok := modelOf(file)
	return m.Platform, m.Assumes, ok
}

// modelOf is the model of an artifact by the name of its file.
func modelOf(file string) (Model, bool) {
	switch file {
	case "context.json":
		return contextModel, true
	case "landlock.json":
		return landlockModel, true
	case "seatbelt.sb":
		return seatbeltModel, true
	case "winjob.json":
		return winjobModel, true
	default:
		return Model{}, false
	}
}
