package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/ir"
)

// acceptHelp lists the names of cells.
func acceptHelp() string {
	wide := 0
	for _, a := range ir.Acceptable {
		wide = max(wide, len(a.Name))
	}
	var b strings.Builder
	for _, a := range ir.Acceptable {
		fmt.Fprintf(&b, "  %-*s  %s\n", wide, a.Name, a.Effect)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// checkAccept refuses names that no cell has: they would change nothing, in silence.
func checkAccept(names []string) error {
	var known []string
	for _, a := range ir.Acceptable {
		known = append(known, a.Name)
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		hint := compiler.DidYouMean(name, known)
		if hint == "" {
			hint = "the cells are " + strings.Join(known, ", ")
		}
		return usagef("--accept %s: there is no such cell; %s", name, hint)
	}
	return nil
}
