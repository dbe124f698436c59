package mount

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/bounded"
)

// Names of the local layer. A writer has the lock of the approvals, so one temporary name is
// enough, and the next writer removes the leftovers of a killed one.
const (
	localDir  = ".accessc"
	localFile = "local.toml"
	localTemp = ".local.toml.tmp"
	localName = localDir + "/" + localFile
	// ignoreFile keeps a directory that a mount has made out of git, itself as well.
	ignoreFile = ".gitignore"
)

// local is the file of the local layer.
type local struct {
	// dir is its directory, nil if there is none.
	dir *os.Root
	// info is the file, nil if there is none.
	info fs.FileInfo
	data []byte
}

// openLocal reads the local layer. It follows no symlink: the target would be written as well.
func (t *tree) openLocal() (*local, error) {
	info, err := t.root.Lstat(localDir)
	if errors.Is(err, fs.ErrNotExist) {
		return &local{}, nil
	}
	if err != nil {
		return nil, in(localDir, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory of the workspace's own; grants are not written through it", localDir)
	}
	dir, err := openSame(t.root, localDir, info)
	if err != nil {
		return nil, in(localDir, err)
	}
	l := &local{dir: dir}
	if err := l.read(); err != nil {
		dir.Close()
		return nil, in(localName, err)
	}
	return l, nil
}

func (l *local) read() error {
	info, err := l.dir.Lstat(localFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file; grants are not written through it")
	}
	f, err := l.dir.OpenFile(localFile, os.O_RDONLY|noWait, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return errSwapped
	}
	l.info = info
	if l.data, err = bounded.Read(f, source.MaxSize); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	return nil
}

func (l *local) close() {
	if l.dir != nil {
		l.dir.Close()
	}
}

// replace makes the file say something else, whole or not at all. An empty file is
// removed.
func (t *tree) replace(j *journal, l *local, text []byte) error {
	if l.dir == nil {
		if err := t.makeDir(j, t.root, localDir, 0o777); err != nil {
			return in(localDir, err)
		}
		now, err := t.openLocal()
		if err != nil {
			return err
		}
		l.dir = now.dir
		if err := j.step(l.ignore, func() error { return l.dir.Remove(ignoreFile) }); err != nil {
			return in(localDir, err)
		}
	}
	old := l.data
	err := j.step(func() error { return l.write(text) }, func() error { return l.write(old) })
	if err == nil {
		err = j.step(func() error { return syncDir(l.dir) }, func() error { return nil })
	}
	return in(localName, err)
}

// ignore has git leave out the directory, which is for this checkout alone.
func (l *local) ignore() error {
	f, err := l.dir.OpenFile(ignoreFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// write puts the text in place of what was read or written last.
func (l *local) write(text []byte) error {
	if err := l.unchanged(); err != nil {
		return err
	}
	info, err := fs.FileInfo(nil), error(nil)
	switch {
	case len(text) > 0:
		info, err = l.rename(text)
	case l.info != nil:
		err = l.dir.Remove(localFile)
	}
	if err == nil {
		l.info, l.data = info, text
	}
	return err
}

// unchanged makes sure that the file was not written since it was read.
func (l *local) unchanged() error {
	now := local{dir: l.dir}
	if err := now.read(); err != nil {
		return err
	}
	if (now.info == nil) != (l.info == nil) || !bytes.Equal(now.data, l.data) {
		return ErrChanged
	}
	return nil
}

// rename writes the text beside the file and puts it in its place: rename(2) replaces
// a name and follows nothing.
func (l *local) rename(text []byte) (fs.FileInfo, error) {
	if err := l.dir.Remove(localTemp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := l.dir.OpenFile(localTemp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(text)
	if l.info != nil && err == nil {
		err = errors.Join(keepOwner(f, l.info), f.Chmod(l.info.Mode().Perm()))
	}
	if err == nil {
		err = f.Sync()
	}
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err == nil {
		err = l.dir.Rename(localTemp, localFile)
	}
	if err != nil {
		return nil, errors.Join(err, l.dir.Remove(localTemp))
	}
	return info, nil
}
