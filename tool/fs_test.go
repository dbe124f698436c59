package tool

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// TestFS: what the policy lets a tool read is a file system by the rules of package fs, and what
// it denies is no part of it.
func TestFS(t *testing.T) {
	eachHolder(t, func(t *testing.T, c *Policy, _ string) {
		sub, err := fs.Sub(c.FS(), "bin")
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(sub, "run"); err != nil {
			t.Error(err)
		}
		var denied *DeniedError
		if _, err := fs.ReadFile(c.FS(), "secret/key"); !errors.As(err, &denied) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("secret/key: found %v, expected a *DeniedError", err)
		}
		for _, name := range []string{"/README", "../ws/README", "./README", "src/", ""} {
			for op, try := range map[string]func() error{
				"open": func() error { f, err := c.FS().Open(name); _ = f; return err },
				"read": func() error { _, err := fs.ReadFile(c.FS(), name); return err },
				"list": func() error { _, err := fs.ReadDir(c.FS(), name); return err },
			} {
				if err := try(); !errors.Is(err, fs.ErrInvalid) {
					t.Errorf("%s %q: found %v, expected fs.ErrInvalid", op, name, err)
				}
			}
		}
	})
}
