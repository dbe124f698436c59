package revision

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNone says that a directory is in no repository.
var ErrNone = errors.New("not a git repository")

// ErrNoGit means that no program can be asked.
var ErrNoGit = errors.New("git is not installed")

// ErrUnknown means that a name is no revision of the repository, which has all of its history.
var ErrUnknown = errors.New("git knows no such commit")

// Repository is the git repository that a directory lies in.
type Repository struct {
	// Top is the canonical path of the work tree; empty in a bare repository.
	Top string
	// dir is the git directory, or the file that names it.
	dir string
	// root is the canonical directory that was asked about.
	root string
}

// Find returns the repository that a directory lies in, ErrNone if there is none. It looks
// for .git from there upwards, not past the directories of GIT_CEILING_DIRECTORIES, and
// takes a directory for a bare repository only where that found nothing: a repository that came
// with a work tree is a part of it.
func Find(root string) (*Repository, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	ceilings := filepath.SplitList(os.Getenv("GIT_CEILING_DIRECTORIES"))
	for dir := root; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		if info, err := os.Lstat(git); err == nil && (info.Mode().IsRegular() || gitDirectory(git)) {
			return &Repository{Top: dir, dir: git, root: root}, nil
		}
		if parent := filepath.Dir(dir); parent == dir || slices.Contains(ceilings, parent) {
			break
		}
	}
	if gitDirectory(root) {
		return &Repository{dir: root, root: root}, nil
	}
	return nil, ErrNone
}

// Bare reports whether the repository has no work tree.
func (r *Repository) Bare() bool { return r.Top == "" }

// prefix returns the path of the directory in the trees of revisions, slash-separated; "." for
// all of them.
func (r *Repository) prefix() (string, error) {
	if r.Bare() {
		return ".", nil
	}
	rel, err := filepath.Rel(r.Top, r.root)
	return filepath.ToSlash(rel), err
}

// gitDirectory reports whether a directory has the entries that git requires
// (gitrepository-layout(5)); a symlink to such a directory counts.
func gitDirectory(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			// A linked work tree's own directory has its objects elsewhere.
			if _, err := os.Stat(filepath.Join(dir, "commondir")); err != nil || name == "HEAD" {
				return false
			}
		}
	}
	return true
}

// program finds git in PATH. A directory of the work tree is passed over: a tool that may
// write there could put a git of its own into node_modules/.bin and its like.
func (r *Repository) program() (string, error) {
	own := r.root
	if !r.Bare() {
		own = r.Top
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range programNames {
			file := filepath.Join(dir, name)
			real, err := filepath.EvalSymlinks(file)
			if err != nil || within(real, own) || within(dir, own) || !runnable(real) {
				continue
			}
			if at, err := filepath.EvalSymlinks(dir); err == nil && !within(at, own) {
				return file, nil
			}
		}
	}
	return "", ErrNoGit
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func runnable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (len(programNames) > 1 || info.Mode()&0o111 != 0)
}

// environment returns the environment of git: without the caller's variables about
// repositories, and with everything switched off that a configuration could have git start.
// gitDir is the git directory, so git neither searches for it nor checks its owner.
func environment(gitDir string, more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(strings.ToUpper(kv), "GIT_")
	})
	return append(append(env,
		"GIT_DIR="+gitDir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_ALLOW_PROTOCOL=none", // over any protocol.*.allow (git(1))
		"GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE="+os.DevNull,
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"GIT_PAGER=cat", "LC_ALL=C",
	), more...)
}

// closed are the settings that win over the repository's own (git-config(1)).
var closed = []string{
	"core.fsmonitor=false", "core.hooksPath=" + os.DevNull, "core.attributesFile=" + os.DevNull,
	"core.pager=cat", "core.sshCommand=false", "core.askPass=", "core.gitProxy=",
	"core.alternateRefsCommand=", "protocol.allow=never", "credential.helper=",
	"advice.graftFileDeprecated=false",
}
