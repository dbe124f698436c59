// Package evidence has the results of the tests that were run on real machines of macOS and
// Windows, as test/platforms writes them and a maintainer commits them. A row of the ledger whose
// tests have all passed on a system names that system and its build; without them the row is as
// unverified as before.
package evidence

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

// Format and Version identify the document.
const (
	Format  = "accessc/platform-evidence"
	Version = 1
)

// MaxSize is the largest size of a document, in bytes.
const MaxSize = 1 << 20

// Document is the results of some runs.
type Document struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	// Runs are in the order of Compare, and no two are of the same machine.
	Runs []Run `json:"runs"`
}

// Run is the results on a single machine.
type Run struct {
	// Platform is darwin or windows.
	Platform string `json:"platform"`
	// System and Build name the release as the system does: "macOS 26.1", "25B78".
	System string `json:"system"`
	Build  string `json:"build"`
	Arch   string `json:"arch"` // as Go names it
	Commit string `json:"commit"`
	// Passed and Failed are names of tests as rows have them under evidence, sorted. A test that
	// asked nothing is in neither.
	Passed []string `json:"passed"`
	Failed []string `json:"failed"`
}

// ErrDocument is wrapped by every refusal of a document.
var ErrDocument = errors.New("not usable as evidence of platforms")

// forms are the forms of the words of a run.
type forms struct{ system, build, arch, commit, test *regexp.Regexp }

// names are compiled when they are first used: every start of a tool would pay 0.3 ms for them otherwise.
func names() forms {
	return namesOnce.Get(func() forms {
		return forms{
			regexp.MustCompile(`^(macOS|Windows)( [A-Za-z0-9.]{1,16}){1,5}$`),
			regexp.MustCompile(`^[A-Za-z0-9.]{1,24}$`), regexp.MustCompile(`^(amd64|arm64)$`),
			regexp.MustCompile(`^[0-9a-f]{40}$`),
			regexp.MustCompile(`^(conformance|TestOnWindows)/[a-z][a-z0-9-]{0,40}$`),
		}
	})
}

var namesOnce once.Value[forms]

// prefix is how systems of a platform begin, empty for a platform that has no evidence.
func prefix(platform string) string {
	switch platform {
	case ir.Darwin.String():
		return "macOS "
	case ir.Windows.String():
		return "Windows "
	}
	return ""
}

// Parse reads a document. Its words are shown to reviewers and decide which rows of the ledger
// count as seen, so everything that test/platforms would not have written is refused.
func Parse(data []byte) (*Document, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%w: found %d bytes, expected %d at most", ErrDocument, len(data), MaxSize)
	}
	d := &Document{}
	if err := strictjson.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	if d.Format != Format || d.Version != Version {
		return nil, fmt.Errorf("%w: found the format %q, version %d", ErrDocument, d.Format, d.Version)
	}
	for i, r := range d.Runs {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("%w: runs[%d]: %w", ErrDocument, i, err)
		}
		if i > 0 && Compare(d.Runs[i-1], r) >= 0 {
			return nil, fmt.Errorf("%w: runs[%d] does not follow the one before it", ErrDocument, i)
		}
	}
	return d, nil
}

func (r Run) check() error {
	begin := prefix(r.Platform)
	if begin == "" {
		return fmt.Errorf("found the platform %q", r.Platform)
	}
	for _, w := range []struct {
		what, word string
		form       *regexp.Regexp
	}{
		{"system", r.System, names().system}, {"build", r.Build, names().build}, {"arch", r.Arch, names().arch},
		{"commit", r.Commit, names().commit},
	} {
		if !w.form.MatchString(w.word) {
			return fmt.Errorf("found the %s %q, expected %s", w.what, w.word, w.form)
		}
	}
	if !strings.HasPrefix(r.System, begin) {
		return fmt.Errorf("found %q on %s", r.System, r.Platform)
	}
	for _, list := range [][]string{r.Passed, r.Failed} {
		for i, name := range list {
			if !names().test.MatchString(name) || i > 0 && list[i-1] >= name {
				return fmt.Errorf("found the test %q, expected %s, sorted", name, names().test)
			}
		}
	}
	for _, name := range r.Passed {
		if slices.Contains(r.Failed, name) {
			return fmt.Errorf("%s passed and failed", name)
		}
	}
	if len(r.Passed)+len(r.Failed) == 0 {
		return errors.New("it has no test")
	}
	return nil
}

// Compare orders runs by their machines.
func Compare(a, b Run) int {
	return strings.Compare(strings.Join([]string{a.Platform, a.System, a.Build, a.Arch}, "\n"),
		strings.Join([]string{b.Platform, b.System, b.Build, b.Arch}, "\n"))
}

// Where names the machine of a run.
func (r Run) Where() string { return fmt.Sprintf("%s (%s, %s)", r.System, r.Build, r.Arch) }

// Seen lists the machines of a platform on which all of some tests have passed. None counts where
// one of the tests failed on any of them: the claim is then refuted for a system that the row is
// about.
func (d *Document) Seen(p ir.Platform, tests []string) []string {
	var out []string
	for _, r := range d.Runs {
		if r.Platform != p.String() || len(tests) == 0 {
			continue
		}
		all := true
		for _, test := range tests {
			if slices.Contains(r.Failed, test) {
				return nil
			}
			all = all && slices.Contains(r.Passed, test)
		}
		if all {
			out = append(out, r.Where())
		}
	}
	return out
}

// Machines lists the machines of a platform, with the counts of passed and failed tests.
func (d *Document) Machines(p ir.Platform) []string {
	var out []string
	for _, r := range d.Runs {
		if r.Platform == p.String() {
			out = append(out, fmt.Sprintf("%s: %d passed, %d failed", r.Where(), len(r.Passed), len(r.Failed)))
		}
	}
	return out
}

//go:embed evidence.json
var committed []byte

// Committed is the evidence of this version. A document that cannot be read is evidence of nothing;
// a test refuses such a document that is committed.
func Committed() *Document {
	return committedOnce.Get(func() *Document {
		d, err := Parse(committed)
		if err != nil {
			return &Document{}
		}
		return d
	})
}

var committedOnce once.Value[*Document]
