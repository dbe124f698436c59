package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the repository, seen from this package.
const root = "../.."

func patches(t *testing.T) []fault {
	t.Helper()
	all, err := read("patches")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 120 {
		t.Errorf("found %d patches, expected 120 or more", len(all))
	}
	return all
}

// TestPatchesApply: every patch still changes what it was written for. One that no longer applies is written anew,
// or taken out with the code that it was about.
func TestPatchesApply(t *testing.T) {
	git := func(in string, args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = root, strings.NewReader(in)
		said, err := cmd.CombinedOutput()
		return string(said), err
	}
	if said, err := git("", "rev-parse", "--git-dir"); err != nil {
		t.Skipf("the sources are no git repository, or there is no git: %v %s", err, said)
	}
	for _, f := range patches(t) {
		if said, err := git(string(f.patch), "apply", "--check", "-"); err != nil {
			t.Errorf("%s: %v\n%s", f.name, err, said)
		}
	}
}

// TestHeaders: every patch has a number of its own, and names packages that are there, an expression for tests and
// the tests that found it.
func TestHeaders(t *testing.T) {
	numbers := map[string]string{}
	name := regexp.MustCompile(`^[0-9]{3}(-[a-z0-9]+)+$`)
	for _, f := range patches(t) {
		if !name.MatchString(f.name) {
			t.Errorf("%s: the name is no number with words", f.name)
		}
		number, _, _ := strings.Cut(f.name, "-")
		if other := numbers[number]; other != "" {
			t.Errorf("%s has the number of %s", f.name, other)
		}
		numbers[number] = f.name
		for _, pkg := range f.packages {
			if files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go")); err != nil || len(files) == 0 {
				t.Errorf("%s: %s has no tests", f.name, pkg)
			}
		}
		if _, err := regexp.Compile(f.tests); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if len(f.by) == 0 {
			t.Errorf("%s: no test is named that finds it", f.name)
		}
	}
}

// TestProductOnly: a fault is in the product, not in its tests.
func TestProductOnly(t *testing.T) {
	for _, f := range patches(t) {
		for line := range strings.Lines(string(f.patch)) {
			if path, ok := strings.CutPrefix(line, "+++ b/"); ok {
				path = strings.TrimSpace(path)
				if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "test/") {
					t.Errorf("%s changes %s", f.name, path)
				}
			}
		}
	}
}

// TestBaseline: each line of the record of the suite before is about a patch.
func TestBaseline(t *testing.T) {
	text, err := os.ReadFile("baseline.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := patches(t)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		name := strings.Fields(line)[0]
		if !slices.ContainsFunc(all, func(f fault) bool { return f.name == name }) {
			t.Errorf("there is no patch %s", name)
		}
	}
}

// TestParse covers headers, and texts that are no patches.
func TestParse(t *testing.T) {
	const diff = "\ndiff --git a/x b/x\n"
	f, err := parse("It breaks.\n\nPackages: ./a ./b\nRun: TestA|TestB\nFound by: a.TestA b.TestB\n" + diff)
	if err != nil || f.breaks != "It breaks." || len(f.packages) != 2 || f.tests != "TestA|TestB" ||
		len(f.by) != 2 || string(f.patch) != diff[1:] {
		t.Errorf("got %+v, %v", f, err)
	}
	for _, bad := range []string{
		"", "It breaks.\n\nPackages: ./a\n", "Packages: ./a\n" + diff, "It breaks.\n" + diff,
		"It breaks\n\nPackages: ./a\n" + diff,
		"It breaks.\n\nPackages: ./a\nMore: x\n" + diff,
	} {
		if f, err := parse(bad); err == nil {
			t.Errorf("%q: got %+v, expected an error", bad, f)
		}
	}
}
