package learn

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/denial"
)

// Joined has the operations of several runs.
type Joined struct {
	// Operations are the different ones, those that were refused first.
	Operations []Operation
	// Runs is how many runs there are. Lacks is true where some of them did more than they have kept.
	Runs  int
	Lacks bool
	// Served is the first operation on a place that a tool has under a supervisor alone; empty for none.
	Served string
	// Sought are files of a preset that runs which failed looked for in the tool's own home: "~/x".
	Sought []string
}

// Operation is one that some runs did or were refused.
type Operation struct {
	denial.Entry
	// Runs is in how many runs it occurred, Refused how often it was refused.
	Runs    int `json:"runs"`
	Refused int `json:"refused"`
	last    int
}

// ended is the highest status of a run that has ended by itself; with a higher one a signal has ended it.
const ended = 128

// Failed reports whether a run with this status has ended by itself, and has failed.
func Failed(status int) bool { return status > 0 && status <= ended }

// Join puts runs together.
func Join(runs []denial.Evidence) Joined {
	out := Joined{Runs: len(runs)}
	by := map[string]*Operation{}
	var all []*Operation
	add := func(run int, e denial.Entry, refused bool) {
		key := strings.Join(append(slices.Clone(e.Question), "\x00", strings.Join(e.Needs, " "), strconv.FormatBool(e.Own)), "\x00")
		if e.Question == nil {
			key = strings.Join([]string{"", e.Operation, e.Target, e.To, e.Reason}, "\x00")
		}
		o := by[key]
		if o == nil {
			o = &Operation{Entry: e, last: -1}
			o.Times = 0
			by[key], all = o, append(all, o)
		}
		if o.last != run {
			o.Runs, o.last = o.Runs+1, run
		}
		if o.Times += e.Times; refused {
			o.Refused += e.Times
		}
	}
	for i, r := range runs {
		out.Lacks = out.Lacks || r.UsedLeftOut > 0 || r.LeftOut > 0
		if len(r.Served) > 0 && out.Served == "" {
			out.Served = r.Served[0]
		}
		if Failed(r.Status) {
			out.Sought = append(out.Sought, r.Sought...)
		}
		for _, e := range r.Denials {
			add(i, e, true)
		}
		for _, u := range r.Used {
			add(i, denial.Entry{Times: u.Times, Question: u.Question, Needs: u.Needs, Own: u.Own}, false)
		}
	}
	for _, refused := range []bool{true, false} {
		for _, o := range all {
			if o.Refused > 0 == refused {
				out.Operations = append(out.Operations, *o)
			}
		}
	}
	return out
}

// Entries are the operations as a planner takes them.
func (j Joined) Entries() []denial.Entry {
	out := make([]denial.Entry, len(j.Operations))
	for i, o := range j.Operations {
		out[i] = o.Entry
	}
	return out
}
