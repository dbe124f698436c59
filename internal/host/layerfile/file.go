// Package layerfile replaces the files of layers, whole or not at all, and finds the lists of tools
// in their text. It writes through no symlink: the files in a workspace may be hostile.
package layerfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/wholefile"
)

// File is the file of a layer, there or not.
type File struct {
	// Dir is its directory, nil if there is none.
	Dir *os.Root
	// Name is its name there.
	Name string
	// Info is the file, nil if there is none.
	Info fs.FileInfo
	Data []byte // its content
}

// Open reads the file of a name in a directory of a tree. It follows no symlink: the target would
// be written as well.
func Open(root *os.Root, in, name string) (*File, error) {
	l := &File{Name: name}
	info, err := root.Lstat(in)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory of the workspace's own; grants are not written through it", in)
	}
	if l.Dir, err = OpenSame(root, in, info); err != nil {
		return nil, err
	}
	if err := l.read(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (l *File) read() error {
	info, err := l.Dir.Lstat(l.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file; grants are not written through it")
	}
	f, err := l.Dir.OpenFile(l.Name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return ErrSwapped
	}
	l.Info = info
	if l.Data, err = bounded.Read(f, source.MaxSize); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	return nil
}

// Close closes the directory.
func (l *File) Close() {
	if l.Dir != nil {
		l.Dir.Close()
	}
}

// ErrChanged says that the state that a change was made for is gone. A new attempt may succeed.
var ErrChanged = errors.New("was changed meanwhile")

// ErrSwapped is ErrChanged about the way to a file.
var ErrSwapped error = swapped{}

type swapped struct{}

func (swapped) Error() string { return "a directory or link " + ErrChanged.Error() }

func (swapped) Unwrap() error { return ErrChanged }

// OpenSame opens a directory and makes sure that it is the directory that was looked at.
func OpenSame(dir *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		next.Close()
		return nil, ErrSwapped
	}
	return next, nil
}

// Write replaces the text that was read or written last. An empty file is removed.
func (l *File) Write(text []byte) error {
	if err := l.unchanged(); err != nil {
		return err
	}
	info, err := fs.FileInfo(nil), error(nil)
	switch {
	case len(text) > 0:
		info, err = l.rename(text)
	case l.Info != nil:
		err = l.Dir.Remove(l.Name)
	}
	if err == nil {
		l.Info, l.Data = info, text
	}
	return err
}

// temporary is the name beside the file under which the next content is written. A writer has the
// lock of the approvals, so one name is enough, and the next writer removes the leftovers of a killed writer.
func (l *File) temporary() string { return "." + l.Name + ".tmp" }

// unchanged makes sure that the file was not written since it was read.
func (l *File) unchanged() error {
	now := File{Dir: l.Dir, Name: l.Name}
	if err := now.read(); err != nil {
		return err
	}
	if (now.Info == nil) != (l.Info == nil) || !bytes.Equal(now.Data, l.Data) {
		return ErrChanged
	}
	return nil
}

// rename writes the text beside the file and puts it in its place: rename(2) replaces
// a name and follows nothing.
func (l *File) rename(text []byte) (fs.FileInfo, error) {
	if err := l.Dir.Remove(l.temporary()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := l.Dir.OpenFile(l.temporary(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(text)
	if l.Info != nil && err == nil {
		err = errors.Join(keepOwner(f, l.Info), f.Chmod(l.Info.Mode().Perm()))
	}
	if err == nil {
		err = f.Sync()
	}
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err == nil {
		err = l.Dir.Rename(l.temporary(), l.Name)
	}
	if err != nil {
		return nil, errors.Join(err, l.Dir.Remove(l.temporary()))
	}
	return info, nil
}

// SyncDir brings the names in a directory to the disk.
func SyncDir(dir *os.Root) error {
	return wholefile.SyncDir(func() (*os.File, error) { return dir.Open(".") })
}

// IgnoreFile keeps a directory that accessc has made out of git, itself as well.
const IgnoreFile = ".gitignore"

// Ignore has git leave out a directory, which is only for this checkout.
func Ignore(dir *os.Root) error {
	f, err := dir.OpenFile(IgnoreFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}
