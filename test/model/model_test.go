// Package model_test has Spin search models of the Linux supervisor, its tool and the host
// for a call that is done although the policy denies it, for one that is refused although
// the policy grants it, and for one without an answer. README.md describes the models.
package model_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/test/await"
)

const (
	// memory is how many megabytes a search may use.
	memory = "4000"
	// depth is more steps than the longest path of any of the models has.
	depth = "300000"
)

// TestModels searches every variant where ACCESSC_MODEL is 1, which takes about four
// minutes of processor time, and the short ones otherwise.
func TestModels(t *testing.T) {
	for _, program := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the models are searched by %s, which is not installed; on Debian: apt-get install spin gcc", program)
		}
	}
	all := os.Getenv("ACCESSC_MODEL") == "1"
	searched := 0
	for _, v := range variants {
		if !all && !v.short {
			continue
		}
		searched++
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			v.search(t)
		})
	}
	if !all {
		t.Logf("%d of %d variants; ACCESSC_MODEL=1 searches all", searched, len(variants))
	}
}

// search has Spin search a variant, and compares the result with the expected one.
func (v variant) search(t *testing.T) {
	dir := v.verifier(t)
	out, used, err := run(t, dir, "./pan", "-m"+depth)
	if err != nil {
		t.Fatalf("the search ended with %v:\n%s", err, out)
	}
	t.Logf("%s %s: %s, %.1f s", v.model, v.flags, figures(out), used.Seconds())
	found := strings.Contains(out, "errors: 1")
	switch {
	case found:
		v.follow(t, out+v.replay(t, dir))
	case v.wrong != "":
		t.Fatalf("the search found nothing, want %q:\n%s", v.wrong, out)
	case !strings.Contains(out, "errors: 0"), strings.Contains(out, "Search not completed"):
		t.Fatalf("the search has not come to its end:\n%s", out)
	}
}

// verifier builds the program that searches a variant, in a directory of its own.
func (v variant) verifier(t *testing.T) string {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	options := []string{"-w", "-DSAFETY", "-DMEMLIM=" + memory, "-o", "pan", "pan.c"}
	if !v.short {
		options = append(options, "-O1")
	}
	if v.wrong != "" {
		// Breadth first, the first trail that is found is one of the shortest.
		options = append(options, "-DBFS")
	}
	if out, _, err := run(t, dir, "spin", append(append([]string{"-a"}, strings.Fields(v.flags)...), v.model)...); err != nil {
		t.Fatalf("spin: %v\n%s", err, out)
	}
	if out, _, err := run(t, dir, "gcc", options...); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return dir
}

// replay lists the steps of the trail that was found. Its status says that a trail ends
// with an error, as all do.
func (v variant) replay(t *testing.T, dir string) string {
	out, _, _ := run(t, dir, "spin", append(append([]string{"-t", "-T", "-B"}, strings.Fields(v.flags)...), v.model)...)
	return out
}

// follow fails unless a trail ends with the error that is expected, by the steps that are.
func (v variant) follow(t *testing.T, trail string) {
	if v.wrong == "" || !strings.Contains(trail, v.wrong) {
		t.Fatalf("want %q at the end of this trail:\n%s", v.wrong, trail)
	}
	rest := trail
	for _, step := range v.trail {
		at := regexp.MustCompile("(?m)^ *" + step + "$").FindStringIndex(rest)
		if at == nil {
			t.Fatalf("want %q on this trail, in its turn:\n%s", step, trail)
		}
		rest = rest[at[1]:]
	}
}

// run returns the output of a program that came to its end, and the
// processor time that it took.
func run(t *testing.T, dir, program string, args ...string) (string, time.Duration, error) {
	t.Helper()
	ctx := await.Context(t)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s has not come to its end:\n%s", program, out)
	}
	if cmd.ProcessState == nil {
		return "", 0, err
	}
	return string(out), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

var (
	states  = regexp.MustCompile(`(\d+) states, stored`)
	reached = regexp.MustCompile(`depth reached (\d+)`)
	taken   = regexp.MustCompile(`([\d.]+)\s+total actual memory usage`)
)

// figures are the size of a search.
func figures(out string) string {
	one := func(re *regexp.Regexp) string {
		if m := re.FindStringSubmatch(out); m != nil {
			return m[1]
		}
		return "?"
	}
	return fmt.Sprintf("%s states, depth %s, %s MB", one(states), one(reached), one(taken))
}
