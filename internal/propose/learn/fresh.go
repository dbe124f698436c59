package learn

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// fresh begins the policy of a tool that no layer has: it may read some places of the workspace, and has rules that
// close the sensitive ones, also for rules that later runs add. The other operations of its runs decide on the rest.
func (l *Session) fresh(reads []allow.Read) (*allow.Planner, error) {
	opts, err := l.Config.Options(true, hostfacts.Platform())
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
	req := allow.Request{Compile: opts, Layer: l.Layer, Tool: l.Tool, Fresh: l.table(root, everything, nil), Wide: true}
	p, err := allow.Begin(req)
	if err != nil {
		return nil, err
	}
	var closed []ir.Location
	for _, r := range p.Now.Reaches(p.Tool) {
		if r.At.Root.Kind == ir.Workspace {
			closed = append(closed, r.At)
		}
	}
	req.Fresh = l.table(root, reads, closed)
	if p, err = allow.Begin(req); err != nil {
		return nil, err
	}
	return p, nil
}

// table is the table of the new tool.
func (l *Session) table(root string, reads []allow.Read, closed []ir.Location) string {
	var words []string
	program := ""
	for i, w := range l.Kept[len(l.Kept)-1].Command {
		if below, ok := strings.CutPrefix(w, strings.TrimSuffix(root, "/")+"/"); ok && i == 0 {
			w, program = below, below // as the path of a program counts from the workspace
		}
		words = append(words, w)
	}
	var b strings.Builder
	b.WriteString("[tools." + tomltext.Key(l.Tool) + "]\nsource = \"local\"\n")
	if words != nil {
		b.WriteString("command = " + commandText(words) + "\n")
	}
	rule := func(lines ...string) {
		b.WriteString("[[tools." + tomltext.Key(l.Tool) + ".access.fs]]\n" + strings.Join(lines, "\n") + "\n")
	}
	for _, r := range reads {
		b.WriteString("\n# " + readText(r) + "\n")
		lines := []string{"path = " + tomltext.String(r.At.Short())}
		if r.Files > 0 || r.Listed {
			lines = append(lines, "read = true")
		}
		rule(lines...)
	}
	if program != "" {
		b.WriteByte('\n')
		rule("path = "+tomltext.String(program), "read = true", "execute = true")
	}
	for _, at := range closed {
		b.WriteByte('\n')
		rule("path = " + tomltext.String(at.Short()))
	}
	return b.String()
}

// readText is the comment above a rule that grants reading.
func readText(r allow.Read) string {
	s := "read by the recorded runs"
	switch {
	case r.At == ir.In("") && r.Listed:
		return "all of the workspace, which the recorded runs have opened, or in which rules on single places would not do"
	case r.At == ir.In(""):
		return "nothing of the workspace but what follows"
	case r.Listed:
		s = "a directory that the recorded runs have opened"
	}
	if r.First != "" && r.First != r.At.Path {
		s += ", with " + plural.Count(r.Files, "file") + " read, first: " + r.First
	}
	if r.Unread > 0 {
		s += "; adds " + plural.Count(r.Unread, "existing file") + " that " +
			map[bool]string{true: "was", false: "were"}[r.Unread == 1] + " not read"
	}
	return visible.Text(s)
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
