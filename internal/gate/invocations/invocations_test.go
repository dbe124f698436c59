package invocations

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/ir"
)

// TestMain takes part in a session where a test has started this program for that.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SESSION_OF"); dir != "" {
		s, err := Open(dir, "s")
		for err == nil {
			if err = s.Invoke(&ir.Tool{Name: "t", Constraints: &ir.Constraints{MaxInvocations: 200}}); err == nil {
				fmt.Println("invoked")
			}
		}
		fmt.Println(err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestConstraints: a tool is invoked as often as it may, and after those that it needs.
func TestConstraints(t *testing.T) {
	dir := t.TempDir()
	twice, later := &ir.Tool{Name: "a", Constraints: &ir.Constraints{MaxInvocations: 2}}, &ir.Tool{Name: "b", Constraints: &ir.Constraints{OnlyAfter: []string{"a", "c"}}}
	never, any := &ir.Tool{Name: "never", Constraints: &ir.Constraints{Forbidden: true}}, &ir.Tool{Name: "c"}
	failing, needy := &ir.Tool{Name: "x", Constraints: &ir.Constraints{MaxInvocations: 1}}, &ir.Tool{Name: "y", Constraints: &ir.Constraints{OnlyAfter: []string{"x"}}}
	open := func() *Session {
		s, err := Open(dir, "one")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, session := range map[string]func() *Session{"file": open, "memory": func(s *Session) func() *Session { return func() *Session { return s } }(New())} {
		for i, step := range []struct {
			tool *ir.Tool
			want string
		}{
			{never, "the tool never is forbidden"}, {later, "only after a and c"}, {twice, ""}, {later, "only after c"}, {any, ""}, {later, ""}, {later, ""},
			{failing, ""}, {failing, ""}, {failing, ""}, {needy, "only after x"},
			{twice, ""}, {twice, "the tool a was invoked 2 times in this session, as often as it may be"}, {any, ""},
		} {
			s := session()
			for _, try := range []func(*ir.Tool) error{s.May, s.Invoke} {
				if err := try(step.tool); (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) {
					t.Errorf("%s, step %d: got %v, want %q", name, i, err, step.want)
				}
			}
			end := s.Completed
			if step.tool == failing {
				end = s.Failed
			}
			if err := end(step.tool); err != nil {
				t.Error(err)
			}
		}
	}
	if other, err := Open(dir, "two"); err != nil || other.Invoke(twice) != nil {
		t.Errorf("a session has another's counts: %v", err)
	}
}

// TestNames: the name of a session is no path, and one that cannot be read is refused.
func TestNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	for id, good := range map[string]bool{
		"": false, "a\nb": false, "\x00": false, "\xff": false, "\u202e": false, strings.Repeat("a", 257): false,
		"sess_01:x": true, "../../etc/x": true, ".": true, "ä": true, strings.Repeat("a", 256): true,
	} {
		s, err := Open(dir, id)
		if (err == nil) != good {
			t.Errorf("%q: got %v", id, err)
		}
		if good && s.Invoke(&ir.Tool{Name: "t"}) != nil {
			t.Errorf("%q is not counted", id)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 5 {
		t.Errorf("got %v, %v", entries, err)
	}
}

// TestTorn: a line that was not written whole counts for nothing, and the next one is whole.
func TestTorn(t *testing.T) {
	s, err := Open(t.TempDir(), "s")
	if err != nil {
		t.Fatal(err)
	}
	once := &ir.Tool{Name: "tool", Constraints: &ir.Constraints{MaxInvocations: 1}}
	for _, text := range []string{"too", "tool"} {
		if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Invoke(once); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if text, err := os.ReadFile(s.path); string(text) != "tool\n" {
			t.Errorf("the file has %q, %v", text, err)
		}
	}
	refusal := errors.New("no")
	if err := s.Take(func(made Counts) error { made["tool"] = 9; return refusal }); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(s.path); string(text) != "tool\n" {
		t.Errorf("a refused count was kept: %q", text)
	}
}

// TestUnusable: a session that cannot be read or written refuses.
func TestUnusable(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Invoke(&ir.Tool{Name: "t"}); err == nil {
		t.Error("a directory was counted in")
	}
	if _, err := Open(filepath.Join(s.path, "x"), "s"); err != nil {
		t.Error(err)
	}
	old, _ := Open(dir, "old")
	if err := old.Invoke(&ir.Tool{Name: "t"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old.path, time.Now(), time.Now().Add(-2*long)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "new"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(old.path); err == nil {
		t.Error("an old session is still there")
	}
}

// TestProcesses: processes that are killed at any time invoke a tool no more often than it may be, and
// leave no lock behind.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	said := ""
	for round := range 12 {
		var all []*exec.Cmd
		var outputs []*bufio.Reader
		for range 2 {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "SESSION_OF="+dir)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			all, outputs = append(all, cmd), append(outputs, bufio.NewReader(out))
		}
		for range round {
			line, _ := outputs[0].ReadString('\n')
			said += line
		}
		for i, cmd := range all {
			_ = cmd.Process.Kill()
			rest, _ := io.ReadAll(outputs[i])
			said += string(rest)
			_ = cmd.Wait()
		}
	}
	last := exec.Command(os.Args[0])
	last.Env = append(os.Environ(), "SESSION_OF="+dir)
	end, err := last.Output()
	if err != nil || !strings.Contains(string(end), "was invoked 200 times") {
		t.Errorf("the last process ended with %s, %v", end, err)
	}
	if invoked := strings.Count(said+string(end), "invoked\n"); invoked > 200 {
		t.Errorf("the tool was invoked %d times", invoked)
	}
}
