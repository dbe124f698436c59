package claudecode

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
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

func holder(plan *writer.Plan, hosts writer.Hosts) *writer.Holder {
	out := &writer.Holder{
		Plan: plan, Hosts: hosts, Host: writer.WhyHost,
		Default: map[ir.Aspect]ir.Held{
			ir.AspectRead: writer.More(whyOwn), ir.AspectExecute: writer.More(whyOwn),
			ir.AspectCreate: writer.More(whyScratch), ir.AspectUpdate: writer.More(whyScratch),
			ir.AspectDelete:   writer.More(whyScratch),
			ir.AspectMetadata: writer.More(whyScratch), ir.AspectMove: writer.More(whyScratch),
			ir.AspectSocket: backends.Exact,
			ir.AspectOthers: writer.Assumed(whyLayers),
		},
		Written: func(at *writer.Place) ir.Held {
			if at.IsRoot() {
				return writer.Less(whyStartup)
			}
			return writer.Less(whyStartup, writer.WhyAbsent)
		},
		Closed: writer.Assumed(writer.WhyLate), Opened: writer.Less(whyOutside),
		Patterns: backends.Weaker(ir.GapFSNames, whyGlobs),
		Socket:   backends.Exact, SocketLess: writer.Less(writer.WhySocket),
		Signal: backends.Exact, Listen: writer.More(writer.WhyOwnNet),
		Env:      writer.Nothing(writer.WhyEnv),
		Passed:   func(*ir.EnvRule) ir.Held { return backends.Exact },
		Withheld: func(*ir.EnvRule) ir.Held { return writer.Nothing(writer.WhyEnv) },
		Programs: &writer.Programs{
			Others: writer.More(whyFirst),
			Listed: func(r *ir.CommandRule) ir.Held {
				return backends.When(len(lines(r)) < max(len(r.Args), 1), writer.Less(whyWords))
			},
			Args: writer.More(whyFirst),
		},
	}
	if plan.Top() < writer.Write {
		out.Blocked = whyReadOnly
	}
	return out
}
