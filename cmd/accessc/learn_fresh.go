package main

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/accessc/accessc/internal/allow"
	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/shellword"
	"github.com/accessc/accessc/internal/tomltext"
	"github.com/accessc/accessc/ir"
)

// fresh begins the policy of a tool that no layer has: it may read the workspace but for its
// sensitive paths. The other operations of its runs decide on the rest.
func (l *learner) fresh() (*allow.Planner, error) {
	opts, err := l.asking().options(true, hostfacts.Platform())
	if err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(opts.Root)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, err
	}
	req := allow.Request{Compile: opts, Layer: l.layer, Tool: l.tool, Fresh: l.table(root, nil), Wide: true}
	p, err := allow.Begin(req)
	if err != nil {
		return nil, l.notAllowed(err)
	}
	var closed []ir.Location
	for _, r := range p.Now.Reaches(p.Tool) {
		if r.At.Root.Kind == ir.Workspace {
			closed = append(closed, r.At)
		}
	}
	if len(closed) == 0 {
		return p, nil
	}
	req.Fresh = l.table(root, closed)
	if p, err = allow.Begin(req); err != nil {
		return nil, l.notAllowed(err)
	}
	return p, nil
}

// table is the table of the new tool.
func (l *learner) table(root string, closed []ir.Location) string {
	var words []string
	program := ""
	for i, w := range l.kept[len(l.kept)-1].Command {
		if below, ok := strings.CutPrefix(w, strings.TrimSuffix(root, "/")+"/"); ok && i == 0 {
			w, program = below, below // as the path of a program counts from the workspace
		}
		words = append(words, w)
	}
	var b strings.Builder
	b.WriteString("[tools." + tomltext.Key(l.tool) + "]\nsource = \"local\"\n")
	if words != nil {
		b.WriteString("command = " + commandText(words) + "\n")
	}
	rule := func(lines ...string) {
		b.WriteString("\n[[tools." + tomltext.Key(l.tool) + ".access.fs]]\n" + strings.Join(lines, "\n") + "\n")
	}
	rule(`path = "."`, "read = true")
	if program != "" {
		rule("path = "+tomltext.String(program), "read = true", "execute = true")
	}
	for _, at := range closed {
		rule("path = " + tomltext.String(at.Short()))
	}
	return b.String()
}

// commandText is a command as TOML: a line of shell words, or a table if a word has control
// characters.
func commandText(words []string) string {
	var line, args []string
	for _, w := range words {
		if strings.ContainsFunc(w, unicode.IsControl) {
			for _, w := range words[1:] {
				args = append(args, tomltext.String(w))
			}
			return "{ program = " + tomltext.String(words[0]) + ", args = [" + strings.Join(args, ", ") + "] }"
		}
		line = append(line, shellword.Quote(w))
	}
	return tomltext.String(strings.Join(line, " "))
}
