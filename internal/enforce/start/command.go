package start

import (
	"encoding/json"
	"fmt"
	"slices"
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
		return nil, false, failed("the tool %s has no command", l.Tool) // see decision D95
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

// placeholder returns the text of one: context or a part of it, tool, tool.name, tool.arguments,
// tool.answers, tool.options, or a member of these three, which may be followed by | default('…').
func (r *Request) placeholder(l *backends.Launch, expr string) (string, error) {
	name, filter, filtered := strings.Cut(expr, "|")
	name = strings.TrimSpace(name)
	switch name {
	case "context":
		return compact(json.RawMessage(l.Context)), nil
	case "tool.name":
		return l.Tool, nil
	case "tool":
		return r.tool(l)
	}
	text, missing, ok := r.Call.member(name)
	if !ok {
		text, missing, ok = contextMember(l.Context, name)
	}
	switch {
	case !ok:
		return "", fmt.Errorf("the command has {{%s}}, expected context, tool, tool.name, tool.arguments.NAME or another of docs/config.md", expr)
	case missing == nil:
		return text, nil
	case filtered:
		return defaultFilter(strings.TrimSpace(filter))
	default:
		return "", missing
	}
}

// tool is the call as JSON. It has answers and options where the host gives some.
func (r *Request) tool(l *backends.Launch) (string, error) {
	data, err := json.Marshal(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Answers   json.RawMessage `json:"answers,omitempty"`
		Options   json.RawMessage `json:"options,omitempty"`
	}{l.Tool, json.RawMessage(compact(r.Call.Arguments)), r.Call.Answers, r.Call.Options})
	return string(data), err
}

// contextMember is a text of the Context; ok is false where the name is none of these.
func contextMember(context, name string) (text string, missing error, ok bool) {
	key, ok := strings.CutPrefix(name, "context.")
	if !ok || !slices.Contains([]string{"root", "action", "workspace_id", "conversation_id"}, key) {
		return "", nil, false
	}
	if text, ok = valueOf(json.RawMessage(context), key); !ok {
		missing = fmt.Errorf("the command needs the %s; pass it in --call", key)
	}
	return text, missing, true
}

func defaultFilter(filter string) (string, error) {
	inner, ok := strings.CutPrefix(filter, "default(")
	inner, ok2 := strings.CutSuffix(inner, ")")
	if n := len(inner); ok && ok2 && n >= 2 && (inner[0] == '\'' || inner[0] == '"') && inner[n-1] == inner[0] {
		return inner[1 : n-1], nil
	}
	return "", fmt.Errorf("the command has the filter %q, expected default('…')", filter)
}
