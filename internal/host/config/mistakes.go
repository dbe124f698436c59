package config

import (
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
)

// Mistakes are those of a configuration that does not compile.
type Mistakes struct {
	Findings diag.List
	Files    source.Files
	// Last ends the summary, Then is said behind it.
	Last, Then string
}

// Error implements error.
func (m *Mistakes) Error() string { return diag.Summary(m.Findings) }
