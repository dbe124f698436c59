//go:build unix

package start

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// shell runs the commands that ask for one.
const shell = "/bin/sh"

// argv returns the words of the command that a request starts. In a command for a shell the
// first word is the shell's text, the others are its arguments.
func (r *Request) argv(l *backends.Launch) ([]string, error) {
	words, forShell, err := r.words(l)
	switch {
	case err != nil || !forShell:
		return words, err
	case len(words) == 1:
		return []string{shell, "-c", words[0], words[0]}, nil
	default:
		return append([]string{shell, "-c", words[0] + ` "$@"`, words[0]}, words[1:]...), nil
	}
}

// find returns the absolute path of a program: a path as it is, relative to the workspace, a
// bare name in PATH.
func find(program, workspace string, env []string) (string, error) {
	if info, err := os.Stat(workspace); err != nil || !info.IsDir() {
		return "", failed("the workspace %s: not a directory", workspace)
	}
	if strings.Contains(program, "/") {
		return runnable(program, workspace)
	}
	path, ok := lookupEnv(env, "PATH")
	where := "PATH"
	if !ok {
		path = ir.ProgramPath
		where = path + "; the policy does not let the tool see PATH"
	}
	refused := error(nil)
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			dir = "."
		}
		path := filepath.Join(dir, program)
		if filepath.IsAbs(path) && isMissing(path) {
			continue
		}
		file, err := runnable(path, workspace)
		switch {
		case err == nil:
			return file, nil
		case !errors.Is(err, fs.ErrNotExist):
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: not found in %s", program, where)}
}

// isMissing reports whether there is no file, without an error in words about each directory of a long PATH. As for a
// shell, a directory that cannot be searched has none.
func isMissing(path string) bool {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return err == unix.ENOENT || err == unix.EACCES || err == unix.ENOTDIR
}

func runnable(path, workspace string) (string, error) {
	abs := path
	if !filepath.IsAbs(path) {
		abs = workspace + "/" + path
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: %w", path, fs.ErrNotExist)}
	case err != nil:
		return "", &Error{Code: CodeNotRunnable, Err: err}
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return "", &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: not an executable file", path)}
	}
	return filepath.Clean(abs), nil
}
