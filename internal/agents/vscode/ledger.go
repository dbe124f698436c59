package vscode

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger that VS Code alone has.
const (
	whyPerson   ir.CauseID = "vscode.person"
	whyAsked    ir.CauseID = "vscode.asked"
	whyTools    ir.CauseID = "vscode.tools"
	whyOpen     ir.CauseID = "vscode.open"
	whyKept     ir.CauseID = "vscode.kept"
	whyOutside  ir.CauseID = "vscode.outside"
	whyAnywhere ir.CauseID = "vscode.anywhere"
	whyHosts    ir.CauseID = "vscode.hosts"
	whyLayers   ir.CauseID = "vscode.layers"
)

// Sentences are the sentences of the causes.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyPerson:  "VS Code asks a person instead of refusing, and the sandbox of a command that the person permits is not documented to keep to the policy",
		whyAsked:   "each command is asked about",
		whyTools:   "removing a file and changing its mode take a command",
		whyOpen:    "VS Code's own tools read the whole workspace unasked",
		whyKept:    "edits of files by which agents and editors start programs are always asked about, such as those in .vscode and in hidden directories of the home",
		whyOutside: "each file outside of the workspace is asked about",
		whyAnywhere: "without the path of the workspace (build --resolve) a pattern is about every path that ends like the place, so it closes all of them and " +
			"opens none again",
		whyHosts: "an entry has no port, so it would open more than the rule",
		whyLayers: "assumes that no other layer of VS Code's settings, nor the session's permission level, says otherwise, and that VS Code does as its " +
			"documentation and its published source say: it was not tried",
	}
}

func holder(plan *writer.Plan, anchored bool) *writer.Holder {
	loose, asked := writer.More(whyPerson, whyLayers), writer.Less(whyAsked)
	return &writer.Holder{
		Plan: plan, Host: whyHosts, Loose: loose,
		Default: map[ir.Aspect]ir.Held{
			ir.AspectRead: loose, ir.AspectExecute: loose, ir.AspectCreate: loose, ir.AspectUpdate: loose,
			ir.AspectDelete:   loose,
			ir.AspectMetadata: loose, ir.AspectMove: loose, ir.AspectSocket: loose,
			ir.AspectOthers: writer.Assumed(whyLayers),
		},
		Except: map[ir.Aspect]ir.Held{
			ir.AspectExecute: asked, ir.AspectSocket: asked, ir.AspectDelete: writer.Less(whyTools),
			ir.AspectMetadata: writer.Less(whyTools),
			ir.AspectMove:     loose,
		},
		Written: func(*writer.Place) ir.Held {
			if !anchored {
				return writer.Less(whyKept, whyAnywhere)
			}
			return writer.Less(whyKept)
		},
		Closed: backends.Exact, Opened: backends.Exact, Patterns: backends.Exact, Open: whyOpen,
		Signal: loose, Listen: loose, Env: loose,
		Passed:   func(*ir.EnvRule) ir.Held { return asked },
		Withheld: func(*ir.EnvRule) ir.Held { return loose },
		Programs: &writer.Programs{
			Any: asked, Others: loose, Args: loose, Listed: func(*ir.CommandRule) ir.Held { return asked },
		},
	}
}
