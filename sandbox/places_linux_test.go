package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/test/testbuild"
)

// nested has two external rules, one below the target of the other.
const nested = config + `
[tools.nested]
source = "local"
command = "/bin/sh"
access.fs = [
  { path = ".", read = true }, { path = "all", read = true, execute = true, external = true },
  { path = "part", read = true, execute = true, external = true },
]
`

// TestTargets: the targets of external rules are replaced between the starts of a host, one with the other in it. Each start grants what the paths
// lead to then, and nothing that has gone from there.
func TestTargets(t *testing.T) {
	h, ws := openWith(t, nested)
	dir := filepath.Dir(ws)
	all := dir + "/all"
	if err := os.MkdirAll(all+"/part", 0o755); err != nil {
		t.Fatal(err)
	}
	own, err := userdir.For(ws)
	if err == nil {
		err = os.MkdirAll(string(own), 0o700)
	}
	for name, target := range map[string]string{"all": all, "part": all + "/part"} {
		if err == nil {
			err = os.Symlink(target, ws+"/"+name)
		}
		if err == nil {
			_, err = approvals.Update(own.Approvals(), func(s *approvals.Store) error {
				return s.Approve(approvals.Mount{RulePath: name, CanonicalTarget: target})
			})
		}
	}
	if err == nil {
		err = h.Reload()
	}
	if err != nil {
		t.Fatal(err)
	}
	program := func(d, says string) error {
		return testbuild.WriteFile(dir+"/"+d+"/run", []byte("#!/bin/sh\necho "+says+"\n"), 0o755)
	}
	move := func(from, to string) error { return os.Rename(dir+"/"+from, dir+"/"+to) }
	fresh := func(d, says string) error { return errors.Join(os.Mkdir(dir+"/"+d, 0o755), program(d, says)) }
	for _, step := range []struct {
		name   string
		change func() error
		starts string
		not    []string
	}{
		{"as it was", func() error { return program("all/part", "first") }, "first", nil},
		{"the target around it is replaced", func() error {
			return errors.Join(move("all", "old"), os.Mkdir(all, 0o755))
		}, "", []string{"old/part/run"}},
		{"it is moved to the new one", func() error { return move("old/part", "all/part") }, "first", nil},
		{"it is replaced there", func() error {
			return errors.Join(move("all/part", "moved"), fresh("all/part", "second"))
		}, "second", []string{"moved/run"}},
		{"it is removed", func() error { return move("all/part", "gone") }, "", []string{"gone/run", "moved/run"}},
		{"another one is made", func() error { return fresh("all/part", "third") }, "third", []string{"gone/run"}},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			out, err := h.Command("nested", "-c", all+"/part/run").Output()
			if got := strings.TrimSpace(string(out)); got != step.starts {
				t.Errorf("%s: %q %v, want %q", step.name, got, err, step.starts)
			}
			for _, file := range step.not {
				if out, err := h.Command("nested", "-c", dir+"/"+file).Output(); err == nil || len(out) > 0 {
					t.Errorf("%s: %s started: %q", step.name, file, out)
				}
			}
		}
	}
}

// TestStandardDescriptors: a supervised tool of a host opens its standard descriptors again as it got them, and no file by one
// that came without a right.
func TestStandardDescriptors(t *testing.T) {
	h, ws := open(t)
	outside := filepath.Dir(ws) + "/outside"
	write(t, outside, "outside\n")
	run := func(flags int, script string) string {
		t.Helper()
		f, err := os.OpenFile(outside, flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c := h.Command("supervised", "-c", script)
		c.Stdin = f
		out, err := c.Output()
		if err != nil {
			t.Errorf("%q %v", out, err)
		}
		return string(out)
	}
	if got := run(os.O_RDONLY, "cat /dev/stdin; echo said > /dev/stdout; echo more > /dev/stdin || :"); got != "outside\nsaid\n" {
		t.Errorf("%q", got)
	}
	if got := run(unix.O_PATH, "cat /dev/stdin /proc/self/fd/0 || :"); got != "" {
		t.Errorf("a descriptor without a right: %q", got)
	}
	if got := run(os.O_WRONLY|os.O_APPEND, "cat /dev/stdin || :; echo more > /dev/stdin"); got != "" {
		t.Errorf("a descriptor for writing: %q", got)
	}
}

// TestWorkspaceReplaced: another directory takes the place of the workspace between the starts of a host. It alone is granted, and
// nothing behind a symlink there.
func TestWorkspaceReplaced(t *testing.T) {
	h, ws := open(t)
	old := filepath.Dir(ws) + "/old"
	script := "cat " + ws + "/plain; cat " + ws + "/secret " + old + "/plain || :"
	for _, tool := range both {
		if out, err := h.Command(tool, "-c", "cat plain").Output(); err != nil || string(out) != "shown\n" {
			t.Errorf("%s: %q %v", tool, out, err)
		}
	}
	if err := errors.Join(os.Rename(ws, old), os.Mkdir(ws, 0o755)); err != nil {
		t.Fatal(err)
	}
	write(t, ws+"/plain", "new\n")
	for range 2 {
		for _, tool := range both {
			if out, err := h.Command(tool, "-c", script).Output(); err != nil || string(out) != "new\n" {
				t.Errorf("%s: %q %v", tool, out, err)
			}
		}
	}
	if err := errors.Join(os.Rename(ws, ws+"2"), os.Symlink(old, ws)); err != nil {
		t.Fatal(err)
	}
	for _, tool := range both {
		if out, err := h.Command(tool, "-c", script).Output(); len(out) > 0 {
			t.Errorf("%s, a symlink: %q %v", tool, out, err)
		}
	}
}
