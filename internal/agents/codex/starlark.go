package codex

import (
	"encoding/json"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer"
)

// call is a call of a function with arguments by name, each a text, a list, or a list of lists.
type call struct {
	name string
	at   int
	args []argument
}

type argument struct {
	name  string
	at    int
	value value
}

// value is a text, or a list that is not nil.
type value struct {
	at   int
	text string
	list []value
}

// calls reads a file in the part of Starlark that rules are written in: calls with literal arguments. Anything
// else is a mistake, since it may make rules that are not seen here.
func calls(d *importer.Document) []call {
	p := &starlark{d: d, text: string(d.Text)}
	var out []call
	for p.blanks(); p.at < len(p.text) && len(d.Faults) == 0; p.blanks() {
		c := call{at: p.at}
		c.name = p.word()
		if c.name != "prefix_rule" && c.name != "network_rule" && c.name != "host_executable" {
			d.Fault(c.at, "expected a call of prefix_rule with literal arguments; other code is not run")
			return nil
		}
		p.expect("(")
		for p.blanks(); len(d.Faults) == 0 && !p.take(")"); p.blanks() {
			a := argument{at: p.at}
			a.name = p.word()
			p.expect("=")
			a.value = p.value(0)
			c.args = append(c.args, a)
			if p.blanks(); !p.take(",") && !strings.HasPrefix(p.text[p.at:], ")") {
				d.Fault(p.at, `expected "," or ")"`)
			}
		}
		out = append(out, c)
	}
	return out
}

// starlark reads the text.
type starlark struct {
	d    *importer.Document
	text string
	at   int
}

// blanks skips blanks and comments.
func (p *starlark) blanks() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '#':
			end := strings.IndexByte(p.text[p.at:], '\n')
			if end < 0 {
				end = len(p.text) - p.at
			}
			p.at += end
		case strings.IndexByte(" \t\r\n;", c) >= 0:
			p.at++
		default:
			return
		}
	}
}

func (p *starlark) word() string {
	from := p.at
	for p.at < len(p.text) && (p.text[p.at] == '_' || 'a' <= p.text[p.at] && p.text[p.at] <= 'z') {
		p.at++
	}
	return p.text[from:p.at]
}

func (p *starlark) take(s string) bool {
	if !strings.HasPrefix(p.text[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *starlark) expect(s string) {
	if p.blanks(); !p.take(s) {
		p.d.Fault(p.at, "expected %q", s)
	}
	p.blanks()
}

// maxLists is how deep lists may stand in each other: match is a list of lists of words.
const maxLists = 3

func (p *starlark) value(depth int) value {
	p.blanks()
	out := value{at: p.at}
	switch {
	case depth > maxLists:
		p.d.Fault(p.at, "too many lists in each other")
	case p.take("["):
		out.list = []value{}
		for p.blanks(); len(p.d.Faults) == 0 && !p.take("]"); p.blanks() {
			out.list = append(out.list, p.value(depth+1))
			if p.blanks(); !p.take(",") && !strings.HasPrefix(p.text[p.at:], "]") {
				p.d.Fault(p.at, `expected "," or "]"`)
			}
		}
	default:
		out.text = p.quoted()
	}
	return out
}

// quoted reads a text between quotes. Escapes are those that JSON has as well.
func (p *starlark) quoted() string {
	from := p.at
	if from == len(p.text) || p.text[from] != '"' && p.text[from] != '\'' {
		p.d.Fault(from, "expected a text or a list of texts")
		return ""
	}
	quote := p.text[from : from+1]
	if strings.HasPrefix(p.text[from:], strings.Repeat(quote, 3)) {
		p.d.Fault(from, "a text in three quotes is not understood")
		return ""
	}
	for p.at++; p.at < len(p.text) && p.text[p.at:p.at+1] != quote && p.text[p.at] != '\n'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	if p.at >= len(p.text) || p.text[p.at:p.at+1] != quote {
		p.at = min(p.at, len(p.text))
		p.d.Fault(from, "a text without its end")
		return ""
	}
	p.at++
	inner, out := p.text[from+1:p.at-1], ""
	if quote == "'" {
		inner = strings.ReplaceAll(strings.ReplaceAll(inner, `\'`, "'"), `"`, `\"`)
	}
	if json.Unmarshal([]byte(`"`+inner+`"`), &out) != nil {
		p.d.Fault(from, "an escape that is not understood")
	}
	return out
}
