package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ruleset"
)

// Policy is that of one directory.
type Policy struct {
	// Judge judges commands and other operations.
	Judge *action.Judge
	// Refuses is the reason why a tool of an MCP server may not be called, and the text that is
	// refused. Without a server it is about the arguments of a tool that is not known.
	Refuses func(c *Call) (reason, asked string)
	// Undecided is the answer to commands that nothing decides.
	Undecided Undecided
	// Wrap runs commands under the policy; nil where commands are only judged.
	Wrap *Wrap
}

// Answer judges a call before it is made.
// See decision D145.
func (p *Policy) Answer(a *Agent, e *Event) Answer {
	return p.settled(p.judged(a, e))
}

// settled is an answer by the hook's setting for undecided commands.
func (p *Policy) settled(out Answer) Answer {
	if out.Outcome == Ask && p.Undecided == UndecidedDeny && !out.Rule {
		return Answer{Outcome: Deny, Reason: out.Reason + "; the hook has --undecided deny", Asked: out.Asked,
			Held: out.Held}
	}
	return out
}

func (p *Policy) judged(a *Agent, e *Event) Answer {
	switch c := &e.Call; c.What {
	case Shell:
		return p.shell(a, e)
	case Files, Patch:
		return p.files(e)
	case Address:
		return p.fetch(c.URL)
	case Server:
		return p.server(c, Answer{Outcome: Pass})
	case Nothing:
		return p.ruled(c.Kind, Answer{Outcome: Pass})
	case Unknown:
		why := fmt.Sprintf("the tool %s of %s is not known; a rule for operation = \"other\" may permit it",
			visible.Text(c.Tool), a.Title)
		return p.server(c, Answer{Outcome: Ask, Reason: why})
	default:
		return Answer{Outcome: Deny, Reason: "the call is of no kind that is known"}
	}
}

// ruled asks the ruleset about a call that the tool's policy is not about. Where the ruleset is not
// either, there is the answer otherwise.
func (p *Policy) ruled(kind ruleset.Kind, otherwise Answer) Answer {
	if p.Judge.Rules == nil || !p.Judge.Rules.About(kind) {
		return otherwise
	}
	return p.of(kind, p.Judge.Operation(kind, nil, ""))
}

// of is the answer by a verdict. An operation other than a command that neither a rule nor a tool's
// policy permits is left to the agent's own settings, unless the ruleset has rules about such ones.
func (p *Policy) of(kind ruleset.Kind, v action.Verdict) Answer {
	out := Answer{Reason: v.Reason, Asked: v.Asked, Person: v.Doubt, Rule: v.Asks}
	switch v.Outcome {
	case action.Allow:
		out.Outcome = Allow
	case action.Unknown:
		if out.Outcome = Pass; kind == ruleset.Execute || p.Judge.Rules != nil && p.Judge.Rules.About(kind) {
			out.Outcome = Ask
		}
	case action.Deny:
		out.Outcome = Deny
	default:
		out.Outcome = Deny
	}
	return out
}

// shell judges a command, and has it run under the policy.
func (p *Policy) shell(a *Agent, e *Event) Answer {
	c := &e.Call
	if v, whole := p.Judge.Whole(c.Line); whole && c.Foreign {
		return p.of(ruleset.Execute, v)
	}
	if c.Foreign {
		return Answer{Outcome: Ask, Reason: "the command is for a shell whose language accessc does not read"}
	}
	line, held := p.Wrap.original(c.Line)
	if !held {
		line = c.Line
	}
	v := p.Judge.Command(action.Command{Line: line, Dir: e.moved(c.Dir)})
	out := p.of(ruleset.Execute, v)
	out.Held = held
	if out.Outcome == Ask && p.confines(v, held || e.Rewrites && p.Wrap != nil) {
		out.Outcome = Allow
		out.Reason += "; it runs confined as the tool " + p.Judge.Files.View.Tool.Name
	}
	switch {
	case held || out.Outcome == Deny:
	case e.Rewrites && p.Wrap != nil:
		out.Command = p.Wrap.line(line, reportOf(a, e, line))
	case out.Outcome == Allow || e.Asks:
		out.Reason += "; judged only: no kernel holds the command"
	}
	return out
}

// at is an absolute path that counts from the directory of the event. Nothing is cleaned: ".."
// behind a symlink leads elsewhere.
func (e *Event) at(path string) string {
	switch {
	case path == "":
		return e.Dir
	case filepath.IsAbs(path), path == "~", strings.HasPrefix(path, "~/"):
		return path
	default:
		return e.Dir + "/" + path
	}
}

// moved is the directory of a command, empty where that is the one which the agent was started in.
func (e *Event) moved(dir string) string {
	dir = e.at(dir)
	a, err := os.Stat(dir)
	b, wrong := os.Stat(e.Project)
	if dir == e.Project || err == nil && wrong == nil && os.SameFile(a, b) {
		return ""
	}
	return dir
}

// files judges the places of a call, each under every reading of its text.
func (p *Policy) files(e *Event) Answer {
	out := Answer{Outcome: Allow}
	for _, t := range e.Call.Touches {
		readings, err := judge.Readings(t.Path)
		if err == nil && t.Pattern && leaves(t.Path) {
			err = errors.New("the pattern may match files elsewhere than below its directory")
		}
		if err != nil {
			return Answer{Outcome: Deny, Asked: t.Path, Reason: visible.Text(err.Error())}
		}
		for _, text := range readings {
			out = out.and(p.touch(e, t, text))
		}
	}
	return out
}

// touch judges one reading of a place.
func (p *Policy) touch(e *Event, t Touch, text string) Answer {
	path, below := e.at(text), e.Call.Content
	if t.Pattern {
		if path == e.Dir+"/"+text && t.From != "" {
			path = e.at(t.From) + "/" + text
		}
		path = literal(path) // every file in this directory may match
		below = below || t.Kind == ruleset.Read
	}
	out := p.of(t.Kind, p.Judge.Operation(t.Kind, []string{path}, ""))
	if closed := p.Judge.Files.Closed(path); below && closed != nil {
		out = out.and(Answer{Outcome: Deny, Asked: t.Path, Reason: visible.Text(fmt.Sprintf(
			"%s searches files that the policy closes, such as %s (%s); a command that searches is held to the policy",
			e.Call.Tool, closed.Subject(), closed.Source().Pos))})
	}
	return out
}

// special are the characters of patterns, by any agent's language of them.
const special = "*?[{(!"

// literal is the directory of a pattern that its first words name.
func literal(pattern string) string {
	i := strings.IndexAny(pattern, special)
	if i < 0 {
		return pattern
	}
	return pattern[:strings.LastIndexAny(pattern[:i], `/\`)+1] + "."
}

// leaves reports whether a pattern may match files that do not lie below its first words: an
// alternative is absolute, or a name behind them is "..".
func leaves(pattern string) bool {
	i := strings.IndexAny(pattern, special)
	if i < 0 {
		return false
	}
	words := strings.FieldsFunc(pattern[i:], func(r rune) bool { return strings.ContainsRune(special+`,|)}]/\`, r) })
	if slices.Contains(words, "..") || strings.Contains(pattern[i:], "[.") {
		return true
	}
	return absolute.Get().MatchString(pattern[i:])
}

// absolute finds an alternative that is an absolute path, or a name in the home directory.
var absolute = expression.Once{Text: `[{,(|]\s*([/\\~]|[A-Za-z]:)`}

// fetch judges a URL; one without a scheme is that of a page.
func (p *Policy) fetch(url string) Answer {
	if !strings.Contains(url, "://") {
		url = "https://" + url
	}
	if _, err := resolve.URL(url); err != nil {
		return Answer{Outcome: Deny, Reason: "the address cannot be judged: " + visible.Text(err.Error()), Asked: url}
	}
	return p.of(ruleset.Fetch, p.Judge.Operation(ruleset.Fetch, nil, url))
}

// server judges a call of an MCP server's tool: by the configuration of each server that it may be of.
// The agent's own settings are about servers as well, so nothing is permitted.
func (p *Policy) server(c *Call, otherwise Answer) Answer {
	if reason, asked := p.Refuses(c); reason != "" {
		return Answer{Outcome: Deny, Reason: reason, Asked: asked}
	}
	return p.ruled(c.Kind, otherwise)
}
