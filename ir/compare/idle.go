package compare

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Why is the reason why a rule decides nothing of its own.
type Why uint8

// The reasons. The zero value is none.
const (
	// Shadowed: more specific rules decide everything that it matches.
	Shadowed Why = iota + 1
	// Ordered: a rule that is as specific decides otherwise, because it is later.
	Ordered
	// Linked: it is written through a symlink, and another rule decides at the symlink's
	// target.
	Linked
	// Redundant: the policy permits the same without it.
	Redundant
)

// String returns the word that formats use.
func (w Why) String() string {
	switch w {
	case Shadowed:
		return "shadowed"
	case Ordered:
		return "order"
	case Linked:
		return "symlink"
	case Redundant:
		return "redundant"
	default:
		return "none"
	}
}

// Idle is a rule that decides nothing of its own, or, with Partly, a rule that loses a part of its matches only by its
// place in the list.
type Idle struct {
	Resource ir.Resource // the list of the rule
	// Index is the rule's place in the tool's list of that resource; for a pattern of
	// arguments, Pattern is its place in the rule's, otherwise -1.
	Index, Pattern int
	Rule           ir.Rule // the rule
	Why            Why     // the reason
	Partly         bool    // whether it loses only a part of its matches
	// By lists the rules and defaults that decide instead, each once.
	By []Side
}

// ID names the rule as views and ledgers do.
func (i Idle) ID() ir.RuleID {
	id := ir.ListRuleID(i.Resource, i.Index)
	if i.Resource == ir.Commands {
		id = ir.ProgramRuleID(i.Rule.Subject())
	}
	if i.Pattern >= 0 {
		id += ir.RuleID(".args[" + strconv.Itoa(i.Pattern) + "]")
	}
	return id
}

// RuleID names one of a tool's own rules, as Idle.ID does; empty if it has no such rule.
func RuleID(t *ir.Tool, r ir.Rule) ir.RuleID {
	for _, of := range []ir.Resource{ir.FS, ir.Net, ir.Env, ir.Commands} {
		for _, item := range items(t, of) {
			if item.Rule == r && item.Pattern < 0 {
				return item.ID()
			}
		}
	}
	return ""
}

// maxIdle bounds how many questions are asked about one resource, about a second.
const maxIdle = 1 << 22

// Idles lists the written rules of a tool that could be removed, each alone and all together,
// without changing the permissions, and the rules that lose only by order. Every other rule is
// needed, if only against a listed rule. The second result names the resources that have too many rules to analyse;
// none of their rules is listed.
// See decision D34.
func Idles(t *ir.Tool) (idle []Idle, skipped []ir.Resource) {
	if t.Source.Kind != ir.SourceLocal {
		return nil, nil
	}
	byName := shared(t)
	for _, r := range []ir.Resource{ir.FS, ir.Net, ir.Env, ir.Commands} {
		s := &search{tool: byName, resource: r, list: items(byName, r)}
		s.gone = make([]bool, len(s.list))
		if !s.cut() {
			skipped = append(skipped, r)
			continue
		}
		idle = append(idle, s.run()...)
	}
	for i := range idle {
		idle[i].Rule = original(t, byName, idle[i].Rule)
		for j := range idle[i].By {
			idle[i].By[j].Rule = original(t, byName, idle[i].By[j].Rule)
		}
	}
	return idle, skipped
}

// Clears reports whether a rule has taken a variable of the base away, which the policy no longer has, so that the
// layer still needs it.
func (i Idle) Clears() bool {
	e, ok := i.Rule.(*ir.EnvRule)
	return ok && !e.Read && slices.ContainsFunc(ir.DefaultEnv(), func(d ir.EnvRule) bool {
		name := strings.ToUpper(e.Name)
		return name == d.Name || e.Prefix && strings.HasPrefix(d.Name, name) ||
			d.Prefix && strings.HasPrefix(name, d.Name)
	})
}

// search looks for the idle rules of a resource.
type search struct {
	tool     *ir.Tool
	resource ir.Resource
	// list are the rules and the patterns of arguments, one by one; gone are the items without which the same is
	// permitted.
	list []Idle
	gone []bool
	// cells are questions about a target of each cell that the rules cut, on every
	// platform that matters.
	cells []question
}

// question is a cell, and the verdict there.
type question struct {
	platform ir.Platform
	asked    ir.Operation
	verdict  ir.Verdict
}

// cut asks about every cell, and reports false where there are too many.
func (s *search) cut() bool {
	platforms := []ir.Platform{ir.Linux}
	switch {
	case len(s.list) == 0:
		return true
	case s.resource == ir.Env, s.resource == ir.FS && systemDiffers(s.tool, s.tool):
		platforms = ir.Platforms[:]
	}
	t := s.without(nil)
	for _, p := range platforms {
		c := newComparison(t, t, p)
		if s.resource == ir.Net && c.netSize()*len(s.list) > maxIdle {
			return false
		}
		for _, op := range c.targets(s.resource) {
			s.cells = append(s.cells, question{p, op, c.old.Decide(op)})
		}
	}
	return len(s.cells)*len(s.list) <= maxIdle
}

// without is the tool without some of the list, without the system's own files where the rules
// do not mention them, and without its own program: a rule that lists that program is not idle,
// since it states the grant.
func (s *search) without(gone []bool) *ir.Tool {
	t := *s.tool
	t.Command = nil
	if s.resource == ir.FS && !systemDiffers(&t, &t) {
		t.Base = ir.BaseNone
	}
	if gone == nil {
		return &t
	}
	return subset(&t, s.list, gone)
}

// asker answers the questions of cells by another tool.
func asker(t *ir.Tool) func(question) ir.Verdict {
	views := map[ir.Platform]*ir.View{}
	return func(q question) ir.Verdict {
		if views[q.platform] == nil {
			views[q.platform] = ir.NewView(t, q.platform, ir.Facts{})
		}
		return views[q.platform].Decide(q.asked)
	}
}

// run finds the rules that never win, then those that win and change nothing, then those that lose only by order.
func (s *search) run() []Idle {
	var out []Idle
	wins := map[ir.Rule]bool{}
	for _, q := range s.cells {
		wins[q.verdict.Rule] = true
	}
	for i, item := range s.list {
		// A program that is listed with no arguments at all wins nowhere, and no other
		// rule is about it: it is redundant. Some rules about the network need not win.
		if written(item.Rule) && !wins[item.Rule] && s.resource != ir.Commands && (!s.looks() || s.needless(i)) {
			out = append(out, s.never(item))
			s.gone[i] = true
		}
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if item := s.list[i]; written(item.Rule) && !s.gone[i] && s.needless(i) {
			item.Why = Redundant
			out = append(out, item)
		}
	}
	s.instead(out)
	if s.resource == ir.Net {
		out = append(out, s.ties()...)
	}
	slices.SortStableFunc(out, func(a, b Idle) int { return cmp.Or(a.Index-b.Index, a.Pattern-b.Pattern) })
	return out
}

// written reports whether a rule does not ship with accessc.
func written(r ir.Rule) bool {
	o := r.Source()
	return o.Layer != ir.LayerDefault && o.Layer != ir.LayerBase && o.Layer != ir.LayerImplied &&
		o.Layer != ir.LayerPreset
}

// looks reports whether rules can have an effect where they do not win: on how much is looked at,
// or on the streams that other rules about the same address permit (see ir.Plain); on files, where rules by
// name win, on the protection of their path, and on moves of the place that a rule by name counts from.
func (s *search) looks() bool {
	if s.resource == ir.FS && slices.ContainsFunc(s.tool.FS, func(r ir.FSRule) bool { return r.ByName() }) {
		return true
	}
	return s.resource == ir.Net && slices.ContainsFunc(s.tool.Net, func(r ir.NetRule) bool {
		return r.Inspect || r.Opaque || ir.Plain(&r, nil)
	})
}

// never explains why a rule wins nowhere, and which rules win where it matches.
func (s *search) never(item Idle) Idle {
	others := make([]bool, len(s.list))
	for i, o := range s.list {
		others[i] = o.Index != item.Index
	}
	alone := asker(s.without(others))
	for _, q := range s.cells {
		if r := alone(q).Rule; r != nil && same(r, item.Rule) {
			item.by(q.verdict)
		}
	}
	item.Why = Shadowed
	for _, b := range item.By {
		switch {
		case b.Rule == nil || !rivals(item.Rule, b.Rule):
		case grants(item.Rule) == grants(b.Rule):
			item.Why = Redundant
		default:
			item.Why = Ordered
		}
	}
	if f, ok := item.Rule.(*ir.FSRule); ok && !f.External && linkedBy(f) {
		item.Why = Linked
	}
	return item
}

// linkedBy reports whether a rule's path leads over a symlink.
func linkedBy(f *ir.FSRule) bool {
	place := f.At.Path
	if f.At.Root.Kind == ir.External {
		place = strings.TrimPrefix(f.At.Short(), "/")
	}
	return strings.TrimPrefix(path.Clean("/"+f.Written), "/") != place
}

func (i *Idle) by(v ir.Verdict) {
	if !slices.Contains(i.By, side(v)) {
		i.By = append(i.By, side(v))
	}
}

// needless reports whether an item can be removed, alone and after the removals so far, and
// removes it. The cells that it decides are asked without it first, since comparing costs more.
func (s *search) needless(i int) bool {
	now := subset(s.tool, s.list, s.gone)
	s.gone[i] = true
	alone := make([]bool, len(s.list))
	alone[i] = true
	if s.unmoved(s.list[i].Rule, alone) && s.unmoved(s.list[i].Rule, s.gone) &&
		permitsSame(s.tool, subset(s.tool, s.list, alone)) && permitsSame(now, subset(s.tool, s.list, s.gone)) {
		return true
	}
	s.gone[i] = false
	return false
}

func permitsSame(old, new *ir.Tool) bool {
	return len(Policies(Policy{Tool: old}, Policy{Tool: new})) == 0
}

// unmoved reports whether the cells that a rule decides get the same answer without some items.
func (s *search) unmoved(r ir.Rule, gone []bool) bool {
	then := asker(s.without(gone))
	return !slices.ContainsFunc(s.cells, func(q question) bool {
		return q.verdict.Rule == r && then(q).Allowed() != q.verdict.Allowed()
	})
}

// instead adds the rules that decide in place of redundant ones, once all removals are known.
func (s *search) instead(out []Idle) {
	then := asker(s.without(s.gone))
	for i := range out {
		item := &out[i]
		if item.By != nil || item.Pattern >= 0 {
			continue
		}
		for _, q := range s.cells {
			if q.verdict.Rule == item.Rule {
				item.by(s.original(then(q)))
			}
		}
	}
}

// original finds the tool's own rule for one of a copy.
func (s *search) original(v ir.Verdict) ir.Verdict {
	for _, item := range s.list {
		if v.Rule != nil && same(v.Rule, item.Rule) {
			v.Rule = item.Rule
			break
		}
	}
	return v
}

// ties are pairs of rules that differ, of which the later rule decides something only because it is later.
func (s *search) ties() []Idle {
	var out []Idle
	for i, item := range s.list {
		for j := i + 1; j < len(s.list) && !s.gone[i]; j++ {
			if b := s.list[j].Rule; !s.gone[j] && rivals(item.Rule, b) && grants(item.Rule) != grants(b) &&
				s.ordered(i, j) {
				item.By = append(item.By, Side{Rule: b, Reason: ir.ReasonRule})
			}
		}
		if item.By != nil {
			item.Why, item.Partly = Ordered, true
			out = append(out, item)
		}
	}
	return out
}

// ordered reports whether there is something that the rule j decides and that i would
// decide if it came last.
func (s *search) ordered(i, j int) bool {
	last := *s.tool
	last.Net = slices.Clone(s.tool.Net)
	last.Net = append(slices.Delete(last.Net, i, i+1), s.tool.Net[i])
	then := asker(&last)
	return slices.ContainsFunc(s.cells, func(q question) bool {
		return q.verdict.Rule == s.list[j].Rule && then(q).Rule == ir.Rule(&last.Net[len(last.Net)-1])
	})
}

// items lists the rules and patterns that can be removed.
func items(t *ir.Tool, r ir.Resource) []Idle {
	var out []Idle
	add := func(i, pattern int, rule ir.Rule) {
		out = append(out, Idle{Resource: r, Index: i, Pattern: pattern, Rule: rule})
	}
	for i := range t.FS {
		if r == ir.FS {
			add(i, -1, &t.FS[i])
		}
	}
	for i := range t.Net {
		if r == ir.Net {
			add(i, -1, &t.Net[i])
		}
	}
	for i := range t.Env {
		if r == ir.Env {
			add(i, -1, &t.Env[i])
		}
	}
	if r == ir.Commands && t.Commands != nil {
		for i := range t.Commands.Rules {
			rule := &t.Commands.Rules[i]
			add(i, -1, rule)
			for p := range rule.Args {
				add(i, p, rule)
			}
		}
	}
	return out
}

// same reports whether one rule is a copy of the other.
func same(a, b ir.Rule) bool {
	if a.Source() != b.Source() || a.Subject() != b.Subject() {
		return false
	}
	return grants(a) == grants(b)
}

// rivals reports whether two rules are as specific about something that both match.
func rivals(a, b ir.Rule) bool {
	switch a := a.(type) {
	case *ir.FSRule:
		o, is := b.(*ir.FSRule)
		return is && a.At == o.At && slices.Equal(a.Names, o.Names)
	case *ir.NetRule:
		o, is := b.(*ir.NetRule)
		return is && a.Host == o.Host && a.Ties(o)
	case *ir.EnvRule:
		o, is := b.(*ir.EnvRule)
		return is && a.Subject() == o.Subject()
	case *ir.CommandRule:
		return false // there is one rule of a name
	default:
		return false
	}
}

// grants returns the capabilities of a file rule; for other rules All if they allow, else none.
func grants(r ir.Rule) ir.CapSet {
	allows := false
	switch r := r.(type) {
	case *ir.FSRule:
		return r.Caps
	case *ir.NetRule:
		allows = r.Allow
	case *ir.EnvRule:
		allows = r.Read
	case *ir.CommandRule:
	}
	if allows {
		return ir.All
	}
	return 0
}
