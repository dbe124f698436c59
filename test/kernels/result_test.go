package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const doctor = `kernels: doctor {"system": "Linux 6.1.0 on x86_64", "landlock_abi": 2, "summary": "it can"}
`

// TestRead covers the output of guests and its results.
func TestRead(t *testing.T) {
	two := row{name: "2", abi: 2}
	tests := map[string]struct {
		row                     row
		out                     string
		passed, failed, skipped int
		problems                []string
		logged                  string
	}{
		"all passed, tests with subtests counted as these": {
			row: two, passed: 3, skipped: 1,
			out: doctor + `kernels: run a
=== RUN   TestA
=== RUN   TestA/x
    --- PASS: TestA/x (0.00s)
    --- SKIP: TestA/y (0.00s)
--- PASS: TestA (0.00s)
--- PASS: TestB (0.00s)
kernels: exit 0 1s
kernels: run b
--- PASS: TestB (0.00s)
kernels: exit 0 1s
kernels: end
`,
		},
		"a failed test, with what it printed": {
			row: two, passed: 1, failed: 1, logged: "a TestA/x",
			out: doctor + "kernels: run a\n=== RUN   TestA\n=== CONT  TestA/x\n    f.go:1: wrong\r\n=== NAME  TestA/y\n    f.go:2: right\n" +
				"    --- FAIL: TestA/x (0.00s)\n    --- PASS: TestA/y (0.00s)\n--- FAIL: TestA (0.00s)\nkernels: exit 1 1s\nkernels: end\n",
		},
		"a test that failed beside its subtests": {
			row: two, passed: 1, failed: 1, logged: "a TestA",
			out: doctor + "kernels: run a\n=== RUN   TestA\n    f.go:1: wrong\n    --- PASS: TestA/y (0.00s)\n--- FAIL: TestA (0.00s)\nkernels: exit 1 1s\nkernels: end\n",
		},
		"a test that crashed": {
			row: two, passed: 1, problems: []string{"a ended with status 2"}, logged: "a TestB",
			out: doctor + "kernels: run a\n--- PASS: TestA (0.00s)\n=== RUN   TestB\npanic: wrong\nkernels: exit 2 1s\nkernels: end\n",
		},
		"a binary that failed without a test": {
			row: two, passed: 1, problems: []string{"b ended with status 1"}, logged: "b",
			out: doctor + "kernels: run a\n--- PASS: TestA (0.00s)\nkernels: exit 0 1s\nkernels: run b\nwrong\nkernels: exit 1 1s\nkernels: end\n",
		},
		"a kernel that died": {
			row: two, passed: 1, problems: []string{"it did not come to an end"},
			out: doctor + "kernels: run a\n--- PASS: TestA (0.00s)\n",
		},
		"nothing at all": {
			row: two, problems: []string{"accessc doctor: unexpected end of JSON input", "it did not come to an end"},
		},
		"no tests": {
			row: two, problems: []string{"no test passed"},
			out: doctor + "kernels: run a\ntesting: warning: no tests to run\nkernels: exit 0 1s\nkernels: end\n",
		},
		"another interface than the row's": {
			row: row{name: "3", abi: 3}, passed: 1, problems: []string{"it has ABI 2, which is not the row's"},
			out: doctor + "kernels: run a\n--- PASS: TestA (0.00s)\nkernels: exit 0 1s\nkernels: end\n",
		},
		"a guest that could not be prepared": {
			row: two, problems: []string{"error mounting /tmp: no", "accessc doctor: unexpected end of JSON input", "it did not come to an end"},
			out: "kernels: error mounting /tmp: no\n",
		},
	}
	for name, tt := range tests {
		r := read(tt.row, tt.out)
		if r.passed != tt.passed || r.failed != tt.failed || r.skipped != tt.skipped || !slices.Equal(r.problems, tt.problems) {
			t.Errorf("%s: got %d, %d, %d, %q", name, r.passed, r.failed, r.skipped, r.problems)
		}
		if log, ok := r.logs[tt.logged]; tt.logged != "" && (!ok || !strings.Contains(log, "wrong") || strings.Contains(log, "right")) {
			t.Errorf("%s: the log of %s is %q", name, tt.logged, log)
		}
		if r.ok() != (tt.failed == 0 && len(tt.problems) == 0) {
			t.Errorf("%s: ok is %v", name, r.ok())
		}
	}
}

// TestReport: a row that was not run gives the reason and fails nothing, unless no row was run;
// a row with a problem fails.
func TestReport(t *testing.T) {
	missing := result{row: row{name: "1"}, notRun: errors.Join(errors.New("no mirror"), errors.New("no package"))}
	good := result{row: row{name: "2"}, release: "6.1", found: 2, passed: 3, took: 90 * time.Second, doctor: "it can"}
	bad := good
	bad.problem("it has ABI %d", 1)
	for _, tt := range []struct {
		results []result
		ok      bool
		want    string
	}{
		{[]result{missing, good}, true, "1 not run no mirror; no package 2 6.1 2 3 0 0 1m30s it can"},
		{[]result{missing}, false, "1 not run no mirror; no package"},
		{[]result{good, bad}, false, "0 1m30s it can 2: it has ABI 1"},
	} {
		var out strings.Builder
		if ok := report(&out, tt.results, false); ok != tt.ok || !strings.HasSuffix(strings.Join(strings.Fields(out.String()), " "), tt.want) {
			t.Errorf("got %v:\n%s", ok, out.String())
		}
	}
}
