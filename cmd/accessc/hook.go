package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/agents/hook/settings"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/gate/seat"
	"github.com/accessc/accessc/internal/text/suggest"
)

// hookCmd is "accessc hook".
type hookCmd struct {
	Run hookRunCmd `cmd:"" default:"withargs" help:"Answer one event of an agent's hook, which the agent writes to standard input."`

	Install   hookInstallCmd   `cmd:"" help:"Put the hook into the settings of an agent."`
	Uninstall hookUninstallCmd `cmd:"" help:"Take the hook out of the settings of an agent."`
	Print     hookPrintCmd     `cmd:"" help:"Print the settings of an agent with the hook, and where they go."`
	Doctor    hookDoctorCmd    `cmd:"" help:"Find out whether an agent obeys the hook, and what it is not asked about."`
}

// hookRunCmd is "accessc hook AGENT", which agents run.
type hookRunCmd struct {
	Agent     string `arg:"" help:"The agent: claude-code, codex, copilot, cursor, gemini, opencode or windsurf."`
	Tool      string `placeholder:"NAME" help:"The tool of the configuration whose policy permits and refuses, and under which commands run. Without it the default policy refuses, and what it permits is left to the agent."`
	Ruleset   string `placeholder:"NAME" help:"The ruleset; without it, the only one, or the one named default."`
	Undecided string `enum:"confined,ask,deny" default:"confined" help:"A command that no rule decides runs confined under the tool's policy, is asked about, or is refused. Where it cannot be rewritten, or there is no tool, confined asks."`
	JudgeOnly bool   `help:"Leave commands as they are: no kernel holds what was judged."`
	Log       string `placeholder:"FILE" help:"Append a line of JSON for every event and its verdict. The tool must not be able to write there."`
}

// Help implements kong's detailed help.
func (hookRunCmd) Help() string {
	return `Agents start this command before they use a tool, and obey the answer. A command that is not refused
is rewritten, where the agent lets a hook do that, to run as accessc exec under the tool's policy.
After a tool was used, the answer tells the model what exec has refused.

  accessc hook claude-code --tool coder --log ~/accessc-hook.jsonl

Whatever goes wrong is a refusal: a configuration with mistakes, an event that cannot be read, an
answer that takes longer than half of the agent's time limit.

Exit status 0 with the answer on standard output; 2 for a refusal that the agent reads no further.`
}

// Run implements the command.
// See decision D150.
func (c *hookRunCmd) Run(g *globals) error {
	agent, err := findAgent(c.Agent)
	if err != nil {
		return err
	}
	a := agent.Agent
	// A reader that has gone away is an error of a write, and no end without a refusal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	r := c.within(a.Deadline(), g, a, signals)
	if err := c.put(g, r.Out); err != nil {
		r.Err, r.Status = "accessc: the answer cannot be written: "+err.Error(), exitUsage
	}
	if r.Err != "" {
		fmt.Fprintln(g.stderr, r.Err)
	}
	if r.Status != 0 {
		return exit(r.Status)
	}
	return nil
}

// put writes the answer. The null device takes every text and hands none on; Go opens it in place of a closed
// standard output.
func (c *hookRunCmd) put(g *globals, answer []byte) error {
	if len(answer) == 0 {
		return nil
	}
	if f, ok := file(g.stdout); ok {
		out, err := f.Stat()
		null, none := os.Stat(os.DevNull)
		if err == nil && none == nil && os.SameFile(out, null) {
			return errors.New("standard output is closed")
		}
	}
	_, err := g.stdout.Write(answer)
	return err
}

// within is the reply of a limited time.
func (c *hookRunCmd) within(limit time.Duration, g *globals, a *hook.Agent, signals <-chan os.Signal) hook.Reply {
	replies := make(chan hook.Reply, 1)
	go func() { replies <- c.guarded(g, a) }()
	select {
	case r := <-replies:
		return r
	case <-time.After(limit):
		return a.Fail(fmt.Sprintf("no answer within %s", limit))
	case s := <-signals:
		return a.Fail("ended by the signal " + s.String())
	}
}

// guarded turns every end of answer into a reply.
func (c *hookRunCmd) guarded(g *globals, a *hook.Agent) (r hook.Reply) {
	defer func() {
		if p := recover(); p != nil {
			r = a.Fail(fmt.Sprintf("a fault of accessc: %v", p))
		}
	}()
	e, ans, err := c.answer(g, a)
	switch {
	case err != nil && e != nil && e.Stage == hook.After:
		return a.Reply(e, hook.Answer{Outcome: hook.Pass}) // the tool was used: there is nothing to refuse
	case err != nil:
		return a.Fail(err.Error())
	default:
		return a.Reply(e, ans)
	}
}

// answer reads the event, judges it, and writes it down.
func (c *hookRunCmd) answer(g *globals, a *hook.Agent) (*hook.Event, hook.Answer, error) {
	e, err := a.Event(g.stdin)
	if err != nil {
		return nil, hook.Answer{}, c.unread(a, err)
	}
	p, err := c.policy(g, e)
	if err != nil {
		return e, hook.Answer{}, c.unread(a, err)
	}
	log, err := seat.OpenLog(p.Judge.Files, c.Log, a.Name)
	if err != nil {
		return e, hook.Answer{}, err
	}
	defer log.Close()
	if e.Stage == hook.After {
		p.used(a, e)
		return e, hook.Answer{Outcome: hook.Pass, Context: p.Refused(a, e)}, nil
	}
	ans := p.counted(a, e, a.Settle(e, p.Answer(a, e)))
	entry := relay.Entry{
		Event: relay.EventCall, Method: e.Name, ID: hook.JSON(e.ID), Tool: e.Call.Tool, Session: e.Session,
		Verdict: ans.Outcome.String(), Reason: ans.Reason, Asked: ans.Asked, Agent: e.Agent, AgentID: e.AgentID,
	}
	if err := log.Add(entry); err != nil {
		return e, hook.Answer{}, err
	}
	return e, ans, nil
}

// unread writes down an event that is refused since it, or its policy, cannot be had.
func (c *hookRunCmd) unread(a *hook.Agent, why error) error {
	log, err := relay.OpenLog(c.Log, a.Name)
	if err != nil {
		return errors.Join(why, err)
	}
	defer log.Close()
	// It is refused in any case.
	_ = log.Add(relay.Entry{Event: relay.EventMessage, Verdict: relay.Deny, Reason: why.Error()})
	return why
}

// findAgent finds an agent by name.
func findAgent(name string) (*settings.Agent, error) {
	if a := registry.Hook(name); a != nil {
		return a, nil
	}
	var names []string
	for _, a := range registry.Hooks() {
		names = append(names, a.Name)
	}
	if near := suggest.Hint(name, names); near != "" {
		return nil, usagef("there is no agent %q; %s", name, near)
	}
	return nil, usagef("there is no agent %q; the agents are %s", name, strings.Join(names, ", "))
}
