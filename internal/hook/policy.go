package hook

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/jsonrpc"
	"github.com/accessc/accessc/internal/judge"
	"github.com/accessc/accessc/internal/judge/action"
	"github.com/accessc/accessc/ruleset"
)

// Policy is that of one directory.
type Policy struct {
	// Judge judges commands and other operations.
	Judge *action.Judge
	// Server returns the judge of the arguments of an MCP server, and the reason why one of its
	// tools may not be called.
	Server func(server, method string) (*judge.Judge, string)
	// Wrap runs commands under the policy; nil where commands are only judged.
	Wrap *Wrap
}

// Answer judges a call before it is made.
// See RATIONALE D151.
func (p *Policy) Answer(a *Agent, e *Event) Answer {
	switch c := &e.Call; c.What {
	case Shell:
		return p.shell(a, e)
	case Files, Patch:
		return p.files(e)
	case Address:
		return p.fetch(c.URL)
	case Server:
		return p.server(c)
	case Nothing:
		return p.ruled(c.Kind, Answer{Outcome: Pass})
	case Unknown:
		unknown := Answer{Outcome: Ask, Reason: fmt.Sprintf("the tool %s of %s is not known; a rule for operation = \"other\" may permit it", c.Tool, a.Title)}
		return p.arguments(p.Judge.Files, c.Input).and(p.ruled(c.Kind, unknown))
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

// of is the answer by a verdict. What neither a rule nor a tool's policy permits is the business of
// the agent's own settings, unless the ruleset has rules about such operations.
func (p *Policy) of(kind ruleset.Kind, v action.Verdict) Answer {
	out := Answer{Reason: v.Reason, Asked: v.Asked}
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
	if c.Foreign {
		return Answer{Outcome: Ask, Reason: "the command is for a shell whose language accessc does not read"}
	}
	line, held := p.Wrap.original(c.Line)
	if !held {
		line = c.Line
	}
	out := p.of(ruleset.Execute, p.Judge.Command(action.Command{Line: line, Dir: e.at(c.Dir)}))
	out.Held = held
	switch {
	case held || out.Outcome == Deny:
	case e.Rewrites && p.Wrap != nil:
		out.Command = p.Wrap.line(line, reportOf(a, e, line))
	default:
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

// files judges the places of a call.
func (p *Policy) files(e *Event) Answer {
	c, out := &e.Call, Answer{Outcome: Allow}
	for _, t := range c.Touches {
		path, below := e.at(t.Path), c.Content
		if i := strings.IndexAny(path, "*?[{"); i >= 0 && t.Kind == ruleset.Read {
			// A pattern: whatever is in the directory may match.
			path, below = path[:strings.LastIndexAny(path[:i], `/\`)+1]+".", true
		}
		out = out.and(p.of(t.Kind, p.Judge.Operation(t.Kind, []string{path}, "")))
		if closed := p.Judge.Files.Closed(path); below && closed != nil {
			out = out.and(Answer{Outcome: Deny, Asked: t.Path, Reason: fmt.Sprintf(
				"%s searches files that the policy closes, such as %s (%s); a command that searches is held to the policy",
				c.Tool, closed.Subject(), closed.Source().Pos)})
		}
	}
	return out
}

// fetch judges a URL; one without a scheme is that of a page.
func (p *Policy) fetch(url string) Answer {
	if !strings.Contains(url, "://") {
		url = "https://" + url
	}
	if _, err := resolve.URL(url); err != nil {
		return Answer{Outcome: Deny, Reason: "the address cannot be judged: " + err.Error(), Asked: url}
	}
	return p.of(ruleset.Fetch, p.Judge.Operation(ruleset.Fetch, nil, url))
}

// server judges a call of an MCP server's tool: by the configuration of the server if there is one.
// The agent's own settings are about servers as well, so nothing is permitted.
func (p *Policy) server(c *Call) Answer {
	j, why := p.Server(c.Server, c.Method)
	if why != "" {
		return Answer{Outcome: Deny, Reason: why, Asked: c.Method}
	}
	return p.arguments(j, c.Input).and(p.ruled(c.Kind, Answer{Outcome: Pass}))
}

// arguments judges the texts of an input that are paths or addresses.
func (p *Policy) arguments(j *judge.Judge, input gjson.Result) Answer {
	out := Answer{Outcome: Allow}
	// The names in the input are single already: the event was read so.
	_ = jsonrpc.Strings(input, "", func(name, text string) {
		if r := j.Argument(name, text); r != nil && out.Outcome != Deny {
			out = Answer{Outcome: Deny, Reason: r.Text(), Asked: r.Asked}
		}
	})
	return out
}
