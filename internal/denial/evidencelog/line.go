package evidencelog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial/recorded"
)

// Version is the version of a line. It changes when a reader of the older form would misunderstand the newer.
const Version = 1

// MaxLine bounds a line, in bytes. A policy is the longest part of any.
const MaxLine = 32 << 20

// None is the hash of no line, before the first.
const None = "0000000000000000000000000000000000000000000000000000000000000000"

// Line is one line. Exactly the member that Event names is there.
type Line struct {
	Version int    `json:"evidence_log"`
	Run     string `json:"run"`
	Tool    string `json:"tool"`
	// Policy is the SHA-256 of the tool's policy as a manifest has it, empty where it is unknown.
	Policy string `json:"policy"`
	// N counts the lines of the run from 0.
	N int64 `json:"n"`
	// Time is in RFC 3339, UTC. The steps within a run are those of a clock that nobody sets.
	Time      string          `json:"time"`
	Event     string          `json:"event"`
	Begin     *Begin          `json:"begin,omitempty"`
	Operation *Operation      `json:"operation,omitempty"`
	Grants    *Grants         `json:"grants,omitempty"`
	Dropped   *Dropped        `json:"dropped,omitempty"`
	End       *End            `json:"end,omitempty"`
	Signature json.RawMessage `json:"signature,omitempty"`
	// Previous is the SHA-256 of the line before in the file, without its line feed.
	Previous string `json:"previous"`
}

// Begin is the first line of a run.
type Begin struct {
	// Serial counts the runs of the log from 1.
	Serial  int64  `json:"serial"`
	Accessc string `json:"accessc"`
	Kernel  string `json:"kernel"`
	PID     int    `json:"pid"`
	// Artifact is the SHA-256 of the specification that was started, empty where it is unknown.
	Artifact   string `json:"artifact_sha256,omitempty"`
	Supervised bool   `json:"supervised"`
	Traced     bool   `json:"traced"`
	// Seen are the classes of operations that are judged, and so are in the log; the kernel decides all others by
	// itself.
	Seen []string `json:"seen"`
	// Accepted are the gaps: requirements that were not enforced and accepted by name.
	Accepted []string `json:"accepted"`
	Limits   []Limit  `json:"limits"`
	// Terms are what operations are judged by, nil where nothing is judged.
	Terms *landlock.Terms `json:"terms,omitempty"`
	// Key is the identity of the key that signs the end, empty for none.
	Key string `json:"key,omitempty"`
}

// The classes of operations of Begin.Seen, with what the supervisor judges of each.
const (
	Reads       = "reads"       // opens for reading, of files and directories
	Lists       = "lists"       // opens for reading, of directories
	Writes      = "writes"      // opens for writing, and truncation
	Names       = "names"       // making, removing and moving of names
	Metadata    = "metadata"    // changes of mode, owner, times and attributes
	Starts      = "starts"      // starts of programs
	Connections = "connections" // connections and listening, of sockets
	Hosts       = "hosts"       // requests to hosts that rules name
)

// Classes are all of them.
var Classes = []string{Reads, Lists, Writes, Names, Metadata, Starts, Connections, Hosts}

// Limit is a limit of the run, as in the record of a run.
type Limit struct {
	Kind  string `json:"kind"`
	Value uint64 `json:"value"`
	Means string `json:"means"`
}

// Operation is a judged operation. Where a record cannot hold it, it has no paths, and Subject in their place.
type Operation struct {
	recorded.Access
	// Base64 is true where a text of the access is not UTF-8, and all of them are in base64.
	Base64  bool   `json:"base64,omitempty"`
	Subject string `json:"subject,omitempty"`
	// Rule is the rule that decided, nil for none.
	Rule *Rule `json:"rule"`
	// Reason is a word of the policy, or a sentence where something else refused.
	Reason string `json:"reason"`
	// By is what decided, Means which part of the system: kernel, supervisor or proxy.
	By    string `json:"by"`
	Means string `json:"means"`
	// Errno is the error of the call, empty where it succeeded.
	Errno   string  `json:"errno,omitempty"`
	Process Process `json:"process"`
	// State is that of the grants by which it was judged, as in Grants.
	State int `json:"state,omitempty"`
	// Once is the question whose answer permitted this call alone, 0 for none.
	Once int `json:"once,omitempty"`
}

// Rule is a rule and its place.
type Rule struct {
	ID    string `json:"id"`
	Layer string `json:"layer"`
	Label string `json:"label,omitempty"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// Process is a process of the tool. It has chosen its name itself (proc(5), comm).
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Grants is a change of what the user has granted during the run.
type Grants struct {
	// Change is answer or revoked, and ID the question; Answer is one of package live.
	Change string `json:"change"`
	ID     int    `json:"id"`
	Answer string `json:"answer,omitempty"`
	// Uses is how many calls the answer permits, 0 where they are not counted.
	Uses int `json:"uses,omitempty"`
	// State is the number of the state that the change leads to, from 1; 0 where it changes none.
	State int `json:"state,omitempty"`
	// Given are the grants that the question was about.
	Given []Given `json:"given,omitempty"`
	// By is the rule of may that covers them, and all that is granted where the answer is rule.
	By *Rule `json:"by,omitempty"`
}

// Given is a rule on a place, or on a host.
type Given struct {
	Place  string   `json:"place,omitempty"`  // in the workspace, empty for its root
	Base64 bool     `json:"base64,omitempty"` // whether the place is in base64, since it is not UTF-8
	Caps   []string `json:"caps,omitempty"`
	// Scheme, Host and Port are those of a rule on a host.
	Scheme string `json:"scheme,omitempty"`
	Host   string `json:"host,omitempty"`
	Port   uint16 `json:"port,omitempty"`
}

// Dropped counts lines that are missing before this one.
type Dropped struct {
	Count int64 `json:"count"`
}

// End is the last line of a run.
type End struct {
	Status int    `json:"status"`
	Signal string `json:"signal,omitempty"`
	// Limit is the kind of the limit that ended the tool, empty for none.
	Limit string `json:"limit,omitempty"`
	// NotStarted is the reason why the tool did not start.
	NotStarted string `json:"not_started,omitempty"`
	// Allowed and Denied count the operations in the log, Dropped the lines that are missing.
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Dropped int64 `json:"dropped"`
}

// Root is what is signed at the end of a run.
type Root struct {
	Run    string `json:"run"`
	Policy string `json:"policy"`
	Serial int64  `json:"serial"`
	Lines  int64  `json:"lines"` // of the run, up to its end
	End    string `json:"end"`   // the hash of its last line, which has those of all lines before
}

// Hash is the hash by which the next line names a line, given without its line feed.
func Hash(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}
