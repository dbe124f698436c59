package tool

import (
	"encoding/json"
	"slices"

	"github.com/accessc/accessc/backends/contextjson"
)

// The actions of a call. A tool that is to format its arguments prints how a run with them would
// look to the user, and does nothing else. The policy is the same for both, so that a tool
// which runs all the same can do no more.
const (
	ActionRun             = contextjson.Run
	ActionFormatArguments = contextjson.FormatArguments
)

// Call is a host's call of a tool, as the Context carries it.
type Call struct {
	// Action is [ActionRun] or [ActionFormatArguments]; newer hosts may know more.
	Action string
	// WorkspaceID and ConversationID are the host's names of the workspace and the conversation, for
	// a tool to keep its state apart; empty where the host gives none. They are no paths.
	WorkspaceID, ConversationID string
	// Arguments, Answers and Options are JSON objects, nil where the host gives none: the model's
	// arguments, the user's answers to questions of this tool by the questions' names, and the
	// configuration that the host has for the tool.
	Arguments, Answers, Options json.RawMessage
}

func callOf(doc *contextjson.Context) Call {
	return Call{doc.Action, doc.WorkspaceID, doc.ConversationID, doc.Arguments, doc.Answers, doc.Options}
}

func (c Call) clone() Call {
	c.Arguments, c.Answers, c.Options = slices.Clone(c.Arguments), slices.Clone(c.Answers), slices.Clone(c.Options)
	return c
}
