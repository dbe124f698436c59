package start_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// reported is a line of a report, with the fields that these tests look at.
type reported struct {
	Event     string `json:"event"`
	Operation string `json:"operation"`
	Path      string `json:"path"`
	By        string `json:"by"`
	Syscall   string `json:"syscall"`
	Errno     string `json:"errno"`
	Reason    string `json:"reason"`
	Process   struct {
		PID  int    `json:"pid"`
		Name string `json:"name"`
	} `json:"process"`
	Rule *struct {
		Subject string `json:"subject"`
		File    string `json:"file"`
		Line    int    `json:"line"`
	} `json:"rule"`
	Grant *string `json:"grant"`
}

// reader reads the lines that were added to a report since the last time. Every line is whole
// at any time.
type reader struct {
	path string
	read int64
	// killed is true where the writer was killed: the kernel ends a write between two pages then
	// (generic_perform_write() in mm/filemap.c), so that a part of a line is left up to the end of a page, and no
	// answer was given for it.
	killed bool
}

func (r *reader) next(t fataler) []reported {
	data, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	fresh := data[r.read:]
	r.read = int64(len(data))
	if r.killed && len(data)%os.Getpagesize() == 0 {
		fresh = fresh[:bytes.LastIndexByte(fresh, '\n')+1]
	}
	if len(fresh) > 0 && fresh[len(fresh)-1] != '\n' {
		t.Fatalf("the report ends in a part of a line: %q", fresh)
	}
	var out []reported
	for lines := bufio.NewScanner(bytes.NewReader(fresh)); lines.Scan(); {
		var d reported
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		if err := dec.Decode(&d); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		out = append(out, d)
	}
	return out
}

// answers reports whether, by the specification, the supervisor answers an operation of the
// oracle, so that a refusal is its own.
func (o *supervised) answers(q asking) bool {
	if o.mode == modeTraced {
		return true
	}
	if o.spec.Supervision == nil {
		return false
	}
	call := map[string]string{
		"openat2": "openat2", "create2": "openat2", "truncate": "truncate", "mkdir": "mkdirat", "symlink": "symlinkat",
		"fifo": "mknodat", "file": "mknodat", "device": "mknodat", "unlink": "unlinkat", "rmdir": "unlinkat", "rename": "renameat",
		"noreplace": "renameat2", "exchange": "renameat2", "link": "linkat", "chmod": "fchmodat", "chown": "fchownat",
		"utimes": "utimensat", "setxattr": "setxattr", "removexattr": "removexattr", "fchmod": "fchmod", "futimens": "utimensat",
		"fsetxattr": "fsetxattr", "flags": "ioctl", "bind": "bind", "dial": "connect",
		"whiteout": "", "execute": "execve", "mptcp": "", "udp": "", "abstract": "connect", "tcp": "", "mapped": "",
	}[q.op]
	if call == "" && !slices.Contains([]string{
		"read", "list", "reopen", "write", "both", "empty", "emptyread", "append", "rewrite", "create", "createboth", "createread",
		"creat", "tmpfile",
	}, q.op) {
		return q.op == "tcp" || q.op == "mapped" // also where a unix socket stands for that of the internet
	}
	if call == "" {
		call = "openat"
	}
	if call == "openat" && !o.served() || call == "openat2" {
		// If a tool only reads, the supervisor sees the opens of directories, which those with
		// O_TMPFILE are.
		return o.served() || (q.op == "list" || q.op == "tmpfile") && o.spec.Supervision.Judges.Lists
	}
	if q.unmediated() {
		return false
	}
	if start.ABI() < 3 && call == "openat2" {
		call = "openat" // which callers fall back to
	}
	for _, t := range o.spec.Supervision.Traps {
		if slices.Contains(t.Syscalls, call) {
			return true
		}
	}
	return false
}

// served reports whether the supervisor sees every open.
func (o *supervised) served() bool {
	return o.spec.Supervision != nil && slices.ContainsFunc(o.spec.Supervision.Traps, func(t landlock.Trap) bool {
		return slices.Contains(t.Syscalls, "openat2")
	})
}

// unmediated reports whether the filter refuses an operation because Landlock does not
// mediate it yet.
func (q *asking) unmediated() bool {
	return start.ABI() < 3 && (q.op == "truncate" || q.op == "emptyread")
}

// TestReport compares the report with the oracle: a call that the supervisor refuses gives one
// line, with the rule by which Decide refuses it, and no other call gives any.
func TestReport(t *testing.T) { reportAsUsers(t, "kernel-reported") }

// TestTrace does so where everything is judged: every refusal gives one line, also one that the
// ruleset or the filter would have made alone.
func TestTrace(t *testing.T) { reportAsUsers(t, modeTraced) }

const modeTraced = "kernel-traced"

func reportAsUsers(t *testing.T, mode string) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	users(t, func(t *testing.T, who identity) { testReport(t, mode, who) })
}

func testReport(t *testing.T, mode string, who identity) {
	base := workspace(t)
	var runs, lines atomic.Int64
	const per = 175
	irtest.Check(t, 100, per, func(rt *rapid.T) {
		dir := filepath.Join(base, fmt.Sprint(runs.Add(1)))
		o := newSupervised(rt, dir, who, newTally())
		o.mode = mode
		if mode == modeTraced {
			o.traced()
		}
		report := &reader{path: filepath.Join(dir, "spec.json.report")}
		o.answered = func(q asking, e syscall.Errno) {
			got := report.next(rt)
			lines.Add(int64(len(got)))
			o.compare(q, e, got)
		}
		o.begun = func() { report.read = 0; report.next(rt) }
		o.run(1, per)
	})
	fmt.Printf("property %s: %d denials reported\n", t.Name(), lines.Load())
	if lines.Load() == 0 {
		t.Error("nothing was reported")
	}
}

// traced has the worker started under a trace.
func (o *supervised) traced() {
	if err := start.Traced(o.spec, o.view.Tool, o.target); err != nil {
		o.t.Fatal(err)
	}
	data, err := json.Marshal(o.spec)
	if err != nil {
		o.t.Fatal(err)
	}
	o.oracle.spec, o.judged = data, true
}

func (o *supervised) compare(q asking, e syscall.Errno, got []reported) {
	what := fmt.Sprintf("%+v: the kernel says %v, the report %+v", q, e, got)
	switch {
	case e == errUnread:
		// The refused call was the open that comes first: refused by the policy, or by the
		// ruleset where that is stricter, which only a trace reports.
		denied := !o.view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(q.a)}).Allowed()
		if n := len(got); n > 1 || (n == 1) != (o.served() && (denied || o.mode == modeTraced)) {
			o.t.Fatalf("expected the open alone: %s", what)
		}
		return
	case refused(e) && q.verdict && q.op == "execute" && len(got) == 1 && got[0].Operation == "read":
		return // a program is opened for reading before it starts
	case !refused(e) || q.verdict && o.mode != modeTraced:
		if len(got) > 0 {
			o.t.Fatalf("nothing was refused by the policy: %s", what)
		}
		return
	case !o.answers(q):
		if len(got) > 0 {
			o.t.Fatalf("the supervisor does not see it: %s", what)
		}
		return
	case len(got) == 0 && q.verdict && q.op == "execute":
		// Where the ruleset is stricter than the policy, it depends on the files that it was
		// made with. These are known by their names and numbers alone, and one may have come
		// back under both.
		return
	case len(got) != 1:
		o.t.Fatalf("expected one line: %s", what)
	}
	d := got[0]
	if d.Event != "denied" || d.Errno != errnoName(e) || d.Process.PID == 0 || d.Process.Name != "tool.test" || d.Syscall == "" {
		o.t.Fatalf("expected the call and its process: %s", what)
	}
	if q.because == (ir.Verdict{}) || q.unmediated() {
		return
	}
	if q.verdict {
		if d.By != "landlock" {
			o.t.Fatalf("expected the ruleset, which is stricter: %s", what)
		}
		return
	}
	want := q.because
	if d.By != "policy" || d.Reason != want.Reason.String() || (d.Rule == nil) != (want.Rule == nil) {
		o.t.Fatalf("expected the verdict %+v: %s", want, what)
	}
	if r := want.Rule; r != nil && (d.Rule.Subject != r.Subject() || d.Rule.File != r.Source().Pos.File || d.Rule.Line != r.Source().Pos.Line) {
		o.t.Fatalf("expected the rule %s at %s: %s", r.Subject(), r.Source(), what)
	}
}

func errnoName(e syscall.Errno) string {
	return map[syscall.Errno]string{syscall.EACCES: "EACCES", syscall.EPERM: "EPERM", syscall.EXDEV: "EXDEV"}[e]
}

// TestReportOfTheKilled: lines are written before the tool learns of a denial, each at once, so
// that killing the supervisor, and the tool with it, leaves a line for every answer, all whole but the last.
func TestReportOfTheKilled(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.stop()
	for range 5 {
		f.tool = startMode(t, "kernel-reported", f.spec, f.dir, nil)
		question, _ := json.Marshal([]attempt{{Op: "read", A: ".env"}})
		go func(in io.Writer) {
			for range 10000 {
				if _, err := in.Write(append(question, '\n')); err != nil {
					return
				}
			}
		}(f.in)
		answers := 0
		for f.out.Scan() {
			// Between the supervisor's end and its own the tool gets ENOSYS.
			if f.out.Text() != fmt.Sprintf("[%d]", syscall.EACCES) {
				continue
			}
			if answers++; answers == 50 {
				f.must(f.cmd.Process.Kill())
			}
		}
		f.stop()
		report := &reader{path: filepath.Join(f.dir, "spec.json.report"), killed: true}
		if n := len(report.next(t)); answers < 50 || n < answers {
			t.Fatalf("%d lines for %d answers", n, answers)
		}
	}
}
