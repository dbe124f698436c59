package mount

import "github.com/accessc/accessc/internal/host/layerfile"

// Names of the local layer.
const (
	localDir  = ".accessc"
	localFile = "local.toml"
	localName = localDir + "/" + localFile
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
		ignore := func() error { return layerfile.Ignore(l.Dir) }
		if err := j.step(ignore, func() error { return l.Dir.Remove(layerfile.IgnoreFile) }); err != nil {
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
