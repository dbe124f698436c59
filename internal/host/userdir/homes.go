package userdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/accessc/accessc/internal/files/rmtree"
)

// PrivateHome is the private home of one tool.
type PrivateHome struct {
	Tool string `json:"tool"`
	Path string `json:"path"`
	// Bytes and Files count its contents, as far as it can be listed.
	Bytes int64 `json:"bytes"`
	Files int   `json:"files"`
	// Changed is when it, a file or a directory in it was last changed.
	Changed time.Time `json:"changed"`
	// listed is the directory that was listed.
	listed fs.FileInfo
}

// Homes lists the private homes of a workspace by tool.
func (d Dir) Homes() ([]PrivateHome, error) {
	entries, err := os.ReadDir(d.Home(""))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := []PrivateHome{}
	for _, e := range entries {
		path := d.Home(e.Name())
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() {
			continue
		}
		h := PrivateHome{Tool: e.Name(), Path: path, listed: info}
		_ = filepath.WalkDir(h.Path, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // unreadable directories are left out
			}
			info, err := e.Info()
			if err != nil {
				return nil
			}
			if info.ModTime().After(h.Changed) {
				h.Changed = info.ModTime().UTC().Truncate(time.Second)
			}
			if !e.IsDir() {
				h.Bytes += info.Size()
				h.Files++
			}
			return nil
		})
		out = append(out, h)
	}
	return out, nil
}

// ClearHome removes the private home of a tool, which must have a checked name. Symlinks in it
// are removed and not followed; mounted files stay. The home must be locked.
func (d Dir) ClearHome(tool string) error { return rmtree.Remove(d.Home(tool)) }
