package winjob

import "github.com/accessc/accessc/backends"

// format identifies the document.
const format = "accessc/windows-job-spec"

// formatVersion is the version of the document.
const formatVersion = 2

// MinimumBuild is the oldest Windows build that a loader starts on: version 1809, the oldest long-term build with every
// attribute that a specification uses.
const MinimumBuild = 17763

// Spec is the input of a loader for one tool on Windows, and a text for reviewers. Keys of the
// Windows interface are spelled as in its headers, flags are lists of symbols, and no word has
// a default: a loader does nothing that is not written.
type Spec struct {
	backends.Header
	backends.Launch
	// MinimumBuild is the oldest build to start on.
	MinimumBuild int `json:"minimumBuild"`
	// Tier is the tier that the specification is written for.
	Tier int `json:"tier"`
	// Tiers list the sections that each tier applies and the enforcement that results.
	Tiers []Tier `json:"tiers"`

	// Variables are the variables that the loader sets itself.
	Variables []Variable `json:"variables"`
	// Console is "own": the tool has a console that it shares with no process outside.
	Console string `json:"console"`

	Job        JobObject  `json:"jobObject"`            // bounds every process of the run
	Token      Token      `json:"token"`                // the tool's rights as a user
	Attributes Attributes `json:"procThreadAttributes"` // given to CreateProcess

	// The rest is for the AppContainer of tier 1.
	Container AppContainer `json:"appContainer"`
	Files     FileAccess   `json:"fileAccess"` // access lists
	// Programs are the files that may be started where the policy lists them; nil
	// means any that the entries let execute.
	Programs []Program `json:"programs"`
	Network  Network   `json:"network"` // closed
}

// Tier is a choice of means.
type Tier struct {
	// Tier is 0 for just a job and 1 for an AppContainer.
	Tier int    `json:"tier"`
	Name string `json:"name"` // "job" or "appcontainer"
	// Boundary is true where the tool cannot get around the applied sections.
	Boundary bool `json:"boundary"`
	// Applies and Leaves are the sections that a loader of this tier applies, and
	// those that it has no means for.
	Applies []string `json:"applies"`
	Leaves  []string `json:"leaves"`
	// Weakest is the weakest enforcement of each resource.
	Weakest Weakest `json:"weakest"`
}

// Weakest is one word per resource, as in the ledger.
type Weakest struct {
	FS       string `json:"fs"`       // files
	Net      string `json:"net"`      // connections
	Env      string `json:"env"`      // variables
	Commands string `json:"commands"` // programs
	Limits   string `json:"limits"`   // resources
	Process  string `json:"process"`  // other processes
}

// Variable is a name and a value in which symbols stand for places: ${home} for the home that the document names, the
// others for places and facts of the machine that only the loader knows.
type Variable struct {
	Name  string `json:"name"`  // of the variable
	Value string `json:"value"` // with symbols
}

// JobObject is the argument of SetInformationJobObject before the start.
type JobObject struct {
	Extended ExtendedLimits `json:"JOBOBJECT_EXTENDED_LIMIT_INFORMATION"` // limits
	UI       UIRestrictions `json:"JOBOBJECT_BASIC_UI_RESTRICTIONS"`      // keeps the job from the desktop
}

// ExtendedLimits bound the job. JobMemoryLimit is bytes of committed memory.
type ExtendedLimits struct {
	Basic          BasicLimits `json:"BasicLimitInformation"`    // limits of time and number
	JobMemoryLimit uint64      `json:"JobMemoryLimit,omitempty"` // in bytes
}

// BasicLimits bound the job. PerJobUserTimeLimit is in units of 100 nanoseconds.
type BasicLimits struct {
	LimitFlags          []string `json:"LimitFlags"`                    // the limits that are set
	PerJobUserTimeLimit int64    `json:"PerJobUserTimeLimit,omitempty"` // in units of 100 ns
	ActiveProcessLimit  uint32   `json:"ActiveProcessLimit,omitempty"`  // processes at a time
}

// UIRestrictions keep the job from the clipboard, the display and the logon.
type UIRestrictions struct {
	Class []string `json:"UIRestrictionsClass"` // kept from the job
}

// Token is the difference between the tool's token and the user's.
type Token struct {
	Restricted RestrictedToken `json:"CreateRestrictedToken"` // made from the user's token
	// Integrity is the most that the token has.
	Integrity string `json:"TokenIntegrityLevel"`
	// DefaultDACL is the list of objects that are made without an access list; ${user} stands for the
	// user's identifier.
	DefaultDACL string `json:"TokenDefaultDacl"`
}

// RestrictedToken is the arguments of the call.
type RestrictedToken struct {
	Flags              []string `json:"Flags"`              // the header's symbols
	SidsToDisable      []string `json:"SidsToDisable"`      // groups that can only deny
	PrivilegesToDelete []string `json:"PrivilegesToDelete"` // beyond those that Flags take away
	SidsToRestrict     []string `json:"SidsToRestrict"`     // identifiers that must be permitted besides
}

// Attributes are the attributes of the new process at both tiers.
type Attributes struct {
	JobList    []string `json:"PROC_THREAD_ATTRIBUTE_JOB_LIST"`    // the job
	HandleList []string `json:"PROC_THREAD_ATTRIBUTE_HANDLE_LIST"` // the standard handles
}

// AppContainer are the attributes that put the new process into its container.
type AppContainer struct {
	Security SecurityCapabilities `json:"PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES"` // the container
	// ChildProcessPolicy is empty where the tool may start programs.
	ChildProcessPolicy string `json:"PROC_THREAD_ATTRIBUTE_CHILD_PROCESS_POLICY,omitempty"`
}

// SecurityCapabilities name the AppContainer. The identifier belongs to the name as written; a
// loader appends the run to the name and derives its own (RunName).
type SecurityCapabilities struct {
	AppContainerName string   `json:"AppContainerName"` // before the run is appended
	AppContainerSID  string   `json:"AppContainerSid"`  // derived from the name
	Capabilities     []string `json:"Capabilities"`     // none, for a closed network
}

// FileAccess is the access lists of a run. The loader opens every path with the \\?\ prefix and
// never through a reparse point, writes the coming change to its journal, makes it, and keeps
// the handle: no process can then rename, delete or replace the object of the entry.
type FileAccess struct {
	// Hold is the way in which the loader opens the objects of entries.
	Hold Hold `json:"hold"`
	// Strip are identifiers that match the tool besides its own; a protected list
	// loses their entries too, and an inherited list that has any is refused.
	Strip  []string        `json:"strip"`
	Grants map[Grant]Lists `json:"grants"` // the entries for each word
	// Entries are in the order of the tree: parents before their children.
	Entries []Entry `json:"entries"`
	// Ambient lists the directories that are open to every AppContainer under any policy.
	Ambient []Ambient `json:"ambient"`
	// Unmatched are rules on paths that no file here can have.
	Unmatched []Unmatched `json:"unmatched,omitempty"`
	// Patterns are rules by name. The loader gives lists to the names that it finds (FileAccess.Named).
	Patterns []Pattern `json:"patterns,omitempty"`
}

// Pattern is a rule by name. Those of one path stand together, and the last that matches a name decides; they replace
// those of the paths around it.
type Pattern struct {
	Path   string   `json:"path"`   // the names are below it
	Names  []string `json:"names"`  // the patterns; none where only those around it end
	Grants []Grant  `json:"grants"` // the words of what the rule grants
	Rule   string   `json:"rule"`   // its identifier
}

// Hold is the arguments with which CreateFile opens an object for the time of the run.
type Hold struct {
	Access []string `json:"dwDesiredAccess"`      // of the handle
	Share  []string `json:"dwShareMode"`          // others' access meanwhile
	Flags  []string `json:"dwFlagsAndAttributes"` // of the open
}

// DACL is the treatment of the access list of an object.
type DACL string

const (
	// DACLGrant adds the entries to the list; inherited entries stay.
	DACLGrant DACL = "grant"
	// DACLProtected cuts inheritance, drops every entry that matches the tool, keeps the entries of users and groups,
	// and adds the entries.
	DACLProtected DACL = "protected"
)

// Absent is the loader's action for an entry whose path is missing.
type Absent string

const (
	// AbsentCreate makes the directory.
	AbsentCreate Absent = "create"
	// AbsentSkip leaves the entry out: a file that appears there can then have no more than the
	// rule grants, and the tool cannot make it.
	AbsentSkip Absent = "skip"
	// AbsentRefuse does not start the tool: a file that appears there would inherit the grants
	// of the directory above, and the rule withholds some of them.
	AbsentRefuse Absent = "refuse"
)

// Entry is the access list of one object and, by inheritance, of all below it that
// has no entry of its own.
type Entry struct {
	Path   string  `json:"path"`   // absolute; symbols stand for places in a portable specification
	DACL   DACL    `json:"dacl"`   // the treatment of the access list
	Grants []Grant `json:"grants"` // the words of FileAccess.Grants
	Absent Absent  `json:"absent"` // the treatment of a path without an object
	// ReparsePoint is true for the link of an external rule: the entry is on the link
	// itself. Any other entry that turns out to be a reparse point is refused.
	ReparsePoint bool `json:"reparsePoint,omitempty"`
	// Rule governs here; "default" where none does.
	Rule string `json:"rule"`
}

// Ambient is a directory that every AppContainer may read and run from.
type Ambient struct {
	Path string `json:"path"` // of the directory
	// Granted is true where the policy's base grants it as well.
	Granted bool `json:"granted"`
}

// Unmatched is a rule's path with a name that NTFS does not allow. There can be no file at the
// path, so there is nothing to put an entry on.
type Unmatched struct {
	Path string `json:"path"` // as the policy has it
	// Rule identifies the rule, as in the ledger.
	Rule string `json:"rule"`
}

// Program is a file that may be started. The tool's own has no name. A path that turns out to
// be anything but a file gets nothing.
type Program struct {
	Name string `json:"name,omitempty"` // as the policy lists it
	// File is the canonical file; empty in a portable specification.
	File string `json:"file,omitempty"`
	// Ambient is true for a file that every AppContainer may run, and that needs no
	// entry. Grants go on the others; they are empty where no file rule lets the file
	// execute.
	Ambient bool    `json:"ambient,omitempty"`
	Grants  []Grant `json:"grants"`
}

// Network is the network access. The only mode is "closed": no capability of an AppContainer is
// about a host.
type Network struct {
	Mode string `json:"mode"` // "closed"
	// Services enforce it; a loader refuses to start while one of them is not running.
	Services []string `json:"services"`
	// Rules are the rules of the policy; none of them opens anything.
	Rules []NetRule `json:"rules"`
}

// NetRule is a network rule. How a proxy would carry its requests is left out: there is none.
type NetRule struct {
	Host    string   `json:"host"`              // a name, an address or a pattern
	Scheme  string   `json:"scheme,omitempty"`  // empty for any
	Port    uint16   `json:"port,omitempty"`    // 0 where the rule names none
	Path    []string `json:"path,omitempty"`    // the segments of path_prefix
	Methods []string `json:"methods,omitempty"` // empty for all
	Listen  bool     `json:"listen,omitempty"`  // for a rule about accepting connections
	Allow   bool     `json:"allow"`             // false for a rule that denies
}
