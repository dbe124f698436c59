package acp

import (
	"cmp"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// permission judges a request for permission.
func permission(s *session, params strictjson.Value) ruling {
	members, err := jsonrpc.Members(params, "sessionId", "toolCall", "subject", "options")
	r := ruling{reply: answerPermission(members["options"])}
	switch {
	case err != nil:
		r.Verdict = action.Refused(err.Error(), "")
	case s.cancelled:
		r.Verdict = action.Refused("the prompt was cancelled", "")
		r.reply = func(action.Outcome) any { return chosen("") }
	default:
		if members["toolCall"].Exists() {
			r.Verdict = s.asked(members["toolCall"])
		}
		if members["subject"].Exists() {
			r.Verdict = r.And(s.about(members["subject"]))
		}
		r.Verdict = cmp.Or(r.Verdict, action.Left("the request is about no tool call"))
	}
	return r
}

// about judges the subject of a request for permission, as version 2 of the protocol has it.
func (s *session) about(subject strictjson.Value) action.Verdict {
	members, err := jsonrpc.Members(subject, "type", "toolCall", "command", "cwd", "toolCallId")
	switch {
	case err != nil && subject.Type == strictjson.Null:
		return action.Verdict{}
	case err != nil:
		return action.Refused(err.Error(), "")
	case members["type"].Str == "tool_call":
		return s.asked(members["toolCall"])
	case members["type"].Str != "command":
		return action.Left("the subject of the request is not known")
	}
	c := action.Command{Line: members["command"].Str, Dir: members["cwd"].Str}
	v := s.policy.Command(c)
	// The agent's earlier description of the call may be a reason to refuse, too.
	if said := judged(s.policy.Judge, s.known(members["toolCallId"].Str)); said.Outcome == action.Deny {
		v = v.And(said)
	}
	return s.invoke(c, v, false)
}

// asked judges the tool call of a request for permission.
func (s *session) asked(toolCall strictjson.Value) action.Verdict {
	id, c, err := readCall(toolCall)
	if err != nil {
		return action.Refused(err.Error(), "")
	}
	if len(c.input.Raw) > maxInput {
		return action.Left("the input of the tool is too long")
	}
	c = c.over(s.known(id))
	v := judged(s.policy.Judge, c)
	if command, ok := commandOf(c.input); ok {
		v = s.invoke(command, v, false)
	}
	return v
}

// answerPermission answers a request for permission by one of its options. A request that the
// policy does not decide is left to the client. No answer is for more than one request.
func answerPermission(options strictjson.Value) func(action.Outcome) any {
	return func(o action.Outcome) any {
		switch o {
		case action.Allow:
			return chosen(choose(options, allowOnce))
		case action.Deny:
			return chosen(choose(options, rejectOnce))
		case action.Unknown:
		}
		return nil
	}
}
