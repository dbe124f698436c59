package evidencelog

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

var bind = &ir.Bindings{Workspace: "/ws"}

// read is an operation on a file of the workspace.
func read(name string, allowed bool) *denial.Denial {
	v := ir.Verdict{Effect: ir.Deny, Reason: ir.ReasonDefault}
	if allowed {
		v = ir.Verdict{Effect: ir.Allow, Reason: ir.ReasonRule, Rule: &ir.FSRule{At: ir.In("")}}
	}
	return &denial.Denial{By: denial.ByPolicy, Operation: ir.Access{Cap: ir.Read, On: ir.Direct(ir.In(name))},
		Wants: ir.Caps(ir.Read), Verdict: v, Roots: bind, PID: 1, Name: "cat"}
}

type place struct {
	*testing.T
	dir string
}

func (p place) log() string { return filepath.Join(p.dir, "log") }

func (p place) open(change func(*Options)) *Log {
	p.Helper()
	f, err := os.OpenFile(p.log(), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		p.Fatal(err)
	}
	o := Options{File: f, Counter: CounterOf(p.dir, p.log()), Tool: "t"}
	if change != nil {
		change(&o)
	}
	l, err := New(o)
	if err == nil {
		err = l.Begin(Begin{})
	}
	if err != nil {
		p.Fatal(err)
	}
	return l
}

// lines are those of the log, each of which must have the hash of the one before.
func (p place) lines() (out []Line) {
	p.Helper()
	text, err := os.ReadFile(p.log())
	if err != nil {
		p.Fatal(err)
	}
	last := None
	for line := range bytes.Lines(text) {
		whole, ended := bytes.CutSuffix(line, []byte{'\n'})
		var l Line
		if err := json.Unmarshal(whole, &l); err != nil || !ended {
			out = append(out, Line{Event: "torn"})
		} else {
			if l.Previous != last {
				p.Errorf("line %d: %s does not follow the line before", len(out)+1, whole)
			}
			out = append(out, l)
		}
		last = Hash(whole)
	}
	return out
}

// events are the words of lines, with the targets of operations.
func events(lines []Line) string {
	var out []string
	for _, l := range lines {
		switch {
		case l.Operation != nil:
			out = append(out, filepath.Base(l.Operation.Paths[0]))
		case l.Dropped != nil:
			out = append(out, "dropped"+strconv.FormatInt(l.Dropped.Count, 10))
		default:
			out = append(out, l.Event)
		}
	}
	return strings.Join(out, " ")
}

// TestWhen: a refused operation is in the file when Operation returns, and so are the granted ones before it; with
// Required each granted one is.
func TestWhen(t *testing.T) {
	for required, want := range map[bool]string{false: "begin", true: "begin a"} {
		p := place{t, t.TempDir()}
		l := p.open(func(o *Options) { o.Required = required })
		l.Operation(read("a", true))
		if got := events(p.lines()); got != want {
			t.Errorf("required %v, after a grant: %q", required, got)
		}
		l.Operation(read("b", false))
		if got := events(p.lines()); got != "begin a b" {
			t.Errorf("required %v, after a refusal: %q", required, got)
		}
		if err := l.End(End{}); err != nil {
			t.Fatal(err)
		}
		lines := p.lines()
		if e := lines[3].End; e == nil || *e != (End{Allowed: 1, Denied: 1}) {
			t.Errorf("the end: %+v", e)
		}
	}
}

// TestBound: what is more than a run may write is counted, and grants and the end are written all the same.
func TestBound(t *testing.T) {
	p := place{t, t.TempDir()}
	var failed error
	l := p.open(func(o *Options) { o.Most, o.Failed = 1, func(err error) { failed = err } })
	for range 4 {
		l.Operation(read("a", false))
	}
	l.Change(Grants{Change: "answer", ID: 1, Answer: "no"})
	if err := l.End(End{}); err != nil {
		t.Fatal(err)
	}
	if got := events(p.lines()); got != "begin a dropped3 grants end" || failed == nil {
		t.Errorf("%q, %v", got, failed)
	}
	if e := p.lines()[4].End; e.Dropped != 3 || e.Denied != 1 {
		t.Errorf("the end: %+v", e)
	}
}

// TestFull: lines that do not fit leave nothing behind, and are counted as soon as there is room again.
func TestFull(t *testing.T) {
	p := place{t, t.TempDir()}
	said := 0
	l := p.open(func(o *Options) { o.Failed = func(error) { said++ } })
	l.Operation(read("a", false))
	info, err := os.Stat(p.log())
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	limit := was
	limit.Cur = uint64(info.Size()) + 10 // half a line fits
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	l.Operation(read("b", true))
	l.Operation(read("c", false))
	l.Operation(read("d", false))
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if got := events(p.lines()); got != "begin a" || said != 1 {
		t.Errorf("on a full disk: %q, said %d times", got, said)
	}
	l.Operation(read("e", false))
	if err := l.End(End{}); err != nil {
		t.Fatal(err)
	}
	lines := p.lines()
	if got := events(lines); got != "begin a dropped3 e end" {
		t.Errorf("after it: %q", got)
	}
	for i, line := range lines {
		if line.N != int64(i) {
			t.Errorf("line %d has the number %d", i, line.N)
		}
	}
	if e := lines[4].End; *e != (End{Denied: 2, Dropped: 3}) {
		t.Errorf("the end: %+v", *e)
	}
}

// TestTogether: runs that write at a time have one chain, and each its lines in their order.
func TestTogether(t *testing.T) {
	p := place{t, t.TempDir()}
	const runs, each = 4, 200
	var all sync.WaitGroup
	for range runs {
		l := p.open(nil)
		all.Go(func() {
			for i := range each {
				l.Operation(read("f"+strconv.Itoa(i), i%3 > 0))
			}
			if err := l.End(End{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	lines := p.lines()
	if len(lines) != runs*(each+2) {
		t.Errorf("%d lines", len(lines))
	}
	next, serial := map[string]int64{}, int64(0)
	for _, l := range lines {
		if l.N != next[l.Run] {
			t.Errorf("run %s: line %d, expected %d", l.Run, l.N, next[l.Run])
		}
		next[l.Run]++
		if l.Begin != nil {
			if serial++; l.Begin.Serial != serial {
				t.Errorf("begins run %d, expected %d", l.Begin.Serial, serial)
			}
		}
	}
}

// TestKilled: a writer that was killed between the log and its counter, and one that was killed within a line, leave what
// the next run goes on behind.
func TestKilled(t *testing.T) {
	p := place{t, t.TempDir()}
	l := p.open(nil)
	counter := CounterOf(p.dir, p.log())
	before, err := os.ReadFile(counter)
	if err != nil {
		t.Fatal(err)
	}
	l.Operation(read("a", false))
	if err := os.WriteFile(counter, before, 0o600); err != nil {
		t.Fatal(err)
	}
	next := p.open(nil)
	if got := events(p.lines()); got != "begin a begin" {
		t.Errorf("%q", got)
	}
	f, err := os.OpenFile(p.log(), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(`{"evidence_log":1,"ru`)
	}
	if err != nil {
		t.Fatal(err)
	}
	next.Operation(read("b", false))
	if got := events(p.lines()); got != "begin a begin torn b" {
		t.Errorf("%q", got)
	}
}

// TestReplaced: a run whose file was put elsewhere, and in whose place another run began a new one, writes nothing more.
func TestReplaced(t *testing.T) {
	p := place{t, t.TempDir()}
	var failed error
	old := p.open(func(o *Options) { o.Failed = func(err error) { failed = err } })
	if err := os.Rename(p.log(), p.log()+".1"); err != nil {
		t.Fatal(err)
	}
	old.Operation(read("a", false)) // nobody has begun yet
	f, err := os.OpenFile(p.log(), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	next, err := New(Options{File: f, Counter: CounterOf(p.dir, p.log()), Tool: "t"})
	if err == nil {
		err = next.Begin(Begin{})
	}
	if err != nil {
		t.Fatal(err)
	}
	old.Operation(read("b", false))
	if !errors.Is(failed, errReplaced) {
		t.Errorf("got %v", failed)
	}
	text, err := os.ReadFile(p.log())
	if err != nil || bytes.Contains(text, []byte(None)) || !bytes.Contains(text, []byte(`"serial":2`)) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestSpelling: the quick spelling of an operation is that of encoding/json, whatever a tool calls its files.
func TestSpelling(t *testing.T) {
	irtest.Check(t, 100_000, 1, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "a b", "a\nb", `"\`, "<&>", "\xff", "\u202e", "ü", ""}).Draw(rt, "name")
		o := of(read(name, rapid.Bool().Draw(rt, "allowed")))
		o.Name = rapid.SampledFrom([]string{"", "dir", "file"}).Draw(rt, "kind")
		o.Errno = rapid.SampledFrom([]string{"", "ENOENT"}).Draw(rt, "errno")
		o.Process.Name = rapid.SampledFrom([]string{"", "sh", "\x1b[2J", name}).Draw(rt, "process")
		o.State = rapid.IntRange(0, 1).Draw(rt, "state")
		if rapid.Bool().Draw(rt, "rule") {
			o.Rule = &Rule{ID: name, Layer: "workspace", File: "accessc.toml", Line: rapid.IntRange(0, 2).Draw(rt, "line")}
		}
		if rapid.IntRange(0, 4).Draw(rt, "request") == 0 {
			o.Access = recorded.Access{Operation: "connect", Scheme: "https", Host: "a.test", Port: 1, Segments: []string{name}}
			o.Base64 = false
			o.encode()
		}
		got := appendOperation(nil, &o)
		var again Operation
		if err := json.Unmarshal(got, &again); err != nil || bytes.ContainsAny(got, "\n\x1b\u202e") {
			rt.Fatalf("%s: %v", got, err)
		}
		var plain Operation // names of rules and processes are texts: what is not UTF-8 is replaced
		want, _ := json.Marshal(o)
		_ = json.Unmarshal(want, &plain)
		want, _ = json.Marshal(plain)
		spelled, _ := json.Marshal(again)
		if !bytes.Equal(spelled, want) {
			rt.Fatalf("%s\nexpected %s", spelled, want)
		}
		if err := again.Decode(); err != nil {
			rt.Fatal(err)
		}
		if len(again.Paths) > 0 && again.Paths[0] != strings.TrimSuffix("/ws/"+name, "/") {
			rt.Fatalf("%q became %q", name, again.Paths[0])
		}
	})
}

// BenchmarkOperation writes a granted read.
func BenchmarkOperation(b *testing.B) {
	dir := b.TempDir()
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	l, err := New(Options{File: f, Counter: CounterOf(dir, "log"), Tool: "t", Most: 1 << 40})
	if err == nil {
		err = l.Begin(Begin{})
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Operation(read("a", true))
	}
}
