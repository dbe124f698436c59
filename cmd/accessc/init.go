package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/internal/workspace"
)

//go:embed starter.toml
var starter string

// initCmd is "accessc init".
type initCmd struct {
	Print bool `help:"Print the starter instead of writing it."`
}

// Help implements kong's detailed help.
func (initCmd) Help() string {
	return `Writes accessc.toml with one tool, every kind of rule and its meaning, and a tool for each of
Makefile, package.json, go.mod, Cargo.toml and pyproject.toml that is there. An existing file is never
touched.`
}

// Run implements the command.
func (c *initCmd) Run(g *globals) error {
	more, files := found(g.Dir)
	text := starter + more
	if c.Print {
		_, err := fmt.Fprint(g.stdout, text)
		return err
	}
	dir := g.Dir
	if dir == "" {
		cwd, err := os.Getwd()
		if err != nil {
			return err
		}
		own, _ := userdir.Root() // without any there is none that a tool could write
		if err := g.refused(workspace.Unmarked(cwd, own)); err != nil {
			return err
		}
		dir = "."
	}
	path := filepath.Join(dir, "accessc.toml")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usagef("%s is there already; accessc init --print shows the starter", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	with := ""
	if len(files) > 0 {
		with = " with tools for " + strings.Join(files, ", ")
	}
	fmt.Fprintf(g.stderr, "%s written%s; next: accessc explain\n", path, with)
	return nil
}
