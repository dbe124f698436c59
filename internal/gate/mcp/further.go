package mcp

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// maxFurther bounds the texts of a call that are judged as commands because of their names.
const maxFurther = 64

// further are the texts of a call that a server may run beside the commands of known names: those of members whose
// name speaks of a command or of a moment of a run, and in a call with a command those of every member that no list
// has. Of a list, each text may be a line, or all may be the words of one command.
// See decision D403.
func further(v strictjson.Value, withCommand bool, without []string) (out []wanted) {
	v.ForEach(func(name, value strictjson.Value) bool {
		key := action.PlainKey(name.Str)
		switch {
		case v.IsObject() && slices.Contains(without, name.Str), action.IsVariables(key):
		case v.IsObject() && (action.MayRun(key) || withCommand && !value.IsObject() && !action.IsAside(key)):
			out = append(out, asCommands(name.Str, value, action.MayRun(key))...)
		}
		if value.IsObject() || value.IsArray() {
			out = append(out, further(value, withCommand, nil)...)
		}
		return len(out) <= maxFurther
	})
	return out
}

// asCommands are the commands that the value of a member may be, with those inside of objects or without them.
func asCommands(member string, v strictjson.Value, deep bool) (out []wanted) {
	add := func(c action.Command) { out = append(out, wanted{Command: c, member: member}) }
	switch {
	case v.Type == strictjson.String && v.Str != "":
		add(action.Command{Line: v.Str})
	case v.IsObject() && deep:
		v.ForEach(func(_, value strictjson.Value) bool {
			out = append(out, asCommands(member, value, deep)...)
			return true
		})
	case v.IsArray():
		for _, item := range v.Array() {
			out = append(out, asCommands(member, item, deep)...)
		}
		words, ok := texts(v)
		blank := func(w string) bool { return strings.Contains(w, " ") }
		if ok && len(words) > 1 && !slices.ContainsFunc(words, blank) {
			add(action.Command{Words: words})
		}
	}
	return out
}
