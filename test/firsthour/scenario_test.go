//go:build linux

package firsthour_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A scenario is a program's work in a workspace. Its file is an archive whose comment has lines
// "key: value" and whose sections are
//
//	run      the tool: a script of sh
//	policy   the hand-written policy of the tool, t
//	start    the policy that a user begins with, where it is not the default
//	setup    a script that the user runs before, unconfined
//	hand     a script with the further preparations of a user who writes the policy by hand
//	after    a script that tells, unconfined, whether the tool has done its work
//	ws/...   the files of the workspace
//
// In all of them ${ws}, ${dir} beside it, ${home}, ${packages}, the addresses of pages ${server} and
// ${port}, a port that is free ${free}, and the host of npm's registry ${registry} stand for those of
// the run.
type scenario struct {
	name  string
	title string
	// needs are the programs without which the scenario is skipped, from directories that every
	// tool may read; installed are files that it needs besides.
	needs, installed []string
	// home are the parts of the real home that are copied into the home of the scenario.
	home []string
	// quick scenarios need only programs that every developer has, and end in seconds.
	quick bool
	// approve are the external rules of the hand-written policy.
	approve []string
	// init is the tool that "accessc init" makes of the workspace for this work; where there is none, the
	// user makes a tool that extends these presets.
	init    string
	presets []string
	// refused is accessc's message about a tool that no rule lets do its work, empty for others.
	refused string
	// byHandOnly are the reasons why a way, init or learn, does not lead to a policy yet.
	byHandOnly map[string]string
	// accept are the gaps that the user of the policy accepts on a host such as this one.
	accept []string

	run, start, policy, setup, hand, after string
	files                                  []txtar.File
}

// scenarios reads the archives of testdata.
func scenarios(t *testing.T) (all []*scenario) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse(a)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.name = strings.TrimSuffix(filepath.Base(name), ".txtar")
		all = append(all, s)
	}
	return all
}

func parse(a *txtar.Archive) (*scenario, error) {
	s := &scenario{byHandOnly: map[string]string{}}
	for line := range strings.Lines(string(a.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "":
		case "title":
			s.title = value
		case "needs":
			s.needs = strings.Fields(value)
		case "installed":
			s.installed = strings.Fields(value)
		case "home":
			s.home = strings.Fields(value)
		case "quick":
			s.quick = true
		case "approve":
			s.approve = strings.Fields(value)
		case "init":
			s.init = value
		case "presets":
			s.presets = strings.Fields(value)
		case "refused":
			s.refused = value
		case "not by init":
			s.byHandOnly["init"] = value
		case "not by learn":
			s.byHandOnly["learn"] = value
		case "accept":
			s.accept = strings.Fields(value)
		default:
			return nil, fmt.Errorf("unknown key %q", key)
		}
	}
	parts := map[string]*string{"run": &s.run, "start": &s.start, "policy": &s.policy, "setup": &s.setup, "hand": &s.hand, "after": &s.after}
	for _, f := range a.Files {
		if part := parts[f.Name]; part != nil {
			*part = string(f.Data)
		} else if name, ok := strings.CutPrefix(f.Name, "ws/"); ok {
			s.files = append(s.files, txtar.File{Name: name, Data: f.Data})
		} else {
			return nil, fmt.Errorf("unknown section %q", f.Name)
		}
	}
	if s.title == "" || s.run == "" || s.refused == "" && (s.policy == "" || s.after == "") {
		return nil, fmt.Errorf("title, run, policy and after are needed")
	}
	return s, nil
}

// missing is the first thing that a scenario needs and this host lacks, empty for none.
func (s *scenario) missing() string {
	for _, p := range s.needs {
		at, err := exec.LookPath(p)
		if err != nil || !strings.HasPrefix(at, "/usr/") && !strings.HasPrefix(at, "/bin/") {
			// A shim of the user's home may stand before the program of the system.
			if _, err := os.Stat("/usr/bin/" + p); err != nil {
				return p
			}
		}
	}
	files := s.installed
	for _, f := range s.home {
		files = append(files, filepath.Join(os.Getenv("HOME"), f))
	}
	for _, f := range files {
		f = strings.ReplaceAll(f, "${packages}", packages())
		if found, err := filepath.Glob(f); err != nil || len(found) == 0 {
			return f
		}
	}
	return ""
}

// packages is the directory into which "task firsthour" installs npm's packages.
func packages() string {
	dir, err := filepath.Abs("../../.cache/firsthour/node_modules")
	if err != nil {
		panic(err)
	}
	return dir
}
