// Command faults plants faults in the product, each by itself, and says which of them the gate
// finds.
//
//	go run ./test/faults [-C DIR] [-j N] [-quick] [-v] [PATTERN...]
//
// A fault is a patch in test/faults/patches that lets something through, loses something in
// silence, or makes the policy, its explanation and the kernel disagree. Each is applied to a
// git worktree of the commit that is checked out, and the tests that its header names run until
// one fails: first those that found the fault when it was written, then, without -quick, all of its
// packages. A pattern is a part of the names of patches; without any, all are planted. The exit
// status is 1 if a fault is missed, no longer applies or does not compile.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

func main() {
	tree := flag.String("C", ".", "plant the faults in the commit that this work tree has checked out")
	jobs := flag.Int("j", 1, "plant so many at a time")
	verbose := flag.Bool("v", false, "print what the tests print that find a fault, or miss it")
	quick := flag.Bool("quick", false, "leave out the tests that no patch names")
	flag.Parse()
	p := &planting{out: os.Stdout, verbose: *verbose, quick: *quick, counts: map[result]int{}}
	ok, err := p.run(*tree, *jobs, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run plants the faults whose names have one of some patterns, and reports whether all are found.
func (p *planting) run(tree string, jobs int, patterns []string) (bool, error) {
	source, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return false, fmt.Errorf("git rev-parse: %w", err)
	}
	all, err := read(filepath.Join(strings.TrimSpace(string(source)), "test/faults/patches"))
	if err != nil {
		return false, err
	}
	chosen := slices.DeleteFunc(all, func(f fault) bool {
		return len(patterns) > 0 && !slices.ContainsFunc(patterns,
			func(p string) bool { return strings.Contains(f.name, p) })
	})
	if len(chosen) == 0 {
		return false, errors.New("no patch has such a name")
	}
	queue := make(chan fault)
	var workers sync.WaitGroup
	for range min(jobs, len(chosen)) {
		plot, err := newPlot(tree)
		if err != nil {
			close(queue)
			workers.Wait()
			return false, err
		}
		defer plot.remove()
		workers.Go(func() {
			for f := range queue {
				p.note(f, plot.plant(f, p.quick))
			}
		})
	}
	for _, f := range chosen {
		queue <- f
	}
	close(queue)
	workers.Wait()
	return p.summary(), nil
}

// planting collects what became of the faults.
type planting struct {
	mu      sync.Mutex
	out     io.Writer
	verbose bool
	quick   bool
	counts  map[result]int
}

func (p *planting) note(f fault, o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[o.result]++
	fmt.Fprintf(p.out, "%-48s %s\n", f.name, o)
	if p.verbose || o.result == unapplied || o.result == uncompiled {
		fmt.Fprintf(p.out, "%s\n", strings.TrimSpace(o.said))
	}
}

// summary prints the counts, and reports whether each fault was found.
func (p *planting) summary() bool {
	fmt.Fprintf(p.out, "%d found, %d missed", p.counts[found], p.counts[missed])
	for _, r := range []result{unapplied, uncompiled, hung} {
		if n := p.counts[r]; n > 0 {
			fmt.Fprintf(p.out, ", %d %s", n, r)
		}
	}
	fmt.Fprintln(p.out)
	return p.counts[found] > 0 && len(p.counts) == 1
}
