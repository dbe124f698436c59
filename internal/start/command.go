package start

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/accessc/accessc/backends"
)

// words returns the words of the command that a request starts, and whether the first
// of them is text for a shell.
func (r *Request) words(l *backends.Launch) (words []string, forShell bool, err error) {
	if r.Program != "" {
		return append([]string{r.Program}, r.Args...), false, nil
	}
	c := l.Command
	if c == nil {
		return nil, false, failed("the tool %s has no command", l.Tool)
	}
	if c.Shell && strings.Contains(c.Program, "{{") {
		return nil, false, failed("the command is text for a shell and has a placeholder, which the shell would read as code")
	}
	for _, w := range append([]string{c.Program}, c.Args...) {
		text, err := r.fill(l, w)
		if err != nil {
			return nil, false, failed("%w", err)
		}
		words = append(words, text)
	}
	return append(words, r.Args...), c.Shell, nil
}

// fill replaces the placeholders of a word.
func (r *Request) fill(l *backends.Launch, word string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(word, "{{")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		inner, after, ok := strings.Cut(rest, "}}")
		if !ok {
			return "", fmt.Errorf("the command has {{ without }}")
		}
		text, err := r.placeholder(l, strings.TrimSpace(inner))
		if err != nil {
			return "", err
		}
		b.WriteString(text)
		word = after
	}
}

// placeholder returns the text of one: context, tool, tool.name or tool.arguments.NAME, which
// may be followed by | default('…').
func (r *Request) placeholder(l *backends.Launch, expr string) (string, error) {
	name, filter, filtered := strings.Cut(expr, "|")
	name = strings.TrimSpace(name)
	switch name {
	case "context":
		var b bytes.Buffer
		err := json.Compact(&b, []byte(l.Context))
		return b.String(), err
	case "tool.name":
		return l.Tool, nil
	case "tool":
		data, err := json.Marshal(struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}{l.Tool, r.arguments()})
		return string(data), err
	}
	key, ok := strings.CutPrefix(name, "tool.arguments.")
	if !ok {
		return "", fmt.Errorf("the command has {{%s}}, expected context, tool, tool.name or tool.arguments.NAME", expr)
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(r.arguments(), &args); err != nil {
		return "", fmt.Errorf("--arguments takes a JSON object: %w", err)
	}
	if value, ok := args[key]; ok {
		return plainJSON(value), nil
	}
	if filtered {
		return defaultFilter(strings.TrimSpace(filter))
	}
	return "", fmt.Errorf("the command needs the argument %s; pass it in --arguments", key)
}

func (r *Request) arguments() json.RawMessage {
	if len(r.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return r.Arguments
}

// plainJSON is a string's contents, or the JSON of anything else.
func plainJSON(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(bytes.TrimSpace(v))
}

func defaultFilter(filter string) (string, error) {
	inner, ok := strings.CutPrefix(filter, "default(")
	inner, ok2 := strings.CutSuffix(inner, ")")
	if n := len(inner); ok && ok2 && n >= 2 && (inner[0] == '\'' || inner[0] == '"') && inner[n-1] == inner[0] {
		return inner[1 : n-1], nil
	}
	return "", fmt.Errorf("the command has the filter %q, expected default('…')", filter)
}
