package hostview

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/accessc/accessc/test/testbuild"
)

// TestAnswersTell: the answers that are kept tell apart what the compiler tells apart: the permissions of a program,
// and in a directory the types of the names.
func TestAnswersTell(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions and symlinks are others")
	}
	dir := t.TempDir()
	file, list, name := filepath.Join(dir, "program"), filepath.Join(dir, "list"), filepath.Join(dir, "list/name")
	for _, do := range []error{testbuild.WriteFile(file, nil, 0o700), os.Mkdir(list, 0o700), os.Mkdir(name, 0o700)} {
		if do != nil {
			t.Fatal(do)
		}
	}
	for what, tt := range map[string]struct {
		look   func(v *View)
		change func() error
	}{
		"the permissions of a program": {func(v *View) { _, _ = v.Stat(file) },
			func() error { return os.Chmod(file, 0o600) }},
		"the type of a name": {func(v *View) { _, _ = v.ReadDir(list) }, func() error {
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.Symlink(dir, name)
		}},
	} {
		v := New()
		tt.look(v)
		if err := tt.change(); err != nil {
			t.Fatal(err)
		}
		if tt.look(v); !v.torn {
			t.Errorf("%s is not kept", what)
		}
	}
}
