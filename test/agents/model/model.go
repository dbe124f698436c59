// Package model is a model for tests of agents: a server on loopback that answers from a script
// and keeps the requests. It speaks Anthropic's Messages API and OpenAI's Responses API,
// with streaming.
package model

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// A Turn is one answer of the model: a call of a tool, or words.
type Turn struct {
	tool  string
	input any
	words string
}

// Call is a turn that calls one of the agent's tools. If input is a string, the tool takes text
// without a schema.
func Call(tool string, input any) Turn { return Turn{tool: tool, input: input} }

// Say is a turn of words, after which the agent ends.
func Say(words string) Turn { return Turn{words: words} }

// script are the turns of one conversation.
type script struct {
	turns []Turn
	taken int
}

// Server answers each request that offers tools by the next turn of its script, and repeats
// the last one.
type Server struct {
	URL string

	http    *httptest.Server
	mu      sync.Mutex
	scripts map[string]*script // by a text of the conversation's first message
	answers int
	last    string
	results []string
	known   map[string]bool // the calls whose results have arrived
}

// Start starts a server on loopback.
func Start(turns ...Turn) *Server {
	s := &Server{scripts: map[string]*script{"": {turns: turns}}, known: map[string]bool{}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Converse has another script for the conversation that begins with a prompt, that of a subagent.
func (s *Server) Converse(prompt string, turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[prompt] = &script{turns: turns}
}

// Close ends the server, and connections that are open.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Last returns the text of the last request: all that the model was told.
func (s *Server) Last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Results returns the results of tools that have reached the model, each once and in order.
func (s *Server) Results() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.results)
}

// asked is the part of a request that the script depends on, in both protocols.
type asked struct {
	Model    string
	Stream   bool
	Tools    []json.RawMessage
	Messages []struct{ Content json.RawMessage }
	Input    json.RawMessage
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var q asked
	_ = json.Unmarshal(body, &q) // other requests have other bodies, or none
	responses := strings.HasSuffix(r.URL.Path, "/responses")
	messages := strings.HasSuffix(r.URL.Path, "/messages")
	turn, number := s.next(string(body), q)
	switch {
	case r.Method != http.MethodPost || !responses && !messages:
		reply(w, map[string]any{"input_tokens": 1, "data": []any{}, "models": []any{}})
	case responses:
		stream(w, turn.responses(number))
	case q.Stream:
		stream(w, turn.messages(number, q.Model))
	default:
		reply(w, turn.message(number, q.Model))
	}
}

// next keeps a request, and returns the turn that answers it, and its number.
func (s *Server) next(body string, q asked) (Turn, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(q.Tools) == 0 {
		return Say("ok"), 0 // a title, a summary or a probe
	}
	s.last = body
	for _, m := range q.Messages {
		s.keep(m.Content)
	}
	s.keep(q.Input)
	now := s.scripts[""]
	for prompt, of := range s.scripts {
		if prompt != "" && len(q.Messages) > 0 && strings.Contains(string(q.Messages[0].Content), prompt) {
			now = of
		}
	}
	now.taken++
	s.answers++
	return now.turns[min(now.taken, len(now.turns))-1], s.answers
}

// keep keeps the results among the parts of a message.
func (s *Server) keep(parts json.RawMessage) {
	var all []struct {
		Type    string
		Use     string `json:"tool_use_id"`
		Call    string `json:"call_id"`
		Content json.RawMessage
		Output  json.RawMessage
	}
	if json.Unmarshal(parts, &all) != nil {
		return // a message may be one text
	}
	for _, p := range all {
		id := p.Use + p.Call
		if !strings.HasSuffix(p.Type, "tool_result") && !strings.HasSuffix(p.Type, "call_output") || s.known[id] {
			continue
		}
		s.known[id] = true
		s.results = append(s.results, text(p.Content)+text(p.Output))
	}
}

// text is the text of a result: it is a string, or a list of parts that have one.
func text(result json.RawMessage) string {
	var words string
	var parts []struct{ Text string }
	switch {
	case len(result) == 0:
		return ""
	case json.Unmarshal(result, &words) == nil:
		return words
	case json.Unmarshal(result, &parts) == nil:
		for _, p := range parts {
			words += p.Text
		}
		return words
	}
	return string(result)
}

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// An event is one of a stream.
type event map[string]any

// stream writes server-sent events, each named by its type.
func stream(w http.ResponseWriter, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			panic(err) // a test's own script
		}
		_, _ = io.WriteString(w, "event: "+e["type"].(string)+"\ndata: "+string(data)+"\n\n")
	}
}
