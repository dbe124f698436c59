package main

import (
	"errors"
	"fmt"

	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/propose/learn"
	"github.com/accessc/accessc/internal/text/plural"
)

// learn runs the command, once or until nothing is in its way.
func (l *learner) learn() error {
	rules := 0
	for round := 0; ; round++ {
		recorded, status, err := l.run()
		if err != nil || !recorded {
			return l.ended(status, err)
		}
		if err := l.Load(); err != nil {
			return l.ended(status, err)
		}
		found, err := l.propose()
		if err != nil {
			return l.ended(status, err)
		}
		green := !l.Default && found.Plans() == 0 && !found.Waits()
		if (found.Plans() > 0 || l.Default) && round < l.cmd.UntilGreen {
			if err := l.next(found, status); err != nil {
				return l.ended(status, err)
			}
			rules += found.Rules()
			continue
		}
		if err = l.show(found); err == nil && l.cmd.Apply {
			err = l.apply(found)
		}
		once := l.cmd.Apply && l.cmd.UntilGreen == 0 && !l.cmd.JSON
		if err == nil && round < maxAgain && once && found.MayRepeat(status) && l.again(status) {
			if err = l.find(); err == nil {
				continue
			}
		}
		if l.cmd.UntilGreen > 0 {
			l.sayRounds(round, rules, green)
			if !green && status == 0 {
				status = exitFindings
			}
		}
		return l.ended(status, err)
	}
}

// maxAgain bounds how often a command that has failed is run again.
const maxAgain = 3

// again asks whether to run the command once more; --yes answers. Without a terminal it is not.
func (l *learner) again(status int) bool {
	text := fmt.Sprintf("the command ended with status %d; the rules permit more by now, so it shows more if it "+
		"runs again",
		status)
	if l.cmd.Yes {
		fmt.Fprintln(l.g.stderr, text)
		return true
	}
	t, err := prompt.Open()
	if err != nil {
		fmt.Fprintln(l.g.stderr, text)
		return false
	}
	defer t.Close()
	yes, err := t.Confirm(text+"\n", "Run it again?")
	return yes && err == nil
}

// next writes the rules, and prepares the run that follows. One that succeeded under the default policy is followed
// by runs under the tool's own.
func (l *learner) next(found *learn.Learned, status int) error {
	if err := l.apply(found); err != nil {
		return err
	}
	if status == 0 {
		l.Default = false
	}
	return l.find()
}

// sayRounds prints how the rounds have ended.
func (l *learner) sayRounds(rounds, rules int, green bool) {
	written := fmt.Sprintf("%s in %s", plural.Count(rules, "rule"), plural.Count(rounds, "round"))
	if !green {
		fmt.Fprintf(l.g.stderr, "after %s the last run was refused more that rules would permit\n", written)
		return
	}
	fmt.Fprintf(l.g.stderr, "after %s the last run was refused nothing that rules would permit\n", written)
}

// ended is the status of the command, unless accessc has failed.
func (l *learner) ended(status int, err error) error {
	switch {
	case err != nil:
		return notStarted(err)
	case status != 0:
		return exit(status)
	default:
		return nil
	}
}

// run runs the command once. It reports whether the run counts.
func (l *learner) run() (recorded bool, status int, err error) {
	var flags []string
	if l.cmd.For != 0 {
		flags = append(flags, "--for="+l.cmd.For.String())
	}
	for _, gap := range l.cmd.Accept {
		flags = append(flags, "--accept="+gap)
	}
	last, status, err := l.Run(flags)
	var none *learn.Unrecorded
	if errors.As(err, &none) {
		fmt.Fprintln(l.g.stderr, none)
		return false, status, nil
	}
	return last != nil, status, err
}
