package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/backends"
)

// defaultPath is where programs are looked up when the policy forwards no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// shell runs the commands that ask for one.
const shell = "/bin/sh"

// argv returns the words of the command that a request starts.
func (r *Request) argv(l *backends.Launch) ([]string, error) {
	if r.Program != "" {
		return append([]string{r.Program}, r.Args...), nil
	}
	c := l.Command
	if c == nil {
		return nil, failed("the tool %s has no command", l.Tool)
	}
	if c.Shell && strings.Contains(c.Program, "{{") {
		return nil, failed("the command is text for a shell and has a placeholder, which the shell would read as code")
	}
	words := make([]string, 0, len(c.Args)+len(r.Args)+1)
	for _, w := range append([]string{c.Program}, c.Args...) {
		text, err := r.fill(l, w)
		if err != nil {
			return nil, failed("%w", err)
		}
		words = append(words, text)
	}
	if c.Shell {
		// The first word is the shell's text, the others its arguments.
		words = append([]string{shell, "-c", words[0] + ` "$@"`, words[0]}, words[1:]...)
		if len(c.Args)+len(r.Args) == 0 {
			words[2] = words[3]
		}
	}
	return append(words, r.Args...), nil
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

// placeholder returns the text of one: context, tool, tool.name or
// tool.arguments.NAME, which may be followed by | default('…').
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

// find returns the canonical file of a program: a path as it is, relative to the
// working directory, a bare name in PATH.
func find(program string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		return runnable(program)
	}
	path, ok := lookupEnv(env, "PATH")
	if !ok {
		path = defaultPath
	}
	refused := error(nil)
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			dir = "."
		}
		file, err := runnable(filepath.Join(dir, program))
		switch {
		case err == nil:
			return file, nil
		case !errors.Is(err, fs.ErrNotExist):
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: not found in PATH", program)}
}

func runnable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: %w", path, fs.ErrNotExist)}
	case err != nil:
		return "", &Error{Code: CodeNotRunnable, Err: err}
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return "", &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: not an executable file", path)}
	}
	return filepath.Abs(path)
}
