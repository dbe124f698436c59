package main

import (
	"fmt"
	"strings"

	"github.com/accessc/accessc/ir"
)

// acceptHelp lists the gaps that can be accepted.
func acceptHelp() string {
	wide := 0
	for _, g := range ir.Gaps() {
		wide = max(wide, len(g))
	}
	var b strings.Builder
	for _, g := range ir.Gaps() {
		fmt.Fprintf(&b, "  %-*s  %s\n", wide, g, g.Effect())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
