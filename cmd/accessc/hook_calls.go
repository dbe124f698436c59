package main

import (
	"errors"
	"slices"

	"github.com/accessc/accessc/internal/hook"
	"github.com/accessc/accessc/internal/invocations"
	"github.com/accessc/accessc/ir"
)

// counted holds the constraints for a call that would be made, and counts one that will be. A call
// that a person, or the agent's settings, may still refuse is counted when it was made, if the agent
// tells.
func (p *hookPolicy) counted(a *hook.Agent, e *hook.Event, ans hook.Answer) hook.Answer {
	if ans.Outcome == hook.Deny || e.Stage != hook.Before || ans.Held {
		return ans
	}
	if err := p.count(e, ans.Outcome == hook.Allow || !a.Tells); err != nil {
		return hook.Answer{Outcome: hook.Deny, Reason: err.Error()}
	}
	return ans
}

// used counts a call that was made, unless its answer has counted it.
func (p *hookPolicy) used(a *hook.Agent, e *hook.Event) {
	switch a.Settle(e, p.Answer(a, e)).Outcome {
	case hook.Pass, hook.Ask:
		_ = p.count(e, true) // it was made in any case
	case hook.Allow, hook.Deny:
	}
}

// count counts a call in the session of an event, or only says whether its constraints permit it.
func (p *hookPolicy) count(e *hook.Event, keep bool) error {
	constrained := func(t *ir.Tool) bool { return t.Constraints != nil }
	if !slices.ContainsFunc(p.res.Program.Tools, constrained) {
		return nil
	}
	s, err := counted(p.res, e.Session)
	if err != nil {
		return err
	}
	take := s.Take
	if !keep {
		take = s.Try
	}
	return take(func(made invocations.Counts) error {
		why := ""
		switch t := p.Judge.Files.View.Tool; {
		case e.Call.What == hook.Server:
			why = p.server(e.Call.Server).Count(made, e.Call.Method)
		case e.Call.What == hook.Shell && !p.Judge.OnlyRefuses:
			why = made.Invoke("the tool", t.Name, t.Constraints, nil)
		}
		if why != "" {
			return errors.New(why)
		}
		return nil
	})
}
