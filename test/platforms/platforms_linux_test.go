package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/internal/artifact/evidence"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/sbpl"
	"github.com/accessc/accessc/test/testbuild"

	"github.com/accessc/accessc/test/finding"
	"github.com/accessc/accessc/test/irtest"
)

// TestMain makes this test the program that applies profiles: this project's reader of their
// language, which knows no more than it must, so a construct that it refuses is none. It ends in the
// ways of the real one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-D" {
		os.Exit(sandboxExec(os.Args[1:]))
	}
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func sandboxExec(args []string) int {
	params := map[string]string{}
	for len(args) > 1 && args[0] == "-D" {
		name, value, _ := strings.Cut(args[1], "=")
		params[name] = value
		args = args[2:]
	}
	if len(args) < 3 || args[0] != "-p" {
		return 64
	}
	// The compiler of some releases aborts at letters outside of ASCII in a comment (decision D249).
	if strings.Contains(args[1], "; –") {
		err := syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -ABRT $$"}, nil)
		fmt.Fprintln(os.Stderr, err)
		return 64
	}
	profile, err := sbpl.Parse(args[1], params)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 65
	}
	if strings.Contains(args[1], "unapplied") {
		fmt.Fprintln(os.Stderr, "sandbox-exec: sandbox_apply: Operation not permitted")
		return 71
	}
	_, err = os.Stat(args[2])
	if allowed, _ := profile.Allows("process-exec", sbpl.Request{Path: args[2]}); !allowed {
		err = syscall.EPERM
	}
	if err == nil {
		return program(profile, args[2:])
	}
	fmt.Fprintf(os.Stderr, "sandbox-exec: execvp() of '%s' failed: %v\n", args[2], err)
	return 71
}

// program is the end of a program under a profile: cat(1) fails at a file that it may not read, touch(1) at one that it may
// not make. This one asks for file-write-data as well where it is told to.
func program(profile *sbpl.Profile, argv []string) int {
	asked := []string{"file-read-data"}
	if argv[0] == "/usr/bin/touch" {
		asked = []string{"file-write-create"}
		if os.Getenv(touchAsks) != "" {
			asked = append(asked, "file-write-data")
		}
	}
	for _, file := range argv[1:] {
		if slices.ContainsFunc(asked, func(op string) bool {
			allowed, err := profile.Allows(op, sbpl.Request{Path: file})
			return err != nil || !allowed
		}) {
			return 1
		}
	}
	return 0
}

// touchAsks has opening a new file ask for file-write-data.
const touchAsks = "PLATFORMS_TEST_TOUCH"

// here is a directory of results, with the output of the steps.
func here(t *testing.T) (*work, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	return &work{dir: t.TempDir(), system: "linux", sandboxExec: self, out: &out}, &out
}

// workflow is the text of the workflow.
func workflow(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(".github/workflows/platforms.yml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// taken are the steps of the workflow, in its order.
func taken(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^\s*run:(.*)$`).FindAllStringSubmatch(workflow(t), -1) {
		step, ok := strings.CutPrefix(m[1], " go run ./test/platforms ")
		if !ok {
			t.Errorf("the workflow runs %q, expected a step of test/platforms", m[1])
		}
		out = append(out, step)
	}
	return out
}

// someOf are those of the packages, programs and cases that TestWorkflow has its steps run. All of them have tests of
// their own: the cases and programs in test/conformance.
var someOf = map[string][]string{
	"tests": {"./internal/artifact/evidence"}, "programs": {"ls", "make", "cat"}, "cases": {"fs-read", "fs-move"},
}

// TestWorkflow takes the steps of the workflow, in its order: the cases and the programs run for real,
// each construct is compiled by this project's reader of profiles, and the results become a table.
func TestWorkflow(t *testing.T) {
	if !irtest.Full() {
		t.Skip("runs every night, at full count")
	}
	w, out := here(t)
	file := filepath.Join(t.TempDir(), "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", file)
	for _, step := range taken(t) {
		if err := w.step(append([]string{step}, someOf[step]...)); err != nil {
			t.Fatalf("%s: %v\n%s", step, err, out)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", text)
	for _, step := range resultSteps {
		all, err := w.kept(step)
		if err != nil || len(all) == 0 || !strings.Contains(string(text), "| "+step+" | ") {
			t.Errorf("%s left %d results, %v", step, len(all), err)
		}
	}
	if cases, _ := w.kept("cases"); len(cases) != len(someOf["cases"]) || slices.ContainsFunc(cases, func(f finding.Finding) bool { return f.Result != finding.OK }) {
		t.Errorf("the cases end with %+v", cases)
	}
	if all, _ := w.kept("constructs"); len(all) < 100 {
		t.Errorf("%d constructs", len(all))
	}
	data, err := os.ReadFile(w.file("evidence.json"))
	if d, e := evidence.Parse(data); err != nil || e != nil || len(d.Runs) != 0 {
		t.Errorf("of Linux there is the evidence %s, %v %v", data, err, e)
	}
}

// TestConstructsNotice: a construct that does not compile is found, alone, and one that denies each start
// is none. Cause: any failure of a program under the profile counted against the compiler.
func TestConstructsNotice(t *testing.T) {
	w, _ := here(t)
	values, err := w.values()
	if err != nil {
		t.Fatal(err)
	}
	got := forms("; (comment)\n(version 1)\n(deny default) (allow file-read* (literal \"/a)\\\"(\"))\n(allow nonsense)\n")
	if len(got) != 4 {
		t.Fatalf("got %q", got)
	}
	for form, want := range map[string]string{
		got[1]: "", got[2]: "", "(deny process-exec*)": "", got[3]: "the profile is refused", "; –": "the compiler aborted",
		`(deny file-read* (literal "/unapplied"))`: "the profile is not applied",
	} {
		f := w.compile(form, "(version 1)(allow default)\n"+form+"\n", values)
		if (f.Result == finding.OK) != (want == "") || f.Bad() != (want != "") || !strings.HasPrefix(f.Note, want) {
			t.Errorf("%s: got %+v", form, f)
		}
	}
	for _, fresh := range []string{"no", "yes"} {
		if got := w.questions(values); got[0].Result != finding.OK || got[0].Note != "yes" || got[1].Result != finding.OK || got[1].Note != fresh {
			t.Errorf("got %+v", got)
		}
		t.Setenv(touchAsks, "1")
	}
	for script, want := range map[string]finding.Finding{
		"exit 0": {Result: finding.OK, Note: "no"}, "exit 1": {Result: finding.Failed, Note: "cat does not run: exit status 1"},
		`case "$*" in *deny*) exit 65;; esac`: {Result: finding.Failed, Note: "exit status 65"},
	} {
		other := &work{dir: w.dir, sandboxExec: filepath.Join(t.TempDir(), "sandbox-exec")}
		if err := testbuild.WriteFile(other.sandboxExec, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if f := other.questions(values)[0]; f.Result != want.Result || f.Note != want.Note {
			t.Errorf("%s: got %+v", script, f)
		}
	}
	w.sandboxExec = filepath.Join(w.dir, "none")
	err = w.step([]string{"constructs"})
	if all, _ := w.kept("constructs"); err != nil || len(all) != 1 || all[0].Result != finding.Absent {
		t.Errorf("without the program: %+v, %v", all, err)
	}
}

// TestEvidence: the results of a machine become a document, and those of several become one.
func TestEvidence(t *testing.T) {
	w, _ := here(t)
	for i, m := range []machine{
		{"windows", "Windows Server ServerDatacenter", "26100.4652", "amd64", strings.Repeat("a", 40)},
		{"darwin", "macOS 26.1", "25B78", "arm64", strings.Repeat("b", 40)},
	} {
		one := &work{dir: w.file(fmt.Sprint("results-", i)), out: w.out}
		if err := os.MkdirAll(one.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		identified(t, one, m)
		if err := one.keep("cases", []finding.Finding{{Name: "fs-read", Result: finding.OK}, {Name: "fs-move", Result: finding.Differs, Note: "do:2"}, {Name: "mac-case", Result: finding.Absent}}); err != nil {
			t.Fatal(err)
		}
		if err := one.keep("tests", []finding.Finding{{Name: "TestOnWindows/lists", Result: finding.OK}, {Name: "example.com/x", Result: finding.OK}, {Name: "example.com/x.TestY", Result: finding.Failed}}); err != nil {
			t.Fatal(err)
		}
		if err := one.step([]string{"evidence"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.step([]string{"merge"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(w.file("evidence.json"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := evidence.Parse(data)
	if err != nil || len(d.Runs) != 2 || d.Runs[0].Platform != "darwin" {
		t.Fatalf("got %+v, %v", d, err)
	}
	if got := d.Seen(ir.Windows, []string{"TestOnWindows/lists", "conformance/fs-read"}); len(got) != 1 {
		t.Errorf("got %q", got)
	}
	for _, test := range []string{"conformance/fs-move", "conformance/mac-case", "example.com/x"} {
		if got := d.Seen(ir.Darwin, []string{test}); got != nil {
			t.Errorf("%s was seen on %q", test, got)
		}
	}
	if err := os.WriteFile(w.file("results-0/evidence.json"), bytes.ReplaceAll(data, []byte("macOS 26.1"), []byte("macOS <b>")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.step([]string{"merge"}); err == nil {
		t.Error("a document with markup was merged")
	}
}

// TestSummaryKnowsResults: the summary counts each word of test/conformance in its column, prints the note of each,
// and refuses others. Cause: the two programs had different words for a foreseen refusal, which counted as a
// difference, and answers without an expectation were in no summary.
func TestSummaryKnowsResults(t *testing.T) {
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	columns := map[finding.Result]string{
		finding.OK: "| programs | 1 | 0 | 0 | 0 |", finding.Foreseen: "| programs | 0 | 1 | 0 | 0 |", finding.Absent: "| programs | 0 | 0 | 1 | 0 |",
		finding.Differs: "| programs | 0 | 0 | 0 | 1 |", finding.Failed: "| programs | 0 | 0 | 0 | 1 |",
	}
	for _, result := range finding.Results() {
		w, out := here(t)
		identified(t, w, machine{Platform: "linux", System: "Linux 6.1", Build: "x", Arch: "amd64"})
		if err := w.keep("programs", []finding.Finding{{Name: "true", Result: result, Note: "do:7 report"}}); err != nil {
			t.Fatal(err)
		}
		if err := w.step([]string{"summary"}); err != nil || columns[result] == "" || !strings.Contains(out.String(), columns[result]) || !strings.Contains(out.String(), "do:7 report") {
			t.Errorf("%s: %v, got\n%s", result, err, out)
		}
	}
	w, _ := here(t)
	if err := w.keep("programs", []finding.Finding{{Name: "true", Result: "known"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.kept("programs"); err == nil {
		t.Error("an unknown result was read")
	}
}

// identified writes the name of a machine.
func identified(t *testing.T, w *work, m machine) {
	t.Helper()
	data, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(w.file("machine.json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCommittedEvidence: the committed document names tests that there are, and the first paragraph
// of the page of each system names each of its machines, or says that there is none.
func TestCommittedEvidence(t *testing.T) {
	d := evidence.Committed()
	for _, r := range d.Runs {
		for _, name := range slices.Concat(r.Passed, r.Failed) {
			file, conformance := strings.CutPrefix(name, "conformance/")
			_, err := os.Stat("test/conformance/files/" + file + ".txtar")
			if conformance && err != nil || !conformance && !slices.Contains(winjob.Cases(), strings.TrimPrefix(name, onWindows)) {
				t.Errorf("there is no test %s", name)
			}
		}
	}
	for p, page := range map[ir.Platform]string{ir.Darwin: "docs/platforms/macos.md", ir.Windows: "docs/platforms/windows.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if err := says(string(text), p, d); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}
	text, err := os.ReadFile("docs/testing.md")
	if err != nil || strings.Contains(string(text), "none of them has been run on a Mac or on Windows yet") != (len(d.Runs) == 0) {
		t.Errorf("the page on cases says otherwise, %v", err)
	}
	some := &evidence.Document{Runs: []evidence.Run{{Platform: "darwin", System: "macOS 26.1", Build: "25B78", Arch: "arm64"}}}
	if says("# x\n\n**No profile of this project", ir.Darwin, some) == nil || says("# x\n\nSeen on macOS 26.1 (25B78, arm64).\n\nMore", ir.Darwin, some) != nil ||
		says("# x\n\nSeen on everything.", ir.Darwin, &evidence.Document{}) == nil {
		t.Error("pages are not compared with the evidence")
	}
}

// nothingSeen are the words of a page whose system has no evidence.
var nothingSeen = map[ir.Platform]string{ir.Darwin: "**No profile of this project has been on a real Mac**", ir.Windows: "**Nothing of this project has run on Windows itself**"}

// says compares the first paragraph of a page with the evidence.
func says(page string, p ir.Platform, d *evidence.Document) error {
	parts := strings.SplitN(page, "\n\n", 3)
	if len(parts) < 2 {
		return fmt.Errorf("it has no paragraph")
	}
	none := true
	for _, r := range d.Runs {
		if r.Platform != p.String() {
			continue
		}
		none = false
		if !strings.Contains(parts[1], r.Where()) {
			return fmt.Errorf("its first paragraph does not name %s", r.Where())
		}
	}
	if strings.Contains(parts[1], nothingSeen[p]) != none {
		return fmt.Errorf("its first paragraph says whether anything was seen, and the evidence says otherwise")
	}
	return nil
}

// TestActionlint: the service understands the workflows.
func TestActionlint(t *testing.T) {
	// Go keeps the program that it builds, and says where; what it downloads for that it says on standard error.
	build := exec.Command("go", "tool", "-modfile=tools/go.mod", "-n", "actionlint")
	var errs strings.Builder
	build.Stderr = &errs
	file, err := build.Output()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("actionlint cannot be built: %v\n%s", err, errs.String())
		}
		t.Skipf("actionlint cannot be built: %v\n%s", err, errs.String())
	}
	if said, err := exec.Command(strings.TrimSpace(string(file))).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	for _, m := range regexp.MustCompile(`uses: (\S+)(.*)`).FindAllStringSubmatch(workflow(t), -1) {
		if !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(m[1]) || !strings.HasPrefix(m[2], " # v") {
			t.Errorf("%s%s is not pinned by its hash, with its version behind it", m[1], m[2])
		}
	}
}

// TestRefusals: a step that there is none of, and results that are none, are errors.
func TestRefusals(t *testing.T) {
	w, _ := here(t)
	for _, args := range [][]string{nil, {"case"}, {"summary"}, {"evidence"}, {"merge", "none"}} {
		if err := w.step(args); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	if _, err := testFindings(bytes.NewBufferString("no event\n"), func(string) {}); err == nil {
		t.Error("text was read as results of tests")
	}
}
