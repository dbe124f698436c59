package srt

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/agents"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger that srt alone has.
const (
	whyOwn     ir.CauseID = "srt.own"
	whyScratch ir.CauseID = "srt.scratch"
	whyStartup ir.CauseID = "srt.startup"
	whyStarted ir.CauseID = "srt.started"
	whyGlobs   ir.CauseID = "srt.globs"
)

// Sentences are the sentences of the causes.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyOwn:     "srt shows commands its own /proc and /dev, and /sys and the files directly in / as they are",
		whyScratch: "srt lets every command write /tmp/claude",
		whyStartup: "srt lets no command write files from which shells, git, editors and agents take commands",
		whyGlobs:   "on Linux srt closes the names that are there when it starts, to reading alone, and no later ones",
		whyStarted: "assumes that srt is started in the workspace, with this file, and that its own files may be read",
	}
}

func holder(plan *agents.Plan, hosts agents.Hosts) *agents.Holder {
	return &agents.Holder{
		Plan: plan, Hosts: hosts, Host: agents.WhyHost,
		Default: map[ir.Aspect]ir.Held{
			ir.AspectRead: agents.More(whyOwn), ir.AspectExecute: agents.More(whyOwn),
			ir.AspectCreate: agents.More(whyScratch), ir.AspectUpdate: agents.More(whyScratch), ir.AspectDelete: agents.More(whyScratch),
			ir.AspectMetadata: agents.More(whyScratch), ir.AspectMove: agents.More(whyScratch), ir.AspectSocket: backends.Exact,
			ir.AspectOthers: agents.Assumed(whyStarted),
		},
		Written: func(at *agents.Place) ir.Held {
			if at.IsRoot() {
				return agents.Less(whyStartup)
			}
			return agents.Less(whyStartup, agents.WhyAbsent)
		},
		Closed: agents.Assumed(agents.WhyLate), Opened: backends.Exact, Patterns: backends.Weaker(ir.GapFSNames, whyGlobs),
		Socket: backends.Exact, SocketLess: agents.Less(agents.WhySocket),
		Signal: backends.Exact, Listen: agents.More(agents.WhyOwnNet),
		Passed: func(*ir.EnvRule) ir.Held { return backends.Exact },
		Env:    agents.Nothing(agents.WhyEnv), Withheld: func(r *ir.EnvRule) ir.Held { return backends.When(!withholds(r), agents.Nothing(agents.WhyPrefix)) },
	}
}
