package adopt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// entry is one server as its file has it.
type entry struct {
	name, table   string
	project       string
	value         strictjson.Value
	command, args strictjson.Value
	members       map[string]strictjson.Value
	// texts are the elements of args, words their strings; env are the names of variables.
	texts      []strictjson.Value
	words, env []string
	// set are the variables with the values that are texts, handed the names of those that the client hands on.
	set, handed []string

	// why is the reason why it cannot be rewritten, empty if it can.
	why string
	// quote writes a text, absent begins a list of arguments behind the command of an entry without arguments.
	quote  func(string) string
	absent string
}

// read returns the reason why the entry is none that can be rewritten, empty if it is one.
func (e *entry) read() string {
	if !e.value.IsObject() {
		return "is no table"
	}
	var err error
	e.members, err = jsonrpc.Members(e.value, "command", "args", "env", "envFile", "cwd")
	if err != nil {
		return "can be read in two ways: " + err.Error()
	}
	e.command, e.args = e.members["command"], e.members["args"]
	if why := e.unusable(); why != "" {
		return why
	}
	if e.args.Exists() && !e.args.IsArray() {
		return "has arguments that are no list"
	}
	e.args.ForEach(func(_, word strictjson.Value) bool {
		e.texts, e.words = append(e.texts, word), append(e.words, word.Str)
		return true
	})
	for _, word := range e.texts {
		if word.Type != strictjson.String {
			return "has an argument that is no text"
		}
		if broken(word) {
			return "has an argument with half of a character"
		}
	}
	return e.variables()
}

// unusable returns the reason why the command is none that can be rewritten.
func (e *entry) unusable() string {
	switch {
	case !e.command.Exists():
		return e.remote()
	case e.command.Type != strictjson.String || e.command.Str == "":
		return "has a command that is no text"
	case broken(e.command):
		return "has a command with half of a character"
	}
	return ""
}

// inner is the server's own command.
func (e *entry) inner() []string {
	if e.exact() {
		return e.words[slices.Index(e.words, behind)+1:]
	}
	return e.started()
}

// started is the command as the client starts it.
func (e *entry) started() []string { return append([]string{e.command.Str}, e.words...) }

// variables reads the names of the variables that the entry sets.
func (e *entry) variables() string {
	env := e.members["env"]
	if !env.Exists() || env.Type == strictjson.Null {
		return ""
	}
	if !env.IsObject() {
		return "has an env that is no table"
	}
	if _, err := jsonrpc.Members(env); err != nil {
		return "can be read in two ways: " + err.Error()
	}
	env.ForEach(func(key, value strictjson.Value) bool {
		e.env = append(e.env, key.Str)
		if value.Type == strictjson.String {
			e.set = append(e.set, key.Str+"="+value.Str)
		}
		return true
	})
	return ""
}

// remote is the reason for an entry without a command.
func (e *entry) remote() string {
	for name, value := range e.members {
		if value.IsObject() && (value.Get("command").Exists() || value.Get("args").Exists()) {
			return "has its command in " + name + ", which accessc does not know: look at it"
		}
	}
	return "has no command: accessc starts no server on another host"
}

// broken reports whether a text has half of a pair of surrogates, which no UTF-8 can say.
func broken(text strictjson.Value) bool {
	return strings.Contains(text.Raw, `\u`) && strings.ContainsRune(text.Str, '\uFFFD')
}

// ours reports whether a server starts through a program named accessc.
func (e *entry) ours() bool {
	base := e.command.Str[strings.LastIndexAny(e.command.Str, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(base), ".exe") == "accessc"
}

// exact reports whether the words are those that Wrap writes.
func (e *entry) exact() bool {
	return e.ours() && len(e.words) > 4 && slices.Equal(e.words[:4], []string{seat, flag, compiler.ServerName(e.name), behind})
}

// wrap puts words before a command, and a program before those. The text of the list of arguments
// stays as it is, with its comments.
func (e *entry) wrap(doc []byte, program string, words []string) []byte {
	words = append(words[:len(words):len(words)], e.command.Str)
	command := e.quote(program)
	if !e.args.Exists() {
		return jsonrpc.Replace(doc, e.command, []byte(command+e.absent+e.list(words)+"]"))
	}
	insert := e.list(words)
	if first := e.args.Index + 1; len(e.words) > 0 {
		insert += ","
		if bytes.IndexByte([]byte(" \t\r\n"), doc[first]) < 0 {
			insert += " "
		}
	}
	return e.replace(doc, command, e.args.Index+1, e.args.Index+1, insert)
}

// unwrap takes away the program and the words that wrap put before the command. text is the
// document without comments.
func (e *entry) unwrap(doc, text []byte) []byte {
	own := slices.Index(e.words, behind) + 1
	end := e.texts[own]
	to := end.Index + len(end.Raw)
	for text[to] == ' ' || text[to] == '\t' || text[to] == '\r' || text[to] == '\n' {
		to++
	}
	switch {
	case text[to] != ',':
		to = end.Index + len(end.Raw)
	case doc[to+1] == ' ':
		to += 2
	default:
		to++
	}
	return e.replace(doc, e.quote(e.words[own]), e.args.Index+1, to, "")
}

// replace exchanges the command and a part of the arguments, the later one first.
func (e *entry) replace(doc []byte, command string, from, to int, insert string) []byte {
	args := func(doc []byte) []byte { return slices.Concat(doc[:from], []byte(insert), doc[to:]) }
	if e.args.Index > e.command.Index {
		return jsonrpc.Replace(args(doc), e.command, []byte(command))
	}
	return args(jsonrpc.Replace(doc, e.command, []byte(command)))
}

func (e *entry) list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = e.quote(w)
	}
	return strings.Join(quoted, ", ")
}

// quote is a text in JSON, without escapes that JSON does not ask for.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text always has a form
	return strings.TrimSuffix(b.String(), "\n")
}
