package mcp

import (
	"os"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ruleset/shell"
)

// maxDirs bounds the directories in which the commands of a call are judged.
const maxDirs = 8

// around are the members of a call that may be about its commands, at every depth. A server may read them for any of
// its commands.
// See decision D403.
type around struct {
	// dirs are the directories that a command may be started in, and env the variables that may be set for it.
	dirs, env []string
	// shells are the shells that may run it.
	shells []string
	// odd is true for a member whose meaning is not known.
	odd bool
	// isDir reports whether a path is that of a directory.
	isDir func(path string) bool
}

// variable is the name of a variable that programs take from their environment.
var variable = expression.Once{
	Text: `^([A-Z][A-Z0-9]*(_[A-Z0-9]+)+|PATH|HOME|SHELL|IFS|ENV|PAGER|EDITOR|VISUAL|CDPATH|TMPDIR)$`,
}

// aroundOf reads the members of a call, of which some are none of the server's.
func (p *Policy) aroundOf(v strictjson.Value, without ...string) *around {
	a := &around{isDir: func(path string) bool {
		info, err := os.Stat(p.Commands.Files.Absolute(path))
		return err == nil && info.IsDir()
	}}
	v.ForEach(func(name, value strictjson.Value) bool {
		if !slices.Contains(without, name.Str) {
			a.member(name.Str, value)
		}
		return true
	})
	return a
}

// member reads a member by its name, and by its value where its name says nothing.
func (a *around) member(name string, v strictjson.Value) {
	key := action.PlainKey(name)
	words := slices.Concat(action.CommandKeys, action.AloneKeys, action.ListKeys, action.WordKeys)
	shellLike := action.IsShell(key)
	switch {
	case shellLike && v.Type == strictjson.True:
		a.shells = append(a.shells, "sh")
	case shellLike && v.Type == strictjson.String && !slices.Contains(words, key):
		a.shells = append(a.shells, v.Str)
	case slices.Contains(words, key):
	case action.IsDirectory(key) && v.Type == strictjson.String:
		a.dirs = append(a.dirs, v.Str)
	case action.IsDirectory(key):
		a.odd = a.odd || v.IsObject() || v.IsArray()
	case action.IsVariables(key) && v.IsObject():
		for name := range v.Map() {
			a.env = append(a.env, name)
		}
	case action.IsVariables(key):
		a.odd = a.odd || v.IsArray() || strings.ContainsAny(v.Str, "=/.") ||
			v.Str != "" && strings.HasSuffix(key, "file")
	case variable.Get().MatchString(name):
		a.env = append(a.env, name)
	default:
		a.text(v)
	}
	a.inside(v)
}

// inside reads the members of objects within a value, and the texts of its lists.
func (a *around) inside(v strictjson.Value) {
	switch {
	case v.IsObject():
		v.ForEach(func(name, value strictjson.Value) bool {
			a.member(name.Str, value)
			return true
		})
	case v.IsArray():
		for _, item := range v.Array() {
			a.inside(item)
		}
	}
}

// text reads a text under a name that says nothing, or a list of them: one that leads to a directory may be where a
// command starts.
func (a *around) text(v strictjson.Value) {
	for _, item := range v.Array() {
		if item.Type != strictjson.String {
			if item.IsArray() {
				a.text(item)
			}
			continue
		}
		name, _, set := strings.Cut(item.Str, "=")
		if set && variable.Get().MatchString(name) {
			a.env = append(a.env, name)
		}
		readings, _ := judge.Readings(item.Str)
		for _, path := range readings {
			if path != "" && a.isDir(path) {
				a.dirs = append(a.dirs, path)
			}
		}
	}
}

// variants are the command in each directory that it may be started in; none where the call is not understood.
func (a *around) variants(c action.Command) []action.Command {
	c.Env = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Env, a.env))))
	out := []action.Command{c}
	dirs := slices.Compact(slices.Sorted(slices.Values(a.dirs)))
	if a.odd || len(dirs) > maxDirs {
		return nil
	}
	for _, dir := range dirs {
		if dir != "" && dir != c.Dir {
			more := c
			more.Dir = dir
			out = append(out, more)
		}
	}
	return out
}

// runsIn reports whether the call names no other shell than one of the dialect for a command.
func (a *around) runsIn(c wanted, d shell.Dialect) bool {
	other := slices.ContainsFunc(a.shells, func(name string) bool { return !wanted{shell: name}.runsIn(d) })
	return c.runsIn(d) && !other
}
