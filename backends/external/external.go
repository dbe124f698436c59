// Package external is the protocol between accessc and backends of others, which are programs accessc-backend-NAME.
// "accessc build --target NAME" writes one request to a program's standard input and reads one reply from its standard
// output; both are JSON documents with a format and a version. A program in Go needs one line for it, Serve.
//
// A reply is foreign: it is read strictly, within bounds, and its rows must be about rules of the policy. What it does
// not state is a row as well: nothing enforces it. No start of a tool uses what such a program has made.
package external

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Format and Version identify requests and replies.
const (
	Format  = "accessc/backend"
	Version = 1
)

// The requests.
const (
	compile = "compile" // a policy to files and rows
	decide  = "decide"  // files and operations to verdicts
)

// Bounds of a reply.
const (
	MaxReply = 16 << 20 // bytes
	maxFiles = 16
	maxName  = 100 // bytes of a file's name
	maxWhy   = 500 // bytes of a reason
)

// File is an artifact.
type File struct {
	Name string `json:"name"` // one component of a path
	Text string `json:"text"` // UTF-8
}

// Row says how some rules are held, as backends.Row does, with its reason in words.
type Row struct {
	Resource string      `json:"resource"`      // one of fs, net, env, commands, limits, process
	Rules    []ir.RuleID `json:"rules"`         // such as "fs[0]" and "default"
	Aspects  []ir.Aspect `json:"aspects"`       // such as "read"
	Is       string      `json:"is"`            // exact, stricter, weaker, advisory, none or assumption
	Gap      string      `json:"gap,omitempty"` // the name to accept it by
	Why      string      `json:"why,omitempty"` // the reason; needed unless exact
}

// Refusal is a rule that cannot be written at all.
type Refusal struct {
	Rule ir.RuleID `json:"rule,omitempty"` // empty for the whole policy
	Why  string    `json:"why"`            // the reason
}

// Verdict is the answer of an artifact to an operation.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
	// Unknown: the reader cannot tell.
	Unknown Verdict = "unknown"
)

// Operation is a question to an artifact.
type Operation struct {
	Question string `json:"question"` // as the policy's tests have it
	// Verb is the first word of a question, such as "read" or "connect".
	Verb string `json:"verb"`
	// Places are canonical, as rules have them: "${workspace}/src", "${home}", "/etc/hosts".
	Places []string `json:"places,omitempty"`
	Scheme string   `json:"scheme,omitempty"` // of a connection
	Host   string   `json:"host,omitempty"`   // name or address
	Port   uint16   `json:"port,omitempty"`   // effective
	Path   []string `json:"path,omitempty"`   // segments of a URL
	Method string   `json:"method,omitempty"` // of a request
	Name   string   `json:"name,omitempty"`   // of a variable or a program
	Args   []string `json:"args,omitempty"`   // of a program
}

// Backend is a backend that Serve makes a program of.
type Backend interface {
	backends.Backend
	// Sentences has the words for the causes in its ledger.
	Sentences() backends.Sentences
	// Decide reads an artifact back: it says what the text permits, whatever the policy says.
	Decide(artifact []byte, op Operation) (Verdict, error)
}

// The causes of rows that a program has stated, or not.
const (
	causeStated   ir.CauseID = "external.stated"
	causeUnstated ir.CauseID = "external.unstated"
)

// Sentences has the words for the causes of rows of others.
func Sentences() backends.Sentences {
	return backends.Sentences{causeStated: "PLACE", causeUnstated: "the backend says nothing about it"}
}

// NewOperation describes an operation to the reader of an artifact. It is false for one that path evaluation refuses,
// before any system is asked.
func NewOperation(question string, op ir.Operation) (Operation, bool) {
	out := Operation{Question: question}
	ok := true
	at := func(verb string, places ...ir.Place) {
		out.Verb = verb
		for _, p := range places {
			ok = ok && p.Fault == 0
			out.Places = append(out.Places, p.At.String())
		}
	}
	switch op := op.(type) {
	case ir.Access:
		if at(op.Cap.String(), op.On); op.Cap == ir.Create && op.Name == ir.NameLink {
			out.Verb = "symlink"
		}
	case ir.Copy:
		at("copy", op.Src, op.Dst)
	case ir.Rename:
		at("rename", op.Src, op.Dst)
	case ir.Exchange:
		at("exchange", op.A, op.B)
	case ir.Link:
		at("link", op.Src, op.Dst)
	case ir.Dial:
		at("dial", op.On)
	case ir.Start:
		at("execute", op.On)
	case ir.Connect:
		out.Verb, out.Method = "connect", op.Method
		out.Scheme, out.Host, out.Port, out.Path = op.To.Scheme, op.To.Host.String(), op.To.Port, op.To.Path
	case ir.Listen:
		out.Verb, out.Host, out.Port = "listen", op.Host.String(), op.Port
	case ir.Forward:
		out.Verb, out.Name = "env", op.Name
	case ir.Run:
		if out.Verb, out.Name, out.Args = "run", op.Program, op.Args; op.File != nil {
			at("run", *op.File)
		}
	}
	return out, ok
}
