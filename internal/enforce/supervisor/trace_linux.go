package supervisor

import (
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
)

// Tracing lets a supervisor also name the refusals that the kernel would make without it. Every
// class of calls is judged under a trace.
type Tracing struct {
	// ABI is the version of Landlock that the ruleset was made for.
	ABI int
	// Blocks are the calls that the filter hands over instead of refusing them.
	Blocks []landlock.Block
}

// blocked is the answer that the filter would have given, if any.
func (c *call) blocked() (answer, bool) {
	if c.trace == nil {
		return answer{}, false
	}
	for _, b := range c.trace.Blocks {
		if b.Refuses(c.calls[c.nr], c.args) {
			c.refused = &judgement{by: denial.ByFilter, why: whyBlocked(b.Group)}
			if b.Errno == "EPERM" {
				return fails(unix.EPERM), true
			}
			return fails(unix.EACCES), true
		}
	}
	return answer{}, false
}

// whyBlocked is the reason of the filter. It refuses some groups of calls under every policy,
// others for lack of a grant.
func whyBlocked(group string) string {
	switch group {
	case "network", "metadata", "links", "truncate":
		return "this policy grants nothing that needs this call (" + group + ")"
	default:
		return "no tool may make this call (" + group + ")"
	}
}

// kill reports a signal that the ruleset is going to refuse (ABI 6).
func (c processes) kill() answer {
	pid := int(int32(uint32(c.args[0])))
	if pid > 0 && c.trace.ABI >= 6 && !c.box.ours(pid) && unix.Kill(pid, 0) != unix.ESRCH {
		c.refused = &judgement{by: denial.ByRuleset, why: "a process outside of the sandbox", goesOn: true}
	}
	return proceed
}
