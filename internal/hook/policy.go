package hook

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/accessc/accessc/internal/jsonrpc"
	"github.com/accessc/accessc/internal/judge"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

// Policy is that of one directory.
type Policy struct {
	// Judge answers for files and addresses. OnlyRefuses leaves what it permits to the agent: no
	// person has written the default policy.
	Judge       *judge.Judge
	OnlyRefuses bool
	// Command judges a line for a shell in a directory, Rules another operation by the ruleset.
	Command func(line, dir string) Answer
	Rules   func(op ruleset.Operation) Answer
	// Server returns the judge of the arguments of an MCP server, and the reason why one of its
	// tools may not be called.
	Server func(server, method string) (*judge.Judge, string)
	// Wrap runs commands under the policy; nil where commands are only judged.
	Wrap *Wrap
}

// Answer judges a call before it is made.
func (p *Policy) Answer(a *Agent, e *Event) Answer {
	var out Answer
	switch c := &e.Call; c.What {
	case Shell:
		return p.shell(a, e)
	case Files, Patch:
		out = p.files(c)
	case Address:
		out = p.permitted(p.address(c.URL))
	case Server:
		out = p.server(c)
	case Nothing:
		out = Answer{Outcome: Pass}
	case Unknown:
		out = p.arguments(p.Judge, c.Input).and(Answer{Outcome: Ask, Reason: fmt.Sprintf("the tool %s of %s is not known", c.Tool, a.Title)})
	default:
		return Answer{Outcome: Deny, Reason: "the call is of no kind that is known"}
	}
	return p.ruled(out, e)
}

// ruled asks the ruleset as well, which may permit what the policy leaves open.
func (p *Policy) ruled(out Answer, e *Event) Answer {
	op := ruleset.Operation{Kind: e.Call.Kind, Dir: filepath.ToSlash(e.Dir), URL: e.Call.URL}
	for _, t := range e.Call.Touches {
		op.Paths = append(op.Paths, filepath.ToSlash(t.Path))
	}
	switch by := p.Rules(op); {
	case by.Outcome == Deny && out.Outcome != Deny, by.Outcome == Allow && out.Outcome != Deny:
		return by
	default:
		return out
	}
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
	dir := e.Dir
	if c.Dir != "" {
		if dir = c.Dir; !filepath.IsAbs(dir) {
			dir = filepath.Join(e.Dir, dir)
		}
		if refused := p.Judge.Path(dir); refused != nil {
			return denied(refused)
		}
	}
	out := p.Command(line, dir)
	out.Held = held
	if out.Outcome != Deny && e.Rewrites && !held && p.Wrap != nil {
		out.Command = p.Wrap.line(line, reportOf(a, e, line))
	}
	return out
}

// files judges the places of a call.
func (p *Policy) files(c *Call) Answer {
	out := p.permitted(nil)
	for _, t := range c.Touches {
		path, content := t.Path, c.Content
		if i := strings.IndexAny(path, "*?[{"); i >= 0 && t.Need == ir.Read {
			// A pattern: whatever is in the directory may match.
			path, content = path[:strings.LastIndexAny(path[:i], `/\`)+1]+".", true
		}
		out = out.and(p.permitted(p.Judge.Access(t.Need, path)))
		if below := p.Judge.Closed(path); content && below != nil {
			out = out.and(Answer{Outcome: Deny, Asked: t.Path, Reason: fmt.Sprintf(
				"%s searches files that the policy closes, such as %s (%s); a command that searches is held to the policy",
				c.Tool, below.Subject(), below.Source().Pos)})
		}
	}
	return out
}

// address judges a URL; one without a scheme is that of a page.
func (p *Policy) address(url string) *judge.Refusal {
	if !strings.Contains(url, "://") {
		url = "https://" + url
	}
	return p.Judge.Fetch(url)
}

// server judges a call of an MCP server's tool: by the configuration of the server if there is one.
// The agent's own settings are about servers as well, so nothing is permitted.
func (p *Policy) server(c *Call) Answer {
	j, why := p.Server(c.Server, c.Method)
	if why != "" {
		return Answer{Outcome: Deny, Reason: why, Asked: c.Method}
	}
	return p.arguments(j, c.Input).and(Answer{Outcome: Pass})
}

// arguments judges the texts of an input that are paths or addresses.
func (p *Policy) arguments(j *judge.Judge, input gjson.Result) Answer {
	out := Answer{Outcome: Pass}
	// The names in the input are single already: the event was read so.
	_ = jsonrpc.Strings(input, "", func(name, text string) {
		if refused := j.Argument(name, text); refused != nil {
			out = out.and(denied(refused))
		}
	})
	return out
}

// permitted is the answer to what the policy refuses, or permits.
func (p *Policy) permitted(refused *judge.Refusal) Answer {
	switch {
	case refused != nil:
		return denied(refused)
	case p.OnlyRefuses:
		return Answer{Outcome: Pass}
	default:
		return Answer{Outcome: Allow}
	}
}

func denied(r *judge.Refusal) Answer {
	return Answer{Outcome: Deny, Reason: r.Text(), Asked: r.Asked}
}
