package ir

// NodeKind is the kind of node at a path, as far as the caller knows.
type NodeKind uint8

// The kinds of node. The zero value is the cautious choice.
const (
	// Unknown may be any kind; operations that differ by kind then need the capabilities that
	// every kind would need.
	Unknown NodeKind = iota
	// Absent is a name that does not exist.
	Absent
	// File is anything that is not a directory.
	File
	// Dir is a directory.
	Dir
)

// Place is the target of an operation, after path evaluation.
type Place struct {
	// At is the canonical location. It has no meaning when Fault is set.
	At Location
	// Asked is true when a tool was asked to act on a workspace-relative path,
	// which it may follow out of the workspace only through an external rule.
	// Otherwise the place is judged as the kernel sees it.
	Asked bool
	// Lexical is the workspace-relative path that was asked for, with ".."
	// collapsed and symlinks unresolved; empty for the workspace root.
	Lexical string
	// Fault is the reason why path evaluation itself refused, or zero.
	Fault Reason
}

// Direct returns the place of a location as the kernel sees it.
func Direct(at Location) Place { return Place{At: at} }

// Operation is a question to Decide.
//
//sumtype:decl
type Operation interface{ describe() Description }

// Access asks for a capability on a place.
type Access struct {
	Cap Capability // one capability
	On  Place      // the place
	// Name is the kind of the name that Create makes or Delete removes. It matters at names
	// that lead to rules (ReasonLeads) and has no meaning elsewhere.
	Name NameKind
}

// NameKind is the kind of a name that is created or removed.
type NameKind uint8

// The kinds of name.
const (
	// NameAny asks whether any kind of name can be created or removed.
	NameAny NameKind = iota
	// NameDir is a directory.
	NameDir
	// NameFile is a file, a fifo or a socket.
	NameFile
	// NameLink is a symbolic link.
	NameLink
)

// Copy reads Src and writes its contents to Dst.
type Copy struct {
	Src, Dst Place    // from, to
	DstKind  NodeKind // of an existing Dst
}

// Rename moves the name Src to Dst, replacing an existing Dst.
type Rename struct {
	Src, Dst         Place    // from, to
	SrcKind, DstKind NodeKind // of the two objects
}

// Exchange swaps the names A and B.
type Exchange struct {
	A, B         Place    // both ends
	AKind, BKind NodeKind // of the two objects
}

// Link gives the file at Src the further name Dst.
type Link struct {
	Src, Dst Place // from, to
}

// Dial connects to the socket file at On.
type Dial struct {
	On Place // the socket file
}

// Start executes the file at On. Interpreter is the program that runs it, nil unless it is a
// script.
type Start struct {
	On          Place  // the file
	Interpreter *Place // nil unless the file is a script
}

// Connect opens a connection to a target.
type Connect struct {
	To Endpoint // the target
	// Method is the method of an HTTP request, empty where none is known.
	Method string
	// Own is true where a process of the tool itself listens at the target.
	Own bool
}

// Listen accepts connections at an address of this host.
type Listen struct {
	// Host is the name localhost, or an address; the unspecified address stands for all.
	Host Host
	// Port is 0 where the kernel chooses the port.
	Port uint16
}

// Forward hands an environment variable to the tool.
type Forward struct {
	Name string // of the variable
}

// Run starts a program from within the tool.
type Run struct {
	// Program is the name or path by which the program is requested, and its argv[0].
	Program string
	// File is the canonical file, nil when it is not known. Its Fault is ReasonMissing where
	// there is none.
	File *Place
	// Args are the arguments without argv[0].
	Args []string
}

// Endpoint is a parsed network target. Host is a name or an address, never a pattern. Port is
// the effective port; Scheme is lower-case; Path contains the normalised segments.
type Endpoint struct {
	Scheme string   // such as "https"
	Host   Host     // name or address
	Port   uint16   // effective
	Path   []string // segments
}

// Stream is the scheme of connections whose bytes are not looked at. Only a rule that says so allows it, or a rule
// about only an address (Plain); a rule without a scheme denies it.
const Stream = "tcp"

// DefaultPort returns the port that a scheme implies, or 0. The table is the URL
// standard's list of special schemes (https://url.spec.whatwg.org/#special-scheme).
func DefaultPort(scheme string) uint16 {
	switch scheme {
	case "http", "ws":
		return 80
	case "https", "wss":
		return 443
	case "ftp":
		return 21
	default:
		return 0
	}
}
