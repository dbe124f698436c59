package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/asked"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// canCmd is "accessc can".
type canCmd struct {
	Format string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Why    bool     `help:"Print how every system enforces the answer, and why; without it, how this one does."`
	On     string   `name:"platform" enum:",linux,darwin,windows" default:"" placeholder:"SYSTEM" help:"Print how one system enforces the answer, and why: linux, darwin (macOS) or windows."`
	System bool     `help:"Answer for a system call instead of a tool's argument: absolute paths are allowed, and judged where they lead."`
	Stdin  bool     `help:"Read questions as lines of JSON, and answer each by one line of JSON. The policy is read again when it has changed."`
	Tool   string   `arg:"" optional:"" name:"tool" help:"The tool; with --stdin, the one of lines that name none."`
	Words  []string `arg:"" optional:"" passthrough:"" name:"question" help:"The question: read src/a, connect https://example.com, env HOME, run git status, rename a b."`
}

// Help implements kong's detailed help.
func (canCmd) Help() string {
	return "Questions:\n\n  " + strings.Join(resolve.Verbs(), "\n  ") + `

A created path that ends in a slash is a directory, any other one a file. "connect" without a method is
about those that no rule names; tcp://HOST:PORT is a stream whose bytes are not looked at.

Prints the verdict, the rule that won and its line, the rules that lost and why, and how this system
enforces it; --why adds the others and the reasons. Exit status 0 if allowed, 1 if denied, 2 for a question that cannot be asked.

` + streamHelp
}

// Run implements the command.
func (c *canCmd) Run(g *globals) error {
	if c.Stdin {
		return c.stream(g)
	}
	if c.Tool == "" {
		return usagef("expected a tool and a question, such as: accessc can TOOL read src/a; or --stdin")
	}
	if len(c.Words) > 1 && c.Words[1] == "--" {
		// As exec takes it: what follows is the program's.
		c.Words = slices.Delete(c.Words, 1, 2)
	}
	q, err := resolve.ParseQuestion(c.Words)
	switch {
	case err != nil && slices.ContainsFunc(c.Words, func(w string) bool { return strings.HasPrefix(w, "-") }):
		return usageError{Err: fmt.Errorf("%w; flags stand before the name of the tool", err)}
	case err != nil:
		return usageError{Err: err}
	}
	res, err := g.compileFor(c.Tool)
	if err != nil {
		return err
	}
	t, err := config.Confined(res, c.Tool)
	if err != nil {
		return err
	}
	answer, err := asked.Ask(res, t, q, c.System)
	if err != nil {
		return usageError{Err: err}
	}
	if c.Format == "json" {
		err = g.writeJSON(answer.JSON(g.style(g.stdout)))
	} else {
		_, err = fmt.Fprint(g.stdout, answer.Text(g.style(g.stdout), c.Why || c.On != "", c.systems()...))
	}
	if err == nil && !answer.Verdict.Allowed() {
		return exit(exitFindings)
	}
	return err
}

// systems are those that the text of an answer is about.
func (c *canCmd) systems() []ir.Platform {
	switch p, named := ir.ParsePlatform(c.On); {
	case named:
		return []ir.Platform{p}
	case c.Why:
		return ir.Platforms[:]
	default:
		return []ir.Platform{hostfacts.Platform()}
	}
}

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

// stream answers the lines of the standard input.
func (c *canCmd) stream(g *globals) error {
	if len(c.Words) > 0 {
		return usagef("--stdin takes questions from the standard input, found %q as well", strings.Join(c.Words, " "))
	}
	of, err := watch(g)
	if err != nil {
		return err
	}
	if err := g.sayErrors(of.Result, c.Tool); err != nil {
		return err
	}
	if c.Tool != "" {
		if _, err := config.Confined(of.Result, c.Tool); err != nil {
			return err
		}
	}
	s := asked.NewStream(of, c.Tool, c.System, g.style(g.stdout))
	err = asked.Lines(g.stdin, g.stdout, func(line []byte, long bool) (any, bool) { return s.Reply(line, long) })
	return g.answered(err, s)
}

// watch compiles for answers about this host, which go on after the configuration has changed.
func watch(g *globals) (*config.Watched, error) {
	w, err := config.Watch(g.config(), filepath.Join("access", build.AttestationFile))
	return w, g.refused(err)
}

// answered is the end of a stream of questions.
func (s *streams) answered(err error, of interface{ Count() (lines, failed int) }) error {
	if err != nil {
		return err
	}
	if lines, failed := of.Count(); failed > 0 {
		fmt.Fprintf(s.stderr, "accessc: %s of %d could not be answered\n", plural.Count(failed, "line"), lines)
		return exit(exitUsage)
	}
	return nil
}
