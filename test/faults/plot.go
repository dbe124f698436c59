package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// result is what became of a fault.
type result string

const (
	found      result = "found"
	missed     result = "MISSED"
	unapplied  result = "DOES NOT APPLY"
	uncompiled result = "DOES NOT COMPILE"
	// hung is a fault under which tests did not end, which a busy machine does as well.
	hung result = "TIMED OUT"
)

// outcome is a result with the test that found the fault, and the output that shows it.
type outcome struct {
	result result
	by     string
	said   string
}

func (o outcome) String() string {
	if o.by == "" {
		return string(o.result)
	}
	return string(o.result) + " by " + o.by
}

// plot is a git worktree where faults are planted one after the other.
type plot struct{ tree, dir string }

// newPlot makes a worktree of the commit that another one has checked out.
func newPlot(tree string) (*plot, error) {
	root, err := os.MkdirTemp("", "accessc-faults-")
	if err != nil {
		return nil, err
	}
	p := &plot{tree: tree, dir: filepath.Join(root, "tree")}
	if said, err := p.git(tree, nil, "worktree", "add", "--quiet", "--detach", p.dir, "HEAD"); err != nil {
		return nil, fmt.Errorf("git worktree add: %w\n%s", err, said)
	}
	return p, nil
}

// remove takes the worktree away, and its entry in the repository.
func (p *plot) remove() {
	_, _ = p.git(p.tree, nil, "worktree", "remove", "--force", p.dir)
	_ = os.RemoveAll(filepath.Dir(p.dir))
}

func (p *plot) git(dir string, in []byte, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Stdin = bytes.NewReader(in)
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// plant applies a fault, runs its tests until one fails, and takes the fault back. With quick only the
// tests that the patch names run, if it names any.
func (p *plot) plant(f fault, quick bool) outcome {
	if said, err := p.git(p.dir, f.patch, "apply", "-"); err != nil {
		return outcome{unapplied, "", said}
	}
	defer func() {
		_, _ = p.git(p.dir, nil, "checkout", "--quiet", "--", ".")
		_, _ = p.git(p.dir, nil, "clean", "-d", "--force", "--quiet")
	}()
	o := outcome{result: missed}
	if f.tests != "" {
		if o = p.test(f, "-run="+f.tests); o.result != missed || quick {
			return o
		}
	}
	said := o.said
	o = p.test(f)
	o.said = said + o.said
	return o
}

// test runs the tests of a fault's packages, one package after the other, until one fails.
func (p *plot) test(f fault, args ...string) outcome {
	var all strings.Builder
	for _, pkg := range f.packages {
		cmd := exec.Command("go", append(append([]string{"test", "-failfast", "-count=1"}, args...), pkg)...)
		cmd.Dir = p.dir
		// Paths that are left out of what is compiled let worktrees share it.
		cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false "+os.Getenv("GOFLAGS"))
		out, err := cmd.CombinedOutput()
		said := string(out)
		all.WriteString(said)
		switch {
		case err == nil:
		case strings.Contains(said, "[build failed]"), strings.Contains(said, "[setup failed]"):
			return outcome{uncompiled, "", said}
		case strings.Contains(said, "\npanic: test timed out after "):
			return outcome{hung, pkg, said}
		default:
			return outcome{found, strings.TrimPrefix(pkg, "./") + " " + failed(said), said}
		}
	}
	return outcome{missed, "", all.String()}
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// failed is the name of the first test that failed; none is named where the program ended before.
func failed(said string) string {
	if m := failure.FindStringSubmatch(said); m != nil {
		return m[1]
	}
	if m := regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*)$`).FindStringSubmatch(said); m != nil {
		return "(" + m[1] + ")"
	}
	return "(no test is named)"
}
