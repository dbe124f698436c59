package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ruleset/shell"
)

// commands are the commands in the arguments of a call. One that is not understood has neither
// words nor a line.
func commands(v strictjson.Value) (out []wanted, err error) {
	visit := func(value strictjson.Value) {
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
			case slices.Contains(action.CommandKeys, name), slices.Contains(action.AloneKeys, name) && !overlap(members, action.CommandKeys):
				if isSwitch(name, value) {
					break
				}
				out = append(out, command(value, members))
			case slices.Contains(action.ListKeys, name) && value.IsArray():
				for _, line := range value.Array() {
					out = append(out, command(line, members))
				}
			}
			visit(value)
		}
	}
	return out, err
}

// isSwitch reports whether a member with the name of a command is a number or a setting.
func isSwitch(name string, v strictjson.Value) bool {
	return !slices.Contains([]string{"command", "cmd"}, name) && v.Type != strictjson.String && v.Type != strictjson.JSON
}

// named are the members of an object by their names in lower case and without marks.
func named(v strictjson.Value) (map[string]strictjson.Value, error) {
	members, err := jsonrpc.Members(v)
	out := map[string]strictjson.Value{}
	for name, value := range members {
		key := action.PlainKey(name)
		counts := action.IsCommand(key) || slices.Contains(action.WholeKeys, key) || action.IsDirectory(key)
		if _, twice := out[key]; twice && counts {
			err = errors.Join(err, fmt.Errorf("two members of one object mean %q", key))
		}
		out[key] = value
	}
	return out, err
}

// runsIn reports whether the call names no other shell than one of the dialect, where systems have it.
func (c wanted) runsIn(d shell.Dialect) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(c.shell, "/usr"), "/bin/")
	return c.shell == "" || !strings.Contains(name, "/") && shell.DialectOf(name) == d
}

// overlap reports whether some of the members have one of the names.
func overlap(members map[string]strictjson.Value, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := members[name]; return ok })
}

// wanted is a command with the shell that the call names for it, empty for none.
type wanted struct {
	action.Command
	shell string
	// member is the name by which a text may be a command, empty for a name that says so.
	member string
}

// command reads one command, with the members beside it that are about it. That of an object is the member which names
// it, with those beside that one as well.
func command(v strictjson.Value, beside map[string]strictjson.Value) wanted {
	if !v.IsObject() {
		rest := maps.Clone(beside)
		maps.DeleteFunc(rest, func(_ string, x strictjson.Value) bool { return x.Index == v.Index && x.Raw == v.Raw })
		return read(v, rest)
	}
	own, err := named(v)
	if err != nil {
		return wanted{}
	}
	all := maps.Clone(beside)
	for _, name := range slices.Concat(action.CommandKeys, action.WordKeys) {
		delete(all, name)
	}
	for name, value := range own {
		if was, twice := all[name]; twice && was.Raw != value.Raw {
			return wanted{}
		}
		all[name] = value
	}
	for _, name := range action.WholeKeys {
		if value, ok := own[name]; ok && !value.IsObject() {
			delete(all, name)
			return read(value, all)
		}
	}
	return wanted{}
}

// read reads a command that is a text or a list of words.
func read(v strictjson.Value, beside map[string]strictjson.Value) wanted {
	var c wanted
	words, ok := texts(v)
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		value := beside[name]
		switch {
		case action.IsDirectory(name):
			ok = ok && !value.IsObject() && !value.IsArray() && (c.Dir == "" || value.Str == "" || c.Dir == value.Str)
			c.Dir = cmp.Or(value.Str, c.Dir)
		case action.IsVariables(name) && value.IsObject():
			for variable := range value.Map() {
				c.Env = append(c.Env, variable)
			}
		case action.IsVariables(name):
			ok = ok && name != "env" && !value.IsArray() && !strings.Contains(value.Str, "=")
		case action.IsShell(name):
			named := value.Str
			if value.Type == strictjson.True {
				named = "sh"
			}
			ok = ok && !value.IsObject() && !value.IsArray() && (c.shell == "" || named == "" || c.shell == named)
			c.shell = cmp.Or(named, c.shell)
		}
	}
	for _, name := range action.WordKeys {
		if beside[name].Exists() {
			more, also := texts(beside[name])
			words, ok = append(words, more...), ok && also && beside[name].IsArray()
		}
	}
	switch {
	case !ok:
	case c.shell != "" && (v.IsArray() || len(words) > 1):
		c.Line = strings.Join(words, " ") // which some programs do with words for a shell
	case v.IsArray() || len(words) > 1:
		c.Words = words
	default:
		c.Line = v.Str
	}
	return c
}

// texts reads a text or a list of texts.
func texts(v strictjson.Value) (out []string, ok bool) {
	for _, item := range v.Array() {
		if item.Type != strictjson.String {
			return nil, false
		}
		out = append(out, item.Str)
	}
	return out, len(out) > 0 || v.IsArray()
}

// runs is the refusal of the commands among the arguments of a call, empty where there is none. There is no
// person to ask, so a ruleset has to allow them, whichever members of the call are about them: all but those without.
// See decision D403.
func (p *Policy) runs(arguments strictjson.Value, without ...string) (refusal, asked string, err error) {
	all, err := commands(arguments)
	all = append(all, further(arguments, len(all) > 0, without)...)
	if err != nil || len(all) == 0 {
		return "", "", err
	}
	if len(all) > maxFurther && p.Commands.Rules != nil {
		return "the call has more texts that may be commands than are judged", "", nil
	}
	around := p.aroundOf(arguments, without...)
	for _, c := range all {
		if p.Commands.Rules == nil {
			for _, v := range append(around.variants(c.Command), c.Command) {
				if why := p.Commands.Own(v); why != "" {
					return why, v.Text(), nil
				}
			}
			continue
		}
		if refusal, asked = p.allows(c, around); refusal != "" {
			return refusal, asked, nil
		}
	}
	return "", "", nil
}

// allows is the refusal of one command by the ruleset, empty where that allows it.
func (p *Policy) allows(c wanted, around *around) (refusal, asked string) {
	set := "the ruleset " + p.Commands.Rules.Name
	if !around.runsIn(c, p.Commands.Rules.Shell) {
		return set + " judges commands for another shell than the one that the call names", cmp.Or(c.shell, c.Text())
	}
	variants := around.variants(c.Command)
	if variants == nil {
		variants = []action.Command{{}}
	}
	for _, v := range variants {
		if v := p.Commands.Command(v); v.Outcome != action.Allow {
			if c.member != "" {
				set += " does not allow the member " + visible.Text(c.member)
				return set + ", which may be a command: " + v.Reason, v.Asked
			}
			return set + " does not allow the command: " + v.Reason, v.Asked
		}
	}
	return "", ""
}
