package asked

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/review/explain"
)

// Line is one line of input.
type Line struct {
	ID          json.RawMessage `json:"id"`
	Tool        string          `json:"tool"`
	Operation   string          `json:"operation"`
	Method      *string         `json:"method"`
	Target      *string         `json:"target"`
	Destination *string         `json:"destination"`
	Arguments   []string        `json:"arguments"`
	System      bool            `json:"system"`
}

// Reply is one line of output: an answer or an error.
type Reply struct {
	Line  int             `json:"line"`
	ID    json.RawMessage `json:"id,omitempty"`
	Error string          `json:"error,omitempty"`
	*explain.AnswerDoc
}

// NewStream answers about tools; lines that name none are about a default one. system is true where all are asked
// about as a system call would be.
func NewStream(of *config.Watched, tool string, system bool, style explain.Style) *Stream {
	return &Stream{tool: tool, system: system, style: style, config: of, tools: map[string]*explain.Judge{}}
}

// Count is how many lines were read, and how many of them could not be answered.
func (s *Stream) Count() (lines, failed int) { return s.line, s.failed }

// Config is the configuration that the answers are by.
func (s *Stream) Config() *config.Watched { return s.config }

// Stream is the state between two lines.
type Stream struct {
	tool   string
	system bool
	style  explain.Style
	line   int
	failed int

	// config is the policy as it was read, tools are those that were asked about.
	config *config.Watched
	tools  map[string]*explain.Judge
}

// Reload compiles changed files anew. A host may run for days, and a grant that was taken
// back is no answer any more.
func (s *Stream) Reload() error {
	if s.config.Changed() {
		now, err := s.config.Again()
		if err != nil {
			return err
		}
		s.config, s.tools = now, map[string]*explain.Judge{}
	}
	if s.config.Program == nil {
		return errors.New("the configuration has changed and has mistakes: accessc check shows them")
	}
	return nil
}

// Reply answers a line; an empty one has no answer.
func (s *Stream) Reply(line []byte, long bool) (Reply, bool) {
	s.line++
	if !long && len(bytes.TrimSpace(line)) == 0 {
		return Reply{}, false
	}
	q, err := parseLine(line, long)
	r := Reply{Line: s.line, ID: q.ID}
	if err == nil {
		r.AnswerDoc, err = s.Ask(q)
	}
	if err != nil {
		s.failed++
		r.Error = err.Error()
	}
	return r, true
}

func parseLine(line []byte, long bool) (Line, error) {
	var q Line
	err := decodeLine(line, long, &q, "id, tool, operation, method, target, destination, arguments, system")
	return q, err
}

// Question returns the question of a line. Arguments belong to run alone.
func (q Line) Question() (resolve.Question, error) {
	words := []string{q.Operation}
	for _, w := range []*string{q.Method, q.Target, q.Destination} {
		if w != nil {
			words = append(words, *w)
		}
	}
	switch {
	case q.Operation == "":
		return resolve.Question{}, errors.New(`found no "operation", expected one such as "read"`)
	case q.Destination != nil && q.Target == nil:
		return resolve.Question{}, errors.New(`found a "destination" without a "target"`)
	case q.Method != nil && (q.Operation != "connect" || q.Target == nil || q.Destination != nil):
		return resolve.Question{}, errors.New(`found a "method", which only connect with a "target" has`)
	case q.Destination != nil && q.Operation == "run":
		return resolve.Question{}, errors.New(`found a "destination", expected "arguments"`)
	case q.Arguments != nil && q.Operation != "run":
		return resolve.Question{}, fmt.Errorf(`found "arguments" of %s, which only run has`, q.Operation)
	}
	return resolve.ParseQuestion(append(words, q.Arguments...))
}

// Ask answers a question by the policy as it is now.
func (s *Stream) Ask(q Line) (*explain.AnswerDoc, error) {
	question, err := q.Question()
	if err != nil {
		return nil, err
	}
	if err := s.Reload(); err != nil {
		return nil, err
	}
	if q.Tool == "" {
		q.Tool = s.tool
	}
	if q.Tool == "" {
		return nil, errors.New(`found no "tool", and the command line names none`)
	}
	a, ok := s.tools[q.Tool]
	if !ok {
		t, err := config.Confined(s.config.Result, q.Tool)
		if err != nil {
			return nil, err
		}
		if a, err = Prepare(s.config.Result, t); err != nil {
			return nil, err
		}
		s.tools[q.Tool] = a
	}
	// The disk may have changed since the last line.
	a.Asker.Resolver = &resolve.Resolver{Disk: s.config.Pretend(resolve.Through(hostview.Now)), Root: s.config.Resolver.Root}
	answer, err := a.Answer(question, q.System || s.system)
	if err != nil {
		return nil, err
	}
	return answer.JSON(s.style), nil
}
