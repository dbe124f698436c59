package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/compiled"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// globals are the flags that every command takes, and the streams.
type globals struct {
	Dir       string   `short:"C" name:"dir" placeholder:"DIR" help:"Workspace root; otherwise the nearest directory upwards with .jp/, accessc.toml or .accessc/, or the git work tree."`
	Config    []string `placeholder:"FILE" sep:"none" help:"A further layer; a directory means its *.toml. Repeatable."`
	Untrusted []string `placeholder:"FILE" sep:"none" help:"A further layer that may only narrow the permissions of the others. Repeatable."`
	Set       []string `placeholder:"KEY=VALUE" sep:"none" help:"Set a dotted key over every layer. Repeatable."`
	Shared    bool     `help:"Leave out the layers that are not committed: the user's own, and .accessc/local.toml unless git tracks it."`
	Color     string   `enum:"auto,always,never" default:"auto" help:"Colour the output: auto, always or never."`

	// untested leaves the policies' own tests unasked.
	untested bool
	// behind is how many words stand behind "--", -1 without one.
	behind         int
	stdin          io.Reader
	stdout, stderr io.Writer
}

// root returns the workspace root: the one that was named, or the one that the current
// directory lies in. A directory that is never taken by itself is a finding, and a mistake
// of the call.
func (g *globals) root() (string, error) {
	root, err := g.findRoot()
	return root, g.refused(err)
}

func (g *globals) findRoot() (string, error) {
	own, _ := userdir.Root() // without any there is none that a tool could write
	if g.Dir != "" {
		if info, err := os.Stat(g.Dir); err != nil || !info.IsDir() {
			return "", usagef("-C %s: not a directory", g.Dir)
		}
		return g.Dir, workspace.Named(g.Dir, own)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return workspace.Find(cwd, own, source.Lists(hostview.Now))
}

// refused reports why a directory is no workspace.
func (g *globals) refused(err error) error {
	var no *workspace.Refused
	if !errors.As(err, &no) {
		return err
	}
	if err := g.sayText(diag.List{hostfacts.NotWorkspace(no)}, nil, ""); err == nil {
		return err
	}
	return exit(exitUsage)
}

// options returns the options that all compilations share.
func (g *globals) options(resolve bool, platforms ...ir.Platform) (hostfacts.Options, error) {
	root, err := g.root()
	if err != nil {
		return hostfacts.Options{}, err
	}
	for flag, files := range map[string][]string{"--config": g.Config, "--untrusted": g.Untrusted} {
		for _, f := range files {
			if _, err := os.Stat(f); err != nil {
				return hostfacts.Options{}, usagef("%s %s: %v", flag, f, oserr.Reason(err))
			}
		}
	}
	home, _ := os.UserHomeDir()
	layers := source.Request{
		User: userdir.UserConfig(), Shared: g.Shared, Configs: g.Config, Untrusted: g.Untrusted, Sets: g.Set, Home: home,
	}
	return hostfacts.Options{
		Options: compiler.Options{Root: root, Layers: layers, Platforms: platforms}, Resolve: resolve, Untested: g.untested,
	}, nil
}

// layers are the flags by which another process of accessc, started in another directory, reads
// the same layers of a workspace.
func (g *globals) layers() []string { return compiled.Flags(g.Config, g.Untrusted, g.Set, g.Shared) }

// asking is for commands other than those that build and check: they answer questions about a
// policy whose own tests may fail, or run a finished build.
func (g *globals) asking() *globals {
	out := *g
	out.untested = true
	return &out
}

// committed leaves out the layers that are not committed.
// See decision D273.
func (g *globals) committed() *globals {
	out := *g
	out.Shared = true
	return &out
}

// sayLeftOut names the layers that there are and that a compilation left out.
func (g *globals) sayLeftOut(res *hostfacts.Result) {
	var names []string
	for path, name := range map[string]string{
		userdir.UserConfig(): "your own layer",
		res.LocalPath():      ".accessc/local.toml",
	} {
		if _, err := os.Stat(path); err == nil && !(res.Tracked && path == res.LocalPath()) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		fmt.Fprintf(g.stderr, "left out, since not committed: %s; --local compiles them as well\n", strings.Join(names, ", "))
	}
}

// compile reads and checks the configuration and says on stderr what is wrong with it,
// for some tools or for all. The error is an exit status when a finding stops the run.
func (g *globals) compile(resolve bool, tools ...string) (*hostfacts.Result, error) {
	opts, err := g.options(resolve)
	if err != nil {
		return nil, err
	}
	return g.compileWith(opts, tools...)
}

func (g *globals) compileWith(opts hostfacts.Options, tools ...string) (*hostfacts.Result, error) {
	opts.Apart = len(tools) > 0
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{err}
	}
	findings := res.Findings
	if opts.Apart {
		findings = res.Concerning(tools...)
	}
	return res, g.sayText(findings, res.Files, "")
}

// compileFor compiles for questions about some tools on this host, whatever is wrong with
// others.
func (g *globals) compileFor(tools ...string) (*hostfacts.Result, error) {
	opts, err := g.asking().options(true)
	if err != nil {
		return nil, err
	}
	opts.Apart = true
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{err}
	}
	return res, g.sayErrors(res, tools...)
}

// dropped are the warnings without which nobody could tell why a rule has no effect.
var dropped = []diag.Code{diag.NotApproved, diag.BrokenLink, diag.Retargeted, diag.BadApprovals}

// sayErrors prints the errors of some tools, and a line for each of their rules that was
// dropped. Other warnings are for who writes the policy: here a model may read them, and
// take them for the tool's own output.
func (g *globals) sayErrors(res *hostfacts.Result, tools ...string) error {
	l := res.Concerning(tools...)
	for _, d := range l {
		if slices.Contains(dropped, d.Code) {
			text := visible.Line(d.Message + ": " + d.Label + "; " + d.Hint)
			line := fmt.Sprintf("accessc: %s: warning[%s]: %s", visible.Name(d.At.String()), d.Code, text)
			fmt.Fprintln(g.stderr, fitted(g.stderr, line))
		}
	}
	return g.sayText(slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Severity != diag.Error }), res.Files, "")
}

// fitted is a text without colours with lines of accessc's own where the terminal would begin further ones: a name with
// enough characters would put the rest of it at the left edge.
func fitted(w io.Writer, text string) string {
	if columns := width(w); columns > 0 {
		return visible.Question(text, columns)
	}
	return text
}

// sayText prints findings as text. last ends the summary of a failed run.
func (g *globals) sayText(l diag.List, lines diag.Lines, last string) error {
	if len(l) == 0 {
		return nil
	}
	text := diag.Text{Lines: lines, Color: g.colors(g.stderr), Width: width(g.stderr)}
	if err := text.Write(g.stderr, l); err != nil {
		return err
	}
	summary := diag.Summary(l)
	if l.Failed() && last != "" {
		summary += "; " + last
	}
	fmt.Fprintf(g.stderr, "\n%s\n", summary)
	if l.Failed() {
		return exit(exitFindings)
	}
	return nil
}

// colors reports whether output to w is to be coloured (https://no-color.org).
func (g *globals) colors(w io.Writer) bool {
	switch {
	case g.Color == "always":
		return true
	case g.Color == "never" || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb":
		return false
	}
	f, ok := file(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// file returns the file behind a stream, if there is one.
func file(w io.Writer) (*os.File, bool) {
	if shown, ok := w.(*visible.Writer); ok {
		w = shown.Unwrap()
	}
	f, ok := w.(*os.File)
	return f, ok
}

// tool finds a tool by name.
func findTool(p *ir.Program, name string) (*ir.Tool, error) {
	if t, ok := p.Tool(name); ok {
		return t, nil
	}
	var names []string
	for _, t := range p.Tools {
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return nil, usagef("there is no tool %q: no layer defines any; accessc init writes a starter", name)
	}
	if near := suggest.Hint(name, names); near != "" {
		return nil, usagef("there is no tool %q; %s", name, near)
	}
	return nil, usagef("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))
}

// writeJSON prints a document for programs.
func (g *globals) writeJSON(doc any) error {
	enc := json.NewEncoder(g.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
