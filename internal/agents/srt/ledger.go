package srt

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
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

func holder(plan *writer.Plan, hosts writer.Hosts) *writer.Holder {
	return &writer.Holder{
		Plan: plan, Hosts: hosts, Host: writer.WhyHost,
		Default: map[ir.Aspect]ir.Held{
			ir.AspectRead: writer.More(whyOwn), ir.AspectExecute: writer.More(whyOwn),
			ir.AspectCreate: writer.More(whyScratch), ir.AspectUpdate: writer.More(whyScratch),
			ir.AspectDelete:   writer.More(whyScratch),
			ir.AspectMetadata: writer.More(whyScratch), ir.AspectMove: writer.More(whyScratch),
			ir.AspectSocket: backends.Exact,
			ir.AspectOthers: writer.Assumed(whyStarted),
		},
		Written: func(at *writer.Place) ir.Held {
			if at.IsRoot() {
				return writer.Less(whyStartup)
			}
			return writer.Less(whyStartup, writer.WhyAbsent)
		},
		Closed: writer.Assumed(writer.WhyLate), Opened: backends.Exact,
		Patterns: backends.Weaker(ir.GapFSNames, whyGlobs),
		Socket:   backends.Exact, SocketLess: writer.Less(writer.WhySocket),
		Signal: backends.Exact, Listen: writer.More(writer.WhyOwnNet),
		Passed:   func(*ir.EnvRule) ir.Held { return backends.Exact },
		Env:      writer.Nothing(writer.WhyEnv),
		Withheld: func(r *ir.EnvRule) ir.Held { return backends.When(!withholds(r), writer.Nothing(writer.WhyPrefix)) },
	}
}
