package adopt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/accessc/accessc/internal/jsonc"
	"github.com/accessc/accessc/internal/jsonrpc"
)

// ErrServers is the error about a document that names no servers.
var ErrServers = errors.New("the file has no table of servers: mcpServers, servers or mcp.servers")

// Server is one server of a file.
type Server struct {
	// Name is its name there, Policy the one that accessc knows it by.
	Name, Policy string
	// Changed is true for a server that was rewritten; otherwise Why is the reason.
	Changed bool
	Why     string
	// Env are the variables that the file sets for the server, which its policy has to grant.
	Env []string
}

// seat are the words between the program and a server's own command.
const (
	seat   = "mcp"
	flag   = "--server"
	behind = "--"
)

// Wrap has the servers of a file start through a program, that of accessc.
func Wrap(doc []byte, program string) ([]byte, []Server, error) {
	return rewrite(doc, func(e *entry, s *Server) (string, []string) {
		if e.wrapped() {
			s.Why = "starts through accessc already"
			return "", nil
		}
		return program, append([]string{seat, flag, s.Policy, behind, e.command.Str}, e.words...)
	})
}

// Unwrap has the servers of a file start as before Wrap.
func Unwrap(doc []byte) ([]byte, []Server, error) {
	return rewrite(doc, func(e *entry, s *Server) (string, []string) {
		if !e.wrapped() {
			s.Why = "does not start through accessc"
			return "", nil
		}
		own := e.words[slices.Index(e.words, behind)+1:]
		return own[0], own[1:]
	})
}

// rewrite gives each server the command that change returns, an empty one for no change.
func rewrite(doc []byte, change func(*entry, *Server) (string, []string)) ([]byte, []Server, error) {
	text, err := jsonc.Plain(doc)
	if err != nil {
		return nil, nil, err
	}
	table, err := servers(gjson.ParseBytes(text))
	if err != nil {
		return nil, nil, err
	}
	var entries []*entry
	table.ForEach(func(name, value gjson.Result) bool {
		entries = append(entries, &entry{name: name.Str, value: value})
		return true
	})
	out := make([]Server, len(entries))
	// From the last to the first, so that the places of those before stay.
	for i, e := range slices.Backward(entries) {
		s := &out[i]
		s.Name, s.Policy = e.name, policyName(e.name)
		if s.Why = e.read(); s.Why != "" {
			continue
		}
		s.Env = e.env
		if program, words := change(e, s); program != "" {
			s.Changed = true
			doc = e.write(doc, program, words)
		}
	}
	if again, err := jsonc.Plain(doc); err != nil || len(again) != len(doc) {
		return nil, nil, fmt.Errorf("the file would not be JSON afterwards: %w", jsonc.ErrJSON)
	}
	return doc, out, nil
}

// servers finds the table of servers.
func servers(root gjson.Result) (gjson.Result, error) {
	for _, way := range [][]string{{"mcpServers"}, {"servers"}, {"mcp", "servers"}} {
		at := root
		for _, key := range way {
			members, err := jsonrpc.Members(at)
			if err != nil && at.IsObject() {
				return at, err
			}
			at = members[key]
		}
		if at.IsObject() {
			_, err := jsonrpc.Members(at)
			return at, err
		}
	}
	return gjson.Result{}, ErrServers
}

// entry is one server as its file has it.
type entry struct {
	name          string
	value         gjson.Result
	command, args gjson.Result
	words, env    []string
}

// read returns the reason why the entry is none that can be rewritten, empty if it is one.
func (e *entry) read() string {
	if !e.value.IsObject() {
		return "is no table"
	}
	members, err := jsonrpc.Members(e.value, "command", "args", "env")
	if err != nil {
		return "can be read in two ways: " + err.Error()
	}
	e.command, e.args = members["command"], members["args"]
	switch {
	case !e.command.Exists():
		return "has no command: accessc starts no server on another host"
	case e.command.Type != gjson.String || e.command.Str == "":
		return "has a command that is no text"
	case e.args.Exists() && !e.args.IsArray():
		return "has arguments that are no list"
	}
	for _, word := range e.args.Array() {
		if word.Type != gjson.String {
			return "has an argument that is no text"
		}
		e.words = append(e.words, word.Str)
	}
	members["env"].ForEach(func(key, _ gjson.Result) bool {
		e.env = append(e.env, key.Str)
		return true
	})
	return ""
}

// wrapped reports whether a server starts through accessc.
func (e *entry) wrapped() bool {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(filepath.ToSlash(e.command.Str))), ".exe")
	at := slices.Index(e.words, behind)
	return base == "accessc" && at > 0 && e.words[0] == seat && at+1 < len(e.words)
}

// write puts another command into a document, with as little change as possible.
func (e *entry) write(doc []byte, program string, words []string) []byte {
	command, args := quote(program), list(words)
	switch {
	case !e.args.Exists():
		return jsonrpc.Replace(doc, e.command, []byte(command+`, "args": `+args))
	case e.args.Index > e.command.Index:
		doc = jsonrpc.Replace(doc, e.args, []byte(args))
		return jsonrpc.Replace(doc, e.command, []byte(command))
	default:
		doc = jsonrpc.Replace(doc, e.command, []byte(command))
		return jsonrpc.Replace(doc, e.args, []byte(args))
	}
}

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote is a text in JSON, without escapes that JSON does not ask for.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text always has a form
	return strings.TrimSuffix(b.String(), "\n")
}

// policyName is the name of a server in a configuration, which is a file name, too.
func policyName(name string) string {
	name = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if name = strings.TrimLeft(name, "-"); name == "" {
		return "server"
	}
	return name
}
