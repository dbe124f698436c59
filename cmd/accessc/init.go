package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
	return `Writes accessc.toml with one tool, every kind of rule and its meaning. An existing file is never
touched.`
}

// Run implements the command.
func (c *initCmd) Run(g *globals) error {
	if c.Print {
		_, err := fmt.Fprint(g.stdout, starter)
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
	_, err = f.WriteString(starter)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	fmt.Fprintf(g.stderr, "%s written; next: accessc explain\n", path)
	return nil
}
