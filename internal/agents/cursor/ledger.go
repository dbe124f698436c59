package cursor

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger that Cursor alone has.
const (
	whyOpen     ir.CauseID = "cursor.open"
	whySystem   ir.CauseID = "cursor.system"
	whyInside   ir.CauseID = "cursor.inside"
	whyAbsolute ir.CauseID = "cursor.absolute"
	whyKept     ir.CauseID = "cursor.kept"
	whyHidden   ir.CauseID = "cursor.hidden"
	whyHosts    ir.CauseID = "cursor.hosts"
	whyLayers   ir.CauseID = "cursor.layers"
)

// Sentences are the sentences of the causes.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyOpen:     "commands read the whole workspace and the system's own directories: nothing is closed in what is open",
		whySystem:   "Cursor lets commands read the directories of the system's programs, libraries and certificates",
		whyInside:   "a directory in which the policy has an exception is not opened for writing, and one beside the workspace not at all",
		whyAbsolute: "from where a path counts that is not absolute, or has a wildcard, is not documented, so it has no entry",
		whyKept:     "Cursor lets no command write its own files, and those of git, editors and shells",
		whyHidden:   "Cursor's own list of ignored files closes names such as .env and *.pem",
		whyHosts:    "an entry has no port, so it would open more than the rule",
		whyLayers: "assumes that this is the workspace's .cursor/sandbox.json, which wins over the user's, that commands run in the sandbox, and that " +
			"Cursor does as it documents",
	}
}

func holder(plan *writer.Plan) *writer.Holder {
	return &writer.Holder{
		Plan: plan, Host: whyHosts,
		Default: map[ir.Aspect]ir.Held{
			ir.AspectRead: writer.More(whySystem), ir.AspectExecute: writer.More(whySystem),
			ir.AspectCreate: backends.Exact, ir.AspectUpdate: backends.Exact,
			ir.AspectDelete: backends.Exact, ir.AspectMetadata: backends.Exact, ir.AspectMove: backends.Exact,
			ir.AspectSocket: writer.Assumed(whyLayers),
			ir.AspectOthers: writer.Assumed(whyLayers),
		},
		Written: func(*writer.Place) ir.Held { return writer.Less(whyKept) },
		Closed:  backends.Exact, Opened: backends.Exact, Open: whyOpen, Blocked: whyHidden,
		Moves: true, Socket: writer.Assumed(whyLayers), SocketLess: writer.Less(writer.WhySocket),
		Signal: writer.Assumed(whyLayers), Listen: writer.Assumed(whyLayers),
		Env:      writer.Nothing(writer.WhyEnv),
		Passed:   func(*ir.EnvRule) ir.Held { return backends.Exact },
		Withheld: func(*ir.EnvRule) ir.Held { return writer.Nothing(writer.WhyEnv) },
	}
}
