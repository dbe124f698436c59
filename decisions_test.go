package accessc_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	decisionEntry = regexp.MustCompile(`(?m)^\*\*D(\d+)\. (?s:.+?)\*\*( \*\(process\)\*)?`)
	decisionCited = regexp.MustCompile(`decisions?((?: and|,)? D\d+)+`)
	number        = regexp.MustCompile(`D(\d+)`)
)

// Bounds on what a reader is asked to read of the reasons.
const (
	maxDecisions = 150
	maxWords     = 100 // of an entry
)

// TestDecisionsAreCited: code cites entries of docs/decisions that exist, and cites each entry that is not about the
// process. There are no more of them, and none is longer, than somebody reads.
func TestDecisionsAreCited(t *testing.T) {
	pages, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	process := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range decisionEntry.FindAllStringSubmatch(string(text), -1) {
			if _, twice := process[m[1]]; twice {
				t.Errorf("D%s stands twice", m[1])
			}
			process[m[1]] = m[2] != ""
		}
		for _, entry := range strings.Split(string(text), "\n**D")[1:] {
			if n := len(strings.Fields(entry)); n > maxWords {
				number, _, _ := strings.Cut(entry, ".")
				t.Errorf("%s: D%s has %d words, expected at most %d", page, number, n, maxWords)
			}
		}
	}
	if len(process) < 100 || len(process) > maxDecisions {
		t.Fatalf("found %d entries, expected 100 to %d", len(process), maxDecisions)
	}
	cited := map[string]bool{}
	for _, file := range goFiles(t) {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range decisionCited.FindAllString(string(code), -1) {
			for _, n := range number.FindAllStringSubmatch(c, -1) {
				if _, ok := process[n[1]]; !ok {
					t.Errorf("%s cites D%s, which does not exist", file, n[1])
				}
				cited[n[1]] = true
			}
		}
	}
	for n, p := range process {
		if !cited[n] && !p {
			t.Errorf("no code cites D%s: cite it where it shows, or mark it *(process)*", n)
		}
	}
}

// goFiles lists the Go files of the repository.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, dir := range list(t, "-f", "{{.Dir}}", "./...") {
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if strings.HasSuffix(f.Name(), ".go") {
				files = append(files, dir+"/"+f.Name())
			}
		}
	}
	return files
}
