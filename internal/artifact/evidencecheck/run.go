package evidencecheck

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/ir"
)

// run is a run as far as its lines have been read.
type run struct {
	name        string
	file, first int
	report      RunReport
	begin       *evidencelog.Begin
	next        int64
	last        time.Time
	ended       bool
	end         string // the hash of its last line
	dropped     int64
	judge       *judge
}

// member takes a line of a run.
func (c *checker) member(file, number int, l *evidencelog.Line, hash string) {
	bad := func(kind Kind, format string, args ...any) { c.problem(file, number, kind, format, args...) }
	r := c.runs[l.Run]
	if l.Begin != nil {
		switch {
		case r != nil:
			if hash != r.end {
				bad(Run, "begins run %s again", short(l.Run))
			}
			return
		case l.N != 0:
			bad(Run, "begins a run, and is not its first line")
		}
		c.begins(file, number, l, bad)
		r = c.runs[l.Run]
		r.end = hash
		return
	}
	if r == nil {
		bad(Run, "belongs to run %s, whose beginning is not here", short(l.Run))
		// One message is enough for all of its lines.
		c.runs[l.Run] = &run{name: l.Run, next: -1}
		return
	}
	if r.next < 0 {
		return
	}
	at, utc := stamp(l.Time)
	switch {
	case l.Tool != r.report.Tool || l.Policy != r.report.Policy:
		bad(Run, "names another tool or policy than the first line of its run")
	case l.N != r.next:
		bad(Run, "is line %d of its run, and follows line %d", l.N, r.next-1)
	case !utc || at.Before(r.last):
		bad(Run, "is earlier than the line before of its run, or its time is not UTC")
	case r.ended && l.Signature == nil:
		bad(Run, "stands behind the end of its run")
	}
	r.next, r.last = l.N+1, at
	r.report.Lines++
	switch {
	case l.Operation != nil:
		if l.Operation.Allowed {
			r.report.Allowed++
		} else {
			r.report.Denied++
		}
		if r.judge == nil {
			bad(Verdict, "has an operation of a run in which nothing was judged")
		} else if kind, why := r.judge.operation(l.Operation); why != "" {
			bad(kind, "%s", why)
		}
	case l.Grants != nil:
		if r.judge == nil {
			bad(Run, "has a grant of a run in which nothing was judged")
		} else if why := r.judge.grants(l.Grants); why != "" {
			bad(Verdict, "%s", why)
		}
	case l.Dropped != nil:
		if l.Dropped.Count <= 0 {
			bad(Run, "counts no missing line")
		}
		r.dropped += l.Dropped.Count
		r.report.Dropped = r.dropped
	case l.End != nil:
		c.ends(r, l, bad)
		r.end = hash
	case l.Signature != nil:
		if !r.ended {
			bad(Run, "is a signature before the end of its run")
			return
		}
		c.signed(r, l, bad)
	}
}

func (c *checker) begins(file, number int, l *evidencelog.Line, bad func(Kind, string, ...any)) {
	b := l.Begin
	at, utc := stamp(l.Time)
	r := &run{name: l.Run, file: file, first: number, begin: b, next: 1, last: at}
	c.runs[l.Run] = r
	c.order = append(c.order, r)
	r.report = RunReport{Run: l.Run, Tool: l.Tool, Policy: l.Policy, Begun: l.Time, Lines: 1}
	r.report.Unseen = []string{}
	r.report.Seen = []string{}
	for _, class := range evidencelog.Classes {
		if slices.Contains(b.Seen, class) {
			r.report.Seen = append(r.report.Seen, class)
		} else {
			r.report.Unseen = append(r.report.Unseen, class)
		}
	}
	if len(r.report.Seen) != len(b.Seen) {
		bad(Run, "names a class of operations that there is not, or one of them twice")
	}
	switch {
	case !utc:
		bad(Run, "has a time that is not UTC")
	case c.serial == 0 && (b.Serial == 1 || c.o.Part && b.Serial > 0):
	case b.Serial == 1 && c.serial > 0:
		bad(Counted, "is counted as the first run of the log: the counter began anew, and may have been put back")
	case b.Serial <= c.serial:
		bad(Counted, "begins run number %d, and number %d has begun before: the counter was put back, or the line was "+
			"moved", b.Serial, c.serial)
	case b.Serial != c.serial+1:
		bad(Cut, "begins run number %d, and the last that is here is number %d", b.Serial, c.serial)
	}
	c.serial = max(b.Serial, c.serial)
	if (b.Terms != nil) != b.Supervised {
		bad(Run, "has terms without a supervisor, or a supervisor without terms")
	}
	if b.Terms == nil {
		return
	}
	terms := b.Terms
	if c.o.Terms != nil {
		attested, err := c.o.Terms(l)
		if err != nil {
			bad(Policy, "%v", err)
		} else {
			terms = attested
		}
	}
	j, err := newJudge(terms, l.Tool)
	if err != nil {
		bad(Policy, "has no policy that can be read: %v", err)
		return
	}
	r.judge = j
}

func (c *checker) ends(r *run, l *evidencelog.Line, bad func(Kind, string, ...any)) {
	e := l.End
	r.ended, r.report.Ended = true, l.Time
	switch {
	case e.Allowed != r.report.Allowed || e.Denied != r.report.Denied:
		bad(Run, "counts %d allowed and %d denied operations, and the log has %d and %d", e.Allowed, e.Denied,
			r.report.Allowed, r.report.Denied)
	case e.Dropped != r.dropped:
		bad(Run, "counts %d missing lines, and the log says that of %d", e.Dropped, r.dropped)
	}
}

// judge judges the operations of a run again.
type judge struct {
	facts ir.Facts
	// live is the policy with what can be granted, nil until something is; states are the views by their numbers
	// and givens what they rest on, given the grants in force and answers all that were given, by their questions.
	live    *ir.Live
	may     []ir.Rule
	states  []*ir.View
	givens  []ir.Given
	given   map[int]ir.Given
	order   []int
	answers map[int]ir.Given
}

func newJudge(t *landlock.Terms, tool string) (*judge, error) {
	policy, facts, err := t.Read()
	if err != nil {
		return nil, err
	}
	if policy.Name != tool {
		return nil, fmt.Errorf("it is the policy of %s", policy.Name)
	}
	j := &judge{facts: facts, given: map[int]ir.Given{}, answers: map[int]ir.Given{}}
	if len(policy.May)+len(policy.MayNet) == 0 {
		j.states = []*ir.View{ir.NewView(policy, ir.Linux, facts)}
		return j, nil
	}
	for i := range policy.May {
		j.may = append(j.may, &policy.May[i])
	}
	for i := range policy.MayNet {
		j.may = append(j.may, &policy.MayNet[i])
	}
	j.live = ir.NewLive(policy, ir.Linux, facts)
	j.states, j.givens = []*ir.View{j.live.With(ir.Given{})}, []ir.Given{{}}
	return j, nil
}

// reasons are the words of the policy for verdicts.
var reasons = func() map[string]bool {
	out := map[string]bool{}
	for r := ir.Reason(0); r <= ir.ReasonOwn; r++ {
		out[r.String()] = true
	}
	return out
}()

// operation compares the verdict on an operation with that of the policy. It returns an empty reason where they agree.
func (j *judge) operation(o *evidencelog.Operation) (Kind, string) {
	judged := o.By == string(denial.ByPolicy) && reasons[o.Reason]
	if !judged {
		if o.Allowed {
			return Verdict, "allows an operation, and names no rule of the policy for that"
		}
		return "", "" // something beside the policy refuses more
	}
	if o.Operation == "" || o.Subject != "" {
		return Verdict, "has a verdict on an operation that it does not name"
	}
	view, err := j.viewOf(o)
	if err != nil {
		return Verdict, err.Error()
	}
	alone := o.Access
	alone.Needs = nil
	if o.Operation == ir.Execute.String() && slices.Contains(o.Needs, o.Operation) {
		alone.Needs = []string{o.Operation}
	}
	ops, err := alone.Operations(j.facts.Bindings)
	if err != nil || len(ops) == 0 {
		return Verdict, fmt.Sprintf("has no operation that can be judged: %v", err)
	}
	v := verdict(view, ops[0])
	word := map[bool]string{true: "allows", false: "denies"}
	switch {
	case v.Allowed() != o.Allowed:
		return Verdict, fmt.Sprintf("%s what the policy %s (%s)", word[o.Allowed], word[v.Allowed()], because(v))
	case !reflect.DeepEqual(evidencelog.RuleOf(v.Rule), o.Rule) || v.Reason.String() != o.Reason:
		return Verdict, fmt.Sprintf("names another reason than the policy (%s)", because(v))
	case !o.Allowed:
		return "", ""
	}
	all, err := o.Access.Operations(j.facts.Bindings)
	if err != nil {
		return Verdict, fmt.Sprintf("has no operation that can be judged: %v", err)
	}
	for _, op := range all {
		if v := verdict(view, op); !v.Allowed() {
			return Verdict, fmt.Sprintf("allows what the policy denies (%s)", because(v))
		}
	}
	return "", ""
}

// verdict asks as the supervisor does (internal/enforce/supervisor, judge.refusal and judge.decide).
func verdict(v *ir.View, op ir.Operation) ir.Verdict {
	c, ok := op.(ir.Connect)
	switch {
	case !ok || c.Method != "":
	case c.To.Host.Kind == ir.HostName && c.To.Port == 0:
		return v.Named(c.To.Host)
	case c.To.Scheme != "":
		return v.Reach(c.To)
	}
	return v.Decide(op)
}

func because(v ir.Verdict) string {
	if v.Rule == nil {
		return v.Reason.String()
	}
	return v.Reason.String() + ": " + v.Rule.Subject() + ", " + v.Rule.Source().String()
}

func (j *judge) viewOf(o *evidencelog.Operation) (*ir.View, error) {
	if o.State < 0 || o.State >= len(j.states) {
		return nil, fmt.Errorf("rests on state %d of the grants, which is not in the log before it", o.State)
	}
	if o.Once == 0 {
		return j.states[o.State], nil
	}
	given, ok := j.answers[o.Once]
	if !ok {
		return nil, fmt.Errorf("rests on the answer to question %d, which is not in the log before it", o.Once)
	}
	return j.live.With(j.givens[o.State].And(given)), nil
}

func (j *judge) inForce() (out ir.Given) {
	for _, id := range j.order {
		out = out.And(j.given[id])
	}
	return out
}
