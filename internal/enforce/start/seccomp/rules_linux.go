package seccomp

import (
	"slices"

	"github.com/accessc/accessc/backends/landlock"
)

// Rules are the parts of a seccomp program: the blocks, then the traps.
type Rules struct {
	Blocks []landlock.Block
	Traps  []landlock.Trap
	// Answered are the blocks that a trace leaves to the supervisor.
	Answered []landlock.Block
}

// Terms are those of a start.
type Terms struct {
	ABI        int
	Supervised bool
	// Traced has the supervisor answer in place of the blocks that refuse.
	Traced bool
	// Ports is set where the gap net.host is accepted, and a ruleset opens ports.
	Ports bool
}

// Of are the rules of a specification. Under a trace the supervisor answers in place of
// the blocks that refuse.
func Of(s *landlock.Spec, t Terms) Rules {
	out := Rules{Blocks: t.blocks(s)}
	if !t.Supervised {
		return out
	}
	out.Traps = t.supervision(s).Traps
	if t.Traced {
		out.Blocks, out.Answered = landlock.Traced(out.Blocks, t.ABI)
		var first []landlock.Trap
		for _, b := range out.Answered {
			first = append(first, b.Trap())
		}
		out.Traps = slices.Concat(first, out.Traps)
	}
	return out
}

// supervision is that of the specification. Where the network stays closed, refusals name the host.
func (t Terms) supervision(s *landlock.Spec) *landlock.Supervision {
	if t.Ports {
		return s.Supervision
	}
	return s.Supervision.Named()
}

// blocks are the calls that the filter of this start refuses: those of every filter, and those
// that the policy adds. Where net.host was accepted and the specification has ports, these are
// the network; otherwise a supervised tool has the sockets that its supervisor judges.
func (t Terms) blocks(s *landlock.Spec) []landlock.Block {
	out := s.Filter
	replaced := func(groups ...string) {
		in := func(b landlock.Block) bool { return slices.Contains(groups, b.Group) }
		out = slices.DeleteFunc(slices.Clone(out), in)
	}
	if t.Supervised {
		by := t.supervision(s)
		replaced(by.Replaces...)
		out = slices.Concat(out, by.Filter)
	}
	if t.Ports {
		replaced("network")
		out = append(out, landlock.Network()...)
	}
	always := landlock.Always()
	if t.Supervised {
		always = slices.DeleteFunc(always, func(b landlock.Block) bool {
			return (b.Group == landlock.Objects || b.Group == landlock.Queues) && s.Supervision.Answers(b.Group)
		})
	}
	return append(always, out...)
}
