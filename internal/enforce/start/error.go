package start

import (
	"errors"
	"fmt"
	"strings"
)

// Exit codes of a start that failed, as shells have them.
const (
	CodeFailed      = 125
	CodeNotRunnable = 126
	CodeNotFound    = 127
)

// Error is a start that failed. The tool did not run.
type Error struct {
	Code int
	Err  error
	// Unmet are the gaps of this host, for an error that is about them.
	Unmet []Gap
	// Remedy is the choice of a person, in place of gaps to accept; empty without a choice.
	Remedy string
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "not started: %v", e.Err)
	for _, n := range e.Unmet {
		fmt.Fprintf(&b, "\n  %-16s %s", n.Name, n.Why)
	}
	if e.Remedy != "" {
		b.WriteString("\n  " + e.Remedy)
	}
	if e.Remedy != "" || len(e.Unmet) == 0 {
		return b.String()
	}
	b.WriteString("\n  to start without them:")
	for _, n := range e.Unmet {
		b.WriteString(" --accept " + string(n.Name))
	}
	return b.String()
}

// Unwrap implements the errors convention.
func (e *Error) Unwrap() error { return e.Err }

func failed(format string, args ...any) *Error {
	return &Error{Code: CodeFailed, Err: fmt.Errorf(format, args...)}
}

var errPortable = errors.New("the specification is portable; build it with --resolve on this host")
