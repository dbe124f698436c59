package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/test/finding"
)

// TestMain makes the test the tool of a case where it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == probeWord {
		probe(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newRunner(t *testing.T, out *bytes.Buffer) *runner {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{accessc: filepath.Join(t.TempDir(), "accessc"), self: self, out: out}
	if said, err := exec.Command("go", "build", "-o", r.accessc, "github.com/accessc/accessc/cmd/accessc").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return r
}

// TestCases runs every case for real, on this kernel.
func TestCases(t *testing.T) {
	var out bytes.Buffer
	r := newRunner(t, &out)
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.all(all, dir)
	if bad := finding.Bad(found); err != nil || bad != 0 {
		t.Errorf("%d of %d differ, %v\n%s", bad, len(all), err, &out)
	}
	t.Logf("\n%s", &out)
}

// TestPrograms: every program of the table that is installed here runs under the default policy.
func TestPrograms(t *testing.T) {
	var out bytes.Buffer
	r := newRunner(t, &out)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.programs(dir)
	if err != nil || finding.Bad(found) > 0 || len(found) < 15 {
		t.Errorf("%d programs, %v\n%s", len(found), err, &out)
	}
	t.Logf("\n%s", &out)
}

// TestCasesNotice turns every expectation into its opposite: each must then differ, or the
// runner would pass whatever a system does.
func TestCasesNotice(t *testing.T) {
	var out bytes.Buffer
	r := newRunner(t, &out)
	for _, name := range []string{"fs-read", "fs-move", "net-connect", "env-forward", "limits-limit", "process-signal"} {
		c, err := load(name, "linux")
		if err != nil {
			t.Fatal(err)
		}
		flipped := 0
		for i := range c.steps {
			switch s := &c.steps[i]; s.want {
			case allow:
				s.want, flipped = deny, flipped+1
			case deny:
				s.want, flipped = allow, flipped+1
			case report, host:
			}
		}
		res, err := r.run(c, t.TempDir())
		if err != nil || len(res.differs) != flipped || flipped == 0 {
			t.Errorf("%s: %d of %d differ, %v\n%q", name, len(res.differs), flipped, err, res.differs)
		}
	}
}

// TestNotStarted: a tool that does not start, or stops answering, fails its case.
func TestNotStarted(t *testing.T) {
	var out bytes.Buffer
	r := newRunner(t, &out)
	for name, toml := range map[string]string{
		"a policy with a mistake": "[tools.probe]\nsource = \"local\"\ncommand = \"$PROBE cases-probe\"\n[tools.probe.access]\nfss = []\n",
		"no execute":              "[tools.probe]\nsource = \"local\"\ncommand = \"$PROBE cases-probe\"\n[tools.probe.access]\nfs = [{ path = \"bin\", read = true }]\n",
		"another tool":            "[tools.probe]\nsource = \"local\"\ncommand = \"true\"\n",
	} {
		c, err := parse("x", []byte("about\n-- accessc.toml --\n"+toml+"-- do --\nallow read x\n"), "linux")
		if err != nil {
			t.Fatal(err)
		}
		if res, err := r.run(c, t.TempDir()); err == nil {
			t.Errorf("%s: got %+v", name, res)
		}
	}
}
