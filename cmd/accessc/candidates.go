package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/revision"
	"github.com/accessc/accessc/ir"
)

// complete prints the candidates for the last of some words, one per line with a
// description behind a tab. It never fails: no candidates is an answer, for which shells
// offer files.
func complete(words []string, w io.Writer) error {
	var c cli
	parser, err := newParser(&c, "", io.Discard, io.Discard, func(int) {})
	if err != nil || len(words) == 0 {
		return err
	}
	last := words[len(words)-1]
	t := typed{node: parser.Model.Node, flags: map[string][]string{}}
	for _, word := range words[:len(words)-1] {
		t.read(word)
	}
	prefix := ""
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(name, "-") && !t.behind {
		t.flag, prefix, last = t.find(name), name+"=", value // --flag=va
	} else if last == "=" {
		last = "" // a shell that takes = for a word of its own
	}
	for _, cand := range t.candidates(last) {
		if name, _, _ := strings.Cut(cand, "\t"); strings.HasPrefix(name, last) {
			fmt.Fprintln(w, prefix+cand)
		}
	}
	return nil
}

// typed is the meaning of the words before the last one.
type typed struct {
	node *kong.Node
	// args are the arguments of the command, flags the values of its flags.
	args  []string
	flags map[string][]string
	// flag is the one that the next word is the value of.
	flag *kong.Flag
	// behind is true where the words are another program's: behind --, and behind the name of a tool to start.
	behind bool
}

func (t *typed) read(word string) {
	name, value, valued := strings.Cut(word, "=")
	switch flag := t.find(name); {
	case t.flag != nil && word == "=":
	case t.flag != nil:
		t.flags[t.flag.Name] = append(t.flags[t.flag.Name], word)
		t.flag = nil
	case t.behind || !strings.HasPrefix(word, "-"):
		t.argument(word)
	case word == "--":
		t.behind = true
	case flag == nil:
	case valued || flag.IsBool():
		t.flags[flag.Name] = append(t.flags[flag.Name], value)
	default:
		t.flag = flag
	}
}

func (t *typed) argument(word string) {
	for _, ch := range t.node.Children {
		if ch.Name == word && len(t.args) == 0 && !t.behind {
			t.node = ch
			return
		}
	}
	t.args = append(t.args, word)
	own, starts := t.foreign()
	t.behind = t.behind || starts && len(t.args) >= max(own, 1)
}

// find is the flag of a name, nil if there is none.
func (t *typed) find(name string) *kong.Flag {
	for _, group := range t.node.AllFlags(false) {
		for _, f := range group {
			if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func (t *typed) candidates(last string) []string {
	switch {
	case t.flag != nil:
		return t.values()
	case strings.HasPrefix(last, "-") && !t.behind:
		var out []string
		for _, group := range t.node.AllFlags(true) {
			for _, f := range group {
				out = append(out, "--"+f.Name+"\t"+f.Help)
			}
		}
		return out
	case t.node.Type != kong.CommandNode:
		return commands(t.node)
	default:
		return t.arguments()
	}
}

func commands(n *kong.Node) []string {
	var out []string
	for _, ch := range n.Children {
		if !ch.Hidden {
			out = append(out, ch.Name+"\t"+ch.Help)
		}
	}
	return out
}

// values are those of a flag.
func (t *typed) values() []string {
	if t.flag.Enum != "" {
		return t.flag.EnumSlice()
	}
	var out []string
	switch t.flag.Name {
	case "accept":
		for _, g := range ir.Gaps() {
			out = append(out, string(g)+"\t"+g.Effect())
		}
	case "target":
		out = append([]string{"all", "linux", "darwin", "windows"}, registry.Names()...)
	case "diff":
		out = t.revisions()
	case "preset":
		out = presetValues()
	case "from":
		out = importer.Names(registry.Formats())
	case "forget":
		out = externalPaths(t.tools())
	}
	return out
}

// arguments are those of a command at the place of the last word.
func (t *typed) arguments() []string {
	if len(t.node.Positional) == 0 {
		return nil
	}
	at := t.node.Positional[min(len(t.args), len(t.node.Positional)-1)]
	switch {
	case t.node.Name == "can" && len(t.args) == 1:
		return verbs()
	case t.node.Name == "can" && len(t.args) > 1:
		return t.subjects(t.args[0], t.args[1])
	case at.Enum != "":
		return at.EnumSlice()
	case at.Name == "command" && len(t.args) == 0:
		return commands(t.node.Parent)
	case at.Name == "preset":
		return presetValues()
	case at.Name == "tool" && t.flags["diff"] != nil:
		return t.revisions()
	case at.Name == "tool" && t.flags["command"] == nil:
		return toolNames(t.tools())
	case at.Name == "rule-path" || t.node.Name == "unmount":
		return externalPaths(t.tools())
	default:
		return nil
	}
}

func verbs() []string {
	var out []string
	for _, v := range resolve.Verbs() {
		verb, usage, _ := strings.Cut(v, " ")
		out = append(out, verb+"\t"+usage)
	}
	return out
}

// subjects are the subjects of a tool's rules, as far as a question may have them.
func (t *typed) subjects(tool, verb string) []string {
	tools := t.tools()
	i := slices.IndexFunc(tools, func(x *ir.Tool) bool { return x.Name == tool })
	if i < 0 {
		return nil
	}
	var out []string
	add := func(r ir.Rule) { out = append(out, r.Subject()+"\t"+r.Source().String()) }
	switch x := tools[i]; {
	case verb == "env":
		for j := range x.Env {
			add(&x.Env[j])
		}
	case verb == "run" && x.Commands != nil:
		for j := range x.Commands.Rules {
			add(&x.Commands.Rules[j])
		}
	case !slices.Contains([]string{"run", "connect", "listen"}, verb):
		for j := range x.FS {
			add(&x.FS[j])
		}
	}
	return out
}

// globals are those of the words, as far as they say which policies there are.
func (t *typed) globals() *globals {
	g := &globals{Config: t.flags["config"], Untrusted: t.flags["untrusted"], Set: t.flags["set"]}
	if dirs := t.flags["dir"]; len(dirs) > 0 {
		g.Dir = dirs[len(dirs)-1]
	}
	return g
}

// tools are those of the configuration that have no mistakes.
func (t *typed) tools() []*ir.Tool {
	opts, err := t.globals().asking().options(false)
	if err != nil {
		return nil
	}
	opts.Apart = true
	res, err := hostfacts.Compile(opts)
	if err != nil || res.Program == nil {
		return nil
	}
	return slices.DeleteFunc(res.Program.Tools, func(t *ir.Tool) bool { return t.Source.Kind != ir.SourceLocal })
}

func toolNames(tools []*ir.Tool) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// externalPaths are the paths of external rules.
func externalPaths(tools []*ir.Tool) []string {
	var out []string
	for _, t := range tools {
		for i := range t.FS {
			if r := &t.FS[i]; r.External && !slices.Contains(out, r.Written) {
				out = append(out, r.Written)
			}
		}
	}
	return out
}

// revisions are the names of the repository's.
func (t *typed) revisions() []string {
	root, err := t.globals().root()
	if err != nil {
		return nil
	}
	r, err := revision.Find(root)
	if err != nil {
		return nil
	}
	names, _ := r.Names() // what there is is offered
	return append([]string{"HEAD"}, names...)
}
