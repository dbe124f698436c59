package gemini

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger that Gemini CLI alone has.
const (
	whyPerson  ir.CauseID = "gemini.person"
	whyAsked   ir.CauseID = "gemini.asked"
	whyNone    ir.CauseID = "gemini.none"
	whyTools   ir.CauseID = "gemini.tools"
	whyKept    ir.CauseID = "gemini.kept"
	whyOutside ir.CauseID = "gemini.outside"
	whyOdd     ir.CauseID = "gemini.odd"
	whyDeep    ir.CauseID = "gemini.deep"
	whyWeb     ir.CauseID = "gemini.web"
	whyWords   ir.CauseID = "gemini.words"
	whyLinks   ir.CauseID = "gemini.links"
	whyLayers  ir.CauseID = "gemini.layers"
)

// Sentences are the sentences of the causes.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyPerson:  "a command that a person permits is not confined: Gemini CLI's own sandbox lets commands read every file",
		whyAsked:   "each command is asked about, and none runs where no person answers",
		whyNone:    "no command runs",
		whyTools:   "Gemini CLI's own tools neither remove files nor change their modes, and no command runs unasked",
		whyKept:    "Gemini CLI's own tools reach nothing named .env, .git or node_modules, and those that search files are refused",
		whyOutside: "Gemini CLI's own tools reach the workspace alone",
		whyOdd: "a path with a percent sign, a backslash, a quote or a control character is refused, since Gemini CLI decodes it after rules are " +
			"compared, and so is one of 400 characters",
		whyDeep:   "a place that lies in more than 30 others is refused",
		whyWeb:    "no page is fetched: the call of that tool has addresses in a text",
		whyWords:  "a program or an argument that a shell reads in more than one way has no rule",
		whyLinks:  "assumes that no name in the workspace is a symbolic link to a place with other rules, and that a file has one name alone, in one case of letters",
		whyLayers: "assumes that Gemini CLI has this as a file of policies, and no rule above its priority; files that a person mentions with @ are read",
	}
}

// holder states how far the rules hold; asks is true where there are commands that are asked about.
func holder(plan *writer.Plan, asks bool) *writer.Holder {
	command, loose := writer.Less(whyNone), writer.Assumed(whyLinks, whyLayers)
	if asks {
		command, loose = writer.Less(whyAsked), writer.More(whyPerson, whyLinks, whyLayers)
	}
	return &writer.Holder{
		Plan: plan, Host: whyWeb, Loose: loose,
		Default: map[ir.Aspect]ir.Held{
			ir.AspectRead: loose, ir.AspectExecute: loose, ir.AspectCreate: loose, ir.AspectUpdate: loose,
			ir.AspectDelete:   loose,
			ir.AspectMetadata: loose, ir.AspectMove: loose, ir.AspectSocket: loose, ir.AspectOthers: loose,
		},
		Except: map[ir.Aspect]ir.Held{
			ir.AspectExecute: command, ir.AspectSocket: command, ir.AspectDelete: writer.Less(whyTools),
			ir.AspectMetadata: writer.Less(whyTools),
			ir.AspectMove:     loose,
		},
		Written: func(*writer.Place) ir.Held { return writer.Less(whyKept) },
		Closed:  backends.Exact, Opened: backends.Exact, Patterns: backends.Exact, Blocked: whyKept,
		Signal: loose, Listen: loose, Env: loose,
		Passed:   func(*ir.EnvRule) ir.Held { return command },
		Withheld: func(*ir.EnvRule) ir.Held { return loose },
		Programs: &writer.Programs{
			Any: command, Others: loose, Args: loose,
			Listed: func(r *ir.CommandRule) ir.Held {
				return backends.Join(command,
					backends.When(len(writer.Lines(r)) < max(len(r.Args), 1), writer.Less(whyWords)))
			},
		},
	}
}
