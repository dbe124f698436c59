package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/strictjson"
)

const streamHelp = `With --stdin, one process answers many questions. Each line is an object, and each is answered by
one line, in order, as soon as it was read:

  {"tool": "edit", "operation": "read", "target": "src/a"}
  {"operation": "rename", "target": "a", "destination": "b", "id": 7}
  {"operation": "run", "target": "git", "arguments": ["status", "-s"]}
  {"operation": "connect", "method": "POST", "target": "https://example.com"}

tool may be left out if the command line names one; id is any value, and comes back; system asks as
--system does. The answer is that of --format json with the number of its line. A line that is no
question is answered by {"line": N, "error": "..."}, and the next one is read. The configuration is
read again when it has changed, the disk for every question. Exit status 0 if all lines were answered, 2 otherwise.

  printf '%s\n' '{"operation":"read","target":".env"}' | accessc can --stdin edit`

// maxLine bounds a question, in bytes.
const maxLine = 1 << 20

// streamed is one line of input.
type streamed struct {
	ID          json.RawMessage `json:"id"`
	Tool        string          `json:"tool"`
	Operation   string          `json:"operation"`
	Method      *string         `json:"method"`
	Target      *string         `json:"target"`
	Destination *string         `json:"destination"`
	Arguments   []string        `json:"arguments"`
	System      bool            `json:"system"`
}

// reply is one line of output: an answer or an error.
type reply struct {
	Line  int             `json:"line"`
	ID    json.RawMessage `json:"id,omitempty"`
	Error string          `json:"error,omitempty"`
	*explain.AnswerDoc
}

// stream answers the lines of the standard input.
func (c *canCmd) stream(g *globals) error {
	if len(c.Words) > 0 {
		return usagef("--stdin takes questions from the standard input, found %q as well", strings.Join(c.Words, " "))
	}
	res, in, err := g.compileWatched()
	if err != nil {
		return err
	}
	if err := g.sayErrors(res, c.Tool); err != nil {
		return err
	}
	if c.Tool != "" {
		if _, err := askable(res, c.Tool); err != nil {
			return err
		}
	}
	s := stream{tool: c.Tool, system: c.System, style: g.style(g.stdout), g: g, res: res, inputs: in, tools: map[string]*asked{}}
	if err := g.answerLines(func(line []byte, long bool) (any, bool) { return s.reply(line, long) }); err != nil {
		return err
	}
	if s.failed > 0 {
		fmt.Fprintf(g.stderr, "accessc: %s of %d could not be answered\n", plural.Count(s.failed, "line"), s.line)
		return exit(exitUsage)
	}
	return nil
}

// answerLines answers each line of the standard input by a line of JSON, at once where no other
// line waits. A line without answer is skipped.
func (g *globals) answerLines(answer func(line []byte, long bool) (any, bool)) error {
	lines, out := bufio.NewReaderSize(g.stdin, 1<<16), bufio.NewWriter(g.stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, long, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		if r, ok := answer(line, long); ok {
			err = enc.Encode(r)
		}
		if err == nil && lines.Buffered() == 0 {
			// Whoever asks waits for the answer before the next question.
			err = out.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// stream is the state between two lines.
type stream struct {
	tool   string
	system bool
	style  explain.Style
	line   int
	failed int

	g *globals
	// res is the policy as it was read from the inputs, tools are those that were asked about.
	res    *hostfacts.Result
	inputs inputs
	tools  map[string]*asked
}

// reload compiles changed files anew. A host may run for days, and a grant that was taken
// back is no answer any more.
func (s *stream) reload() error {
	if s.inputs.changed() {
		res, in, err := s.g.compileWatched()
		if err != nil {
			return err
		}
		s.res, s.inputs, s.tools = res, in, map[string]*asked{}
	}
	if s.res.Program == nil {
		return errors.New("the configuration has changed and has mistakes: accessc check shows them")
	}
	return nil
}

// reply answers a line; an empty one has no answer.
func (s *stream) reply(line []byte, long bool) (reply, bool) {
	s.line++
	if !long && len(bytes.TrimSpace(line)) == 0 {
		return reply{}, false
	}
	q, err := parseLine(line, long)
	r := reply{Line: s.line, ID: q.ID}
	if err == nil {
		r.AnswerDoc, err = s.ask(q)
	}
	if err != nil {
		s.failed++
		r.Error = err.Error()
	}
	return r, true
}

func parseLine(line []byte, long bool) (streamed, error) {
	var q streamed
	err := decodeLine(line, long, &q, "id, tool, operation, method, target, destination, arguments, system")
	return q, err
}

// decodeLine reads a line of JSON into a struct, which has the keys. A key that stands twice, or in another case, is a
// mistake: whoever wrote the line may read the other value.
func decodeLine(line []byte, long bool, into any, keys string) error {
	switch {
	case long:
		return fmt.Errorf("found a line of more than %d bytes", maxLine)
	case !utf8.Valid(line):
		return errors.New("found invalid UTF-8")
	}
	strict := strictjson.Unmarshal(line, into)
	if strict == nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(line)) // for the words of the mistake, and the id
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return mistake(err, keys)
	}
	if dec.More() {
		return errors.New("found more than one value in a line")
	}
	return fmt.Errorf("found %w", strict)
}

// mistake describes the problem of a line in the words of the input.
func mistake(err error, keys string) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		switch {
		case kind.Field == "":
			return fmt.Errorf("found %s, expected an object", kind.Value)
		case kind.Type.Kind() == reflect.Bool:
			return fmt.Errorf("found %s in %q, expected true or false", kind.Value, kind.Field)
		case kind.Type.Kind() == reflect.Slice:
			return fmt.Errorf("found %s in %q, expected a list of strings", kind.Value, kind.Field)
		default:
			return fmt.Errorf("found %s in %q, expected a string", kind.Value, kind.Field)
		}
	}
	if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("found %s, expected one of %s", key, keys)
	}
	return fmt.Errorf("not JSON: %w", err)
}

// question returns the question of a line. Arguments belong to run alone.
func (q streamed) question() (resolve.Question, error) {
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

func (s *stream) ask(q streamed) (*explain.AnswerDoc, error) {
	question, err := q.question()
	if err != nil {
		return nil, err
	}
	if err := s.reload(); err != nil {
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
		t, err := askable(s.res, q.Tool)
		if err != nil {
			return nil, err
		}
		if a, err = prepare(s.res, t); err != nil {
			return nil, err
		}
		s.tools[q.Tool] = a
	}
	// The disk may have changed since the last line.
	a.asker.Resolver = &resolve.Resolver{Disk: s.res.Pretend(resolve.Through(hostview.Now)), Root: s.res.Resolver.Root}
	answer, err := a.answer(question, q.System || s.system)
	if err != nil {
		return nil, err
	}
	return answer.JSON(s.style), nil
}

// readLine returns the next line without its end, or says that it is too long to be
// returned. The last line needs no end.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && (len(line) > 0 || long):
			return line, long, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
