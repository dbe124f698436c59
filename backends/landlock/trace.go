package landlock

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// Trace has the supervisor see every call that the specification of a tool could refuse, not
// only those that it must answer itself: all traps are set, and calls that the filter would
// refuse outright are among them (see Traced). The permissions are still the policy's.
// The target is the target that the specification was compiled for.
func (s *Spec) Trace(t *ir.Tool, target backends.Target) error {
	next, err := s.judgeAll(t, target, false)
	next.Traps = append(next.Traps, watched...)
	s.Supervision = next
	return err
}

// Ask has the supervisor make every call that the user could grant while the tool runs: all
// traps are set, and the policy to judge by has the list "may". The ruleset and the permissions are the policy's.
// See decision D200.
func (s *Spec) Ask(t *ir.Tool, target backends.Target) error {
	next, err := s.judgeAll(t, target, true)
	next.Replaces = append(next.Replaces, "truncate")
	s.Supervision = next
	return err
}

// judgeAll is a supervision under which every class of calls is judged. With may, its policy has
// the list "may".
func (s *Spec) judgeAll(t *ir.Tool, target backends.Target, may bool) (*Supervision, error) {
	rules := newRuleset(ir.NewView(t, ir.Linux, target.Facts))
	all := judged{
		Judges:   Judges{Reads: true, Updates: true, Names: true, Starts: t.Commands == nil},
		metadata: true, internet: internet{connect: true, listen: listens(t.Net),
			egress: named(t.Net) || may && allows(t.MayNet)}, programs: t.Commands != nil,
	}
	next := &Supervision{
		Gaps: []string{}, Judges: all.Judges, Paths: rules.supervisedPaths(target, all.Judges),
		Replaces: []string{"network", "metadata", "links", "others", "openat2", "set-id"}, Connect: addresses(t.Net),
		Egress: all.egress, Listen: all.listen,
		Undo:   t.Undo,
		Filter: slices.Concat(underSupervisor, all.internet.filter(), []Block{newerMetadata}),
		Traps:  all.list(),
	}
	if all.programs {
		next.Filter = append(next.Filter, tracing)
	}
	if s.Supervision != nil {
		next.Gaps = s.Supervision.Gaps
	}
	var err error
	next.Judged, err = rules.policy(target, may)
	return next, err
}

// watched are calls that only the ruleset restricts. A supervisor reports the answer that it
// expects, and lets them continue.
var watched = []Trap{{Group: "watched", Syscalls: []string{"kill"}}}

// policy returns the policy that a supervisor decides by, with or without the list "may".
func (s *ruleset) policy(target backends.Target, may bool) (*Judged, error) {
	part := judgedPart(s.view.Tool, target.Facts.Protected)
	if may {
		part.May = slices.Clone(s.view.Tool.May)
		for i := range part.May {
			part.May[i].Leaves = nil
		}
		part.MayNet = slices.Clone(s.view.Tool.MayNet)
		for i := range part.MayNet {
			part.MayNet[i].Leaves = nil
		}
	}
	doc, err := irjson.Marshal(&ir.Program{Tools: []*ir.Tool{part}})
	if err != nil {
		return nil, err
	}
	j := &Judged{Base: []Granted{}, Policy: json.RawMessage(doc)}
	if b := target.Facts.Bindings; b != nil {
		j.External = b.External
	}
	for _, e := range s.view.Entries() {
		if e.ID == ir.ClosedRule {
			j.Closed = append(j.Closed, Closed{target.Place(e.Rule.At), e.Rule.Origin.Label})
			continue
		}
		if e.Rule.At.Root.Kind != ir.System {
			continue
		}
		g := Granted{Path: e.Rule.At.String(), Caps: []string{}}
		for _, c := range e.Rule.Caps.List() {
			g.Caps = append(g.Caps, c.String())
		}
		j.Base = append(j.Base, g)
	}
	return j, nil
}

// Applies reports whether a block is needed at an ABI version.
func (b Block) Applies(abi int) bool {
	return abi >= b.From && (b.To == 0 || abi <= b.To)
}

// Traced divides blocks into those that stay and those that a supervisor may answer in their
// place, because their error means a refusal.
func Traced(blocks []Block, abi int) (stay, answered []Block) {
	for _, b := range blocks {
		if (b.Errno == "EACCES" || b.Errno == "EPERM") && b.Applies(abi) {
			answered = append(answered, b)
		} else {
			stay = append(stay, b)
		}
	}
	return stay, answered
}

// Trap is the block as a trap.
func (b Block) Trap() Trap { return Trap{b.Group, b.Syscalls, b.When} }

// Holds reports whether a condition is true for the arguments of a call, as evaluated by a
// filter.
func (c Condition) Holds(args [6]uint64) bool {
	whole := args[c.Arg]
	low := uint32(whole)
	if c.Mask != 0 {
		low &= c.Mask
	}
	value := func(name string) uint32 { v, _ := Constant(name); return v }
	is := func(name string) bool { return value(name) == low }
	switch {
	case c.NonZero:
		return whole != 0
	case len(c.AnyBit) > 0:
		return slices.ContainsFunc(c.AnyBit, func(name string) bool { return uint32(whole)&value(name) != 0 })
	case len(c.In) > 0:
		return slices.ContainsFunc(c.In, is)
	default:
		return !slices.ContainsFunc(c.NotIn, is)
	}
}

// Refuses reports whether a block is about a call and its arguments.
func (b Block) Refuses(name string, args [6]uint64) bool {
	return slices.Contains(b.Syscalls, name) &&
		!slices.ContainsFunc(b.When, func(c Condition) bool { return !c.Holds(args) })
}

// String is the condition in words. Arguments count from 1.
func (c Condition) String() string {
	argument := "argument " + strconv.Itoa(c.Arg+1)
	switch {
	case c.Mask == pathOnly && slices.Equal(c.In, []string{"O_RDONLY"}):
		return "without O_PATH"
	case c.NonZero:
		return argument + " is not 0"
	case c.Mask != 0:
		argument += " & 0x" + strconv.FormatUint(uint64(c.Mask), 16)
	}
	switch {
	case len(c.AnyBit) > 0:
		return "with " + strings.Join(c.AnyBit, " or ")
	case len(c.In) > 0:
		return argument + " is " + strings.Join(c.In, " or ")
	default:
		return argument + " is none of " + strings.Join(c.NotIn, " ")
	}
}
