package acp

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"sync"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// Proxy judges the messages between one client and one start of an agent.
type Proxy struct {
	policies Policies
	log      *relay.Log

	mu sync.Mutex
	// opening are the directories of the sessions that the client has asked for, by the ids of
	// its requests.
	opening  map[string]string
	sessions map[string]*session
}

// NewProxy returns the proxy of an agent that is about to start.
func NewProxy(policies Policies, log *relay.Log) *Proxy {
	return &Proxy{policies: policies, log: log, opening: map[string]string{}, sessions: map[string]*session{}}
}

// errSession is the reason to refuse a message of no session.
var errSession = errors.New("the session is not one that the client has opened")

// FromClient follows the client's messages and passes them on.
func (p *Proxy) FromClient(line []byte, long *jsonrpc.Outline) (forward, back []byte) {
	if long != nil {
		return nil, p.log.Unread(relay.FromClient, long, jsonrpc.CodeInvalid, relay.TooLong())
	}
	messages, _, err := jsonrpc.Parse(line)
	if err != nil {
		return nil, p.log.Unread(relay.FromClient, jsonrpc.Sketch(line), jsonrpc.CodeParse, err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range messages {
		p.follow(&messages[i])
	}
	return line, nil
}

// follow keeps track of sessions.
func (p *Proxy) follow(m *jsonrpc.Message) {
	members, err := jsonrpc.Members(m.Params, "sessionId", "cwd", "modeId")
	if err != nil {
		return // a session that is not known has no permissions
	}
	id := members["sessionId"].Str
	switch m.Method {
	case "session/new":
		if len(p.opening) < maxSessions {
			p.opening[m.ID] = members["cwd"].Str
		}
	case "session/load", "session/resume":
		p.open(id, members["cwd"].Str)
	case "session/close", "session/delete":
		delete(p.sessions, id)
	case "session/cancel":
		if s := p.sessions[id]; s != nil {
			s.cancelled = true
		}
	case "session/prompt":
		if s := p.sessions[id]; s != nil {
			s.cancelled = false
		}
	case "session/set_mode":
		p.mode(relay.FromClient, id, members["modeId"].Str)
	case "session/set_config_option":
		p.mode(relay.FromClient, id, members["configId"].Str+"="+members["value"].String())
	}
}

// mode records that a session works in another mode, in which an agent may ask less.
func (p *Proxy) mode(from, session, mode string) {
	_ = p.log.Add(relay.Entry{Event: relay.EventMode, From: from, Session: session, Mode: mode})
}

// open begins a session in a directory.
func (p *Proxy) open(id, dir string) {
	if p.sessions[id] == nil && len(p.sessions) == maxSessions {
		return
	}
	s := &session{}
	s.policy, s.err = p.policies.For(dir)
	p.sessions[id] = s
}

// FromAgent answers the agent in the client's place where the policy decides, and passes on
// everything else.
func (p *Proxy) FromAgent(line []byte, long *jsonrpc.Outline) (forward, back []byte) {
	if long != nil {
		return p.log.UnreadAnswer(long)
	}
	messages, batch, err := jsonrpc.Parse(line)
	if err != nil {
		return nil, p.log.Unread(relay.FromServer, jsonrpc.Sketch(line), jsonrpc.CodeParse, err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range messages {
		m := &messages[i]
		gate := gates[m.Method]
		err := m.OtherCase(slices.Collect(maps.Keys(gates))...)
		switch {
		case err != nil:
			return nil, p.log.Unread(relay.FromServer, jsonrpc.Sketch(line), jsonrpc.CodeInvalid, err.Error())
		case gate == nil:
			p.hear(m)
		case batch:
			// ACP has no batches, so no agent misses an answer.
			return nil, p.log.Unread(relay.FromServer, &jsonrpc.Outline{}, jsonrpc.CodeInvalid, "a batch asks for what the policy judges")
		default:
			return p.judge(line, m, gate)
		}
	}
	return line, nil
}

// hear keeps an agent's words about its sessions and calls.
func (p *Proxy) hear(m *jsonrpc.Message) {
	if m.Method == "" {
		p.opened(m)
		return
	}
	if m.Method != "session/update" {
		return
	}
	members, err := jsonrpc.Members(m.Params, "sessionId", "update")
	s := p.sessions[members["sessionId"].Str]
	if err != nil || s == nil {
		return
	}
	update := members["update"]
	switch update.Get("sessionUpdate").Str {
	case "tool_call", "tool_call_update":
		if id, c, err := readCall(update); err == nil {
			s.learn(id, c)
		}
	case "current_mode_update":
		p.mode(relay.FromServer, members["sessionId"].Str, update.Get("currentModeId").Str)
	}
}

// opened begins the session that an answer is about. An id that is there already is not another
// session's.
func (p *Proxy) opened(m *jsonrpc.Message) {
	dir, ok := p.opening[m.ID]
	if !ok {
		return
	}
	delete(p.opening, m.ID)
	id := m.Result.Get("sessionId").Str
	switch s := p.sessions[id]; {
	case id == "":
	case s != nil:
		s.err = errors.New("two sessions have one id")
	default:
		p.open(id, dir)
		if mode := m.Result.Get("modes", "currentModeId").Str; mode != "" {
			p.mode(relay.FromServer, id, mode)
		}
	}
}

// ruling is the judgement of a request.
type ruling struct {
	action.Verdict
	// reply is the answer in the client's place for an outcome, nil where there is none.
	reply func(action.Outcome) any
	// rewrite changes the line that is passed on; nil leaves it as it is.
	rewrite func(line []byte) []byte
}

// denied is the ruling about a request that is answered with an error where the policy refuses, and
// else left to the client.
func denied(v action.Verdict) ruling {
	return ruling{Verdict: v, reply: func(action.Outcome) any { return nil }}
}

// gate judges a request of the agent.
type gate func(s *session, params strictjson.Value) ruling

// gates are the requests that the policy is about.
var gates = map[string]gate{
	"session/request_permission": permission,
	"fs/read_text_file":          file(ir.Read),
	"fs/write_text_file":         file(ir.Update),
	"terminal/create":            terminal,
}

// judge decides about a request.
func (p *Proxy) judge(line []byte, m *jsonrpc.Message, g gate) (forward, back []byte) {
	r := p.rule(m, g)
	entry := relay.Entry{
		Event: relay.EventCall, From: relay.FromServer, ID: json.RawMessage(m.ID), Method: m.Method, Session: m.Params.Get("sessionId").Str,
		Verdict: r.Outcome.String(), Reason: r.Reason, Asked: r.Asked,
	}
	if err := p.log.Add(entry); err != nil {
		r.Verdict = action.Refused(err.Error(), "")
	}
	result := r.reply(r.Outcome)
	switch {
	case m.ID == "":
		return nil, nil // a request without an id asks for nothing
	case result != nil:
		return nil, jsonrpc.Answer(m.ID, result)
	case r.Outcome == action.Deny:
		return nil, jsonrpc.Fail(m.ID, jsonrpc.CodeRefused, visible.Message("accessc: refused: "+r.Reason))
	case r.rewrite != nil:
		return r.rewrite(line), nil
	default:
		return line, nil
	}
}

// rule asks the policy of the request's session. Where there is none, everything is denied.
func (p *Proxy) rule(m *jsonrpc.Message, g gate) ruling {
	members, err := jsonrpc.Members(m.Params, "sessionId")
	s := p.sessions[members["sessionId"].Str]
	switch {
	case err != nil:
	case s == nil:
		err = errSession
	default:
		err = s.err
	}
	if err == nil {
		return g(s, m.Params)
	}
	r := denied(action.Refused(err.Error(), ""))
	if m.Method == "session/request_permission" {
		r.reply = answerPermission(m.Params.Get("options"))
	}
	return r
}

// file judges a request for a file.
func file(need ir.Capability) gate {
	return func(s *session, params strictjson.Value) ruling {
		members, err := jsonrpc.Members(params, "sessionId", "path")
		if err == nil && members["path"].Type != strictjson.String {
			err = errors.New("the path is no text")
		}
		if err != nil {
			return denied(action.Refused(err.Error(), ""))
		}
		at := members["path"].Str
		v := action.Of(s.policy.Files.Access(need, at))
		// A client that takes the path for part of a URL opens the file that its escapes spell.
		if plain, err := url.PathUnescape(at); err == nil && plain != at {
			v = v.And(action.Of(s.policy.Files.Access(need, plain)))
		}
		return denied(v)
	}
}
