// Package maximum finds the administrator's file that bounds what the tools of a machine may be permitted, and has the
// loader refuse policies that were not compared with it. Package bounds compares them.
//
// Every way to start a tool ends at the loader, which asks a Stamp. A way that compares nothing has no stamp, and so
// starts nothing on a machine with a maximum. The file binds accessc and not its user, who can start programs without.
package maximum

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/files/owned"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/oserr"
)

// MaxSize bounds the file, in bytes.
const MaxSize = 1 << 20

// Stamp is the content of the maximum that a policy was compared with; empty for a machine without.
type Stamp string

// File is the maximum of the machine.
type File struct {
	Path  string
	Data  []byte
	Stamp Stamp
}

// Read reads the maximum; nil for a machine without. A file that cannot be read, or that others than the administrator
// could have written, is an error, and nothing starts: a machine without a maximum has no such file, or no directory
// of the administrator's, which is the only question of most machines.
func Read() (*File, error) {
	path := userdir.Maximum()
	dir := filepath.Dir(path)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err = os.Stat(dir); err == nil {
			return nil, nil
		} // a symlink that leads to nothing: the maximum is not there yet, or not any more
	}
	if err != nil {
		return nil, &Unreadable{path, oserr.Reason(err)}
	}
	data, err := owned.Read(path, MaxSize, func(_ *os.File, info os.FileInfo, real string) error {
		return owned.Alone(info, real, true)
	})
	if err != nil {
		return nil, &Unreadable{path, oserr.Reason(err)}
	}
	return &File{path, data, stamp(data)}, nil
}

func stamp(data []byte) Stamp {
	sum := sha256.Sum256(data)
	return Stamp(hex.EncodeToString(sum[:]))
}

// Unreadable is a maximum that cannot be read, or that others could have written.
type Unreadable struct {
	Path string
	Err  error
}

// Error implements error.
func (e *Unreadable) Error() string {
	return fmt.Sprintf("the maximum of this machine, %s, cannot be read, so nothing is started: %v", e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *Unreadable) Unwrap() error { return e.Err }

// Exists reports whether there is, or may be, a maximum.
func Exists() bool {
	f, err := Read()
	return f != nil || err != nil
}

// Holds returns an error unless a policy that was compared with the maximum of a stamp may start now: the machine has
// that maximum, or none.
func (s Stamp) Holds() error {
	switch f, err := Read(); {
	case err != nil:
		return err
	case f == nil || f.Stamp == s:
		return nil
	case s == "":
		return fmt.Errorf("%s bounds what tools of this machine may be permitted, and this start was not compared "+
			"with it; accessc exec compares", f.Path)
	default:
		return fmt.Errorf("%s has changed since the policy was compared with it; start again", f.Path)
	}
}
