package sandbox

import "errors"

// Question is an operation of a tool that the policy refuses, and that access.may lets the host grant.
type Question struct {
	// ID is the number of the question in its run, and of the grant that comes of it.
	ID int
	// Operation is in the form of accessc can, Path the canonical path of its first place, empty for a
	// host.
	Operation, Path string
	// Rule is the rule of access.may that covers it, with its place; Grants are the places and
	// capabilities, or the host, that AnswerRun grants.
	Rule   string
	Grants []string
	// PID and Name are those of the process, which has chosen the name itself.
	PID  int
	Name string

	waits bool
}

// Answer is the answer to a question.
type Answer string

// The answers.
const (
	// AnswerOnce permits the one call that waits, AnswerRun the operations of Question.Grants until the
	// run ends or the grant is revoked, AnswerRule all that Question.Rule covers for as long.
	AnswerOnce Answer = "once"
	AnswerRun  Answer = "run"
	AnswerRule Answer = "rule"
	// AnswerNo refuses the operation for the rest of the run, AnswerNever everything else, too.
	AnswerNo    Answer = "no"
	AnswerNever Answer = "never"
)

var (
	errNotAsked = errors.New("sandbox: the tool was not started with Ask")
	errUnheard  = errors.New("sandbox: Ask needs Events: questions would wait for ever")
)
