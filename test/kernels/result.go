package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// result is the result of a row.
type result struct {
	row
	notRun                  error
	release, doctor         string
	found                   int // the interface that accessc doctor found
	passed, failed, skipped int
	took                    time.Duration
	out                     string // everything that the guest printed
	problems                []string
	logs                    map[string]string // of failed tests
}

func (r *result) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// ok reports whether nothing is wrong; a row that was not run is not.
func (r *result) ok() bool { return r.failed == 0 && len(r.problems) == 0 }

// mark starts the lines of the guest's first process.
const mark = "kernels: "

const failing = "FAIL"

var (
	running = regexp.MustCompile(`^=== (?:RUN|CONT|NAME) +(\S+)$`)
	outcome = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \(`)
)

// reader reads a guest's output, line by line.
type reader struct {
	result   *result
	doctor   strings.Builder
	binary   string
	test     string
	outcomes map[string]string
	logs     map[string]*strings.Builder
	ended    bool
}

// read makes a result of a guest's output.
func read(r row, out string) result {
	res := result{row: r, out: out, logs: map[string]string{}}
	x := &reader{result: &res, outcomes: map[string]string{}, logs: map[string]*strings.Builder{}}
	for line := range strings.Lines(out) {
		x.line(strings.TrimRight(line, "\r\n"))
	}
	x.examine()
	x.count()
	switch {
	case !x.ended:
		res.problem("it did not come to an end")
	case res.passed == 0:
		res.problem("no test passed")
	}
	return res
}

func (x *reader) line(line string) {
	if own, ok := strings.CutPrefix(line, mark); ok {
		x.own(own)
		return
	}
	if m := running.FindStringSubmatch(line); m != nil {
		x.test = x.binary + " " + m[1]
		return
	}
	if m := outcome.FindStringSubmatch(line); m != nil {
		x.test = x.binary + " " + m[2]
		x.outcomes[x.test] = m[1]
		return
	}
	if x.logs[x.test] == nil {
		x.logs[x.test] = &strings.Builder{}
	}
	x.logs[x.test].WriteString(line + "\n")
}

func (x *reader) own(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "doctor":
		x.doctor.WriteString(rest)
	case "run":
		x.binary, x.test = rest, rest
	case "exit":
		// Failed tests are counted as such; a crash is not one of them.
		code, _, _ := strings.Cut(rest, " ")
		if code != "0" && (code != "1" || !x.failed()) {
			x.result.problem("%s ended with status %s", x.binary, code)
			x.result.logs[x.test] = fmt.Sprint(x.logs[x.test])
		}
	case "end":
		x.ended = true
	default:
		x.result.problem("%s", line)
	}
}

// failed reports whether a test of the current binary failed.
func (x *reader) failed() bool {
	for name, is := range x.outcomes {
		if is == failing && strings.HasPrefix(name, x.binary+" ") {
			return true
		}
	}
	return false
}

// examine reads the output of accessc doctor and compares it with the row.
func (x *reader) examine() {
	var said struct {
		System, Summary string
		Landlock        int `json:"landlock_abi"`
	}
	if err := json.Unmarshal([]byte(x.doctor.String()), &said); err != nil {
		x.result.problem("accessc doctor: %v", err)
		return
	}
	r := x.result
	r.release, _, _ = strings.Cut(strings.TrimPrefix(said.System, "Linux "), " ")
	r.found, r.doctor = said.Landlock, said.Summary
	if !r.expects(r.found) {
		r.problem("it has ABI %d, which is not the row's", r.found)
	}
}

// count counts each test with subtests as these, unless it failed and none of them did.
func (x *reader) count() {
	for name, is := range x.outcomes {
		switch {
		case x.child(name, is) || is != failing && x.child(name, ""):
		case is == failing:
			x.result.failed++
			x.result.logs[name] = fmt.Sprint(x.logs[name])
		case is == "SKIP":
			x.result.skipped++
		default:
			x.result.passed++
		}
	}
}

// child reports whether a test has a subtest with an outcome, or with any.
func (x *reader) child(name, is string) bool {
	for other, o := range x.outcomes {
		if strings.HasPrefix(other, name+"/") && (is == "" || is == o) {
			return true
		}
	}
	return false
}
