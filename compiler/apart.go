package compiler

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// ToolOf returns the tool that a finding is about, empty if it is about more than one.
func ToolOf(d diag.Diagnostic) string {
	key, ok := strings.CutPrefix(strings.TrimPrefix(d.Path, "conversation."), "tools.")
	if !ok {
		return ""
	}
	if quoted, err := strconv.QuotedPrefix(key); err == nil {
		key, _ = strconv.Unquote(quoted)
	} else if end := strings.IndexAny(key, ".["); end >= 0 {
		key = key[:end]
	}
	if key == "*" {
		return ""
	}
	return key
}

// Concerning leaves out the findings about other tools than those named.
func Concerning(l diag.List, tools ...string) diag.List {
	return slices.DeleteFunc(slices.Clone(l), func(d diag.Diagnostic) bool {
		tool := ToolOf(d)
		return tool != "" && !slices.Contains(tools, tool)
	})
}

// apart takes the tools with errors out of a program. It is nil if an error is about more
// than one tool, and if there is any where all tools are wanted.
func (c *compilation) apart(p *ir.Program) *ir.Program {
	if !c.opts.Apart && c.findings.Failed() {
		return nil
	}
	wrong := map[string]bool{}
	for _, d := range c.findings {
		if d.Severity == diag.Error {
			wrong[ToolOf(d)] = true
		}
	}
	if wrong[""] {
		return nil
	}
	c.res.wrong = wrong
	return &ir.Program{Tools: slices.DeleteFunc(p.Tools, func(t *ir.Tool) bool { return wrong[t.Name] })}
}

// Inputs are the absolute paths of what the configuration was read from, and of what would
// have been read if it were there.
func (r *Result) Inputs() []string {
	root := filepath.FromSlash(r.Resolver.Root)
	out := []string{
		filepath.Join(root, ".jp", "config.toml"), filepath.Join(root, "accessc.toml"), source.Request{Root: root}.LocalPath(), r.State.Approvals(),
	}
	for _, f := range r.Files {
		if f.Path != "" {
			out = append(out, f.Path)
		}
	}
	return append(out, r.listed...)
}

// Wrong reports whether a tool is left out of the program because of an error in it.
func (r *Result) Wrong(tool string) bool { return r.wrong[tool] }
