package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/propose/learn"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// learnCmd is "accessc learn".
type learnCmd struct {
	Own        bool          `name:"run" help:"Run the tool's own command."`
	From       string        `enum:"policy,default" default:"policy" help:"The policy to run under: that of the tool (policy), or the default one, to begin with (default)."`
	For        time.Duration `placeholder:"DURATION" help:"End the run after this time, such as 30s; Ctrl-C ends it as well. What it did until then counts."`
	Accept     []string      `placeholder:"GAP" help:"As with accessc exec. Repeatable."`
	Layer      string        `enum:"local,workspace,user" default:"local" help:"The layer that the rules go to: local, workspace or user."`
	Apply      bool          `help:"Write the rules. External ones take effect once their targets are approved, which is asked at the terminal."`
	Yes        bool          `short:"y" help:"With --apply: approve the targets of external rules, and run a command again that failed for want of the rules, without asking."`
	UntilGreen int           `placeholder:"N" help:"Run, write the rules and run again, up to N times, until nothing is refused that rules would permit."`
	HeldOut    bool          `help:"Propose from all kept runs but the last, and check whether the last would have been permitted."`
	Forget     bool          `help:"Remove the kept runs: of the tool, or of all tools."`
	Format     string        `enum:"text,json" default:"text" help:"Output format: text, a patch; or json, the recorded operations and the proposal."`
	JSON       bool          `name:"json" help:"The same as --format json."`
	HTML       string        `name:"html" placeholder:"FILE" help:"Write a page that shows what was used, what was refused, and what is granted and was never touched."`
	Tool       string        `arg:"" optional:"" name:"tool" help:"The tool."`
	Command    []string      `arg:"" optional:"" name:"command" help:"Behind --: the command to run under its policy."`
}

// Help implements kong's detailed help.
func (learnCmd) Help() string {
	return `Runs a command under its policy, which grants nothing more than otherwise, and records what it uses and
what it is refused. From that it proposes the smallest change of the policy, as a patch on standard output. Above
each rule a comment says how often it was recorded, for what first, and which files it would grant besides.

  accessc learn build -- make            run make under the policy of build, and propose
  accessc learn --run build              run build's own command
  accessc learn build                    propose from the kept runs, and run nothing
  accessc learn --apply build            write the rules
  accessc learn --until-green 5 build -- make    run, write and repeat, up to five times
  accessc learn --from default build -- make     run under the default policy, to begin with; a tool that no layer
                                                 has is made, and reads what the run has read
  accessc learn --from default --until-green 3 build -- make     the same, and then runs under its own policy
  accessc learn --held-out build         would the rules from the other runs have permitted the last one?
  accessc learn --for 10s dev -- npm start       a server; Ctrl-C ends it as well
  accessc learn --forget build           remove the kept runs

The last 16 runs of each tool are kept in your state of the workspace, and count together; rules that none of them
used are listed. That something was refused does not show that it was needed, and that nothing used a
rule does not show that nothing needs it.

A rule is on a directory only if that was listed, or if the command makes up names in it, as for temporary files. Never
proposed are sensitive and protected paths, your home and the like as a whole, changes outside of the workspace,
sockets behind which something else acts, and programs such as sudo and docker: a line says why.

Exit status: that of the command, and 125 if accessc fails; without a command 0, and 1 if --held-out finds that
something would be refused.`
}

// Run implements the command.
func (c *learnCmd) Run(g *globals) error {
	if !start.Observes {
		return usagef("accessc learn is for Linux: here accessc becomes the tool and sees nothing of it")
	}
	l, err := c.begin(g)
	switch {
	case err != nil && g.behind > 0:
		return notStarted(err) // 2 could be the status of the command
	case err != nil:
		return err
	case c.Forget:
		return l.forget()
	case l.runs():
		return l.learn()
	}
	if err := l.Load(); err != nil {
		return err
	}
	if len(l.Kept) == 0 {
		fmt.Fprintf(g.stderr, "no run of %s is kept: accessc learn --run %s records one\n", l.Name(), l.Tool)
		return exit(exitFindings)
	}
	if c.HeldOut {
		return l.heldOut()
	}
	found, err := l.propose()
	if err == nil {
		err = l.show(found)
	}
	if err == nil && c.Apply {
		err = l.apply(found)
	}
	return err
}

// learner is one call of the command.
type learner struct {
	*learn.Session
	cmd *learnCmd
	g   *globals
}

// begin reads the arguments.
func (c *learnCmd) begin(g *globals) (*learner, error) {
	l := &learner{&learn.Session{Config: g.asking().config(), Default: c.From == "default"}, c, g}
	c.JSON = c.JSON || c.Format == "json"
	words := c.Command
	if c.Tool != "" {
		words = append([]string{c.Tool}, words...)
	}
	before := len(words) - max(g.behind, 0)
	if l.Command = words[before:]; before == 1 {
		l.Tool = words[0]
	}
	l.Layer, _ = ir.ParseLayer(c.Layer)
	switch {
	case before > 1:
		return nil, usagef("the command stands behind --: accessc learn %s -- COMMAND", words[0])
	case before == 0 && len(l.Command) == 0 && !c.Forget:
		return nil, usagef("name a tool, or a command behind --; accessc learn --help has examples")
	case g.Shared && l.Layer != ir.LayerWorkspace:
		return nil, usagef("--shared leaves out the %s layer, which the rules would go to", c.Layer)
	case l.Default && len(l.Command) == 0:
		return nil, usagef("--from default needs the command: accessc learn --from default %s -- COMMAND", l.Tool)
	case c.UntilGreen < 0, c.UntilGreen > 0 && before == 0:
		return nil, usagef("--until-green takes how often rules may be written, and the tool that they are for")
	case c.HeldOut && (c.Apply || l.runs()):
		return nil, usagef("--held-out is about the kept runs: it writes and runs nothing")
	}
	if err := l.Open(); err != nil {
		return nil, g.refused(err)
	}
	if l.Tool == "" {
		return l, nil
	}
	return l, l.find()
}

// runs reports whether something is to be run.
func (l *learner) runs() bool { return len(l.Command) > 0 || l.cmd.Own || l.cmd.UntilGreen > 0 }

// find finds the tool in the configuration.
func (l *learner) find() error {
	res, err := l.g.compileFor(l.Tool)
	if err != nil {
		return err
	}
	return l.Find(res, l.runs(), l.cmd.Forget)
}

// propose finds the rules that the kept runs need.
func (l *learner) propose() (*learn.Learned, error) {
	found, err := l.Propose(l.Kept)
	return found, l.g.notAllowed(l.g.refused(err))
}

// forget removes the kept runs.
func (l *learner) forget() error {
	n, err := l.Forget()
	if l.Tool == "" {
		fmt.Fprintln(l.g.stderr, "the kept runs of all tools are removed")
		return err
	}
	fmt.Fprintf(l.g.stderr, "%s of %s removed\n", plural.Count(n, "kept run"), l.Name())
	return err
}

// heldOut proposes from all runs but the last, and says whether that would have been permitted.
func (l *learner) heldOut() error {
	if len(l.Kept) < 2 || l.Tool == "" {
		return usagef("--held-out needs a tool and two kept runs; of %s there are %d", l.Name(), len(l.Kept))
	}
	f, held, err := l.HoldOut()
	if err != nil {
		return l.g.notAllowed(l.g.refused(err))
	}
	if l.cmd.JSON {
		err = l.g.writeJSON(l.Document(f, held))
	} else {
		_, err = fmt.Fprint(l.g.stdout, visible.Lines(learn.HeldOutText(len(l.Kept), held)))
	}
	if err == nil && len(held.Refused) > 0 {
		return exit(exitFindings)
	}
	return err
}

// show prints the patch on standard output, and its summary on standard error.
func (l *learner) show(f *learn.Learned) error {
	if l.cmd.HTML != "" {
		if err := l.WritePage(f, l.cmd.HTML); err != nil {
			return l.g.refused(err)
		}
	}
	if l.cmd.JSON {
		return l.g.writeJSON(l.Document(f, nil))
	}
	fmt.Fprint(l.g.stderr, visible.Lines(l.Summary(f)))
	if l.cmd.UntilGreen > 0 && f.Plans() == 0 {
		return nil
	}
	for _, plan := range f.Files() {
		if err := writeDiff(l.g.stdout, plan.Name, plan.Old, plan.New); err != nil {
			return err
		}
	}
	return nil
}

// apply writes the plans, and has the targets of external rules approved, at the terminal or by --yes.
func (l *learner) apply(f *learn.Learned) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	paths, err := l.Apply(ctx, f, func(file string, rules []string) {
		fmt.Fprintf(l.g.stderr, "%s:\n  %s\n", visible.Text(file), visible.Lines(strings.Join(rules, "\n  ")))
	})
	if err != nil || len(paths) == 0 {
		return err
	}
	err = (&approveCmd{Yes: l.cmd.Yes, Paths: paths}).Run(l.g)
	var refused exit
	var mistake usageError
	switch {
	case errors.As(err, &mistake) && errors.Is(mistake.Err, prompt.ErrNone):
		fmt.Fprintf(l.g.stderr, "external rules take effect once their targets are approved: accessc approve %s\n",
			visible.Text(strings.Join(paths, " ")))
		return nil
	case errors.As(err, &refused):
		return nil // it was said, and the rules stay without effect
	default:
		return err
	}
}
