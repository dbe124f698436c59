package survey

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/usage"
)

// Login lets the tool of an agent use the user's login, and returns how to make the link in the tool's home.
// See decision D194.
func Login(t *Tool, preset string) (link func(state userdir.Dir) error, err error) {
	if t == nil {
		return nil, usage.Errorf("--login shared takes --agent")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, usage.Errorf("--login shared: %v", err)
	}
	name := t.Share()
	login := filepath.Join(home, filepath.FromSlash(name))
	if info, err := os.Stat(login); err != nil || !info.Mode().IsRegular() {
		return nil, usage.Errorf(
			"%s has no login in %s; log in first, or leave out --login shared. Nothing was changed",
			preset,
			login,
		)
	}
	return func(state userdir.Dir) error {
		if err := state.LinkHome(t.Name, name, login); err != nil {
			return usage.Errorf(
				"the link in the home of %s: %v; accessc home clear %s makes room, then call this again",
				t.Name,
				oserr.Reason(err),
				t.Name,
			)
		}
		return nil
	}, nil
}

// Find tells the tool of an agent where its program is, if that is below the user's home.
func (t *Tool) Find() {
	program, err := exec.LookPath(t.Name)
	home, err2 := os.UserHomeDir()
	file, err3 := filepath.EvalSymlinks(program)
	if errors.Join(err, err2, err3) != nil {
		return // there is none yet, or the home is unknown
	}
	link, err := filepath.Rel(home, program)
	rest, err2 := filepath.Rel(home, file)
	if err == nil && err2 == nil && filepath.IsLocal(link) && filepath.IsLocal(rest) {
		t.Place(filepath.ToSlash(link), filepath.ToSlash(rest))
	}
}

// InPath reports whether PATH has a program.
func InPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// FirstStart starts the first tool that was found, or the example's.
func FirstStart(found []Found) string {
	first := "example"
	if i := slices.IndexFunc(found, func(f Found) bool { return len(f.Tools) > 0 }); i >= 0 {
		first = found[i].Tools[0].Name
	}
	if first == "git" {
		first += " -- status" // it takes a word
	}
	return "accessc exec " + first
}
