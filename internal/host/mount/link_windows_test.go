package mount

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// noLinks reports why this system makes neither symlinks nor junctions, if it does not.
// Wine 8.0 refuses to store reparse points (measured 2026-11).
func noLinks(t testing.TB) error {
	root, err := os.OpenRoot(tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	err = makeJunction(root, tempDir(t), "probe")
	if wine := windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version"); wine.Find() != nil {
		return nil // Windows itself has no excuse
	}
	return err
}

// TestReparseData compares the buffers with the documented layout of REPARSE_DATA_BUFFER, byte
// by byte.
func TestReparseData(t *testing.T) {
	const substitute, print = "5c003f003f005c0043003a005c00", "43003a005c00" // \??\C:\ and C:\
	for name, tt := range map[string]struct {
		got  []byte
		want string
	}{
		"junction": {junctionData(`C:\`), "030000a0" + "2000" + "0000" + "0000" + "0e00" + "1000" + "0600" + substitute + "0000" + print + "0000"},
		"symlink":  {symlinkData(`C:\`), "0c0000a0" + "2000" + "0000" + "0000" + "0e00" + "0e00" + "0600" + "00000000" + substitute + print},
	} {
		if want, _ := hex.DecodeString(tt.want); !bytes.Equal(tt.got, want) {
			t.Errorf("%s:\n%x, want\n%x", name, tt.got, want)
		}
	}
}

// TestJunction: a junction leads to its target, is never made over anything, and is removed
// without its target. A failed attempt leaves nothing.
func TestJunction(t *testing.T) {
	dir, target := tempDir(t), tempDir(t)
	if err := os.WriteFile(filepath.Join(target, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := makeJunction(root, target, "link"); err != nil {
		if _, stat := root.Lstat("link"); !errors.Is(stat, fs.ErrNotExist) {
			t.Errorf("%v, and it is there: %v", err, stat)
		}
		if noLinks(t) != nil {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	info, err := root.Lstat("link")
	if err != nil || !isLink(info) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if to, err := root.Readlink("link"); err != nil || !strings.EqualFold(to, target) {
		t.Errorf("leads to %s (%v), expected %s", to, err, target)
	}
	found, err := resolve.Through(hostview.Now).Follow(filepath.ToSlash(filepath.Join(dir, "link", "file")))
	if err != nil || found.Kind != ir.File || !strings.EqualFold(found.Abs, filepath.ToSlash(filepath.Join(target, "file"))) {
		t.Errorf("%+v, %v", found, err)
	}
	if err := makeJunction(root, dir, "link"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if err := root.Remove("link"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(target, "file")); err != nil {
		t.Error(err)
	}
}

// TestFileWithoutPrivilege: a file is linked, or the message names the missing privilege.
func TestFileWithoutPrivilege(t *testing.T) {
	dir := tempDir(t)
	file := filepath.Join(tempDir(t), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	switch err := symlink(root, filepath.ToSlash(file), "link"); {
	case err == nil:
		if to, err := root.Readlink("link"); err != nil || !strings.EqualFold(to, file) {
			t.Errorf("leads to %s (%v), expected %s", to, err, file)
		}
	case errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD):
		t.Errorf("does not teach: %v", err)
	case !strings.Contains(err.Error(), "developer mode") && noLinks(t) == nil:
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
