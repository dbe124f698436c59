package mount

import (
	"errors"
	"os"

	"github.com/accessc/accessc/internal/layerfile"
)

// Names of the local layer.
const (
	localDir  = ".accessc"
	localFile = "local.toml"
	localName = localDir + "/" + localFile
	// ignoreFile keeps a directory that a mount has made out of git, itself as well.
	ignoreFile = ".gitignore"
)

// openLocal reads the local layer.
func (t *tree) openLocal() (*layerfile.File, error) {
	l, err := layerfile.Open(t.root, localDir, localFile)
	return l, in(localName, err)
}

// replace makes the file say something else, whole or not at all. An empty file is
// removed.
func (t *tree) replace(j *journal, l *layerfile.File, text []byte) error {
	if l.Dir == nil {
		if err := t.makeDir(j, t.root, localDir, 0o777); err != nil {
			return in(localDir, err)
		}
		now, err := t.openLocal()
		if err != nil {
			return err
		}
		l.Dir = now.Dir
		if err := j.step(func() error { return ignore(l.Dir) }, func() error { return l.Dir.Remove(ignoreFile) }); err != nil {
			return in(localDir, err)
		}
	}
	old := l.Data
	err := j.step(func() error { return l.Write(text) }, func() error { return l.Write(old) })
	if err == nil {
		err = j.step(func() error { return layerfile.SyncDir(l.Dir) }, func() error { return nil })
	}
	return in(localName, err)
}

// ignore has git leave out a directory, which is for this checkout alone.
func ignore(dir *os.Root) error {
	f, err := dir.OpenFile(ignoreFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}
