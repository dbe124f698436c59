package start

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/ir"
)

// RecordFormat and RecordVersion identify the record of a run. The version changes when
// a reader of the older form would misunderstand the newer one.
const (
	RecordFormat  = recorded.Format
	RecordVersion = recorded.Version
)

// Recording asks for the record of a run. It holds the values that only the caller knows.
type Recording struct {
	// File is the file for the record, written when the tool has ended; "-" is standard output.
	File string
	// Accessc is the version of the program, Policy and Artifact are the manifest's hashes of
	// the tool's policy and specification; empty where they are unknown.
	Accessc, Policy, Artifact string
	// Ledger is the tool's, with the rows of other systems or without.
	Ledger ir.Ledger
}

// Record is the document of --record: the request for a run, and its course.
type Record struct {
	Format    string `json:"format"`
	Version   int    `json:"format_version"`
	Accessc   string `json:"accessc"`
	Tool      string `json:"tool"`
	Workspace string `json:"workspace"`
	Policy    string `json:"policy_sha256,omitempty"`
	Artifact  string `json:"artifact_sha256,omitempty"`
	// Begun and Ended are in RFC 3339, UTC; Milliseconds lie between them.
	Begun        string     `json:"begun"`
	Ended        string     `json:"ended"`
	Milliseconds int64      `json:"milliseconds"`
	Host         RecordHost `json:"host"`
	// Exit is how the tool ended; nil where it did not start, which NotStarted explains.
	Exit       *RecordExit `json:"exit"`
	NotStarted string      `json:"not_started,omitempty"`
	// Supervised is true where a supervisor answered, Traced where it saw everything.
	Supervised bool `json:"supervised"`
	Traced     bool `json:"traced"`
	// Denials is the number of calls that it refused.
	Denials int `json:"denials"`
	// Accepted are the gaps: requirements that were not enforced and accepted by name.
	Accepted []string      `json:"accepted"`
	Limits   []RecordLimit `json:"limits"`
	// Live are the questions, answers, uses and revocations of grants given during the run, and
	// LiveLost the number of uses and questions that were too many; nil where none could be given.
	Live     []live.Event `json:"live,omitempty"`
	LiveLost int          `json:"live_lost,omitempty"`
	// Cells are the rows of the ledger on this system, with the means that enforced them.
	Cells []RecordCell `json:"cells"`
	// Accesses are those of a traced run.
	recorded.Accesses
}

// RecordHost is the part of the system that decides about enforcement.
type RecordHost struct {
	System   string `json:"system"`
	Kernel   string `json:"kernel"`
	Machine  string `json:"machine"`
	Landlock int    `json:"landlock_abi"`
	// Applied is the version of Landlock that the ruleset was made for.
	Applied int  `json:"applied_abi"`
	Root    bool `json:"root"`
}

// RecordExit is how a tool ended, by a status or by a signal, and the resources that it used
// together with all processes that it waited for.
type RecordExit struct {
	Status int    `json:"status"`
	Signal string `json:"signal,omitempty"`
	// Limit is the kind of the limit that ended the tool, empty for none.
	Limit  string `json:"limit,omitempty"`
	User   int64  `json:"user_ms"`
	System int64  `json:"system_ms"`
	// Memory is the largest resident set of one process, in bytes.
	Memory int64 `json:"max_rss_bytes"`
}

// RecordLimit is a requested limit, in the unit of its kind (bytes, milliseconds, a number),
// and the means that enforced it: "cgroup" for all processes together, "rlimit" for each or, of
// processes, for the user; "supervisor"; "none".
type RecordLimit struct {
	Kind  string `json:"kind"`
	Value uint64 `json:"value"`
	Means string `json:"means"`
}

// RecordCell is a row of the ledger with what came of it in this run.
type RecordCell struct {
	backends.Row
	// Held is true where the policy was enforced, Means names what did it; it is empty where
	// there was nothing to enforce.
	Held  bool     `json:"held"`
	Means []string `json:"means"`
}

// The means that enforce a cell.
const (
	meansLandlock   = "landlock"
	meansSeccomp    = "seccomp"
	meansEgress     = "egress"
	meansSupervisor = "supervisor"
	meansEnviron    = "environment"
	meansRlimit     = "rlimit"
	meansCgroup     = "cgroup"
)
