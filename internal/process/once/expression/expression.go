// Package expression has regular expressions that are compiled when they are first asked for.
package expression

import (
	"regexp"

	"github.com/accessc/accessc/internal/process/once"
)

// Once is a regular expression that is compiled once.
type Once struct {
	// Text is the expression, of package regexp.
	Text     string
	compiled once.Value[*regexp.Regexp]
}

// Get returns the compiled expression. It panics if the text is none.
func (e *Once) Get() *regexp.Regexp {
	return e.compiled.Get(func() *regexp.Regexp { return regexp.MustCompile(e.Text) })
}
