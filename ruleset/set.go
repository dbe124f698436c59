package ruleset

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset/shell"
)

// Set is an ordered list of rules.
type Set struct {
	Name string // of the set
	// Root is the absolute path of the workspace, which examples are run in.
	Root string
	// Shell is the dialect of the shell that runs the command lines.
	Shell shell.Dialect
	Rules []*Rule // the first that matches wins
}

// Rule is a rule of a set.
type Rule struct {
	Outcome Outcome // Allow, Ask or Deny
	// Kinds are the kinds of operation that the rule is about; empty means Execute.
	Kinds []Kind
	// Matcher decides which of them; nil means all.
	Matcher Matcher
	// Match and NotMatch are command lines that the rule must match, or must not. They are checked
	// by Set.Check.
	Match, NotMatch []string
	// Reason is a sentence for the reader of a refusal.
	Reason string
	// Origin is the place that wrote the rule.
	Origin ir.Origin
}

// Operation is an action that an agent asks for.
type Operation struct {
	Kind    Kind   // the kind
	Command string // of Execute: the command line
	// Dir is the absolute working directory, empty if it is not known.
	Dir string
	// Session is the directory of which a program may obey the configuration, if it is not Dir: an
	// agent that chooses Dir may have written the configuration there.
	Session string
	Paths   []string // the files that it is about
	URL     string   // of Fetch
}

// Host answers questions about the machine. Without a function the answer is not known.
type Host struct {
	// Resolve returns an absolute path without symlinks and "..".
	Resolve func(path string) (string, bool)
	// Open judges the opening of a file by its absolute path, and says why.
	Open func(access shell.Access, path string) (Outcome, string)
}

// Decision is the answer to an operation, or to a part of an operation.
type Decision struct {
	Outcome Outcome // of the part, with all parts inside
	Own     Outcome // of the part without them
	Text    string  // the part as written
	// Rule is the rule that decided; nil where none did.
	Rule *Rule
	Why  string // a phrase
	// Parts are the parts inside that were judged by themselves.
	Parts []Decision
	// open is a part that no rule stops by its own words, with its judge.
	open  *shell.Part
	judge *judge
}

// Cause returns the part that decided: the first part that has the outcome of the whole by itself.
func (d *Decision) Cause() *Decision {
	if d.Why != "" && d.Own == d.Outcome {
		return d
	}
	for i := range d.Parts {
		if d.Parts[i].Outcome == d.Outcome {
			return d.Parts[i].Cause()
		}
	}
	return d
}

// Leaves calls f for every part that was judged by itself.
func (d *Decision) Leaves(f func(*Decision)) {
	if d.Why != "" {
		f(d)
	}
	for i := range d.Parts {
		d.Parts[i].Leaves(f)
	}
}

// Decide judges an operation.
func (s *Set) Decide(op Operation, h Host) Decision {
	j := &judge{set: s, op: &op, host: h}
	if r := s.whole(op.Kind); r != nil && op.Kind == Execute {
		return Decision{Outcome: r.Outcome, Own: r.Outcome, Text: op.Command, Rule: r, Why: "a rule " + verb[r.Outcome]}
	}
	if op.Kind != Execute {
		text := strings.TrimSpace(op.Kind.String() + " " + strings.Join(append(slices.Clone(op.Paths), op.URL), " "))
		out, _ := j.rules(&question{judge: j}, text)
		out.Own = out.Outcome
		return out
	}
	return j.part(shell.Analyze(op.Command, s.Shell, op.Dir), 0)
}

// judge is a run of Decide.
type judge struct {
	set  *Set
	op   *Operation
	host Host
}

// rules asks the rules in order. A rule that may match leaves open whether it wins; the answer is
// known if all rules that may win agree.
// See decision D132.
func (j *judge) rules(q *question, text string) (Decision, int) {
	out := Decision{Text: text}
	var open *Rule
	for _, r := range j.set.Rules {
		if !r.about(j.op.Kind) || r.Matcher == nil && q.passes {
			continue
		}
		q.loose = r.stops()
		a := answer{yes, 0}
		if r.Matcher != nil {
			a = r.asks(q)
		}
		switch {
		case a.tri == maybe && open == nil:
			open = r
		case a.tri == yes && (open == nil || open.Outcome == r.Outcome):
			out.Outcome, out.Rule, out.Why = r.Outcome, r, "a rule "+verb[r.Outcome]
			return out, a.reach
		}
		if a.tri == yes {
			break
		}
	}
	out.Rule, out.Why = nil, noMatch
	if open != nil {
		out.Rule, out.Why = open, "it is not known whether this rule matches"
	}
	return out, 0
}

// asks asks the rule about a part; a rule that stops, by each name of the program.
func (r *Rule) asks(q *question) answer {
	a := r.Matcher.match(q)
	if q.loose && q.part != nil && q.part.Also != nil && a.tri != yes {
		also := *q
		also.part = q.part.Also
		if b := r.Matcher.match(&also); b.tri > a.tri {
			a = b
		}
	}
	return a
}

var verb = map[Outcome]string{Allow: "allows it", Deny: "denies it", Ask: "has a person asked about it"}

// noMatch is the phrase for a part about which no rule is.
const noMatch = "no rule matches"

// MayStop reports whether a rule that denies or asks decides, or may match: also a part that is not understood, and
// a command that a program may run by its words.
// See decision D429.
func (s *Set) MayStop(k Kind, d *Decision) bool {
	if !s.stops(k) {
		return false
	}
	out := false
	d.Leaves(func(p *Decision) {
		out = out || p.Own != Allow && (p.open == nil || p.judge.perhaps(p.open))
	})
	return out
}

// stops reports whether a rule denies or asks.
func (r *Rule) stops() bool { return r.Outcome == Deny || r.Outcome == Ask }

// stops reports whether a rule about a kind of operation denies or asks.
func (s *Set) stops(k Kind) bool {
	return slices.ContainsFunc(s.Rules, func(r *Rule) bool { return r.stops() && r.about(k) })
}

// Whole reports whether the first rule about command lines denies all of them, or asks about all.
func (s *Set) Whole() bool { return s.whole(Execute) != nil }

// whole is the first rule about a kind of operation if it denies or asks about all of them, nil otherwise.
// See decision D428.
func (s *Set) whole(k Kind) *Rule {
	i := slices.IndexFunc(s.Rules, func(r *Rule) bool { return r.about(k) })
	if i < 0 || !s.Rules[i].stops() || s.Rules[i].Matcher != nil {
		return nil
	}
	return s.Rules[i]
}

// perhaps reports whether a rule that denies or asks may match a command that a program runs by its words.
func (j *judge) perhaps(p *shell.Part) bool {
	found, all := p.Perhaps(j.set.Shell)
	return all || slices.ContainsFunc(j.set.Rules, func(r *Rule) bool {
		return r.stops() && r.about(Execute) && r.Matcher != nil &&
			slices.ContainsFunc(found, func(in *shell.Part) bool {
				return in.Kind == shell.Program && r.asks(&question{judge: j, part: in, loose: true}).tri != no
			})
	})
}

// Place says where the rule stands, and its reason.
func (r *Rule) Place() string {
	out := r.Origin.Pos.String() + ": " + r.Origin.Path
	if r.Reason != "" {
		out += " (" + r.Reason + ")"
	}
	return out
}

// About reports whether some rule is about a kind of operation.
func (s *Set) About(k Kind) bool {
	return slices.ContainsFunc(s.Rules, func(r *Rule) bool { return r.about(k) })
}

// about reports whether the rule is about a kind of operation.
func (r *Rule) about(k Kind) bool {
	return slices.Contains(r.Kinds, k) || len(r.Kinds) == 0 && k == Execute
}

// part judges a part of a command line. The first words of it, spelled many, have been spelled
// out by the rule for the program around it.
func (j *judge) part(p *shell.Part, spelled int) Decision {
	out := Decision{Text: p.Text, Outcome: Allow}
	reach := 0
	switch p.Kind {
	case shell.Group:
	case shell.Opaque:
		out.Outcome, out.Why = Unknown, p.Why
		out.open, out.judge = p, j
	case shell.File:
		out = j.file(p)
	case shell.Change:
		out = j.change(p)
	case shell.Program:
		out, reach = j.program(p, spelled)
	}
	if spelled > 0 && out.Outcome == Unknown && p.Kind != shell.Program {
		out.Outcome, out.Why = Allow, "the rule for the program around it spells it out"
	}
	out.Own = out.Outcome
	for _, c := range p.Parts {
		inner := 0
		if p.Kind != shell.Program {
			inner = spelled
		} else if c.From > 0 && reach > c.From {
			inner = reach - c.From
			if c.Inside {
				inner = shell.Always
			}
		}
		d := j.part(c, inner)
		out.Outcome = out.Outcome.join(d.Outcome)
		out.Parts = append(out.Parts, d)
	}
	return out
}

// program judges the start of a program, without the contents of its words. The second value is the
// number of words that a rule spells out.
// See decision D133.
func (j *judge) program(p *shell.Part, spelled int) (Decision, int) {
	out, reach := j.rules(&question{judge: j, part: p, passes: p.Through}, p.Text)
	reach = max(reach, spelled)
	switch {
	case out.Outcome == Unknown && out.Rule == nil && spelled > 0:
		out.Outcome, out.Why = Allow, "the rule for the program around it spells it out"
	case out.Outcome == Unknown && out.Rule == nil && p.Through:
		out.Outcome, out.Why = Allow, "it only runs what follows"
	case out.Outcome == Unknown && out.Rule == nil:
		out.open, out.judge = p, j
	}
	if out.Outcome != Allow {
		return out, reach
	}
	for _, d := range p.Doubts {
		if p.Outer && spelled > 0 && d.Word != shell.Always {
			continue
		}
		if d.Word >= reach {
			out.Outcome, out.Why = Unknown, d.Why
			out.open, out.judge = p, j // whichever rule allows it, none stops it
			return out, reach
		}
	}
	if p.Obeys && out.Rule != nil && !j.starts(p) && !trusts(out.Rule.Matcher) {
		out.Outcome, out.Why = Unknown, "it obeys the configuration of another directory; a rule with "+
			"within_directory trusts it"
	}
	return out, reach
}

// starts reports whether a program is started in the directory of the session.
func (j *judge) starts(p *shell.Part) bool {
	own := cmp.Or(j.op.Session, j.op.Dir)
	if len(p.Dirs) != 1 || p.Dirs[0] == own {
		return len(p.Dirs) == 1
	}
	return j.within(own, p.Dirs[0]) == yes && j.within(p.Dirs[0], own) == yes
}

// trusts reports whether a matcher names the directory in which a program may be started.
func trusts(m Matcher) bool {
	switch m := m.(type) {
	case Within:
		return true
	case All:
		return slices.ContainsFunc(m, trusts)
	case Any, Not, Command, Prefix, Args, Flags, Hosts, PipedToShell, Group:
	}
	return false
}

func (j *judge) file(p *shell.Part) Decision {
	out := Decision{Text: p.Text, Why: "files are not judged here", open: p, judge: j} // it runs nothing
	if j.host.Open == nil {
		return out
	}
	for _, a := range p.Access.Each() {
		one, why := j.host.Open(a, p.Path)
		if a == p.Access.Each()[0] {
			out.Outcome, out.Why = one, why
		}
		if out.Outcome.join(one) != out.Outcome {
			out.Outcome, out.Why = out.Outcome.join(one), why
		}
	}
	return out
}

// change judges a change of directory. A change that stays below the directory of the operation runs
// nothing and reaches nothing new; others need a rule for cd.
// See decision D133.
func (j *judge) change(p *shell.Part) Decision {
	below := truth(len(p.Dirs) > 0)
	for _, d := range p.Dirs {
		below = both(below, j.within(j.op.Dir, d))
	}
	out, _ := j.rules(&question{judge: j, part: p, passes: below == yes}, p.Text)
	switch {
	case out.Outcome != Unknown || out.Rule != nil:
	case below == yes:
		out.Outcome, out.Why = Allow, "it stays below the directory of the operation"
	default:
		out.open, out.judge = p, j
		out.Why = "it leads out of the directory of the operation"
	}
	return out
}

// within reports whether a path lies in a directory. Both are absolute.
func (j *judge) within(dir, p string) tri {
	if j.host.Resolve == nil || dir == "" || !path.IsAbs(p) {
		return maybe
	}
	outer, ok := j.host.Resolve(dir)
	inner, also := j.host.Resolve(p)
	if !ok || !also {
		return maybe
	}
	return truth(inner == outer || strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+"/"))
}
