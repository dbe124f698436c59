package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/internal/text/visible"
)

// Session judges the messages between one client and one start of a server.
type Session struct {
	policy *Policy
	log    *relay.Log
	made   *invocations.Session

	mu sync.Mutex
	// waiting are the tools of calls without an answer yet, by their ids.
	waiting map[string]string
}

// maxWaiting bounds the calls that are waited for. One more completes nothing.
const maxWaiting = 1 << 16

// NewSession returns the session of a server that is about to start, which counts the calls that
// it passes on.
func NewSession(p *Policy, made *invocations.Session, log *relay.Log) *Session {
	return &Session{policy: p, log: log, made: made, waiting: map[string]string{}}
}

// toolsCall is the method that calls a tool.
const toolsCall = "tools/call"

// verdict is the judgement of one message: an empty refusal lets it pass.
type verdict struct {
	message *jsonrpc.Message
	tool    string
	refusal string
	asked   string
	// judged is true where the policy is about the message.
	judged bool
}

// FromClient judges a line of the client. A refused message is answered in the server's place. A
// batch passes whole or not at all.
// See decision D140.
func (s *Session) FromClient(line []byte, long *jsonrpc.Outline) (forward, back []byte) {
	if long != nil {
		return nil, s.log.Unread(relay.FromClient, long, jsonrpc.CodeInvalid, relay.TooLong())
	}
	messages, batch, err := jsonrpc.Parse(line)
	if err != nil {
		return nil, s.log.Unread(relay.FromClient, jsonrpc.Sketch(line), jsonrpc.CodeParse, err.Error())
	}
	return s.decide(line, messages, batch)
}

// errRefused is the end of a line that is not passed on.
var errRefused = errors.New("refused")

// decide judges the messages of a line, one after the other.
func (s *Session) decide(line []byte, messages []jsonrpc.Message, batch bool) (forward, back []byte) {
	verdicts := make([]verdict, len(messages))
	judgeAll := func(made invocations.Counts) (err error) {
		for i := range messages {
			if verdicts[i] = s.judge(&messages[i], made); verdicts[i].refusal != "" {
				err = errRefused
			}
		}
		return err
	}
	var err error
	if slices.ContainsFunc(messages, func(m jsonrpc.Message) bool { return m.Method == toolsCall }) {
		err = s.made.Take(judgeAll)
	} else {
		err = judgeAll(nil)
	}
	refuseAll := func(why error) {
		for i := range messages {
			verdicts[i] = verdict{message: &messages[i], refusal: why.Error(), judged: true}
		}
	}
	if err != nil && !errors.Is(err, errRefused) {
		refuseAll(err)
	}
	if wrong := s.record(verdicts, err != nil); wrong != nil && err == nil {
		refuseAll(wrong)
		err = wrong
	}
	if err == nil {
		s.wait(verdicts)
		return line, nil
	}
	return nil, answers(verdicts, batch)
}

// wait remembers the calls of a line that passes. Two calls of one id are told apart by nobody, so neither completes.
func (s *Session) wait(verdicts []verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range verdicts {
		id := v.message.ID
		switch _, twice := s.waiting[id]; {
		case v.tool == "" || id == "":
		case twice:
			s.waiting[id] = ""
		case len(s.waiting) < maxWaiting:
			s.waiting[id] = v.tool
		}
	}
}

// answered counts the call that a message of the server answers, if it is an answer without an error. An answer that cannot be
// counted has others wait.
func (s *Session) answered(m *jsonrpc.Message) {
	if m.Method != "" || m.ID == "" {
		return
	}
	s.mu.Lock()
	tool := s.waiting[m.ID]
	delete(s.waiting, m.ID)
	s.mu.Unlock()
	failed := m.Result.Get("isError")
	if tool == "" || !m.Result.IsObject() || m.Value.Get("error").Exists() || failed.Exists() && failed.Type != strictjson.False {
		return
	}
	_ = s.made.Take(func(made invocations.Counts) error {
		s.policy.Complete(made, tool)
		return nil
	})
}

// judge decides about one message, and counts a call.
func (s *Session) judge(m *jsonrpc.Message, made invocations.Counts) verdict {
	v := verdict{message: m, judged: true}
	var refused *judge.Refusal
	var err error
	switch m.Method {
	case toolsCall:
		v.tool, refused, err = s.call(m.Params)
		if err == nil && refused == nil {
			v.refusal, v.asked, err = s.policy.runs(m.Params, "name", "_meta")
		}
	case "resources/read", "resources/subscribe":
		refused, err = s.resource(m.Params)
	default:
		err = m.OtherCase(toolsCall, "resources/read", "resources/subscribe")
		v.judged = err != nil
	}
	switch {
	case err != nil:
		v.refusal = err.Error()
	case v.tool != "" && s.policy.refuses(v.tool) != "":
		v.refusal = s.policy.refuses(v.tool)
	case refused != nil:
		v.refusal, v.asked = refused.Text(), refused.Asked
	case v.refusal != "":
	case v.tool != "":
		v.refusal = s.policy.Count(made, v.tool)
	}
	return v
}

// call judges the arguments of a call, and names its tool. A server may read members that the
// protocol does not know, so these are judged like arguments. "_meta" is the client's own word.
func (s *Session) call(params strictjson.Value) (tool string, refused *judge.Refusal, err error) {
	members, err := jsonrpc.Members(params, "name", "arguments")
	if err != nil {
		return "", nil, err
	}
	name := members["name"]
	if name.Type != strictjson.String || name.Str == "" {
		return "", nil, errors.New("the call names no tool")
	}
	for _, member := range []string{"arguments", "_meta"} {
		if v := members[member]; v.Exists() && !v.IsObject() {
			return "", nil, errors.New(member + " of the call is no object, which servers read in ways of their own")
		}
	}
	delete(members, "name")
	delete(members, "_meta")
	for _, member := range slices.Sorted(maps.Keys(members)) {
		err = jsonrpc.Strings(members[member], "", func(member, text string) {
			if refused == nil {
				refused = s.policy.Judge.Argument(member, text)
			}
		})
		if err != nil {
			return "", nil, err
		}
	}
	return name.Str, refused, nil
}

// resource judges the address of a resource.
func (s *Session) resource(params strictjson.Value) (*judge.Refusal, error) {
	members, err := jsonrpc.Members(params, "uri")
	uri := members["uri"]
	if err == nil && (uri.Type != strictjson.String || uri.Str == "") {
		err = errors.New("the request names no resource by a text")
	}
	if err != nil {
		return nil, err
	}
	return s.policy.Judge.Argument("uri", uri.Str), nil
}

// record writes the verdicts down. In a batch with a refusal nothing is allowed.
func (s *Session) record(verdicts []verdict, refused bool) error {
	for _, v := range verdicts {
		if !v.judged {
			continue
		}
		e := relay.Entry{
			Event: relay.EventCall, From: relay.FromClient, ID: json.RawMessage(v.message.ID), Method: v.message.Method, Tool: v.tool,
			Verdict: relay.Allow, Reason: v.refusal, Asked: v.asked,
		}
		if refused {
			e.Verdict = relay.Deny
		}
		if err := s.log.Add(e); err != nil {
			return err
		}
	}
	return nil
}

// answers are those to the requests of a line of which one was refused.
func answers(verdicts []verdict, batch bool) []byte {
	var out [][]byte
	for _, v := range verdicts {
		if v.message.Request() {
			out = append(out, bytes.TrimSuffix(v.answer(), []byte("\n")))
		}
	}
	switch {
	case len(out) == 0:
		return nil
	case !batch:
		return append(out[0], '\n')
	default:
		return append(append([]byte("["), bytes.Join(out, []byte(","))...), "]\n"...)
	}
}

// content is a text in the result of a call.
type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// answer says why the server did not get a message. A model reads the results of calls, and only
// its client errors, so a refused call has a result.
func (v verdict) answer() []byte {
	if v.refusal == "" {
		return jsonrpc.Fail(v.message.ID, jsonrpc.CodeRefused, "accessc: another message of the batch was refused")
	}
	if v.message.Method != toolsCall {
		return jsonrpc.Fail(v.message.ID, jsonrpc.CodeRefused, visible.Message("accessc: refused: "+v.refusal))
	}
	text := visible.Message("accessc refused " + cmp.Or(v.tool, "the call") + ": " + v.refusal)
	return jsonrpc.Answer(v.message.ID, struct {
		Content []content `json:"content"`
		Error   bool      `json:"isError"`
	}{[]content{{"text", text}}, true})
}

// FromServer passes a line of the server on, without the tools that may not be called. An answer
// that is too long is an error for the client, a request that is one for the server.
func (s *Session) FromServer(line []byte, long *jsonrpc.Outline) (forward, back []byte) {
	if long != nil {
		return s.log.UnreadAnswer(long)
	}
	messages, _, err := jsonrpc.Parse(line)
	if err != nil {
		return nil, s.log.Unread(relay.FromServer, jsonrpc.Sketch(line), jsonrpc.CodeParse, err.Error())
	}
	// From the last to the first, so that the places of those before stay.
	for i := len(messages) - 1; i >= 0; i-- {
		s.answered(&messages[i])
		tools, err := listed(messages[i])
		if err != nil {
			_ = s.log.Unread(relay.FromServer, jsonrpc.Sketch(line), jsonrpc.CodeInvalid, err.Error())
			return jsonrpc.Fail(messages[i].ID, jsonrpc.CodeRefused, "accessc: "+err.Error()), nil
		}
		if tools.IsArray() {
			line = s.filter(line, tools)
		}
	}
	return line, nil
}

// listed returns the tools that a message lists. Every result with tools counts: which request it
// answers only its server knows, and some clients take a message with a method for an answer, too.
func listed(m jsonrpc.Message) (strictjson.Value, error) {
	if !m.Result.IsObject() {
		return strictjson.Value{}, nil
	}
	members, err := jsonrpc.Members(m.Result, "tools")
	return members["tools"], err
}

func (s *Session) filter(line []byte, tools strictjson.Value) []byte {
	var hidden []string
	out := jsonrpc.Filter(line, tools, func(tool strictjson.Value) bool {
		members, err := jsonrpc.Members(tool)
		name := members["name"].Str
		if err == nil && s.policy.refuses(name) == "" {
			return true
		}
		hidden = append(hidden, name)
		return false
	})
	if hidden != nil {
		// A listing grants nothing, so it does not depend on the log.
		_ = s.log.Add(relay.Entry{Event: relay.EventHidden, From: relay.FromServer, Hidden: hidden})
	}
	return out
}
