// Package usage has the error that is a mistake of who has called the program, and none of the program or its
// surroundings: the words are for the caller, and the exit status tells the two apart.
package usage

import "fmt"

// Error is a mistake in how the program was called. It wraps nothing: its words stand for its cause.
type Error struct{ Err error }

// Error implements error.
func (e Error) Error() string { return e.Err.Error() }

// Errorf is fmt.Errorf for a mistake of the call.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }
