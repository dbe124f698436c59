package acp

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// The bounds of an agent's words that are kept: sessions, tool calls of a session, bytes of the
// input of a call, and its paths.
const (
	maxSessions = 1024
	maxCalls    = 256
	maxInput    = 64 << 10
	maxPaths    = 64
)

// session is one conversation, in one directory.
type session struct {
	// policy is that of the directory; err is why there is none.
	policy *Policy
	err    error
	// calls are the latest tool calls, in order.
	calls []*known
	// permitted are the commands that were permitted and counted, and for which no terminal was created yet.
	permitted []string
	// cancelled is true from the cancelling of a prompt to the next one.
	cancelled bool
}

// known is a tool call by its id.
type known struct {
	id string
	call
}

// learn keeps an agent's words about a tool call, and returns all of them.
func (s *session) learn(id string, c call) call {
	if len(c.input.Raw) > maxInput {
		c.input = strictjson.Value{}
	}
	// The value is a part of a line, which may be long.
	c.input = strictjson.Raw(strings.Clone(c.input.Raw)).Value()
	if i := slices.IndexFunc(s.calls, func(k *known) bool { return k.id == id }); i >= 0 {
		s.calls[i].call = c.over(s.calls[i].call)
		return s.calls[i].call
	}
	if len(s.calls) == maxCalls {
		s.calls = slices.Delete(s.calls, 0, 1)
	}
	s.calls = append(s.calls, &known{id, c})
	return c
}

// known is the description of a tool call so far.
func (s *session) known(id string) call {
	for _, k := range s.calls {
		if k.id == id {
			return k.call
		}
	}
	return call{}
}

// invoke holds the constraints of the tool for a command. A permission and the terminal that it is for are one
// invocation. A terminal that passes is one, whether the policy or a person permits it.
func (s *session) invoke(c action.Command, v action.Verdict, terminal bool) action.Verdict {
	if i := slices.Index(s.permitted, c.Text()); terminal && i >= 0 && v.Outcome != action.Deny {
		s.permitted = slices.Delete(s.permitted, i, i+1)
		return v
	}
	was := v
	if terminal && v.Outcome == action.Unknown {
		v.Outcome = action.Allow
	}
	if v = s.policy.invoke(v); v.Outcome == action.Deny {
		return v
	}
	if !terminal && v.Outcome == action.Allow && len(s.permitted) < maxCalls {
		s.permitted = append(s.permitted, c.Text())
	}
	return was
}
