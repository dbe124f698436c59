//go:build unix

package start

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// find returns the canonical file of a program: a path as it is, relative to the
// working directory, a bare name in PATH.
func find(program string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		return runnable(program)
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
		file, err := runnable(filepath.Join(dir, program))
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

func runnable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: %w", path, fs.ErrNotExist)}
	case err != nil:
		return "", &Error{Code: CodeNotRunnable, Err: err}
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return "", &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: not an executable file", path)}
	}
	return filepath.Abs(path)
}
