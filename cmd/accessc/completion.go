package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// completeCommand is the hidden command that the scripts ask for candidates.
const completeCommand = "__complete"

// completionCmd is "accessc completion".
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help implements kong's detailed help.
func (completionCmd) Help() string {
	return `  bash: accessc completion bash > ~/.local/share/bash-completion/completions/accessc
  zsh:  accessc completion zsh > "${fpath[1]}/_accessc"
  fish: accessc completion fish > ~/.config/fish/completions/accessc.fish`
}

var completionScripts = map[string]string{
	"bash": `_accessc() {
  local IFS=$'\n'
  COMPREPLY=($(accessc __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _accessc accessc
`,
	"zsh": `#compdef accessc
_accessc() {
  local -a lines
  lines=("${(@f)$(accessc __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local -a candidates
  local line
  for line in $lines; do candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); done
  _describe accessc candidates || _files
}
compdef _accessc accessc
`,
	"fish": `function __accessc_complete
  set -l words (commandline -opc) (commandline -ct)
  accessc __complete $words[2..-1] 2>/dev/null
end
complete -c accessc -a '(__accessc_complete)'
`,
}

// Run implements the command.
func (c *completionCmd) Run(g *globals) error {
	_, err := fmt.Fprint(g.stdout, completionScripts[c.Shell])
	return err
}

// complete prints the candidates for the last of some words, one per line with a
// description behind a tab. It never fails: no candidates is an answer.
func complete(words []string, w io.Writer) error {
	var c cli
	parser, err := newParser(&c, io.Discard, io.Discard, func(int) {})
	if err != nil || len(words) == 0 {
		return err
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	node, args := walk(parser.Model.Node, before)
	for _, cand := range candidates(node, args, last) {
		if name, _, _ := strings.Cut(cand, "\t"); strings.HasPrefix(name, last) {
			fmt.Fprintln(w, cand)
		}
	}
	return nil
}

// walk follows the words to the command that they name and returns the words that
// are its arguments.
func walk(n *kong.Node, words []string) (*kong.Node, []string) {
	var args []string
	for _, word := range words {
		next := (*kong.Node)(nil)
		for _, ch := range n.Children {
			if ch.Name == word && len(args) == 0 {
				next = ch
			}
		}
		switch {
		case next != nil:
			n = next
		case !strings.HasPrefix(word, "-"):
			args = append(args, word)
		}
	}
	return n, args
}

func candidates(n *kong.Node, args []string, last string) []string {
	var out []string
	if strings.HasPrefix(last, "-") {
		for _, group := range n.AllFlags(true) {
			for _, f := range group {
				out = append(out, "--"+f.Name+"\t"+f.Help)
			}
		}
		return out
	}
	for _, ch := range n.Children {
		out = append(out, ch.Name+"\t"+ch.Help)
	}
	if n.Type != kong.CommandNode {
		return out
	}
	switch {
	case n.Name == "can" && len(args) == 1:
		for _, v := range resolve.Verbs() {
			verb, usage, _ := strings.Cut(v, " ")
			out = append(out, verb+"\t"+usage)
		}
	case n.Name == "completion":
		out = append(out, "bash", "zsh", "fish")
	case len(n.Positional) > 0 && n.Positional[0].Name == "tool" && len(args) <= 1:
		out = append(out, toolNames()...)
	}
	return out
}

// toolNames lists the tools of the configuration here, mistakes or not.
func toolNames() []string {
	g := globals{}
	opts, err := g.asking().options(false)
	if err != nil {
		return nil
	}
	opts.Apart = true
	res, err := compiler.Compile(opts)
	if err != nil || res.Program == nil {
		return nil
	}
	var out []string
	for _, t := range res.Program.Tools {
		if t.Source.Kind == ir.SourceLocal {
			out = append(out, t.Name)
		}
	}
	return out
}
