package source

import (
	"errors"
	"io/fs"
)

// Host is the disk that layers are read from. Its paths are in the form of the system, and its errors those of package
// os.
type Host interface {
	// Lstat returns the type of a name, as of lstat(2).
	Lstat(path string) (fs.FileMode, error)
	// Stat returns type and permissions of the file that a path leads to.
	Stat(path string) (fs.FileMode, error)
	// ReadDir lists a directory by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// EvalSymlinks returns a path without symlinks.
	EvalSymlinks(path string) (string, error)
	// Open returns a file, without waiting for the writer of a FIFO.
	Open(path string) (fs.File, error)
	// Root returns a directory whose names lead nowhere else, also by symlinks that are made meanwhile, until it is
	// closed. Its errors say by a method LeadsOut that a name does.
	Root(dir string) (tree fs.ReadLinkFS, closed func(), err error)
	// Below returns a directory whose names may lead anywhere.
	Below(dir string) fs.ReadDirFS
}

// errLeaves says that a path leads out of the workspace.
var errLeaves error = leaves{}

type leaves struct{}

// Error implements error.
func (leaves) Error() string { return "leads out of the workspace" }

// LeadsOut tells the error, as that of a Host.
func (leaves) LeadsOut() {}

// leads reports whether an error says that a path leads out of the workspace.
func leads(err error) bool {
	var out interface{ LeadsOut() }
	return errors.As(err, &out)
}

// nowhere is a host without files.
type nowhere struct{}

func (nowhere) Lstat(string) (fs.FileMode, error)     { return 0, fs.ErrNotExist }
func (nowhere) Stat(string) (fs.FileMode, error)      { return 0, fs.ErrNotExist }
func (nowhere) ReadDir(string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }
func (nowhere) EvalSymlinks(string) (string, error)   { return "", fs.ErrNotExist }
func (nowhere) Open(string) (fs.File, error)          { return nil, fs.ErrNotExist }
func (nowhere) Below(string) fs.ReadDirFS             { return empty{} }
func (nowhere) Root(string) (fs.ReadLinkFS, func(), error) {
	return nil, nil, fs.ErrNotExist
}

// empty is a directory that is not there.
type empty struct{}

func (empty) Open(string) (fs.File, error)          { return nil, fs.ErrNotExist }
func (empty) ReadDir(string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }
