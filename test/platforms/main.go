// Command platforms takes the steps of .github/workflows/platforms.yml, one by one, on hosted
// machines and here:
//
//	go run ./test/platforms [-out DIR] STEP [ARG...]
//
// Steps leave their results in DIR, from which summary makes a table and evidence a document that a
// maintainer may commit as internal/artifact/evidence/evidence.json. merge joins such documents. A step
// that this system has no means for says so; docs/testing.md says the purpose of each.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
)

// work is where the steps run, and where they leave their results.
type work struct {
	dir string
	// system is that of the machine, as Go names it.
	system string
	// sandboxExec is the program that applies profiles on macOS.
	sandboxExec string
	out         io.Writer
}

// steps are the steps by name, in words for the usage.
var steps = map[string]struct {
	about string
	take  func(w *work, args []string) error
}{
	"facts":      {"say what the machine has, and which one it is", (*work).facts},
	"constructs": {"have macOS compile each construct of the golden profiles alone, and each profile", (*work).constructs},
	"programs":   {"start ordinary programs under three policies", (*work).programs},
	"cases":      {"run the cases of test/conformance", (*work).cases},
	"tests":      {"run the tests of packages", (*work).tests},
	"denials":    {"keep the system's log of denials", (*work).denials},
	"summary":    {"write a table to $GITHUB_STEP_SUMMARY, or here", (*work).summary},
	"evidence":   {"write evidence.json", (*work).evidence},
	"merge":      {"join documents of evidence: [FILE...]", (*work).merge},
}

func main() {
	w := &work{system: runtime.GOOS, sandboxExec: "/usr/bin/sandbox-exec", out: os.Stdout}
	flag.StringVar(&w.dir, "out", "platforms-out", "leave results in `DIR`")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./test/platforms [-out DIR] STEP [ARG...]")
		for _, name := range slices.Sorted(maps.Keys(steps)) {
			fmt.Fprintf(os.Stderr, "  %-10s  %s\n", name, steps[name].about)
		}
	}
	flag.Parse()
	if err := w.step(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "platforms:", err)
		os.Exit(1)
	}
}

// step takes one step.
func (w *work) step(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("expected one of %s", strings.Join(slices.Sorted(maps.Keys(steps)), ", "))
	}
	s, ok := steps[args[0]]
	if !ok {
		return fmt.Errorf("%q is no step, expected one of %s", args[0], strings.Join(slices.Sorted(maps.Keys(steps)), ", "))
	}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	return s.take(w, args[1:])
}
