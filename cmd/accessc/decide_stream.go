package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ruleset"
)

const decideStreamHelp = `With --stdin, one process answers many operations, each line by one line, in order:

  {"command": "git status", "id": 7}
  {"operation": "read", "paths": ["src/a"], "cwd": "/home/me/project"}

cwd, operation and shell may be left out, as on the command line; id is any value, and comes back; a fetch
has a url. The answer is that of --format json with the number of its line. A line that is no operation is
answered by {"line": N, "error": "..."}, and has no verdict.`

// decideLine is one line of input.
type decideLine struct {
	ID        json.RawMessage `json:"id"`
	Command   *string         `json:"command"`
	Cwd       string          `json:"cwd"`
	Operation string          `json:"operation"`
	Paths     []string        `json:"paths"`
	URL       string          `json:"url"`
	Shell     string          `json:"shell"`
}

// decideReply is one line of output: an answer or an error.
type decideReply struct {
	Line  int             `json:"line"`
	ID    json.RawMessage `json:"id,omitempty"`
	Error string          `json:"error,omitempty"`
	*decision
}

// decideStream is the state between two lines.
type decideStream struct {
	c      *decideCmd
	g      *globals
	line   int
	failed int

	// res and set are as they were read from the inputs.
	res    *hostfacts.Result
	inputs inputs
	set    *ruleset.Set
	host   *action.Host
}

// stream answers the lines of the standard input.
func (c *decideCmd) stream(g *globals) error {
	if len(c.Words) > 0 {
		return usagef("--stdin takes operations from the standard input, found %q as well", strings.Join(c.Words, " "))
	}
	s := &decideStream{c: c, g: g}
	res, in, err := g.compileWatched()
	if err != nil {
		return err
	}
	if err := g.sayRulesets(res, c.Tool); err != nil {
		return err
	}
	if err := s.use(res, in); err != nil {
		return err
	}
	if err := g.answerLines(func(line []byte, long bool) (any, bool) { return s.reply(line, long) }); err != nil {
		return err
	}
	if s.failed > 0 {
		fmt.Fprintf(g.stderr, "accessc: %s of %d could not be answered\n", plural.Count(s.failed, "line"), s.line)
		return exit(exitUsage)
	}
	return nil
}

// use takes the ruleset and the tool from a compiled configuration.
func (s *decideStream) use(res *hostfacts.Result, in inputs) (err error) {
	s.res, s.inputs = res, in
	if s.set, err = chooseRuleset(res.Rulesets, s.c.Ruleset); err == nil {
		s.host, err = newDecideHost(res, s.c.Tool)
	}
	return err
}

// reload compiles changed files anew.
func (s *decideStream) reload() error {
	if s.inputs.changed() {
		res, in, err := s.g.compileWatched()
		if err != nil {
			return err
		}
		if s.res, s.inputs = res, in; len(res.Rulesets) > 0 && res.Program != nil {
			return s.use(res, in)
		}
		s.set = nil
	}
	if s.set == nil {
		return errors.New("the configuration has changed and has mistakes: accessc check shows them")
	}
	// The disk may have changed since the last line.
	s.host.Disk = s.res.Pretend(resolve.Through(hostview.Now))
	return nil
}

// reply answers a line; an empty one has no answer.
func (s *decideStream) reply(line []byte, long bool) (decideReply, bool) {
	s.line++
	if !long && len(bytes.TrimSpace(line)) == 0 {
		return decideReply{}, false
	}
	var q decideLine
	err := decodeLine(line, long, &q, "id, command, cwd, operation, paths, url, shell")
	r := decideReply{Line: s.line, ID: q.ID}
	if err == nil {
		r.decision, err = s.decide(q)
	}
	if err != nil {
		s.failed++
		r.Error = err.Error()
	}
	return r, true
}

// decide answers an operation.
func (s *decideStream) decide(q decideLine) (*decision, error) {
	c := *s.c
	if q.Operation != "" {
		c.Operation = q.Operation
	}
	if q.Cwd != "" {
		if c.Cwd = q.Cwd; !filepath.IsAbs(q.Cwd) {
			return nil, fmt.Errorf("found the directory %q, expected an absolute path", q.Cwd)
		}
	}
	kind, _ := ruleset.ParseKind(c.Operation)
	switch {
	case kind == ruleset.Execute && (q.Command == nil || q.Paths != nil || q.URL != ""):
		return nil, errors.New(`expected "command", and neither "paths" nor "url", of execute`)
	case kind != ruleset.Execute && q.Command != nil:
		return nil, errors.New(`found "command", which only execute has`)
	case kind == ruleset.Execute:
		c.Words = []string{*q.Command}
	case kind == ruleset.Fetch:
		c.Words = []string{q.URL}
	default:
		c.Words = q.Paths
	}
	op, err := c.operation()
	if err == nil {
		err = s.reload()
	}
	if err != nil {
		return nil, err
	}
	if q.Shell == "" {
		q.Shell = c.Shell
	}
	d := inShell(s.set, q.Shell).Decide(op, s.host.Answers())
	return decisionDoc(s.set.Name, &d), nil
}
