package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/format"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/visible"
)

// fmtCmd is "accessc fmt".
type fmtCmd struct {
	Check bool     `help:"Write nothing: print the names of files that would change, and exit 1 if there are any."`
	Files []string `arg:"" optional:"" name:"file" type:"path" help:"The files; without, all layers in the workspace."`
}

// Help implements kong's detailed help.
func (fmtCmd) Help() string {
	return `Lays out the text of layers: blanks, indentation, blank lines, and comments that stand behind values.
Keys, values and comments stay as they are written, in their order, so the policy is the same. A file that is no TOML
stays as it is, and so does a file behind a symlink of the workspace.

  accessc fmt                    all layers of the workspace
  accessc fmt --check            in CI
  accessc lsp                    does the same when an editor formats a file`
}

// Run implements the command.
func (c *fmtCmd) Run(g *globals) error {
	files := c.Files
	if len(files) == 0 {
		var err error
		if files, err = g.layers(); err != nil {
			return err
		}
	}
	var failed, changed bool
	for _, file := range files {
		differs, err := c.file(g, file)
		var status exit
		switch {
		case errors.As(err, &status):
			failed = true
		case err != nil:
			fmt.Fprintf(g.stderr, "accessc: %s: %v\n", visible.Text(g.shown(file)), oserr.Reason(err))
			failed = true
		case differs && c.Check:
			fmt.Fprintln(g.stdout, visible.Text(g.shown(file)))
		case differs:
			fmt.Fprintf(g.stderr, "%s formatted\n", visible.Text(g.shown(file)))
		}
		changed = changed || differs
	}
	if failed || changed && c.Check {
		return exit(exitFindings)
	}
	return nil
}

// file lays a file out, and reports whether its text differs. An exit says that its findings were printed.
func (c *fmtCmd) file(g *globals, file string) (differs bool, err error) {
	if err := config.Direct(file); err != nil {
		return false, err
	}
	err = layerfile.Edit(file, func(text []byte) ([]byte, error) {
		name := g.shown(file)
		out, finding, err := format.Text(name, text)
		if finding != nil {
			read, _, _ := source.ParseFile(name, text)
			return nil, g.sayText(diag.List{*finding}, source.Files{name: read}, "")
		}
		if differs = string(out) != string(text); c.Check {
			out = text
		}
		return out, err
	})
	return differs && err == nil, err
}

// shown is the name of a file for messages: from the current directory, if it lies there.
func (g *globals) shown(file string) string {
	if cwd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(cwd, file); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return file
}

// layers are the files in the workspace that are read as layers, by name.
func (g *globals) layers() ([]string, error) {
	opts, err := g.options(false)
	if err != nil {
		return nil, err
	}
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{Err: err}
	}
	var out []string
	for _, f := range res.Files {
		if f.Path != "" && workspace.Within(filepath.ToSlash(f.Path), res.Resolver.Root) {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return out, nil
}
