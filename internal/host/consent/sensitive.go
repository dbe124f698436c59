package consent

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// unattended is the invocation mode of tools that start without a question.
const unattended = "unattended"

// Sensitive asks once in a session whether a tool may start although its rules reach
// sensitive paths. Where it cannot or should not ask, it prints one warning and lets the tool
// start, since the rules grant the access. The error says that the user refused.
// See decision D18.
func Sensitive(res *hostfacts.Result, t *ir.Tool, ask bool, notes io.Writer) error {
	reaches := res.Reaches(t)
	if len(reaches) == 0 {
		return nil
	}
	answer := approvals.Answer{Session: userdir.Session(), Tool: t.Name}
	for _, r := range reaches {
		answer.Reaches = append(answer.Reaches, r.String())
	}
	path, unusable := res.Approvals()
	if unusable == nil {
		// An unreadable store has been reported already.
		store, _ := approvals.Load(path)
		if reply, known := store.Answered(answer.Session, t.Name, answer.Reaches); known {
			return refusal(t, reply)
		}
	}
	var err error
	if answer.Reply, err = reply(t, reaches, ask && t.Run != unattended, notes); err != nil {
		return err
	}
	if unusable == nil {
		answer.At = time.Now()
		var aside string
		aside, unusable = approvals.Update(path, func(s *approvals.Store) error {
			s.Answer(answer)
			return nil
		})
		Aside(notes, path, aside)
	}
	if unusable != nil {
		fmt.Fprintf(notes, "accessc: this is not remembered: %s: %v\n", path, unusable)
	}
	return refusal(t, answer.Reply)
}

// reply asks on the terminal, or warns if ask is false or there is no terminal.
func reply(t *ir.Tool, reaches []hostfacts.Reach, ask bool, notes io.Writer) (approvals.Reply, error) {
	if ask {
		term, err := prompt.Open()
		if err == nil {
			defer term.Close()
			text := fmt.Sprintf("\n%s reaches sensitive paths:\n\n%s\nThe answer holds for this session.\n", t.Name,
				reachLines(reaches))
			yes, err := term.Confirm(text, "Start it?")
			if yes {
				return approvals.Yes, err
			}
			return approvals.No, err
		}
		if !errors.Is(err, prompt.ErrNone) {
			return "", err
		}
	}
	fmt.Fprintf(notes, "accessc: warning: %s reaches sensitive paths:\n%s", t.Name, reachLines(reaches))
	return approvals.Warned, nil
}

// reachLines aligns paths and the places of the rules that grant them.
func reachLines(reaches []hostfacts.Reach) string {
	const most = 10
	width := 0
	for _, r := range reaches[:min(most, len(reaches))] {
		width = max(width, len([]rune(visible.Name(r.String()))))
	}
	var b strings.Builder
	for i, r := range reaches {
		if i == most {
			fmt.Fprintf(&b, "  and %d more\n", len(reaches)-most)
			break
		}
		rule, origin := visible.Name(r.Rule.Subject()), visible.Name(r.Rule.Origin.String())
		fmt.Fprintf(&b, "  %s  rule %s, %s\n", visible.Pad(visible.Name(r.String()), width), rule, origin)
	}
	return b.String()
}

// ErrRefused is the user's answer that a tool shall not start.
var ErrRefused = errors.New("in this session you refused its sensitive paths; to be asked again, run accessc " +
	"approvals --forget-answers")

func refusal(t *ir.Tool, r approvals.Reply) error {
	if r != approvals.No {
		return nil
	}
	return fmt.Errorf("%s was not started: %w", t.Name, ErrRefused)
}
