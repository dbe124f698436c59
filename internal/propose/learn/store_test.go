package learn

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/accessc/accessc/internal/denial"
)

// evidence is the text of a run that read some files and was refused others.
func evidence(status int, used, refused string) []byte {
	l := fmt.Sprintf(`{"format":"accessc/evidence","format_version":1,"tool":"t","status":%d,"denials":[`, status)
	sep := ""
	for _, f := range strings.Fields(refused) {
		l += sep + fmt.Sprintf(`{"times":2,"operation":"create","target":%q,"question":["create","/ws/%s"],"by":"policy","reason":"no rule","rule":null}`, f, f)
		sep = ","
	}
	l, sep = l+`],"used":[`, ""
	for _, f := range strings.Fields(used) {
		l += sep + fmt.Sprintf(`{"times":1,"question":["read","/ws/%s"],"needs":["read"]}`, f)
		sep = ","
	}
	return []byte(l + `]}`)
}

func keep(t *testing.T, s Store, text []byte) {
	t.Helper()
	file, err := s.Begin()
	if err == nil {
		err = os.WriteFile(file.Path, text, 0o600)
	}
	if err == nil {
		_, err = s.Keep(file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStore: the last runs are kept in order, in a directory of the user's alone; runs that end
// together lose nothing; files that are no evidence are not kept.
func TestStore(t *testing.T) {
	s := Store(filepath.Join(t.TempDir(), "state", "t.runs"))
	if runs, err := s.Runs(); err != nil || len(runs) != 0 {
		t.Fatalf("%v, %v", runs, err)
	}
	const more = 5
	for i := range MaxRuns + more {
		keep(t, s, evidence(i, "a", ""))
	}
	runs, err := s.Runs()
	if err != nil || len(runs) != MaxRuns {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for i, r := range runs {
		if r.Status != i+more {
			t.Errorf("run %d has status %d", i, r.Status)
		}
	}
	if info, err := os.Stat(string(s)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	for _, text := range []string{"", "{", `{"format":"other"}`} {
		file, err := s.Begin()
		if err == nil {
			err = os.WriteFile(file.Path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Keep(file); err == nil {
			t.Errorf("%q is kept", text)
		}
	}
	if n, err := s.Forget(); n != MaxRuns || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	var all sync.WaitGroup
	for i := range MaxRuns {
		all.Go(func() { keep(t, s, evidence(i, "a", "")) })
	}
	all.Wait()
	entries, err := os.ReadDir(string(s))
	if runs, _ := s.Runs(); err != nil || len(runs) != MaxRuns || len(entries) != MaxRuns {
		t.Errorf("%d runs, %d files, %v", len(runs), len(entries), err)
	}
}

// TestLeftovers: the file of a process that was killed is removed by the next run, that of a living one is not, and
// neither counts as a run. Each killed process had left one for ever.
func TestLeftovers(t *testing.T) {
	s := Store(t.TempDir())
	left := filepath.Join(string(s), unfinished+"1-1")
	if err := os.WriteFile(left, evidence(0, "a", ""), 0o600); err != nil {
		t.Fatal(err)
	}
	living, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("the file of a killed process is still there")
	}
	keep(t, s, evidence(1, "a", ""))
	if err := os.WriteFile(living.Path, evidence(2, "b", ""), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := s.Keep(living); err != nil || e.Status != 2 {
		t.Errorf("the run of a living process: got %+v, %v", e, err)
	}
	if entries, err := os.ReadDir(string(s)); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestJoin: the operations of several runs are counted, the refused ones first.
func TestJoin(t *testing.T) {
	s := Store(t.TempDir())
	keep(t, s, evidence(0, "a b", "x"))
	keep(t, s, evidence(1, "b", "x y"))
	runs, err := s.Runs()
	if err != nil {
		t.Fatal(err)
	}
	runs[1].Denials = append(runs[1].Denials, denial.Entry{Times: 1, Operation: "ptrace", Reason: "never"})
	j := Join(runs)
	var got []string
	for _, o := range j.Operations {
		got = append(got, fmt.Sprintf("%s %s %d/%d/%d", o.Operation, filepath.Base(strings.Join(o.Question, " ")), o.Times, o.Runs, o.Refused))
	}
	want := "create x 4/2/4|create y 2/1/2|ptrace . 1/1/1| a 1/1/0| b 2/2/0"
	if strings.Join(got, "|") != want || j.Lacks || j.Runs != 2 {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	for i, status := range []int{0, 128} {
		runs[i].Status, runs[i].Sought = status, []string{fmt.Sprintf("~/%d", i)}
	}
	if got := strings.Join(Join(runs).Sought, " "); got != "~/1" {
		t.Errorf("runs that failed looked for %s", got)
	}
	if runs[1].Status = 143; Join(runs).Sought != nil {
		t.Error("a run that was ended has failed")
	}
	runs[1].Used = append(runs[1].Used, denial.Use{Times: 1, Question: []string{"dial", "/s"}, Own: true}, denial.Use{Times: 1, Question: []string{"dial", "/s"}})
	if n := len(Join(runs).Operations); n != len(j.Operations)+2 {
		t.Errorf("%d operations: two sockets of one name are one", n)
	}
	runs[0].UsedLeftOut = 1
	if !Join(runs).Lacks {
		t.Error("nothing lacks")
	}
}
