package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// nobody is the user of the condition "user", and its group.
const nobody = 65534

// place has clones of what is committed, and caches of its own.
type place struct {
	tree, commit string
	dir          string // everybody may search it
}

// newPlace clones the repository in the working directory and fetches its modules.
func newPlace() (*place, error) {
	commit, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return nil, fmt.Errorf("git rev-parse: %w", err)
	}
	tree, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "accessc-gate-")
	if err != nil {
		return nil, err
	}
	p := &place{tree: tree, commit: strings.TrimSpace(string(commit)), dir: dir}
	if err := p.fill(); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *place) fill() error {
	if err := os.Chmod(p.dir, 0o755); err != nil {
		return err
	}
	for _, user := range []bool{false, true} {
		if user && os.Getuid() != 0 {
			continue
		}
		for _, sub := range []string{"home", "cache", "tmp"} {
			if err := os.MkdirAll(filepath.Join(p.of(user), sub), 0o755); err != nil {
				return err
			}
		}
		if err := quiet("", "git", "clone", "-q", p.tree, p.clone(user)); err != nil {
			return err
		}
		if user {
			if err := quiet("", "chown", "-R", fmt.Sprintf("%d:%d", nobody, nobody), p.of(user)); err != nil {
				return err
			}
		}
	}
	modules, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return err
	}
	words := strings.Fields(string(modules))
	cmd := exec.Command("go", "mod", "download")
	cmd.Dir = p.clone(false)
	cmd.Env = append(os.Environ(), "GOMODCACHE="+filepath.Join(p.dir, "mod"), "GOFLAGS=-modcacherw",
		"GOPROXY=file://"+words[0]+"/cache/download,"+words[1])
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod download: %w\n%s", err, out)
	}
	return nil
}

// of is the directory of one of the two users.
func (p *place) of(user bool) string {
	if user {
		return filepath.Join(p.dir, "user")
	}
	return filepath.Join(p.dir, "self")
}

func (p *place) clone(user bool) string { return filepath.Join(p.of(user), "accessc") }

// env is the environment of the tests of a user.
func (p *place) env(user bool) []string {
	home := filepath.Join(p.of(user), "home")
	env := []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "CGO_ENABLED=0", "GOFLAGS=" + os.Getenv("GOFLAGS"), "GOTOOLCHAIN=local",
		"GOCACHE=" + filepath.Join(p.of(user), "cache"), "GOMODCACHE=" + filepath.Join(p.dir, "mod"), "GOPROXY=off",
		"TMPDIR=" + filepath.Join(p.of(user), "tmp"), "USER=" + strconv.Itoa(os.Getuid()),
	}
	return env
}

func (p *place) remove() {
	_ = exec.Command("chmod", "-R", "u+w", p.dir).Run()
	_ = os.RemoveAll(p.dir)
}

// quiet runs a command whose output matters only when it fails.
func quiet(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
