package certify

import (
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/proof/check"
)

// Decide is the verdict of a tool's policy on Linux.
func Decide(t *ir.Tool, q check.Question) (check.Verdict, error) {
	return newDecider(ir.NewView(t, ir.Linux, ir.Facts{})).answer(q)
}
