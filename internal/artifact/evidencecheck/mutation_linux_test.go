package evidencecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/test/irtest"
)

var roots = ir.Bindings{Workspace: "/ws", Home: "/state/home", Temp: "/tmp/run", External: map[string]string{irtest.Elsewhere.Name: "/home/u"}}

// policy is a drawn policy with its terms.
type policy struct {
	terms *landlock.Terms
	view  *ir.View
	bind  *ir.Bindings
}

func drawPolicy(t *rapid.T) policy {
	tool := irtest.ToolByName(t, irtest.Names, 5)
	if rapid.IntRange(0, 3).Draw(t, "hosts") == 0 {
		tool.Net, tool.Declared.Net = irtest.NetRules(t, 4), true
	}
	doc, err := irjson.Marshal(&ir.Program{Tools: []*ir.Tool{tool}})
	if err != nil {
		t.Fatal(err)
	}
	p := policy{terms: &landlock.Terms{Judged: landlock.Judged{Base: []landlock.Granted{{Path: "/usr", Caps: []string{"read"}}},
		External: roots.External, Policy: json.RawMessage(doc)}, Workspace: roots.Workspace, Home: roots.Home, Temp: roots.Temp}}
	read, facts, err := p.terms.Read()
	if err != nil {
		t.Fatal(err)
	}
	p.view, p.bind = ir.NewView(read, ir.Linux, facts), facts.Bindings
	return p
}

// judged draws an operation and its verdict, as the supervisor judges it.
func (p policy) judged(t *rapid.T) *denial.Denial {
	place := func() ir.Place {
		abs, _ := p.bind.Path(irtest.Place(t, irtest.Names))
		if rapid.IntRange(0, 9).Draw(t, "bytes") == 0 {
			abs += rapid.SampledFrom([]string{"/\xff", "/a\nb", "/\u202e", `/"\`, "/(unreachable)"}).Draw(t, "name")
		}
		return ir.Direct(p.bind.Locate(filepath.Clean(abs)))
	}
	d := &denial.Denial{By: denial.ByPolicy, Roots: p.bind, PID: rapid.IntRange(1, 99).Draw(t, "pid"), Name: "cat"}
	switch rapid.IntRange(0, 5).Draw(t, "operation") {
	case 0:
		kind := func() ir.NodeKind { return irtest.Kind(t, ir.Unknown, ir.Absent, ir.File, ir.Dir) }
		d.Operation = ir.Rename{Src: place(), Dst: place(), SrcKind: kind(), DstKind: kind()}
	case 1:
		d.Operation = ir.Link{Src: place(), Dst: place()}
	case 2:
		d.Operation = ir.Dial{On: place()}
	case 3:
		to := ir.Endpoint{Host: ir.Host{Kind: ir.HostName, Name: rapid.SampledFrom([]string{"a.test", "b.a.test"}).Draw(t, "host")}}
		switch rapid.IntRange(0, 2).Draw(t, "request") {
		case 0:
			d.Operation, d.Verdict = ir.Connect{To: to}, p.view.Named(to.Host)
		case 1:
			to.Scheme, to.Port = "https", 443
			d.Operation, d.Verdict = ir.Connect{To: to}, p.view.Reach(to)
		default:
			to.Scheme, to.Port, to.Path = "https", 443, []string{"x", "y"}
			d.Operation = ir.Connect{To: to, Method: "GET"}
			d.Verdict = p.view.Decide(d.Operation)
		}
		return d
	default:
		on, name := place(), rapid.SampledFrom([]ir.NameKind{ir.NameAny, ir.NameDir, ir.NameFile}).Draw(t, "kind")
		for _, c := range irtest.Caps(t).With(ir.Read).List() {
			a := ir.Access{Cap: c, On: on, Name: name}
			d.Operation, d.Wants, d.Verdict = a, d.Wants.With(c), p.view.Decide(a)
			if !d.Verdict.Allowed() {
				break
			}
		}
		return d
	}
	d.Verdict = p.view.Decide(d.Operation)
	return d
}

// honest is a log that was written by evidencelog: lines, the counter at its end, and those before its last run.
type honest struct {
	lines    [][]byte
	counter  evidencelog.Counter
	earlier  []evidencelog.Counter
	policies map[string]policy
}

// write has some runs write a log, one among the lines of the other.
func write(t *rapid.T, dir string) honest {
	out := honest{policies: map[string]policy{}}
	name, counter := filepath.Join(dir, "log"), filepath.Join(dir, "state", "counter")
	type writer struct {
		log  *evidencelog.Log
		of   policy
		left int
	}
	var all []*writer
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func() evidencelog.Counter {
		c, err := evidencelog.ReadCounter(counter)
		must(err)
		if c == nil {
			return evidencelog.Counter{Version: evidencelog.Version, Last: evidencelog.None}
		}
		return *c
	}
	for range rapid.IntRange(1, 3).Draw(t, "runs") {
		out.earlier = append(out.earlier, read())
		f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		must(err)
		w := &writer{of: drawPolicy(t), left: rapid.IntRange(0, 12).Draw(t, "operations")}
		w.log, err = evidencelog.New(evidencelog.Options{File: f, Counter: counter, Tool: "t", Policy: "sha256:0"})
		must(err)
		must(w.log.Begin(evidencelog.Begin{Supervised: true, Terms: w.of.terms, Seen: evidencelog.Classes[:2]}))
		all = append(all, w)
		for w.left > 0 && rapid.Bool().Draw(t, "goes on") {
			w.log.Operation(w.of.judged(t))
			w.left--
		}
		if rapid.Bool().Draw(t, "ends at once") {
			must(w.log.End(evidencelog.End{}))
			all = all[:len(all)-1]
		}
	}
	for len(all) > 0 {
		i := rapid.IntRange(0, len(all)-1).Draw(t, "run")
		if w := all[i]; w.left > 0 {
			w.log.Operation(w.of.judged(t))
			w.left--
		} else {
			must(w.log.End(evidencelog.End{}))
			all = slices.Delete(all, i, i+1)
		}
	}
	text, err := os.ReadFile(name)
	must(err)
	out.lines = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	out.counter = read()
	return out
}

func join(lines [][]byte) []byte { return append(bytes.Join(lines, []byte("\n")), '\n') }

func check(t *rapid.T, lines [][]byte, c evidencelog.Counter) *Report {
	r, err := Check([]io.Reader{bytes.NewReader(join(lines))}, Options{Counter: &c})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var previous = regexp.MustCompile(`"previous":"[0-9a-f]{64}"\}$`)

// forged gives lines the hashes that they would have had, and the counter that of the last.
func forged(lines [][]byte, c evidencelog.Counter) ([][]byte, evidencelog.Counter) {
	last, out := evidencelog.None, [][]byte{}
	for _, l := range lines {
		l = previous.ReplaceAll(l, fmt.Appendf(nil, `"previous":"%s"}`, last))
		last = evidencelog.Hash(l)
		out = append(out, l)
	}
	c.Last, c.Size = last, int64(len(join(out)))
	return out, c
}

// TestMutations: every log that was written so is whole, and each of its verdicts the policy's; no log that anything was
// done to is, and the kind of what is found is that of what was done.
func TestMutations(t *testing.T) {
	seen := map[string]int{}
	const per = 20
	dir := t.TempDir()
	irtest.Check(t, 100_000/per, per, func(rt *rapid.T) {
		place, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(place)
		h := write(rt, place)
		if r := check(rt, h.lines, h.counter); len(r.Problems) > 0 || r.Further > 0 {
			rt.Fatalf("an honest log is refused: %+v\n%s", r.Problems, join(h.lines))
		}
		for range per {
			what, lines, counter, kinds := mutated(rt, h)
			if what == "" {
				continue
			}
			seen[what]++
			r := check(rt, lines, counter)
			if !slices.ContainsFunc(r.Problems, func(p Problem) bool { return slices.Contains(kinds, p.Kind) }) {
				rt.Fatalf("%s: found %+v, expected one of %v\nbefore:\n%s\nafter:\n%s", what, r.Problems, kinds, join(h.lines), join(lines))
			}
		}
	})
	irtest.Happened(t, seen, "cut from the middle", "cut from the start", "cut from the end", "torn", "swapped", "doubled", "doubled next", "a byte", "counter put back",
		"verdict turned", "rule changed", "operation added", "operation removed", "run removed", "another run's line", "path changed", "run put back")
	fmt.Printf("mutations: %v\n", seen)
}

// mutated does something to a log. It returns an empty word where this log has nothing to do that to.
func mutated(t *rapid.T, h honest) (what string, lines [][]byte, counter evidencelog.Counter, kinds []Kind) {
	lines, counter = slices.Clone(h.lines), h.counter
	n := len(lines)
	line := func(name string) int { return rapid.IntRange(0, n-1).Draw(t, name) }
	replaced := func(re, with string) (int, bool) {
		var at []int
		for i, l := range lines {
			if regexp.MustCompile(re).Match(l) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return 0, false
		}
		i := rapid.SampledFrom(at).Draw(t, "line")
		lines[i] = regexp.MustCompile(re).ReplaceAll(lines[i], []byte(with))
		return i, true
	}
	chain := []Kind{Cut, Moved, Changed, Doubled, Counted}
	switch rapid.IntRange(0, 16).Draw(t, "mutation") {
	case 0:
		from := line("from")
		to := rapid.IntRange(from+1, n).Draw(t, "to")
		if from == 0 || to == n {
			return "", nil, counter, nil
		}
		return "cut from the middle", slices.Delete(lines, from, to), counter, []Kind{Cut, Changed}
	case 1:
		to := rapid.IntRange(1, n-1).Draw(t, "to")
		return "cut from the start", lines[to:], counter, []Kind{Cut}
	case 2:
		return "cut from the end", lines[:rapid.IntRange(0, n-1).Draw(t, "from")], counter, []Kind{Counted}
	case 3:
		i := line("line")
		lines[i] = lines[i][:rapid.IntRange(0, len(lines[i])-1).Draw(t, "length")]
		return "torn", lines, counter, []Kind{Torn}
	case 4:
		i, j := line("one"), line("other")
		if i == j {
			return "", nil, counter, nil
		}
		lines[i], lines[j] = lines[j], lines[i]
		return "swapped", lines, counter, []Kind{Moved}
	case 5:
		i := line("one")
		return "doubled", slices.Insert(lines, rapid.IntRange(0, n).Draw(t, "place"), lines[i]), counter, []Kind{Doubled}
	case 6:
		i := line("one")
		return "doubled next", slices.Insert(lines, i, lines[i]), counter, []Kind{Doubled}
	case 7:
		i := line("line")
		text := slices.Clone(lines[i])
		at := rapid.IntRange(0, len(text)-1).Draw(t, "byte")
		if text[at]++; text[at] == '\n' {
			text[at]++
		}
		lines[i] = text
		return "a byte", lines, counter, append(chain, Torn)
	case 8:
		counter = rapid.SampledFrom(h.earlier).Draw(t, "earlier")
		counter.Device, counter.Inode = h.counter.Device, h.counter.Inode
		return "counter put back", lines, counter, []Kind{Counted}
	case 9:
		turned := func(from, to string) bool {
			_, ok := replaced(`"allowed":`+from, `"allowed":`+to)
			return ok
		}
		if !turned("true", "false") && !turned("false", "true") {
			return "", nil, counter, nil
		}
		lines, counter = forged(lines, counter)
		return "verdict turned", lines, counter, []Kind{Verdict}
	case 10:
		if _, ok := replaced(`"rule":\{"id":"[^"]*"`, `"rule":{"id":"elsewhere"`); !ok {
			return "", nil, counter, nil
		}
		lines, counter = forged(lines, counter)
		return "rule changed", lines, counter, []Kind{Verdict}
	case 11:
		i := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"event":"operation"`)) })
		if i < 0 {
			return "", nil, counter, nil
		}
		lines, counter = forged(slices.Insert(lines, i, lines[i]), counter)
		return "operation added", lines, counter, []Kind{Run}
	case 12:
		i := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"event":"operation"`)) })
		if i < 0 {
			return "", nil, counter, nil
		}
		lines, counter = forged(slices.Delete(lines, i, i+1), counter)
		return "operation removed", lines, counter, []Kind{Run}
	case 13:
		run := runOf(lines[line("line")])
		lines = slices.DeleteFunc(lines, func(l []byte) bool { return runOf(l) == run })
		lines, counter = forged(lines, counter)
		return "run removed", lines, counter, []Kind{Cut, Counted}
	case 14:
		i := line("line")
		lines[i] = bytes.Replace(lines[i], []byte(runOf(lines[i])), []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 1)
		lines, counter = forged(lines, counter)
		return "another run's line", lines, counter, []Kind{Run, Open}
	case 15:
		i, ok := replaced(`"paths":\["[^"]*"`, `"paths":["/somewhere/else"`)
		if !ok || !bytes.Contains(lines[i], []byte(`"allowed":true`)) {
			return "", nil, counter, nil
		}
		lines, counter = forged(lines, counter)
		return "path changed", lines, counter, []Kind{Verdict, Torn} // where it was in base64
	default:
		// The log and its counter as they were before the last run, and the counter of today.
		last := h.earlier[len(h.earlier)-1]
		size := 0
		for i, l := range lines {
			if size += len(l) + 1; int64(size) == last.Size {
				return "run put back", lines[:i+1], counter, []Kind{Counted}
			}
		}
		return "", nil, counter, nil
	}
}

func runOf(line []byte) string {
	_, rest, _ := strings.Cut(string(line), `"run":"`)
	run, _, _ := strings.Cut(rest, `"`)
	return run
}
