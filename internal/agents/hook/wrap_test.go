package hook

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

// TestWrap: the command for a line hands exactly this line on, whichever shell reads it, and the
// line can be read back from the command alone.
func TestWrap(t *testing.T) {
	// The program takes the place of accessc; it repeats the words behind "--".
	program := filepath.Join(t.TempDir(), `it's a "program" \ $HOME`)
	const script = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nprintf '%s|' \"$@\"\n"
	if err := testbuild.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &Wrap{Start: []string{program, "-C", "/a b/'c'", "exec"}, Shell: []string{"bash", "-c", "--"}, Reports: "/state/it's"}
	for _, name := range []string{"sh", "bash", "dash", "zsh", "fish"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not here", name)
			continue
		}
		irtest.Check(t, 300, 1, func(t *rapid.T) {
			line := rapid.StringOfN(rapid.RuneFrom([]rune("ab'\"\\ $`~*?[]{}()<>|&;#!=%^\n\té\u202e-/.")), 0, 30, -1).Draw(t, "line")
			command := w.line(line, "0a.jsonl")
			got, err := exec.Command(name, "-c", command).Output()
			if want := "--|bash|-c|--|" + line + "|"; err != nil || string(got) != want {
				t.Fatalf("%s has %s hand on %q, %v", name, command, got, err)
			}
			back, held := w.original(command)
			if !held || back != line {
				t.Fatalf("%s is read back as %q, %v", command, back, held)
			}
		})
	}
}

// TestNotWrapped: a command that differs anywhere from the one for its line is none of ours.
func TestNotWrapped(t *testing.T) {
	w := &Wrap{Start: []string{"/bin/accessc", "-C", "/w", "exec", "--command", "--tool", "coder"}, Shell: []string{"bash", "-c", "--"}, Reports: "/r"}
	ours := w.line("ls -l; x", "0a.jsonl")
	for _, c := range []string{
		"", "ls -l; x", ours + " ", ours + "\n", ours + " more", ours + "; rm x", "X=1 " + ours, " " + ours,
		strings.Replace(ours, "coder", "other", 1), strings.Replace(ours, "--tool coder ", "", 1), strings.Replace(ours, "/r/", "/s/", 1),
		strings.Replace(ours, "/w", "/v", 1), strings.Replace(ours, "-- bash", "--accept net.host -- bash", 1), strings.Replace(ours, "bash -c", "sh -c", 1),
		strings.Replace(ours, "/bin/accessc", "accessc", 1), strings.Replace(ours, "'ls", "\"ls", 1), strings.Replace(ours, "0a.jsonl", "../0a.jsonl", 1),
		strings.Replace(ours, " -- 'ls", " -- $(rm x) 'ls", 1),
	} {
		if line, held := w.original(c); held {
			t.Errorf("%s is taken for the command of %q", c, line)
		}
	}
	if line, held := w.original(ours); !held || line != "ls -l; x" {
		t.Errorf("got %q, %v", line, held)
	}
	if _, held := (*Wrap)(nil).original(ours); held {
		t.Error("a command is held where none is wrapped")
	}
}
