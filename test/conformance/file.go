package main

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed files/*.txtar
var files embed.FS

// expectation is the expected result of an operation.
type expectation string

const (
	allow expectation = "allow"
	deny  expectation = "deny"
	// report asks without an expectation, where the answer is not known.
	report expectation = "report"
	// host is no question: another process renames a file of the workspace.
	host expectation = "host"
)

// step is one operation of a case.
type step struct {
	want expectation
	op   []string
	line int
	// about is, for a report, the row of the ledger that its answer changes, or "no row", and why that answer is not known.
	about string
}

// reported is the comment above reports: the row that the answer changes, and why the answer is not known.
// See decision D76.
var reported = regexp.MustCompile(`^# reported for ((?:no row|[a-z]+\.[a-z]+): .+)$`)

// testCase is a file that was read for one system.
type testCase struct {
	name, about string
	// files are those of the workspace; a name that ends in a slash is a directory.
	files  []txtar.File
	steps  []step
	accept []string
}

// names lists all cases.
func names() ([]string, error) {
	entries, err := fs.ReadDir(files, "files")
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".txtar"))
	}
	return out, err
}

// load reads a case for a system, named as the Go toolchain does.
func load(name, system string) (*testCase, error) {
	data, err := files.ReadFile("files/" + name + ".txtar")
	if err != nil {
		return nil, err
	}
	return parse(name, data, system)
}

// parse reads a case. Lines that begin with the name of another system are left out.
func parse(name string, data []byte, system string) (*testCase, error) {
	a := txtar.Parse(data)
	c := &testCase{name: name, about: strings.TrimSpace(string(a.Comment))}
	if c.about == "" {
		return nil, fmt.Errorf("%s does not say what it is about", name)
	}
	for _, f := range a.Files {
		switch f.Name {
		case "do", "accept":
			if err := c.lines(f, system); err != nil {
				return nil, err
			}
		default:
			if !fs.ValidPath(strings.TrimSuffix(f.Name, "/")) {
				return nil, fmt.Errorf("%s: the file name %q", name, f.Name)
			}
			c.files = append(c.files, f)
		}
	}
	if !slices.ContainsFunc(c.files, func(f txtar.File) bool { return f.Name == "accessc.toml" }) {
		return nil, fmt.Errorf("%s has no accessc.toml", name)
	}
	return c, nil
}

var systems = []string{"linux", "darwin", "windows"}

func (c *testCase) lines(f txtar.File, system string) error {
	about := ""
	for i, line := range strings.Split(string(f.Data), "\n") {
		words := strings.Fields(line)
		if m := reported.FindStringSubmatch(line); m != nil {
			about = m[1]
		}
		if len(words) > 0 && strings.HasSuffix(words[0], ":") {
			for _, s := range strings.Split(strings.TrimSuffix(words[0], ":"), ",") {
				if !slices.Contains(systems, s) {
					return fmt.Errorf("%s: %s:%d: %q is no system", c.name, f.Name, i+1, s)
				}
			}
			if !slices.Contains(strings.Split(strings.TrimSuffix(words[0], ":"), ","), system) {
				continue
			}
			words = words[1:]
		}
		switch {
		case len(words) == 0 || words[0] == "#":
		case f.Name == "accept":
			c.accept = append(c.accept, words...)
		default:
			s := step{want: expectation(words[0]), op: words[1:], line: i + 1}
			if s.want == report {
				s.about = about
			} else {
				about = ""
			}
			expected := s.want == allow || s.want == deny || s.want == report || s.want == host && len(s.op) == 3 && s.op[0] == "rename"
			if !expected || !known(s.op) {
				return fmt.Errorf("%s: do:%d: %q, expected allow, deny or report and an operation, or host rename", c.name, i+1, line)
			}
			if s.want == report && s.about == "" {
				return fmt.Errorf("%s: do:%d: %q, expected \"# reported for ROW: REASON\" above it", c.name, i+1, line)
			}
			c.steps = append(c.steps, s)
		}
	}
	return nil
}

// program is the path of the tool in the workspace.
func program() string {
	if runtime.GOOS == "windows" {
		return "bin/probe.exe"
	}
	return "bin/probe"
}

// mode is that of a file: scripts and programs can be started.
func mode(f txtar.File) fs.FileMode {
	if strings.HasPrefix(string(f.Data), "#!") || path.Dir(f.Name) == "bin" || strings.HasSuffix(f.Name, ".exe") {
		return 0o755
	}
	return 0o644
}
