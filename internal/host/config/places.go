package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/revision"
	"github.com/accessc/accessc/internal/host/workspace"
)

// Places finds the files of findings below the top of the git work tree, where services
// that annotate a change look for them; without a work tree below the workspace. dir is
// the workspace, if it is a directory, and otherwise the one that the command is about.
func (f Flags) Places(dir string) diag.Places {
	if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
		if dir, err = f.Root(); err != nil {
			return func(string) (string, bool) { return "", false }
		}
	}
	root := workspace.Canonical(dir)
	top := root
	if r, err := revision.Find(root); err == nil && !r.Bare() {
		top = r.Top
	}
	home, _ := os.UserHomeDir()
	return func(name string) (string, bool) {
		path := filepath.FromSlash(name)
		below, isHome := strings.CutPrefix(name, "~/")
		switch {
		case strings.HasPrefix(name, "--"), strings.HasPrefix(name, source.Preset): // a set key, or a preset: no file
			return "", false
		case isHome:
			path = filepath.Join(home, filepath.FromSlash(below))
		case !filepath.IsAbs(path):
			path = filepath.Join(root, path)
		}
		path = filepath.Join(workspace.Canonical(filepath.Dir(path)), filepath.Base(path))
		rel, err := filepath.Rel(top, path)
		return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
	}
}
