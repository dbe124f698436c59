package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/accessc/accessc/internal/text/shellword"
)

// foreign are the commands that start another program, each with how many words of its own stand in front of that
// program's: the name of the tool, or nothing but options.
var foreign = map[string]int{"exec": 1, "run": 0, "mcp": 0, "acp": 0}

// narrowing are the options of run that take something from the default policy. Its others only add, and programs have
// options of their names.
var narrowing = []string{"deny", "read", "tool", "untrusted"}

// foreign is how many words the command has of its own in front of those of the program that it starts, if it starts
// one. "hook run" does not.
func (t *typed) foreign() (own int, starts bool) {
	if t.node.Parent == nil || t.node.Parent.Type != kong.ApplicationNode {
		return 0, false
	}
	own, starts = foreign[t.node.Name]
	return own, starts
}

// divided puts "--" between the words of accessc and those of the program that it starts: options behind the name of a
// tool, or behind a program, are that program's, as with env(1) and sudo(8). An option of accessc there would be
// enforced by nobody, so it is an error, unless "--" stands in front of it.
func divided(parser *kong.Kong, args []string) ([]string, error) {
	t := typed{node: parser.Model.Node, flags: map[string][]string{}}
	for i, word := range args {
		if word == "--" && t.flag == nil {
			return args, nil
		}
		if t.read(word); !t.behind {
			continue
		}
		own, _ := t.foreign()
		at := i + own
		if at == len(args) || args[at] == "--" {
			return args, nil
		}
		out := slices.Insert(slices.Clone(args), at, "--")
		if flag := t.misplaced(args[at:]); flag != "" {
			name := shellword.Quote(args[i])
			return nil, usagef("%s stands behind %s, where options are those of %[2]s: write it in front of %[2]s, "+
				"or, if it is meant for %[2]s: %s", flag, name, lineOf(out))
		}
		return out, nil
	}
	return args, nil
}

// misplaced is the first of some words, up to "--", that is an option of accessc, empty where there is none.
func (t *typed) misplaced(words []string) string {
	for _, word := range words {
		if word == "--" {
			break
		}
		name, _, _ := strings.Cut(word, "=")
		flag := t.find(name)
		if flag == nil || !strings.HasPrefix(name, "--") || flag.Name == "help" {
			continue
		}
		if t.node.Name != "run" || slices.Contains(narrowing, flag.Name) {
			return name
		}
	}
	return ""
}

// lineOf is a call of accessc as a line for a shell.
func lineOf(args []string) string {
	words := []string{"accessc"}
	for _, word := range args {
		words = append(words, shellword.Quote(word))
	}
	return strings.Join(words, " ")
}
