package start

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/test/testbuild"
)

// TestFindWrapper: a bubblewrap that another user than root could change is passed over, and so is one that is
// set-user-id or too old.
func TestFindWrapper(t *testing.T) {
	base := t.TempDir()
	lay := func(name, version string, file, dir os.FileMode, uid int) string {
		p := filepath.Join(base, name, "bwrap")
		err := errors.Join(
			os.Mkdir(filepath.Dir(p), 0o755), testbuild.WriteFile(p, []byte("#!/bin/sh\necho bubblewrap "+version+"\n"), 0o755),
			os.Chmod(p, file), os.Chmod(filepath.Dir(p), dir),
		)
		if err == nil && uid != 0 && os.Geteuid() == 0 {
			err = os.Chown(p, uid, -1)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	paths := []string{
		filepath.Join(base, "none"), lay("suid", "0.9.0", 0o755|os.ModeSetuid, 0o755, 0), lay("sgid", "0.9.0", 0o755|os.ModeSetgid, 0o755, 0),
		lay("group", "0.9.0", 0o775, 0o755, 0), lay("others", "0.9.0", 0o757, 0o755, 0), lay("dir", "0.9.0", 0o755, 0o775, 0),
		lay("foreign", "0.9.0", 0o755, 0o755, 65534), lay("old", "0.7.2", 0o755, 0o755, 0),
	}
	open := filepath.Join(base, "dir", "link")
	if err := os.Symlink(filepath.Join(base, "good", "bwrap"), open); err != nil {
		t.Fatal(err)
	}
	paths = append(paths, open)
	good := lay("good", "0.8.1", 0o755, 0o755, 0)
	for _, p := range paths {
		if file, _, err := findWrapper([]string{p}); err == nil {
			t.Errorf("%s is used", file)
		}
	}
	if _, _, err := findWrapper(paths[:1]); !errors.Is(err, errNoWrapper) {
		t.Errorf("none is there: %v", err)
	}
	file, version, err := findWrapper(append(paths, good))
	if os.Geteuid() != 0 {
		if err == nil {
			t.Errorf("%s of this user is used", file)
		}
		return
	}
	if file != good || version != "0.8.1" || err != nil {
		t.Errorf("%s, %s, %v", file, version, err)
	}
}
