//go:build unix

package ruleset_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// dialect is a shell, by the name that lines call it, with the command that runs it.
type dialect struct {
	name, program string
	dialect       shell.Dialect
	command       []string
}

// String returns the command without its directory.
func (d dialect) String() string {
	out := d.program
	for _, w := range d.command[1:] {
		out += " " + w
	}
	return out
}

// dialects are the shells in which lines are run, as far as they are here.
func dialects(t *testing.T) (out []dialect, links map[string]string) {
	links = map[string]string{}
	for _, d := range []dialect{
		{"bash", "bash", shell.Bash, nil}, {"sh", "dash", shell.POSIX, nil}, {"sh", "bash", shell.POSIX, []string{"--posix"}},
	} {
		file, err := exec.LookPath(d.program)
		if err != nil {
			t.Logf("there is no %s", d.program)
			continue
		}
		if links[d.name] == "" {
			links[d.name] = file
		}
		d.command = append([]string{file}, d.command...)
		out = append(out, d)
	}
	if len(out) == 0 {
		t.Skip("there is no shell")
	}
	return out, links
}

// batch is the number of lines that one process of a shell runs.
const batch = 100

// TestDifferential runs random lines that are allowed, and looks for a program that was started,
// a file that was written, and a file that was read, which had not been judged. The count is the number of lines that
// were allowed and run, in each shell.
// See decision D165.
func TestDifferential(t *testing.T) {
	shells, links := dialects(t)
	seed := epoch.Seed(t)
	for _, s := range shells {
		t.Run(s.String(), func(t *testing.T) {
			batches := int64((irtest.Rounds(t, 5_000) + batch - 1) / batch)
			var workers sync.WaitGroup
			var next, drawn, ran, failed atomic.Int64
			for range runtime.GOMAXPROCS(0) {
				b := newBench(t, links)
				workers.Go(func() {
					for i := next.Add(1); i <= batches && failed.Load() < 10; i = next.Add(1) {
						n, err := b.differ(s, epoch.Source(seed, uint64(i)))
						drawn.Add(int64(n))
						ran.Add(batch)
						if err != nil {
							failed.Add(1)
							t.Errorf("batch %d of seed %d: %v", i, seed, err)
						}
					}
				})
			}
			workers.Wait()
			t.Logf("seed %d: %d lines drawn, %d of them allowed and run", seed, drawn.Load(), ran.Load())
		})
	}
}

// differ draws lines until a batch is allowed, and runs them.
func (b *bench) differ(s dialect, r *rand.Rand) (drawn int, err error) {
	var lines []string
	for ; len(lines) < batch; drawn++ {
		if line := randomLine(r); b.judge(len(lines), line, s.dialect).allowed {
			lines = append(lines, line)
		}
	}
	locale := []string{"C", "C.UTF-8"}[r.IntN(2)]
	did, err := b.run(s, lines, locale)
	for i := range did {
		if b.check(i, s, lines[i], did[i]) == nil {
			continue
		}
		// Records of programs that run at the same time may be torn, so a line counts that does it again.
		again, also := b.run(s, []string{"", lines[i]}, locale)
		if also == nil {
			also = b.check(1, s, lines[i], again[1])
		}
		if also != nil {
			err = errors.Join(err, fmt.Errorf("%q %w", lines[i], also))
		}
	}
	return drawn, err
}

// TestBench: the bench sees the effects of a line. A bench that waited only for the shell missed
// programs in the background, and found their records among the records of the next line.
func TestBench(t *testing.T) {
	shells, links := dialects(t)
	b := newBench(t, links)
	if !b.notes {
		t.Log("this file system does not note reads")
	}
	lines := []string{"", "{ p; p; p; q <a; } >b &", "p >>d/c; sh -c 'evil \"x  y\"'", ". ./a", "evil >../x"}
	for _, s := range shells {
		did, err := b.run(s, lines, "C")
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{
			"[] map[a:{false false} d/c:{false false}]",
			`[["p"] ["p"] ["p"] ["q"]] map[a:{true false} b:{true true} d/c:{false false}]`,
			`[["p"] ["evil" "x  y"]] map[a:{false false} d/c:{false false}]`,
			`[["evil" "from" "a" "file"]] map[a:{true false} d/c:{false false}]`,
			`[["evil"]] map[` + b.home(4) + `/x:{true true} a:{false false} d/c:{false false}]`,
		} {
			if got := fmt.Sprintf("%q %v", did[i].started, did[i].files); got != want && b.notes {
				t.Errorf("%s: %q:\n got %s\nwant %s", s, lines[i], got, want)
			}
		}
	}
}
