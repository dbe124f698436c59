package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/visible"
)

// Outcome is the answer of a policy to a call.
type Outcome uint8

// The outcomes. Of several parts of one call the highest counts.
const (
	Allow Outcome = iota + 1
	// Pass is no objection: the agent's own settings decide.
	Pass
	// Ask leaves the call to a person.
	Ask
	Deny
)

// String returns the word of agents and of the audit log.
func (o Outcome) String() string {
	switch o {
	case Allow:
		return "allow"
	case Pass:
		return "pass"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	default:
		return "deny"
	}
}

// Answer is the answer to an event.
type Answer struct {
	Outcome Outcome
	// Reason is for the reader of the answer, Asked the text that was refused.
	Reason, Asked string
	// Command is the line that takes the place of the agent's, empty for none; Held says that the
	// agent's line is such a line already.
	Command string
	Held    bool
	// Person says that nobody but a person may answer the question, Rule that a rule asks it.
	Person, Rule bool
	// Context is a text for the model about a used tool.
	Context string
}

// and joins the answers to two parts of one call.
func (a Answer) and(b Answer) Answer {
	person, rule := a.Person || b.Person, a.Rule && b.Rule
	if a.Outcome != b.Outcome {
		rule = a.Rule && a.Outcome > b.Outcome || b.Rule && b.Outcome > a.Outcome
	}
	if b.Outcome > a.Outcome {
		a = b
	}
	a.Person, a.Rule = person, rule
	return a
}

// Refusal is the reason of a refusal alone: some agents take no other.
func (a *Answer) Refusal() string {
	if a.Outcome != Deny {
		return ""
	}
	return a.Reason
}

// Input is the input of the call with the line of the answer, nil for none.
func (a *Answer) Input(e *Event) Raw {
	if a.Command == "" {
		return nil
	}
	return e.Call.rewritten(a.Command)
}

// Raw is JSON within a document.
type Raw = json.RawMessage

// JSON writes a text as JSON, nothing for an empty one.
func JSON(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return bytes.TrimSpace(jsonrpc.Line(s))
}

// Reply is the output of a hook's process on both streams, and its exit status.
type Reply struct {
	Out    []byte
	Err    string
	Status int
}

// Settle is the answer that the agent can give effect to. One that it has no word for becomes the
// nearest one that permits less; a command that is held to the policy can go on.
// See decision D145.
func (a *Agent) Settle(e *Event, ans Answer) Answer {
	switch {
	case ans.Outcome != Ask || e.Asks:
	case (ans.Command != "" || ans.Held) && (!ans.Person || e.AskedLater):
		ans.Outcome = Allow
	default:
		ans.Outcome, ans.Command = Deny, ""
		ans.Reason += fmt.Sprintf("; %s lets no hook ask a person, so it is refused", a.Title)
	}
	ans.Reason, ans.Asked = cut(ans.Reason), cut(ans.Asked)
	return ans
}

// longest is the length of a reason, in bytes. Agents hand the whole of it to the model.
const longest = 4000

// cut shortens a text that repeats a long one.
func cut(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest/2], "") + " … " + strings.ToValidUTF8(s[len(s)-longest/2:], "")
}

// Reply puts a settled answer to an event into the agent's form. Agents show its texts to the person
// whom they ask, and those repeat texts of models and repositories.
func (a *Agent) Reply(e *Event, ans Answer) Reply {
	if ans.Reason != "" {
		ans.Reason = "accessc: " + visible.Message(ans.Reason)
	}
	ans.Context = visible.Lines(ans.Context)
	r := Reply{}
	if doc := a.Write(e, &ans); doc != nil {
		r.Out = jsonrpc.Line(doc)
	}
	if ans.Outcome == Deny && a.Status != 0 {
		r.Err, r.Status = ans.Reason, a.Status
	}
	return r
}

// Fail is the refusal for a mistake: in the agent's form, and by the exit status that blocks,
// which counts for agents that cannot read the form.
func (a *Agent) Fail(why string) Reply {
	e := &Event{Name: "PreToolUse", Stage: Before}
	r := a.Reply(e, Answer{Outcome: Deny, Reason: why})
	r.Err, r.Status = "accessc: "+visible.Message(why), Blocks
	return r
}
