package layerfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Edit gives a file that is there the text that a function makes of its own. ErrChanged says that another process has
// written it meanwhile.
func Edit(path string, change func(text []byte) ([]byte, error)) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := Open(root, ".", filepath.Base(path))
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Info == nil {
		return fs.ErrNotExist
	}
	text, err := change(f.Data)
	if err != nil || bytes.Equal(text, f.Data) {
		return err
	}
	return errors.Join(f.Write(text), SyncDir(f.Dir))
}
