package config

import (
	"path/filepath"

	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
)

// Direct returns an error if a symlink of the workspace around a file leads to it.
func Direct(file string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	own, _ := userdir.Root() // without any no workspace has it
	if root, ok := workspace.Around(abs, own); ok {
		_, err = workspace.Direct(root, abs)
	}
	return err
}
