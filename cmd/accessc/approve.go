package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/consent"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/visible"
)

// approveCmd is "accessc approve".
type approveCmd struct {
	Yes   bool     `short:"y" help:"Approve without prompting."`
	Paths []string `arg:"" optional:"" name:"rule-path" help:"The path of an external rule as the rule has it, or a preset. Without any, those that wait are listed."`
}

// Help implements kong's detailed help.
func (approveCmd) Help() string {
	return `An external rule names a symlink of the workspace that leads out of it, or a place of your home as
~/PLACE. It takes effect once you have approved where that leads; when it comes to lead elsewhere it needs an
approval again.
Approvals are yours alone: they are kept in your state directory, never in the workspace.

  accessc approve                  list what waits for an approval
  accessc approve fork             show the target of fork and the grants of tools there, and ask
  accessc approve --yes fork       approve it without a terminal, in a script
  accessc approve preset:rust      the places of a preset, one after the other
  accessc approvals                list approvals

Exit status: 0 if all of them are approved now, 1 if not.`
}

// Run implements the command.
func (c *approveCmd) Run(g *globals) error {
	res, err := bindings(g)
	if err != nil {
		return err
	}
	if len(c.Paths) == 0 {
		return g.waiting(res.Bindings)
	}
	var chosen []compiler.Binding
	for _, p := range c.Paths {
		found, err := consent.Find(res, p)
		if err != nil {
			return err
		}
		chosen = append(chosen, found...)
	}
	refused := 0
	for _, b := range chosen {
		if b.Approved {
			g.sayBinding("approved already", b)
			continue
		}
		yes, err := c.decide(g, res, b)
		if err != nil {
			return err
		}
		if !yes {
			g.sayBinding("not approved", b)
			refused++
			continue
		}
		if err := consent.Remember(res, b, g.stderr); err != nil {
			return err
		}
		g.sayBinding("approved", b)
	}
	if refused > 0 {
		return exit(exitFindings)
	}
	return nil
}

// waiting lists the paths that wait for an approval, with the command that gives it.
func (s *streams) waiting(bindings []compiler.Binding) error {
	var paths []string
	for _, b := range bindings {
		if !b.Approved {
			paths = append(paths, shellword.Quote(b.RulePath))
			s.sayBinding("not approved", b)
		}
	}
	if len(paths) == 0 {
		fmt.Fprintln(s.stderr, "nothing waits for an approval; accessc approvals lists what is approved")
		return nil
	}
	fmt.Fprintf(s.stderr, "accessc approve %s asks about each\n", visible.Line(strings.Join(paths, " ")))
	return exit(exitFindings)
}

func (c *approveCmd) decide(g *globals, res *hostfacts.Result, b compiler.Binding) (bool, error) {
	if c.Yes {
		fmt.Fprint(g.stderr, consent.Credential(res, b))
		return true, nil
	}
	t, err := prompt.Open()
	if errors.Is(err, prompt.ErrNone) {
		return false, usagef("%w; --yes approves %s → %s without asking",
			err, visible.Name(b.RulePath), visible.Name(b.Target))
	}
	if err != nil {
		return false, err
	}
	defer t.Close()
	return t.Confirm(consent.Question(res, b))
}

func (s *streams) sayBinding(what string, b compiler.Binding) {
	line := fmt.Sprintf("%s: %s → %s", what, visible.Name(b.RulePath), visible.Name(b.Target))
	fmt.Fprintln(s.stderr, fitted(s.stderr, line))
}

// bindings compiles to find the external rules. Findings about dropped rules are not printed,
// since the caller handles them; mistakes of the configuration stop it.
func bindings(g *globals) (*hostfacts.Result, error) {
	res, err := g.here()
	if err == nil && res.Findings.Failed() {
		err = g.sayText(res.Findings, res.Files, "")
	}
	return res, err
}

// here compiles for this host and prints no findings.
func (g *globals) here() (*hostfacts.Result, error) {
	opts, err := g.asking().options(true, hostfacts.Platform())
	if err != nil {
		return nil, err
	}
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{Err: err}
	}
	return res, nil
}
