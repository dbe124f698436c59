package seatbelt

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
)

// Sentences are the sentences of the ledger's causes. They stand in start, since a loader
// says them without the compiler.
func Sentences() backends.Sentences { return start.Sentences() }
