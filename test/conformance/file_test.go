package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// TestParse reads the lines of each system.
func TestParse(t *testing.T) {
	text := "about\n-- accessc.toml --\nx\n-- accept --\ndarwin: fs.move\nnet.host\n-- do --\nallow read a\nlinux,darwin: deny rename a b\n# reported for no row: nothing is known\nwindows: report list .\n# no line\n\n"
	for system, want := range map[string][]string{
		"linux": {"allow read a", "deny rename a b"}, "darwin": {"allow read a", "deny rename a b"}, "windows": {"allow read a", "report list ."},
	} {
		c, err := parse("x", []byte(text), system)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range c.steps {
			got = append(got, string(s.want)+" "+strings.Join(s.op, " "))
		}
		if !slices.Equal(got, want) || slices.Contains(c.accept, "fs.move") != (system == "darwin") {
			t.Errorf("%s: got %q, %q", system, got, c.accept)
		}
	}
}

// TestParseRefuses checks that no line is skipped.
func TestParseRefuses(t *testing.T) {
	for name, do := range map[string]string{
		"no operation": "allow", "unknown operation": "allow raed a", "missing argument": "deny rename a", "another argument": "allow read a b",
		"unknown expectation": "allows read a", "unknown system": "macos: allow read a",
		"report without a reason": "report read a", "reason of another line": "# reported for fs.read: x\nallow read a\nreport read a", "no row or reason": "# reported for fs.read:\nreport read a",
	} {
		if _, err := parse("x", []byte("about\n-- accessc.toml --\n-- do --\n"+do+"\n"), "linux"); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "no policy": "about\n-- do --\n", "no words": "-- accessc.toml --\n", "a path that leaves": "about\n-- accessc.toml --\n-- ../x --\n",
	} {
		if _, err := parse("x", []byte(text), "linux"); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// TestEveryCell checks that the cases that ledgers name exist, that each asks something with an expectation on the system
// of its ledger, as a row is seen by no other, and that those that no ledger names begin with the name of their system.
func TestEveryCell(t *testing.T) {
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for p, system := range map[ir.Platform]string{ir.Linux: "linux", ir.Darwin: "darwin", ir.Windows: "windows"} {
		for _, r := range ir.Resources {
			for _, a := range ir.Aspects(r) {
				name := build.CaseOf(p, r, a)
				if name == "" {
					continue
				}
				named = append(named, name)
				if c, err := load(name, system); err != nil || !slices.ContainsFunc(c.steps, asks) {
					t.Errorf("%s asks nothing on %s, %v", name, system, err)
				}
			}
		}
	}
	for _, name := range all {
		if !slices.Contains(named, name) && !strings.HasPrefix(name, "mac-") {
			t.Errorf("the case %s settles nothing", name)
		}
		for _, system := range systems {
			if _, err := load(name, system); err != nil {
				t.Errorf("%s on %s: %v", name, system, err)
			}
		}
	}
}

// asks reports whether a step must get an answer.
func asks(s step) bool { return s.want == allow || s.want == deny }

// listed are the programs that the table must have, each under all policies: those that tools are mostly made of.
var listed = map[string]string{
	"linux": "sh bash touch cp tar ls install git node npm /usr/bin/python3 go cargo cc make ssh curl java ruby bun",
	"darwin": "sh bash zsh touch cp tar ls install /usr/bin/git /Library/Developer/CommandLineTools/usr/bin/git /opt/homebrew/bin/git /usr/local/bin/git node npm " +
		"/usr/bin/python3 /opt/homebrew/bin/python3 /Library/Frameworks/Python.framework/Versions/Current/bin/python3 pyenv go cargo /opt/homebrew/bin/cargo " +
		"/usr/bin/clang /usr/bin/xcrun /usr/bin/make ssh curl java ruby bun",
	"windows": "powershell pwsh sh bash git node npm python go cargo clang make ssh curl java ruby bun",
}

// TestProgramTable: a program of which something else than a run is expected names causes that the
// ledger of its system knows; and lines that are none are refused.
func TestProgramTable(t *testing.T) {
	all, err := ordinaries(programTable)
	if err != nil {
		t.Fatal(err)
	}
	sentences := map[string]backends.Sentences{"windows": winjob.Sentences(), "darwin": start.Sentences()}
	for _, o := range all {
		for _, cause := range slices.Concat(o.expected...) {
			for _, system := range o.systems {
				if _, known := sentences[system][ir.CauseID(cause)]; !known && cause != policyWord && cause != refusedWord {
					t.Errorf("%s: %s has no cause %s", o.line, system, cause)
				}
			}
		}
	}
	for system, programs := range listed {
		for _, program := range strings.Fields(programs) {
			if !slices.ContainsFunc(all, func(o ordinary) bool {
				return slices.Contains(o.systems, system) && slices.Contains(strings.Fields(o.line), program)
			}) {
				t.Errorf("%s is not tried on %s", program, system)
			}
		}
	}
	for _, line := range []string{"linux: runs", "linux: true", "macos: runs: true", "linux: runs:  ", "linux: runs|runs: true", "linux: runs||runs: true"} {
		if _, err := ordinaries(line); err == nil {
			t.Errorf("%q was read", line)
		}
	}
}

// TestProgramsAccept: the gaps accepted for the programs are those that the policies need accepted, so that they
// start.
func TestProgramsAccept(t *testing.T) {
	ws := t.TempDir()
	if err := furnish(ws); err != nil {
		t.Fatal(err)
	}
	res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: ws}, Resolve: true, State: userdir.Dir(t.TempDir())})
	if err != nil || res.Program == nil {
		t.Fatal(err, res.Findings)
	}
	for system := range targets {
		for _, policy := range policies {
			tool, ok := res.Program.Tool(policy)
			if !ok {
				t.Fatalf("there is no tool %s", policy)
			}
			if got := gaps(t, tool, system); !slices.Equal(got, acceptedOf[system][policy]) {
				t.Errorf("%s on %s: got %v, want %v", policy, system, got, acceptedOf[system][policy])
			}
		}
	}
}
