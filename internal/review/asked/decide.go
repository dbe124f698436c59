package asked

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// Decider is the state between two lines.
type Decider struct {
	by     DecideBy
	line   int
	failed int

	config *config.Watched
	set    *ruleset.Set
	host   *action.Host
}

// NewDecider prepares the ruleset and the tool of a configuration.
func NewDecider(of *config.Watched, by DecideBy) (*Decider, error) {
	s := &Decider{by: by}
	return s, s.use(of)
}

// Count is how many lines were read, and how many of them could not be answered.
func (s *Decider) Count() (lines, failed int) { return s.line, s.failed }

// use takes the ruleset and the tool from a compiled configuration.
func (s *Decider) use(of *config.Watched) (err error) {
	s.config = of
	if s.set, err = config.Ruleset(of.Rulesets, s.by.Ruleset); err == nil {
		s.host, err = Host(of.Result, s.by.Tool)
	}
	return err
}

// reload compiles changed files anew.
func (s *Decider) reload() error {
	if s.config.Changed() {
		now, err := s.config.Again()
		if err != nil {
			return err
		}
		if s.config = now; len(now.Rulesets) > 0 && now.Program != nil {
			return s.use(now)
		}
		s.set = nil
	}
	if s.set == nil {
		return errors.New("the configuration has changed and has mistakes: accessc check shows them")
	}
	// The disk may have changed since the last line.
	s.host.Disk = s.config.Pretend(resolve.Through(hostview.Now))
	return nil
}

// Reply answers a line; an empty one has no answer.
func (s *Decider) Reply(line []byte, long bool) (DecideReply, bool) {
	s.line++
	if !long && len(bytes.TrimSpace(line)) == 0 {
		return DecideReply{}, false
	}
	var q DecideLine
	err := decodeLine(line, long, &q, "id, command, cwd, operation, paths, url, shell")
	r := DecideReply{Line: s.line, ID: q.ID}
	if err == nil {
		r.Decision, err = s.Decide(q)
	}
	if err != nil {
		s.failed++
		r.Error = err.Error()
	}
	return r, true
}

// Decide answers an operation.
func (s *Decider) Decide(q DecideLine) (*Decision, error) {
	c := s.by
	var words []string
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
		words = []string{*q.Command}
	case kind == ruleset.Fetch:
		words = []string{q.URL}
	default:
		words = q.Paths
	}
	op, err := c.Read(words)
	if err == nil {
		err = s.reload()
	}
	if err != nil {
		return nil, err
	}
	if q.Shell == "" {
		q.Shell = c.Shell
	}
	d := InShell(s.set, q.Shell).Decide(op, s.host.Answers())
	return NewDecision(s.set.Name, &d), nil
}

// DecideLine is one line of input.
type DecideLine struct {
	ID        json.RawMessage `json:"id"`
	Command   *string         `json:"command"`
	Cwd       string          `json:"cwd"`
	Operation string          `json:"operation"`
	Paths     []string        `json:"paths"`
	URL       string          `json:"url"`
	Shell     string          `json:"shell"`
}

// DecideReply is one line of output: an answer or an error.
type DecideReply struct {
	Line  int             `json:"line"`
	ID    json.RawMessage `json:"id,omitempty"`
	Error string          `json:"error,omitempty"`
	*Decision
}

// DecideBy says by what an operation is decided, and what it is unless a line says otherwise.
type DecideBy struct {
	Ruleset, Tool, Shell string
	// Cwd is the directory in which the command would run, Operation the kind.
	Cwd, Operation string
}

// Read reads an operation from its words: a command line, a URL or paths.
func (c DecideBy) Read(words []string) (ruleset.Operation, error) {
	kind, ok := ruleset.ParseKind(c.Operation)
	if !ok {
		return ruleset.Operation{}, usage.Errorf("found operation %q, expected one of %s", c.Operation,
			strings.Join(ruleset.KindNames(), ", "))
	}
	dir, err := filepath.Abs(c.Cwd)
	if err != nil {
		return ruleset.Operation{}, err
	}
	op := ruleset.Operation{Kind: kind, Dir: filepath.ToSlash(dir)}
	switch {
	case kind == ruleset.Execute && len(words) != 1:
		return op, usage.Errorf("expected one command line in quotes, such as: accessc decide -- 'git status'; "+
			"found %d words",
			len(words))
	case kind == ruleset.Execute:
		op.Command = words[0]
	case kind == ruleset.Fetch && len(words) != 1:
		return op, usage.Errorf("expected one URL, found %d words", len(words))
	case kind == ruleset.Fetch:
		op.URL = words[0]
	default:
		op.Paths = words
	}
	return op, nil
}

// Host prepares a tool's policy; the default one if the name is empty.
func Host(res *hostfacts.Result, name string) (*action.Host, error) {
	t, err := config.Judging(res, name)
	if err != nil {
		return nil, err
	}
	facts := res.Facts(t)
	return &action.Host{
		View:  ir.NewView(t, hostfacts.Platform(), facts),
		Roots: facts.Bindings,
		Disk:  res.Resolver.Disk,
	}, nil
}

// InShell returns the ruleset for the command lines of a shell; empty means its own.
func InShell(s *ruleset.Set, name string) *ruleset.Set {
	if name == "" {
		return s
	}
	out := *s
	out.Shell = shell.DialectOf(name)
	return &out
}
