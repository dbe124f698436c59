package codex

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger that Codex alone has.
const (
	whyOwn      ir.CauseID = "codex.own"
	whyEtc      ir.CauseID = "codex.etc"
	whyKept     ir.CauseID = "codex.kept"
	whyFile     ir.CauseID = "codex.file"
	whySiblings ir.CauseID = "codex.siblings"
	whyLayers   ir.CauseID = "codex.layers"
	whyHosts    ir.CauseID = "codex.hosts"
	whyCase     ir.CauseID = "codex.case"
	whyExcluded ir.CauseID = "codex.excluded"
	whyGlobs    ir.CauseID = "codex.globs"
)

// Sentences are the sentences of the causes.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyOwn:      "Codex shows commands its own /proc and /dev, and the system's own directories but for /etc",
		whyEtc:      "Codex opens /etc as a whole or, as here, not at all",
		whyKept:     "in each directory that is opened for writing Codex lets no command write .agents, .aws, .codex and .git",
		whyFile:     "what Codex opens are directories: in a closed directory a single file stays closed, and where one may be written Codex does not start",
		whySiblings: "a directory with several narrower places in it gets no more than these: Codex does not start with entries in a directory that is not there",
		whyLayers: "assumes that Codex starts in the workspace with this profile, may read its own files, and finds sandbox_mode or other entries for the " +
			"profile in no other layer of its settings",
		whyHosts: "Codex' lists of hosts know no ports, and hold as long as its proxy runs alone, so no host is opened",
		whyGlobs: "Codex closes the files with such names that are there when a command starts, and no directories and " +
			"later files; they cannot be read either",
		whyCase:     "Codex compares the names of variables in any case of letters",
		whyExcluded: "a rule that withholds several variables withholds this one, too",
	}
}

func holder(plan *writer.Plan) *writer.Holder {
	return &writer.Holder{
		Plan: plan, Host: whyHosts,
		Default: map[ir.Aspect]ir.Held{
			ir.AspectRead: writer.More(whyOwn), ir.AspectExecute: writer.More(whyOwn), ir.AspectCreate: backends.Exact,
			ir.AspectUpdate: backends.Exact,
			ir.AspectDelete: backends.Exact, ir.AspectMetadata: backends.Exact, ir.AspectMove: backends.Exact,
			ir.AspectSocket: backends.Exact,
			ir.AspectOthers: writer.Assumed(whyLayers),
		},
		Written: func(at *writer.Place) ir.Held {
			if at.IsRoot() {
				return writer.Less(whyKept)
			}
			return writer.Less(whyKept, whyFile)
		},
		Closed: writer.Assumed(writer.WhyLate), Patterns: backends.Weaker(ir.GapFSNames, whyGlobs),
		Opened: writer.Less(whyFile),
		Socket: backends.Exact, SocketLess: writer.Less(writer.WhySocket),
		Moves: true, Signal: backends.Exact, Listen: backends.Exact,
		Env: writer.More(whyCase), Withheld: func(*ir.EnvRule) ir.Held { return backends.Exact },
		Passed: func(r *ir.EnvRule) ir.Held {
			return backends.When(excluded(plan.Tool, r), writer.Less(whyExcluded))
		},
	}
}
