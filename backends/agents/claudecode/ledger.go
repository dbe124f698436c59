package claudecode

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/agents"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger that Claude Code alone has.
const (
	whyOwn      ir.CauseID = "claude-code.own"
	whyScratch  ir.CauseID = "claude-code.scratch"
	whyStartup  ir.CauseID = "claude-code.startup"
	whyDenied   ir.CauseID = "claude-code.denied"
	whyOutside  ir.CauseID = "claude-code.outside"
	whyLayers   ir.CauseID = "claude-code.layers"
	whyReadOnly ir.CauseID = "claude-code.read-only"
	whyFirst    ir.CauseID = "claude-code.first"
	whyWords    ir.CauseID = "claude-code.words"
	whyGlobs    ir.CauseID = "claude-code.globs"
)

// Sentences are the sentences of the causes.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyOwn:     "the sandbox shows commands its own /proc and /dev, and /sys and the files directly in / as they are",
		whyScratch: "the sandbox lets every command write a directory for temporary files",
		whyStartup: "neither a command nor an edit writes files from which shells, git, editors and agents take commands",
		whyDenied:  "a rule that denies closes all that lies in its place",
		whyOutside: "Claude Code's own tools read the project alone",
		whyLayers: "assumes that the project's settings.json has this, and that no other layer of the settings adds to its lists or " +
			"turns the sandbox off: lists of all layers are one",
		whyReadOnly: "where the project itself may not be written, the sandbox does not start, and so no command",
		whyGlobs: "on Linux the sandbox closes to commands the names that are there when one starts, to reading alone, " +
			"and no later ones",
		whyFirst: "the commands of a line are compared, and the programs that they start are not",
		whyWords: "a program or an argument that a shell reads in more than one way has no rule",
	}
}

func holder(plan *agents.Plan, hosts agents.Hosts) *agents.Holder {
	out := &agents.Holder{
		Plan: plan, Hosts: hosts, Host: agents.WhyHost,
		Default: map[ir.Aspect]ir.Held{
			ir.AspectRead: agents.More(whyOwn), ir.AspectExecute: agents.More(whyOwn),
			ir.AspectCreate: agents.More(whyScratch), ir.AspectUpdate: agents.More(whyScratch), ir.AspectDelete: agents.More(whyScratch),
			ir.AspectMetadata: agents.More(whyScratch), ir.AspectMove: agents.More(whyScratch), ir.AspectSocket: backends.Exact,
			ir.AspectOthers: agents.Assumed(whyLayers),
		},
		Written: func(at *agents.Place) ir.Held {
			if at.IsRoot() {
				return agents.Less(whyStartup)
			}
			return agents.Less(whyStartup, agents.WhyAbsent)
		},
		Closed: agents.Assumed(agents.WhyLate), Opened: agents.Less(whyOutside),
		Patterns: backends.Weaker(ir.GapFSNames, whyGlobs),
		Socket:   backends.Exact, SocketLess: agents.Less(agents.WhySocket),
		Signal: backends.Exact, Listen: agents.More(agents.WhyOwnNet),
		Env:      agents.Nothing(agents.WhyEnv),
		Passed:   func(*ir.EnvRule) ir.Held { return backends.Exact },
		Withheld: func(*ir.EnvRule) ir.Held { return agents.Nothing(agents.WhyEnv) },
		Programs: &agents.Programs{
			Others: agents.More(whyFirst),
			Listed: func(r *ir.CommandRule) ir.Held {
				return backends.When(len(lines(r)) < max(len(r.Args), 1), agents.Less(whyWords))
			},
			Args: agents.More(whyFirst),
		},
	}
	if plan.Top() < agents.Write {
		out.Blocked = whyReadOnly
	}
	return out
}
