package evidencecheck

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/internal/text/plural"
)

// Kind is the kind of a problem.
type Kind string

// The kinds of problems.
const (
	Torn      Kind = "torn"      // a text that is no line
	Changed   Kind = "changed"   // a line is not the one that the next was written behind, or was never written
	Cut       Kind = "cut"       // lines are missing
	Moved     Kind = "moved"     // a line stands elsewhere
	Doubled   Kind = "doubled"   // a line stands twice
	Run       Kind = "run"       // the lines of a run contradict each other
	Open      Kind = "open"      // a run has no end
	Verdict   Kind = "verdict"   // the policy does not give the verdict
	Policy    Kind = "policy"    // the policy is not the attested one
	Counted   Kind = "counter"   // the counter and the log contradict each other
	Signature Kind = "signature" // a run is not signed as required
)

// Problem is a reason to refuse a log.
type Problem struct {
	Kind Kind `json:"kind"`
	// File is the number of the file among those that are checked, and Line the line in it, from 1; 0 for none.
	File int    `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// RunReport is a run in a log.
type RunReport struct {
	Run    string `json:"run"`
	Tool   string `json:"tool"`
	Policy string `json:"policy"`
	Begun  string `json:"begun"`
	// Ended is empty where the run has no end.
	Ended string `json:"ended,omitempty"`
	// Lines are those in the log, Dropped those that it says are missing.
	Lines   int64 `json:"lines"`
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Dropped int64 `json:"dropped"`
	// Seen are the classes of operations that were judged, Unseen those that the kernel decided by itself.
	Seen   []string `json:"seen"`
	Unseen []string `json:"unseen"`
	// Signed is the identity of the key that has signed the end, empty for none that was asked about.
	Signed string `json:"signed,omitempty"`
}

// Report is the result of a check.
type Report struct {
	Runs     []RunReport `json:"runs"`
	Lines    int         `json:"lines"`
	Problems []Problem   `json:"problems"`
	// Further counts the problems beyond maxProblems.
	Further int `json:"further_problems,omitempty"`
	// Notes say what the check could not find out.
	Notes []string `json:"notes"`
}

// maxProblems bounds the problems that are kept.
const maxProblems = 100

// Options are the settings of a check.
type Options struct {
	// Counter is that of the last file, nil where there is none, and Size the size of the file when it was read with
	// the counter. Inode and Device are those of the file.
	Counter       *evidencelog.Counter
	Device, Inode uint64
	// Part accepts that the log begins with lines that follow others.
	Part bool
	// Terms returns the attested terms of a run, nil to judge by those in the log.
	Terms func(*evidencelog.Line) (*landlock.Terms, error)
	// Keys, unless empty, are keys of which one must have signed the end of each run.
	Keys []attest.Public
}

// entry is a line in the chain.
type entry struct {
	file, line int
	hash, prev string
	run        string
	n          int64
}

// checker goes over the lines of a log.
type checker struct {
	o       Options
	report  Report
	entries []entry
	runs    map[string]*run
	order   []*run
	serial  int64
	// size is the size of the file so far, at the hash of the line that ends where the counter says, tail the number of
	// lines behind it.
	size int64
	at   string
	tail int
}

// Check checks the files of a log, the earlier first.
func Check(files []io.Reader, o Options) (*Report, error) {
	c := &checker{o: o, runs: map[string]*run{}}
	c.report = Report{Runs: []RunReport{}, Problems: []Problem{}, Notes: []string{}}
	for i, f := range files {
		c.size, c.at, c.tail = 0, "", 0
		line := 0
		err := lines(f, func(text []byte, ended bool) error {
			line++
			c.line(i, line, text, ended)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	c.chain()
	c.finish()
	c.counter(len(files) - 1)
	return &c.report, nil
}

func (c *checker) problem(file, line int, kind Kind, format string, args ...any) {
	if len(c.report.Problems) >= maxProblems {
		c.report.Further++
		return
	}
	c.report.Problems = append(c.report.Problems, Problem{kind, file + 1, line, fmt.Sprintf(format, args...)})
}

func (c *checker) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.report.Notes, text) {
		c.report.Notes = append(c.report.Notes, text)
	}
}

// line takes a line.
func (c *checker) line(file, number int, text []byte, ended bool) {
	c.report.Lines++
	c.size += int64(len(text))
	if ended {
		c.size++
	}
	hash := evidencelog.Hash(text)
	e := entry{file: file, line: number, hash: hash}
	l, err := Parse(text)
	switch {
	case err != nil || !ended:
		if err == nil {
			err = fmt.Errorf("it has no end")
		}
		c.problem(file, number, Torn, "is no whole line of an evidence log (%v): a writer was stopped, or it was "+
			"changed", err)
	default:
		e.prev, e.run, e.n = l.Previous, l.Run, l.N
	}
	c.entries = append(c.entries, e)
	if o := c.o.Counter; o != nil {
		if c.size == o.Size {
			c.at, c.tail = hash, 0
		} else {
			c.tail++
		}
	}
	if l != nil && ended {
		c.member(file, number, l, hash)
	}
}

// chain finds what happened to the lines, by the hash that each has of the line before.
func (c *checker) chain() {
	where := map[string]int{}
	for i, e := range slices.Backward(c.entries) {
		where[e.hash] = i
	}
	last := evidencelog.None // the hash of the line before, doubled lines aside
	latest := map[string]int64{}
	for i, e := range c.entries {
		known := e.prev != ""
		n, before := latest[e.run]
		j, here := where[e.prev]
		bad := func(kind Kind, format string, args ...any) { c.problem(e.file, e.line, kind, format, args...) }
		switch {
		case where[e.hash] < i:
			bad(Doubled, "is line %d again", c.entries[where[e.hash]].line)
			continue
		case !known || e.prev == last:
			// A line without a hash was reported, and the next line says whether it was always so.
		case e.prev == evidencelog.None:
			bad(Moved, "was the first line of a log")
		case here && j < i:
			bad(Moved, "was written behind line %d: it was moved, or lines between them were added", c.entries[j].line)
		case here:
			bad(Moved, "was written behind line %d, which is below it", c.entries[j].line)
		case i == 0:
			if !c.o.Part {
				bad(Cut, "follows lines that are not here; name the file with them first, or pass --part")
			}
		case before && e.n > n+1, !before && e.n > 0:
			bad(Cut, "follows a line that is not here: %s of its run missing before it", missing(e.n-n-1, before))
		default:
			bad(Changed, "was written behind another line than line %d: that was changed, or put in its place, or "+
				"lines between them were cut out", c.entries[i-1].line)
		}
		last = e.hash
		if known {
			latest[e.run] = max(e.n, n)
		}
	}
}

func missing(n int64, some bool) string {
	switch {
	case !some:
		return "the first lines are"
	case n == 1:
		return "one line is"
	default:
		return fmt.Sprintf("%d lines are", n)
	}
}

// counter compares the end of the last file with the counter.
func (c *checker) counter(file int) {
	o := c.o.Counter
	if o == nil {
		c.note("this user and machine have no counter of the log: lines cut from its end would not be missed")
		return
	}
	switch {
	case c.o.Inode != 0 && (o.Device != c.o.Device || o.Inode != c.o.Inode):
		c.problem(file, 0, Counted, "the file is not the one that the counter knows: another has been put in its place")
	case c.size < o.Size:
		c.problem(file, 0, Counted, "the counter has seen %d bytes, and the file has %d: its end was cut off", o.Size,
			c.size)
	case c.at != o.Last:
		c.problem(file, 0, Counted, "the last line that the counter has seen, at byte %d, is another", o.Size)
	case c.tail > 0:
		c.problem(file, 0, Counted, "the file has %s that the counter has not seen: a writer was killed at that "+
			"moment, the counter was put back, or lines were added", plural.Count(c.tail, "line"))
	case o.Serial != c.serial:
		c.problem(file, 0, Counted, "the counter has seen %d runs begin, and the last in the file is number %d",
			o.Serial, c.serial)
	}
}

// finish ends the reports of the runs.
func (c *checker) finish() {
	for _, r := range c.order {
		if !r.ended {
			c.problem(r.file, r.first, Open, "begins run %s, which has no end: it still runs, was killed, or its "+
				"end was cut off", short(r.name))
		}
		if r.ended && len(c.o.Keys) > 0 && r.report.Signed == "" {
			c.problem(r.file, r.first, Signature, "begins run %s, whose end none of the keys has signed", short(r.name))
		}
		if r.report.Dropped > 0 {
			c.note("run %s has lost %s, which it counts", short(r.name), plural.Count(int(r.report.Dropped), "line"))
		}
		c.report.Runs = append(c.report.Runs, r.report)
	}
}

// short is the beginning of a run's name.
func short(name string) string { return name[:min(len(name), 8)] }

func stamp(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil && strings.HasSuffix(text, "Z")
}
