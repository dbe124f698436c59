package sandbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/sandbox"
)

// forked has tools beside the others that may write in the target of a link.
const forked = config + `
[tools.forks]
source = "local"
command = "/bin/sh"
access.fs = [{ path = ".", read = true }, { path = "fork", read = true, write = true, create = true, external = true }]

[tools.forks_supervised]
source = "local"
command = "/bin/sh"
access.fs = [
  { path = ".", read = true }, { path = "secret" }, { path = "fork", read = true, write = true, create = true, external = true },
]
`

var forks = []string{"forks", "forks_supervised"}

// approve lets fork, a link in the workspace, lead to a directory.
func approve(t *testing.T, ws, target string) {
	t.Helper()
	dir, err := userdir.For(ws)
	if err == nil {
		err = os.MkdirAll(string(dir), 0o700)
	}
	if err == nil {
		err = os.Symlink(target, ws+"/fork")
	}
	if err == nil {
		_, err = approvals.Update(dir.Approvals(), func(s *approvals.Store) error {
			return s.Approve(approvals.Mount{RulePath: "fork", CanonicalTarget: target})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, ws+"/accessc.toml", forked)
}

// TestBase: where a tool could write into the directories of runs, and so choose the Context of the next
// one, no tool starts.
func TestBase(t *testing.T) {
	_, ws := open(t)
	target := filepath.Join(filepath.Dir(ws), "target")
	for _, dir := range []string{ws + "/tmp", target + "/tmp"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	approve(t, ws, target)
	good := os.Getenv("TMPDIR")
	for tmp, why := range map[string]string{ws + "/tmp": "the workspace " + ws, target + "/tmp": "fork of a workspace", good: ""} {
		os.Setenv("TMPDIR", tmp) // open has registered its restoration
		h, err := sandbox.Open(sandbox.Config{Dir: ws})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range slices.Concat(both, forks) {
			err := h.Command(tool, "-c", "exit 0").Run()
			var refused *sandbox.StartError
			switch {
			case why == "" && err != nil:
				t.Errorf("%s: %v", tool, err)
			case why != "" && (!errors.As(err, &refused) || refused.Code != 125 || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "TMPDIR")):
				t.Errorf("%s, %s: %v", tmp, tool, err)
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
	os.Setenv("TMPDIR", good)
}

// TestBaseApproved: a host that has started tools is told to let one write where their directories are. It
// does not start that one, and goes on.
func TestBaseApproved(t *testing.T) {
	h, ws := open(t)
	if err := h.Command("alone", "-c", "exit 0").Run(); err != nil {
		t.Fatal(err)
	}
	approve(t, ws, os.Getenv("TMPDIR"))
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	for _, tool := range both {
		if err := h.Command(tool, "-c", "exit 0").Run(); err != nil {
			t.Errorf("%s: %v", tool, err)
		}
	}
	var refused *sandbox.StartError
	for _, tool := range forks {
		if err := h.Command(tool, "-c", "exit 0").Run(); !errors.As(err, &refused) || !strings.Contains(err.Error(), "let TMPDIR be elsewhere") {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// TestAhead: after a start the next ruleset of its policy is ready, one for each, and none is left when the host is closed.
func TestAhead(t *testing.T) {
	h, _ := open(t)
	rulesets := func(pid string) (n int) {
		t.Helper()
		list, err := os.ReadDir("/proc/" + pid + "/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range list {
			if to, _ := os.Readlink("/proc/" + pid + "/fd/" + fd.Name()); strings.Contains(to, "landlock-ruleset") {
				n++
			}
		}
		return n
	}
	before := rulesets("self")
	for range 3 {
		for _, tool := range both {
			if err := h.Command(tool, "-c", "exit 0").Run(); err != nil {
				t.Fatal(err)
			}
		}
		if n := rulesets("self") - before; n != 1 {
			t.Errorf("%d rulesets are ready in the host", n)
		}
		for _, pid := range helpers() {
			eventually(t, "a ruleset is ready in the helper", func() bool { return rulesets(strconv.Itoa(pid)) == 1 })
		}
	}
	eventually(t, "no ruleset that no start takes", func() bool { return rulesets("self") == before })
	if err := h.Command("alone", "-c", "exit 0").Run(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "no ruleset is left", func() bool { return rulesets("self") == before })
}

// TestEnvironOfEachStart: a tool has the variables of its own start, whatever the starts before and beside it had, and after one
// that could not be asked for.
func TestEnvironOfEachStart(t *testing.T) {
	h, _ := open(t)
	one, other, none := []string{"PATH=/usr/bin:/bin", "LANG=one"}, []string{"PATH=/usr/bin:/bin", "LANG=other"}, []string{}
	starts := func(env []string, arguments string) (string, error) {
		var out bytes.Buffer
		p, err := h.Start(t.Context(), sandbox.Request{
			Tool: "supervised", Args: []string{"-c", "/usr/bin/printenv LANG || true"}, Env: env, Arguments: json.RawMessage(arguments), Stdout: &out,
		})
		if err != nil {
			return "", err
		}
		_, err = p.Wait()
		return strings.TrimSpace(out.String()), err
	}
	for i, env := range [][]string{one, one, other, one, none, none, other, other} {
		if i == 3 {
			if _, err := starts(one, "{"); err == nil {
				t.Error("a call was sent that is no JSON")
			}
		}
		want := ""
		if len(env) > 0 {
			want = strings.TrimPrefix(env[1], "LANG=")
		}
		if got, err := starts(env, "{}"); got != want || err != nil {
			t.Errorf("start %d: %q, %v, want %q", i, got, err, want)
		}
	}
	var all sync.WaitGroup
	together := 24
	if few() {
		together = 8
	}
	for i := range together {
		all.Go(func() {
			env := [][]string{one, other}[i/2%2]
			if got, err := starts(env, "{}"); "LANG="+got != env[1] || err != nil {
				t.Errorf("beside others: %q, %v, want %q", got, err, env[1])
			}
		})
	}
	all.Wait()
}

// TestAnyBytes: arguments, variables and directories that are not UTF-8 reach a tool as they are. On their way to the helper each
// of their bytes became a replacement character, so a supervised tool had others than under accessc exec.
func TestAnyBytes(t *testing.T) {
	h, ws := open(t)
	const odd = "a\xff\xe9b"
	if err := os.Mkdir(ws+"/"+odd, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tool := range both {
		var out bytes.Buffer
		p, err := h.Start(t.Context(), sandbox.Request{
			Tool: tool, Args: []string{"-c", `echo "$0"; /usr/bin/printenv LANG; pwd`, odd},
			Env: []string{"PATH=/usr/bin:/bin", "LANG=" + odd}, Dir: ws + "/" + odd, Stdout: &out,
		})
		if err == nil {
			_, err = p.Wait()
		}
		if want := odd + "\n" + odd + "\n" + ws + "/" + odd + "\n"; err != nil || out.String() != want {
			t.Errorf("%s: got %q, %v, want %q", tool, out.String(), err, want)
		}
	}
}
