package gemini

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Model are rules of Gemini CLI for commands in the mode default, as of version 0.61.0 (docs/reference/policy-engine.md
// of its repository): the rule of the highest priority that matches decides, and of several the strictest. What no rule
// is about is asked about.
type Model []Rule

// Rule is a rule that may be about commands.
type Rule struct {
	Decision string // allow, ask_user or deny
	// Priority is that of all kinds of settings together.
	Priority int
	// Prefix is text that begins commands. Expression is compared with the arguments of the call as JSON. Neither is
	// set for a rule about every command.
	Prefix, Expression string
}

// call is the text that expressions are compared with.
func (Model) call(line string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(line) != nil {
		return ""
	}
	return "{\x00\"command\":" + strings.TrimSpace(b.String()) + "\x00}"
}

// matches reports whether a rule is about a command. One that cannot be evaluated is if it denies, and is not if it
// allows.
func (r Rule) matches(call string) bool {
	stops := r.Decision != "allow"
	expression := r.Expression
	switch {
	case r.Prefix != "":
		begin, _ := strings.CutSuffix(strings.TrimPrefix(Model{}.call(r.Prefix), "{\x00"), "\"\x00}")
		expression = regexp.QuoteMeta(begin) + `(?:[\s"]|\\")`
	case expression == "":
		return true
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return stops
	}
	return re.MatchString(call)
}

// Runs implements Policy.
func (g Model) Runs(line string) bool {
	allowed, decided := g.decides(line)
	return decided && allowed
}

// Stops implements Stopper.
func (g Model) Stops(line string) bool {
	allowed, decided := g.decides(line)
	return decided && !allowed
}

// decides reports whether the rules allow a command, if they say something about it.
func (g Model) decides(line string) (allowed, decided bool) {
	call, highest := g.call(line), -1
	for _, r := range g {
		if r.matches(call) && r.Priority >= highest {
			allowed = r.Decision == "allow" && (allowed || r.Priority > highest)
			highest = r.Priority
		}
	}
	return allowed, highest >= 0
}

// Reads implements Policy: the rules are about calls of tools.
func (Model) Reads(string) bool { return true }

// Writes implements Policy.
func (Model) Writes(string) bool { return true }

// Connects implements Policy.
func (Model) Connects(string, uint16) bool { return true }

// Fetches implements Policy.
func (Model) Fetches(string) bool { return false }

// Passes implements Policy.
func (Model) Passes(string) bool { return true }

// Marks implements Policy.
func (g Model) Marks() foreign.Marks {
	var out foreign.Marks
	for _, r := range g {
		if r.Prefix != "" {
			out.Commands = append(out.Commands, r.Prefix, r.Prefix+" *", r.Prefix+"*")
		}
		_, command, _ := strings.Cut(r.Expression, `"command":"`)
		line := ""
		for _, run := range foreign.PlainRun.Get().FindAllString(command, -1) {
			line += run
			out.Commands = append(out.Commands, strings.TrimSpace(line), strings.TrimSpace(line)+" *")
		}
	}
	slices.Sort(out.Commands)
	return foreign.Marks{Commands: slices.Compact(out.Commands)}
}
