package acp

import (
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// terminal judges a request for a terminal. Without a table of programs the policy permits every
// program, and with one those alone that are known to be in it. The program that passes is started under
// the policy.
// See decision D138.
func terminal(s *session, params strictjson.Value) ruling {
	members, err := jsonrpc.Members(params, "sessionId", "command", "args", "cwd", "env")
	if err == nil {
		err = shaped(members)
	}
	if err != nil {
		return denied(action.Refused(err.Error(), ""))
	}
	c := action.Command{Dir: members["cwd"].Str, Line: members["command"].Str}
	if args := members["args"].Array(); len(args) > 0 || len(action.PlainWords(c.Line)) == 1 {
		c.Words, c.Line = []string{c.Line}, ""
		for _, a := range args {
			c.Words = append(c.Words, a.Str)
		}
	}
	sets, err := variables(members["env"])
	if err != nil {
		return denied(action.Refused(err.Error(), ""))
	}
	for _, set := range sets {
		name, _, _ := strings.Cut(set, "=")
		c.Env = append(c.Env, name)
	}
	v := s.policy.Command(c)
	if v.Outcome == action.Unknown && s.policy.Files.View.Tool.Commands != nil {
		v.Outcome = action.Deny
	}
	v = s.invoke(c, v, true)
	r := denied(v)
	if s.policy.Confine == nil || v.Outcome == action.Deny {
		return r
	}
	words := s.policy.Start(c)
	if sets != nil {
		// The variables are the program's. For accessc they could mean another configuration.
		if runtime.GOOS == "windows" || strings.Contains(words[0], "=") {
			return denied(action.Refused("the variables of the terminal cannot be set under the policy", ""))
		}
		words = append(append([]string{"env"}, sets...), words...)
	}
	words = s.policy.Confine(words)
	r.rewrite = func(line []byte) []byte { return startOf(line, members, words) }
	return r
}

// shaped returns an error unless the members of a request for a terminal have the types of the protocol: a client reads
// others in a way of its own.
func shaped(members map[string]strictjson.Value) error {
	text := func(v strictjson.Value) bool { return v.Type == strictjson.String }
	list := func(v strictjson.Value) bool { return v.IsArray() || v.Type == strictjson.Null }
	switch args := members["args"]; {
	case !text(members["command"]) || members["command"].Str == "":
		return errors.New("the command of the terminal is no text")
	case members["cwd"].Type != strictjson.Null && !text(members["cwd"]):
		return errors.New("the directory of the terminal is no text")
	case !list(args) || slices.ContainsFunc(args.Array(), func(v strictjson.Value) bool { return !text(v) }):
		return errors.New("the arguments of the terminal are no list of texts")
	case !list(members["env"]):
		return errors.New("the variables of the terminal are no list")
	}
	return nil
}

// variables reads the variables of a terminal, as NAME=VALUE.
func variables(list strictjson.Value) (sets []string, err error) {
	for _, e := range list.Array() {
		members, err := jsonrpc.Members(e, "name", "value")
		if err != nil {
			return nil, err
		}
		name, value := members["name"].Str, members["value"]
		letters := func(r rune) bool {
			return r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		}
		if name == "" || strings.TrimFunc(name, letters) != "" || value.Type != strictjson.String || strings.ContainsRune(value.Str, 0) {
			return nil, errors.New("a variable of the terminal has no plain name and text")
		}
		sets = append(sets, name+"="+value.Str)
	}
	return sets, nil
}

// startOf is a request for a terminal with other words in it. Every other byte stays.
func startOf(line []byte, members map[string]strictjson.Value, words []string) []byte {
	// A list of strings always has a JSON form.
	program, _ := json.Marshal(words[0])
	args, _ := json.Marshal(words[1:])
	with := map[string][]byte{"command": program, "args": args, "env": []byte("[]")}
	if !members["args"].Exists() {
		with["command"] = append(append(program, `,"args":`...), args...)
	}
	// From the last to the first, so that the places of those before stay.
	for len(with) > 0 {
		last := ""
		for name := range with {
			if last == "" || members[name].Index > members[last].Index {
				last = name
			}
		}
		if members[last].Exists() {
			line = jsonrpc.Replace(line, members[last], with[last])
		}
		delete(with, last)
	}
	return line
}
