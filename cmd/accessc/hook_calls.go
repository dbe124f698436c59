package main

import (
	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/text/visible"
)

// counted holds the constraints for a call that would be made, and counts it. A call that a person, or the
// agent's settings, may still refuse counts as a question until the agent tells that it was made; for one that
// does not tell, as made.
func (p *hookPolicy) counted(a *hook.Agent, e *hook.Event, ans hook.Answer) hook.Answer {
	if ans.Outcome == hook.Deny || e.Stage != hook.Before || ans.Held {
		return ans
	}
	how := invocations.Counts.Ask
	if ans.Outcome == hook.Allow || !a.Tells {
		how = made
	}
	if err := p.count(e, how); err != nil {
		return hook.Answer{Outcome: hook.Deny, Reason: visible.Text(err.Error())}
	}
	return ans
}

// used counts a call that was made, unless its answer has counted it, and one that has ended without an error as
// completed.
func (p *hookPolicy) used(a *hook.Agent, e *hook.Event) {
	switch a.Settle(e, p.Answer(a, e)).Outcome {
	case hook.Pass, hook.Ask:
		_ = p.count(e, invocations.Counts.Settle) // it was made in any case
	case hook.Allow:
	case hook.Deny:
		return
	}
	if e.Failed {
		return
	}
	_ = p.count(e, func(c invocations.Counts, _ func(invocations.Counts) string) string {
		c.Complete(p.names(e)...) // what is not counted has others wait
		return ""
	})
}

// counting counts the invocations of a function, which returns a reason to refuse them.
type counting func(invocations.Counts, func(invocations.Counts) string) string

// made counts invocations as made.
func made(c invocations.Counts, f func(invocations.Counts) string) string { return f(c) }

// count counts a call in the session of an event, unless its constraints refuse it.
func (p *hookPolicy) count(e *hook.Event, how counting) error {
	return p.servers.Take(e.Session, func(c invocations.Counts) string {
		return how(c, func(c invocations.Counts) string { return p.invoke(e, c) })
	})
}

// names are those under which a call is counted.
func (p *hookPolicy) names(e *hook.Event) []string {
	switch {
	case e.Call.What == hook.Server, e.Call.What == hook.Unknown:
		var out []string
		for _, of := range e.Call.Targets(p.servers.Tools()) {
			if of.Server != "" {
				out = append(out, p.servers.Policy(of.Server).Names(of.Tool)...)
			}
		}
		return out
	case e.Call.What == hook.Shell && !p.Judge.OnlyRefuses:
		return []string{p.Judge.Files.View.Tool.Name}
	default:
		return nil
	}
}

// invoke counts the tool or server of a call, or returns the reason why its constraints refuse it.
func (p *hookPolicy) invoke(e *hook.Event, c invocations.Counts) string {
	switch t := p.Judge.Files.View.Tool; {
	case e.Call.What == hook.Server, e.Call.What == hook.Unknown:
		for _, of := range e.Call.Targets(p.servers.Tools()) {
			if of.Server == "" {
				continue
			}
			if why := p.servers.Policy(of.Server).Count(c, of.Tool); why != "" {
				return why
			}
		}
		return ""
	case e.Call.What == hook.Shell && !p.Judge.OnlyRefuses:
		return c.Invoke("the tool", t.Name, t.Constraints, nil)
	default:
		return ""
	}
}
