package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/ir"
)

// Side is the policies of one side of a comparison, by tool, as views with the places of a run.
type Side map[string]func(*recorded.Run) *ir.View

// Replayed has the operations of a tool's recorded runs, judged by two policies.
type Replayed struct {
	Tool string
	// Runs is how many traced runs were judged, Untraced how many records have no accesses.
	Runs, Untraced int
	// Accesses is how many operations the runs did, LeftOut how many of theirs no record has, and Otherwise how
	// many the old policy judges otherwise than the policy of the run did.
	Accesses, LeftOut, Otherwise int
	// Refused are the operations that only the old policy permits, Permitted the operations
	// that only the new policy does, each by the rule that decides now.
	Refused, Permitted []Rejudged
	// Unused are the grants of the new policy that no run used.
	Unused []Unused

	used map[string]ir.CapSet
}

// Rejudged are operations on which two policies differ, by one rule of the new policy.
type Rejudged struct {
	Times int
	// Example is the first of them, in words, and Run the record that has it.
	Example, Run string
	// Rule decides now, nil for none.
	Rule   ir.Rule
	Reason ir.Reason
}

// Unused is a rule of which a part was not used.
type Unused struct {
	Rule   ir.Rule
	Grants string
}

// Replay judges recorded runs by two policies.
// See decision D207.
func Replay(runs []recorded.Run, old, new Side) []Replayed {
	by := map[string]*Replayed{}
	for i := range runs {
		r := &runs[i]
		x := by[r.Tool]
		if x == nil {
			x = &Replayed{Tool: r.Tool, used: map[string]ir.CapSet{}}
			by[r.Tool] = x
		}
		if !r.Traced || r.Roots == nil {
			x.Untraced++
			continue
		}
		x.replay(r, old.view(r), new.view(r))
	}
	var out []Replayed
	for _, name := range slices.Sorted(maps.Keys(by)) {
		x := by[name]
		for _, list := range [][]Rejudged{x.Refused, x.Permitted} {
			slices.SortStableFunc(list, func(a, b Rejudged) int {
				return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Example, b.Example))
			})
		}
		out = append(out, *x)
	}
	return out
}

// view is the policy of a run's tool, nil where the side has no such tool.
func (s Side) view(r *recorded.Run) *ir.View {
	if made := s[r.Tool]; made != nil {
		return made(r)
	}
	return nil
}

// replay judges a run.
func (x *Replayed) replay(r *recorded.Run, old, new *ir.View) {
	x.Runs++
	x.LeftOut += r.LeftOut
	for _, a := range r.Accesses.Accesses {
		x.Accesses += a.Times
		was, _, _ := verdict(old, r, a)
		is, decisive, op := verdict(new, r, a)
		if was != a.Allowed {
			x.Otherwise += a.Times
		}
		switch {
		case was && !is:
			x.Refused = rejudged(x.Refused, decisive, a.Times, spoken(op), r.File)
		case !was && is:
			x.Permitted = rejudged(x.Permitted, decisive, a.Times, spoken(op), r.File)
		}
		if is && a.Allowed {
			x.uses(new, r, a)
		}
	}
	if new != nil {
		x.Unused = x.unused(new)
	}
}

// verdict asks a policy for all that an access needs. It returns the verdict that decides, and its
// operation. A side without the tool permits nothing.
func verdict(v *ir.View, r *recorded.Run, a recorded.Access) (bool, ir.Verdict, ir.Operation) {
	var tool *ir.Tool
	if v != nil {
		tool = v.Tool
	}
	// Load has read every access once.
	ops, _ := a.Operations(r.Bindings(tool))
	var last ir.Verdict
	for _, op := range ops {
		if v == nil {
			return false, ir.Verdict{}, op
		}
		if last = v.Decide(op); !last.Allowed() {
			return false, last, op
		}
	}
	if len(ops) == 0 {
		return false, last, nil
	}
	return true, last, ops[len(ops)-1]
}

func rejudged(list []Rejudged, v ir.Verdict, times int, example, run string) []Rejudged {
	i := slices.IndexFunc(list, func(o Rejudged) bool {
		return ruleKey(o.Rule) == ruleKey(v.Rule) && o.Reason == v.Reason
	})
	if i < 0 {
		return append(list, Rejudged{times, example, run, v.Rule, v.Reason})
	}
	list[i].Times += times
	return list
}

// ruleKey tells the rules of a tool apart.
func ruleKey(r ir.Rule) string {
	if r == nil {
		return ""
	}
	return r.Subject() + "\x00" + r.Source().String()
}

// spoken is an operation as a person reads it.
func spoken(op ir.Operation) string {
	about := ir.Describe(op)
	var places []string
	for _, p := range about.Places {
		places = append(places, p.At.Short())
	}
	if len(places) == 0 {
		places = []string{about.Subject}
	}
	return about.Verb + " " + strings.Join(places, " to ")
}

// uses notes the rules that permit an access.
func (x *Replayed) uses(v *ir.View, r *recorded.Run, a recorded.Access) {
	ops, _ := a.Operations(r.Bindings(v.Tool))
	for _, op := range ops {
		about := ir.Describe(op)
		for i, p := range about.Places {
			for _, c := range about.Needs[i].List() {
				if rule := v.Decide(ir.Access{Cap: c, On: p}).Rule; rule != nil {
					x.used[ruleKey(rule)] |= ir.Caps(c)
				}
			}
		}
		if rule := v.Decide(op).Rule; rule != nil && len(about.Places) == 0 {
			x.used[ruleKey(rule)] |= ir.Caps(ir.Execute)
		}
	}
}

// unused are the grants that no run used. Variables, and hosts by name, are no accesses of a record.
func (x *Replayed) unused(v *ir.View) []Unused {
	var out []Unused
	for i := range v.Tool.FS {
		r := &v.Tool.FS[i]
		if left := r.Caps &^ x.used[ruleKey(r)]; left != 0 {
			out = append(out, Unused{r, left.String()})
		}
	}
	for i := range v.Tool.Net {
		if r := &v.Tool.Net[i]; r.Allow && r.Host.Kind == ir.HostAddr && x.used[ruleKey(r)] == 0 {
			out = append(out, Unused{r, "connect"})
		}
	}
	if v.Tool.Commands == nil {
		return out
	}
	for i := range v.Tool.Commands.Rules {
		if r := &v.Tool.Commands.Rules[i]; x.used[ruleKey(r)] == 0 {
			out = append(out, Unused{r, "run"})
		}
	}
	return out
}

// NewlyRefused reports whether a recorded run would be refused something that it was not.
func NewlyRefused(all []Replayed) bool {
	return slices.ContainsFunc(all, func(x Replayed) bool { return len(x.Refused) > 0 })
}
