package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// result is what a run of go test said.
type result struct {
	took    time.Duration
	passed  int
	failed  []string          // packages and tests, with what they printed in logs
	logs    map[string]string // of what failed
	skipped []string
	draws   []string // the lines of counts and seeds, in order
	races   []string
	slowest string // package
	longest time.Duration
}

func (r *result) ok() bool { return len(r.failed) == 0 }

// test runs go test with arguments under a condition.
func (p *place) test(c condition, extra []string, args ...string) (*result, error) {
	env := p.env(c.user)
	if c.set != nil {
		more, err := c.set(p.of(c.user))
		if err != nil {
			return nil, err
		}
		env = append(env, more...)
	}
	argv := append(append([]string{"go", "test", "-json", "-count=1"}, c.args...), args...)
	if c.shell != "" {
		argv = append([]string{"sh", "-c", c.shell, "sh"}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.clone(c.user), append(env, extra...)
	if c.user {
		become(cmd, nobody)
	}
	defer busy(c.busy)()
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r, err := read(out)
	if err != nil {
		return nil, err
	}
	ended := cmd.Wait()
	r.took = time.Since(begun)
	if ended != nil && r.ok() {
		r.failed = append(r.failed, "go test")
		r.logs["go test"] = ended.Error() + "\n" + errors.String()
	}
	return r, nil
}

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// read reads the events of a run.
func read(from io.Reader) (*result, error) {
	r := &result{logs: map[string]string{}}
	output := map[string]*strings.Builder{}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(e.Package, "github.com/accessc/accessc/")+" "+e.Test, " ")
		switch e.Action {
		case "output", "build-output":
			if output[name] == nil {
				output[name] = &strings.Builder{}
			}
			output[name].WriteString(e.Output)
			r.noted(name, e.Output)
		case "pass", "skip", "fail":
			r.ended(name, e, output[name])
			delete(output, name)
		}
	}
	slices.Sort(r.draws)
	return r, nil
}

// noted keeps the lines about counts, seeds and races. The same test of two packages has two lines.
func (r *result) noted(name, line string) {
	pkg, _, _ := strings.Cut(name, " ")
	// A line may follow another that has no end.
	for _, kind := range []string{"property ", "race "} {
		if i := strings.Index(line, kind); i >= 0 && (i == 0 || kind == "property ") {
			text := pkg + ": " + strings.TrimSpace(line[i:])
			if kind == "race " {
				r.races = append(r.races, text)
			} else {
				r.draws = append(r.draws, text)
			}
			return
		}
	}
}

func (r *result) ended(name string, e event, out *strings.Builder) {
	switch {
	case e.Action == "fail":
		r.failed = append(r.failed, name)
		if out != nil {
			r.logs[name] = out.String()
		}
	case e.Test != "" && e.Action == "pass":
		r.passed++
	case e.Test != "" && e.Action == "skip":
		r.skipped = append(r.skipped, name)
	}
	if took := time.Duration(e.Elapsed * float64(time.Second)); e.Test == "" && took > r.longest {
		r.longest, r.slowest = took, name
	}
}

// runAll runs the gate under each condition and prints a line per run; the draws of all runs of one user must be the same.
func (p *place) runAll(all []wanted, record bool) (bool, error) {
	ok, first := true, map[bool][]string{}
	for _, w := range all {
		if w.user && os.Getuid() != 0 {
			fmt.Printf("%-9s not run: needs root\n", w.name)
			continue
		}
		for i := range w.times {
			r, err := p.test(w.condition, nil, "./...")
			if err != nil {
				return false, fmt.Errorf("%s: %w", w.name, err)
			}
			fmt.Println(r.line(w.name))
			r.explain(os.Stdout)
			ok = ok && r.ok()
			switch draws, seen := first[w.user]; {
			case !r.ok() || slices.Contains(w.args, "-count=2"): // it lacks some, or has all twice
			case !seen:
				first[w.user] = r.draws
			case w.name != "bare" && !slices.Equal(draws, r.draws):
				ok = false
				fmt.Printf("%s drew otherwise than the first run:\n%s", w.name, different(draws, r.draws))
			}
			if record {
				if err := addRun(p, w.name, i, r); err != nil {
					return false, err
				}
			}
		}
	}
	return ok, nil
}

// line is a run in a line.
func (r *result) line(name string) string {
	verdict := "ok"
	if !r.ok() {
		verdict = "FAIL"
	}
	return fmt.Sprintf("%-9s %4.0f s  %-4s  %d passed, %d skipped, %d draws; slowest %s, %.0f s",
		name, r.took.Seconds(), verdict, r.passed, len(r.skipped), len(r.draws), r.slowest, r.longest.Seconds())
}

// explain prints what failed, with the end of what it printed.
func (r *result) explain(out io.Writer) {
	for _, name := range r.failed {
		text := strings.TrimRight(r.logs[name], "\n")
		if len(text) > 6000 {
			text = "...\n" + text[len(text)-6000:]
		}
		fmt.Fprintf(out, "  FAIL %s\n%s\n", name, text)
	}
}

// different lists the lines that are in one list alone.
func different(a, b []string) string {
	count := map[string]int{}
	for _, line := range a {
		count[line]--
	}
	for _, line := range b {
		count[line]++
	}
	var out strings.Builder
	for _, line := range slices.Sorted(maps.Keys(count)) {
		switch n := count[line]; {
		case n < 0:
			fmt.Fprintf(&out, "  - %s\n", line)
		case n > 0:
			fmt.Fprintf(&out, "  + %s\n", line)
		}
	}
	return out.String()
}
