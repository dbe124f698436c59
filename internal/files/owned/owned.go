// Package owned reads files that decide something: regular files, of a bounded size, that nobody has to be waited for,
// and of which the caller can ask who else could have written them.
package owned

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/files/bounded"
)

// Not is the reason why a file may not decide: others can write it. Hint is a command that changes that, or empty.
type Not struct{ Why, Hint string }

// Error implements error.
func (e *Not) Error() string { return e.Why }

// Read reads a regular file of at most limit bytes that check, unless nil, accepts once it is open; real is its path
// without symlinks.
func Read(path string, limit int64, check func(f *os.File, info os.FileInfo, real string) error) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	f, err := openFile(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	if check != nil {
		if err := check(f, info, real); err != nil {
			return nil, err
		}
	}
	return bounded.Read(f, limit)
}
