// Package workspace finds the workspace of a command, and says which directories are none
// unless they are named.
//
// The default policy lets a tool use all of the workspace. Where there is no mark, the current
// directory is taken; in a home directory, or in /, that would expose keys and accessc's own
// state by a command that names no directory.
package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// marks are names at the root of a workspace: two directories and a file.
var marks = []string{".jp", "accessc.toml", ".accessc"}

// Marks are these names.
func Marks() []string { return slices.Clone(marks) }

// Refused is the error for a directory that is never taken as workspace by itself.
type Refused struct {
	// Dir is the directory that would be the workspace.
	Dir string
	// Why is the reason why it may not be a workspace.
	Why string
	// Outer is the workspace around it that does not list it, empty if that is not the reason.
	Outer string
	// Tools says that tools write there, so that it is no workspace by any name.
	Tools bool
}

// Error implements error.
func (r *Refused) Error() string { return r.Dir + " is not taken as workspace: it " + r.Why }

// Lists reports whether the configuration of a workspace lists a directory below it as a
// workspace.
type Lists func(outer, inner string) bool

// Find returns the root of the workspace that a directory lies in: the nearest ancestor with a
// mark, else the top of the git work tree, else the directory itself. state is the directory of
// accessc's own state, empty if there is none. The error is a *Refused, also at a mark: another
// directory would have another policy than the file there says. A workspace in another is refused, and
// returned, unless that lists it; so is a workspace that a symlink in another leads to.
// See decisions D368 and D454.
func Find(dir, state string, lists Lists) (string, error) {
	root, err := find(canonical(dir), state, lists)
	if err == nil {
		err = led(dir, root, state)
	}
	return root, err
}

func find(dir, state string, lists Lists) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if marked(at) {
			if at, err := checked(at, state); err != nil {
				return at, err
			}
			return at, unlisted(at, state, lists)
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	if top, ok := workTree(dir); ok {
		if why := guarded(top, state); why == "" {
			return top, nil
		}
	}
	if err := Unmarked(dir, state); err != nil {
		return "", err
	}
	return dir, nil
}

// Unmarked returns an error if a directory without a mark may not be taken as workspace. The
// error is a *Refused.
func Unmarked(dir, state string) error {
	if _, err := checked(dir, state); err != nil {
		return err
	}
	if why := inBase(canonical(dir)); why != "" {
		return &Refused{Dir: dir, Why: why}
	}
	return nil
}

// Named returns an error if a directory is no workspace although it is named: tools write there, or it is named by a
// symlink of another workspace. The error is a *Refused.
func Named(dir, state string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	root := canonical(dir)
	if why := writtenByTools(root, state); why != "" {
		return &Refused{Dir: root, Why: why, Tools: true}
	}
	return led(dir, root, state)
}

// Around returns the workspace that a file lies in, if any mark or work tree says so.
func Around(file, state string) (root string, ok bool) {
	for at := filepath.Dir(file); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); (marked(at) || err == nil) && guarded(at, state) == "" {
			return at, true
		}
		if filepath.Dir(at) == at {
			return "", false
		}
	}
}

// Surrounding returns the workspaces and work trees that a directory is or lies in, from the inside out.
func Surrounding(dir, state string) (out []string) {
	for at := canonical(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); (marked(at) || err == nil) && guarded(at, state) == "" {
			out = append(out, at)
		}
		if filepath.Dir(at) == at {
			return out
		}
	}
}

// unlisted returns an error for a workspace in another, unless each workspace around it lists it or the workspace
// between.
func unlisted(root, state string, lists Lists) error {
	listed := []string{root}
	for at := root; filepath.Dir(at) != at; {
		at = filepath.Dir(at)
		if !marked(at) || guarded(at, state) != "" {
			continue
		}
		if lists == nil || !slices.ContainsFunc(listed, func(inner string) bool { return lists(at, inner) }) {
			return &Refused{Dir: root, Why: "lies in the workspace " + at + ", which does not list it", Outer: at}
		}
		listed = append(listed, at)
	}
	return nil
}

func checked(dir, state string) (string, error) {
	if why := writtenByTools(canonical(dir), state); why != "" {
		return "", &Refused{Dir: dir, Why: why, Tools: true}
	}
	why := guarded(dir, state)
	if why == "" && filepath.IsAbs(state) {
		for _, name := range hostview.Names(canonical(state)) {
			if Within(name, canonical(dir)) {
				why = "contains accessc's own state, which tools must not write: it is also " + name
			}
		}
	}
	if why != "" {
		return "", &Refused{Dir: dir, Why: why}
	}
	return dir, nil
}

// marked reports whether a directory has a mark. A mark that cannot be read does not count.
func marked(dir string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool {
		info, err := os.Stat(filepath.Join(dir, mark))
		return err == nil && (info.IsDir() || mark == "accessc.toml")
	})
}

// workTree returns the nearest ancestor with a .git, which is a directory or the file of a
// linked work tree (gitrepository-layout(5)).
func workTree(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if filepath.Dir(at) == at {
			return "", false
		}
	}
}

// homes are directories of which each entry is a user's home, and root's own.
func homes() []string {
	switch runtime.GOOS {
	case "linux":
		return []string{"/home", "/root"}
	case "darwin":
		return []string{"/Users", "/var/root", "/private/var/root"}
	case "windows":
		return []string{`C:\Users`}
	}
	return nil
}

// guarded returns the reason why a directory is no workspace, empty if it may be a workspace.
func guarded(dir, state string) string {
	dir = canonical(dir)
	if filepath.Dir(dir) == dir {
		return "is the root of the file system"
	}
	own := homes()
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		own = append(own, home)
	}
	for _, home := range own {
		switch home = canonical(home); {
		case dir == home && !slices.Contains(parents, home) ||
			filepath.Dir(dir) == home && slices.Contains(parents, home):
			return "is a home directory"
		case Within(home, dir):
			return "contains home directories"
		}
	}
	if filepath.IsAbs(state) {
		switch own := canonical(state); {
		case Within(own, dir):
			return "contains accessc's own state, which tools must not write"
		case Within(dir, own):
			return inState
		}
	}
	if _, ok := baseDirectory(func(base string) bool { return Within(base, dir) }); ok {
		return "is a directory of the system"
	}
	return ""
}

// parents are the directories of homes whose entries are homes.
var parents = []string{"/home", "/Users", `C:\Users`}

// inBase is for a directory that nothing marks: in the middle of the system it is none.
func inBase(dir string) string {
	if base, ok := baseDirectory(func(base string) bool { return Within(dir, base) }); ok {
		return "lies in " + base + ", a directory of the system"
	}
	return ""
}

// baseDirectory returns the first directory of this system's base whose path fits. Only places that fit
// are looked at: every start asks.
func baseDirectory(fits func(base string) bool) (string, bool) {
	platform, _ := ir.ParsePlatform(runtime.GOOS)
	for _, e := range ir.BaseEntries(ir.BaseSystem, platform) {
		p := filepath.FromSlash(e.Path)
		if platform == ir.Windows {
			p = os.Expand(p, os.Getenv)
		}
		if p = filepath.Clean(p); !filepath.IsAbs(p) || !fits(p) {
			continue
		}
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			return p, true
		}
	}
	return "", false
}

// Within reports whether a path is a directory or lies below it. Both are clean.
func Within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// canonical is a path without symlinks, as far as it exists.
func canonical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(canonical(parent), filepath.Base(path))
	}
	return path
}

// Canonical is the absolute path of a directory without symlinks, as it stands if it is not there.
func Canonical(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
