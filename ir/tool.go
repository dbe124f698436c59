package ir

import (
	"slices"
	"strconv"
)

// FormatVersion is the version of the canonical text form of a Program. It
// changes when a reader of the older form would misunderstand the newer form.
const FormatVersion = 1

// Program is the result of a compilation: every tool, sorted by name.
type Program struct {
	Tools []*Tool // sorted by name
}

// Tool finds a tool by name.
func (p *Program) Tool(name string) (*Tool, bool) {
	for _, t := range p.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

// SourceKind says which program runs a tool.
type SourceKind uint8

// The kinds of source. Only a local tool is confined by accessc.
const (
	SourceLocal SourceKind = iota + 1
	SourceBuiltin
	SourceMCP
)

// String returns the configuration word for k.
func (k SourceKind) String() string {
	switch k {
	case SourceLocal:
		return "local"
	case SourceBuiltin:
		return "builtin"
	case SourceMCP:
		return "mcp"
	default:
		return "none"
	}
}

// Source says which program runs a tool. Detail is the text after the first dot, empty if there
// is none.
type Source struct {
	Kind   SourceKind // of program
	Detail string     // such as the name of a server
	Origin Origin     // layer and place
}

// String writes the source as the configuration spells it.
func (s Source) String() string {
	if s.Detail == "" {
		return s.Kind.String()
	}
	return s.Kind.String() + "." + s.Detail
}

// ServersTable is the key of the configuration under which MCP servers stand.
const ServersTable = "servers"

// Server reports whether the tool is an MCP server: a local tool that the servers table defines.
func (t *Tool) Server() bool {
	const prefix = ServersTable + "."
	path := t.Source.Origin.Path
	return t.Source.Kind == SourceLocal && len(path) > len(prefix) && path[:len(prefix)] == prefix
}

// Command is the command line by which the host starts a tool. Words may contain placeholders
// such as {{context}}.
type Command struct {
	Program string   // a name or a path
	Args    []string // further words
	// Shell hands the program text to the system shell.
	Shell  bool
	Origin Origin // layer and place
}

// HomeKind is the meaning of HOME for a tool.
type HomeKind uint8

// The kinds of home.
const (
	// HomePrivate points HOME and the XDG directories to a directory of the tool's own.
	HomePrivate HomeKind = iota + 1
	// HomeReal forwards the user's value, which grants nothing by itself.
	HomeReal
)

// String returns the configuration word for h.
func (h HomeKind) String() string {
	switch h {
	case HomePrivate:
		return "private"
	case HomeReal:
		return "real"
	default:
		return "none"
	}
}

// homeShared is the configuration word for a private home that several tools have.
const homeShared = "shared"

// HomeWord is the configuration word for the home of the tool.
func (t *Tool) HomeWord() string {
	if t.HomeShared {
		return homeShared
	}
	return t.Home.String()
}

// ParseHome reads the configuration word for a home.
func ParseHome(word string) (kind HomeKind, shared, ok bool) {
	switch word {
	case HomePrivate.String():
		return HomePrivate, false, true
	case homeShared:
		return HomePrivate, true, true
	case HomeReal.String():
		return HomeReal, false, true
	default:
		return 0, false, false
	}
}

// Tool is the finalized policy of a tool.
type Tool struct {
	Name   string // unique in its program
	Source Source // the program that runs it
	// Command is nil if no command is configured.
	Command *Command
	// Run is the invocation mode, such as "ask" or "unattended"; empty if unset.
	Run string
	// Disabled is true for a tool of an MCP server that may not be called.
	Disabled bool
	// LeastRisk is the risk that a layer wrote: the tool's is at least that. Zero for none.
	LeastRisk Risk

	Base BaseName // the grants outside of the workspace
	Home HomeKind // the tool's own or the user's
	// HomeShared is true where all tools of the workspace that say so share a private home.
	// Such tools find each other's caches, and can influence each other.
	HomeShared bool
	// LateOpen has the supervisor permit access to files that other processes create during the
	// run beside an exception, for a tool that could not create them itself. Without it such
	// files stay closed until the next start, which spares most such tools a supervisor. With it a tool has a
	// supervisor, and all of the base that only a supervisor can give.
	LateOpen bool
	// Undo has the originals of the files kept that the tool changes, so that its changes can be undone. A tool with it
	// has a supervisor; where none can be had it does not start. No configuration sets it, a flag of a start does.
	Undo bool
	// Protects is true where writing is taken away from protected paths (ProtectedPaths).
	// Protected are further protected paths, such as layers that other layers extend.
	Protects  bool
	Protected []ProtectedPath

	// FS and Net are the declared rules in order, or the default of the type when no layer
	// declares it. Env has the variables of the base before the declared rules.
	FS  []FSRule
	Net []NetRule
	Env []EnvRule
	// Commands is nil when any program may be started.
	Commands *CommandSet
	// May are rules on files, MayNet rules on hosts, that grant nothing by themselves: the user can
	// grant operations that they permit while the tool runs, if it was started so. See Live.
	May    []FSRule
	MayNet []NetRule

	// Declared says which of the three lists some layer declared.
	Declared Declared

	Sensitive []SensitivePattern // paths whose exposure gives a warning
	Limits    []Limit            // at most one of each kind
	// Constraints is nil when there are none.
	Constraints *Constraints
	Tests       []Assertion // questions and expected answers
	// Accept names requirements of the ledger that the policy knowingly leaves unenforced.
	Accept []Acceptance
	// Removed are rules that a later layer took away. They decide nothing.
	Removed []Removal
}

// Removal is a rule that a later layer took away.
type Removal struct {
	Resource Resource // of the rule
	Subject  string   // of the rule, as it was written
	Was, By  Origin   // the rule's own place, and the removal's
}

// Declared says which resource types some layer declared. An undeclared type
// carries its default; the default of variables is part of the base.
type Declared struct {
	FS, Net, Env bool // the three lists
}

// CommandSet is a declared commands table, sorted by program.
type CommandSet struct {
	Rules  []CommandRule // sorted by program
	Origin Origin        // of the table
}

// Narrows reports whether some program has fewer variables than the tool. A nil set narrows
// nothing.
func (s *CommandSet) Narrows() bool {
	return s != nil && slices.ContainsFunc(s.Rules, func(r CommandRule) bool { return !r.AllEnvs })
}

// SensitivePattern is an entry of the list of paths whose exposure gives a warning. Built-in
// entries have LayerDefault.
type SensitivePattern struct {
	Pattern string // with * and **
	Origin  Origin // layer and place
}

// LimitKind names a resource limit.
type LimitKind uint8

// The limits.
const (
	LimitMemory LimitKind = iota + 1
	LimitProcesses
	LimitCPUTime
	LimitWallTime
	LimitOpenFiles
	LimitFileSize
)

// LimitKinds lists every limit in canonical order.
var LimitKinds = [...]LimitKind{LimitMemory, LimitProcesses, LimitCPUTime, LimitWallTime, LimitOpenFiles, LimitFileSize}

// String returns the configuration key of k.
func (k LimitKind) String() string {
	switch k {
	case LimitMemory:
		return "memory"
	case LimitProcesses:
		return "processes"
	case LimitCPUTime:
		return "cpu_time"
	case LimitWallTime:
		return "wall_time"
	case LimitOpenFiles:
		return "open_files"
	case LimitFileSize:
		return "file_size"
	default:
		return "none"
	}
}

// Limit bounds a resource of a tool: bytes for memory and file_size,
// milliseconds for the times, a count otherwise.
type Limit struct {
	Kind   LimitKind // the resource
	Value  uint64    // in the unit of the kind
	Origin Origin    // layer and place
}

// Constraints limit how often, and after which other tools, a tool may be invoked. The host's
// library and proxy check them; no backend does.
type Constraints struct {
	// MaxInvocations is 0 when unlimited.
	MaxInvocations int
	// OnlyAfter lists the tools that must have been invoked before.
	OnlyAfter []string
	// Forbidden is true when the tool may not be invoked at all.
	Forbidden bool
	Origin    Origin // layer and place
}

// Assertion is a line of access.tests: a question and the answer it must get.
type Assertion struct {
	// Allow is the expected answer.
	Allow bool
	// Question is written as for the command "can".
	Question string
	Origin   Origin // layer and place
}

// Acceptance names a requirement, such as "net.host", that is knowingly unenforced.
type Acceptance struct {
	Gap    Gap    // the requirement
	Origin Origin // layer and place
}

func utoa(n uint16) string { return strconv.FormatUint(uint64(n), 10) }

func itoa(n int) string { return strconv.Itoa(n) }
