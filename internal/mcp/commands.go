package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/accessc/accessc/internal/jsonrpc"
	"github.com/accessc/accessc/internal/judge/action"
)

// The members of arguments that are commands, their further words, and their working directories,
// by the names that servers use, in lower case and without the marks between words.
var (
	commandKeys   = []string{"command", "cmd", "script", "commandline", "shellcommand"}
	listKeys      = []string{"commands", "cmds", "scripts"}
	wordKeys      = []string{"args", "arguments", "argv"}
	directoryKeys = []string{"cwd", "workdir", "workingdirectory", "directory", "dir"}
)

// commands are the commands in the arguments of a call. One that is not understood has neither
// words nor a line.
func commands(v gjson.Result) (out []action.Command, err error) {
	visit := func(value gjson.Result) {
		inside, wrong := commands(value)
		out, err = append(out, inside...), errors.Join(err, wrong)
	}
	switch {
	case v.IsArray():
		for _, item := range v.Array() {
			visit(item)
		}
	case v.IsObject():
		members, wrong := named(v)
		err = wrong
		for _, name := range slices.Sorted(maps.Keys(members)) {
			value := members[name]
			switch {
			case slices.Contains(commandKeys, name) && !value.IsObject():
				out = append(out, command(value, members))
			case slices.Contains(listKeys, name) && value.IsArray():
				for _, line := range value.Array() {
					out = append(out, command(line, members))
				}
			}
			visit(value)
		}
	}
	return out, err
}

// named are the members of an object by their names in lower case and without marks.
func named(v gjson.Result) (map[string]gjson.Result, error) {
	members, err := jsonrpc.Members(v)
	out := map[string]gjson.Result{}
	for name, value := range members {
		key := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
		if _, twice := out[key]; twice && slices.Contains(slices.Concat(commandKeys, listKeys, wordKeys, directoryKeys, []string{"env"}), key) {
			err = errors.Join(err, fmt.Errorf("two members of one object mean %q", key))
		}
		out[key] = value
	}
	return out, err
}

// command reads one command, with the members beside it that are about it.
func command(v gjson.Result, beside map[string]gjson.Result) action.Command {
	var c action.Command
	for _, name := range directoryKeys {
		if c.Dir == "" {
			c.Dir = beside[name].Str
		}
	}
	for name := range beside["env"].Map() {
		c.Env = append(c.Env, name)
	}
	words, ok := texts(v)
	ok = ok && (!beside["env"].Exists() || beside["env"].IsObject())
	for _, name := range wordKeys {
		if beside[name].Exists() {
			more, also := texts(beside[name])
			words, ok = append(words, more...), ok && also && beside[name].IsArray()
		}
	}
	switch {
	case !ok:
	case v.IsArray() || len(words) > 1:
		c.Words = words
	default:
		c.Line = v.Str
	}
	return c
}

// texts reads a text or a list of texts.
func texts(v gjson.Result) (out []string, ok bool) {
	for _, item := range v.Array() {
		if item.Type != gjson.String {
			return nil, false
		}
		out = append(out, item.Str)
	}
	return out, len(out) > 0 || v.IsArray()
}

// runs is the refusal of the commands among the arguments of a call, empty where there is none. There is no
// person to ask, so a ruleset has to allow them.
// See RATIONALE D148.
func (p *Policy) runs(arguments gjson.Result) (refusal, asked string, err error) {
	all, err := commands(arguments)
	if err != nil {
		return "", "", err
	}
	for _, c := range all {
		if p.Commands.Rules == nil {
			if why := p.Commands.Own(c); why != "" {
				return why, c.Text(), nil
			}
			continue
		}
		if v := p.Commands.Command(c); v.Outcome != action.Allow {
			return "the ruleset " + p.Commands.Rules.Name + " does not allow the command: " + v.Reason, v.Asked, nil
		}
	}
	return "", "", nil
}
