package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/suggest"
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

// checkAccept refuses names that no gap has: they would change nothing, in silence.
func checkAccept(names []string) error {
	var known []string
	for _, g := range ir.Gaps() {
		known = append(known, string(g))
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		hint := suggest.Hint(name, known)
		if hint == "" {
			hint = "the gaps are " + strings.Join(known, ", ")
		}
		return usagef("--accept %s: there is no such gap; %s", name, hint)
	}
	return nil
}
