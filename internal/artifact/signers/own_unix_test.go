//go:build unix

package signers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/userdir"
)

// TestOwn: a file that others can write, or put another in the place of, is none that says who may sign; nor is a key.
func TestOwn(t *testing.T) {
	root := os.Geteuid() == 0
	for name, c := range map[string]struct {
		machine bool
		change  func(dir string) error
		want    string
	}{
		"as it should be":      {false, func(string) error { return nil }, ""},
		"group":                {false, func(dir string) error { return os.Chmod(dir+"/f/attestation.toml", 0o664) }, "others may write"},
		"others":               {false, func(dir string) error { return os.Chmod(dir+"/f/attestation.toml", 0o646) }, "others may write"},
		"the directory":        {false, func(dir string) error { return os.Chmod(dir+"/f", 0o777) }, "others may write"},
		"a directory above":    {false, func(dir string) error { return os.Chmod(dir, 0o770) }, "others may write"},
		"a sticky directory":   {false, func(dir string) error { return os.Chmod(dir, 0o777|os.ModeSticky) }, ""},
		"the key":              {false, func(dir string) error { return os.Chmod(dir+"/k/a.pub", 0o666) }, "others may write"},
		"the key's directory":  {false, func(dir string) error { return os.Chmod(dir+"/k", 0o777) }, "others may write"},
		"a symlink to an open": {false, func(dir string) error { return relink(dir+"/f/attestation.toml", dir+"/k/moved", 0o666) }, "others may write"},
		"a symlink":            {false, func(dir string) error { return relink(dir+"/f/attestation.toml", dir+"/k/moved", 0o644) }, ""},
		"a symlink into":       {false, func(dir string) error { return relink(dir+"/f/attestation.toml", dir+"/ws/moved", 0o644) }, "in the workspace"},
		"the key as a symlink": {false, func(dir string) error { return relink(dir+"/k/a.pub", dir+"/ws/a.pub", 0o644) }, "in the workspace"},
		"a FIFO": {false, func(dir string) error {
			os.Remove(dir + "/f/attestation.toml")
			return syscall.Mkfifo(dir+"/f/attestation.toml", 0o600)
		}, "not a regular file"},
		"a dangling symlink":            {false, func(dir string) error { return relink(dir+"/f/attestation.toml", dir+"/gone", 0) }, "no such file"},
		"the administrator's":           {true, func(string) error { return nil }, map[bool]string{true: "", false: "expected the administrator"}[root]},
		"another user's":                {false, func(dir string) error { return chown(dir + "/f/attestation.toml") }, "belongs to user 4242"},
		"a sticky directory of another": {false, func(dir string) error { return errors.Join(chown(dir), os.Chmod(dir, 0o777|os.ModeSticky)) }, "belongs to user 4242"},
		"in another user's":             {false, func(dir string) error { return chown(dir + "/f") }, "belongs to user 4242"},
		"a key of another user":         {true, func(dir string) error { return chown(dir + "/k/a.pub") }, "belongs to user 4242"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.want, "4242") && !root {
				t.Skip("only root gives files away")
			}
			dir := tempDir(t)
			for _, d := range []string{"f", "k", "ws"} {
				if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			newKeys(t, filepath.Join(dir, "k"))
			write(t, dir+"/f/attestation.toml", "[[signers]]\nname = \"a\"\nkey = \"../k/a.pub\"\n")
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			_, _, found := Read([]userdir.Attestation{{Path: dir + "/f/attestation.toml", Machine: c.machine}}, filepath.Join(dir, "ws"), "", nil)
			switch {
			case c.want == "" && len(found) > 0:
				t.Errorf("refused: %+v", found)
			case c.want != "" && (!found.Failed() || !strings.Contains(found[0].Label, c.want)):
				t.Errorf("got %+v, expected %q", found, c.want)
			case c.want != "" && found[0].Code != diag.OpenSigners && found[0].Code != diag.BadSigner && found[0].Code != diag.Unreadable:
				t.Errorf("the code is %s", found[0].Code)
			}
		})
	}
}

// relink moves a file and leaves a symlink to it.
func relink(from, to string, mode os.FileMode) error {
	var err error
	if mode == 0 {
		err = os.Remove(from)
	} else if err = os.Rename(from, to); err == nil {
		err = os.Chmod(to, mode)
	}
	if err != nil {
		return err
	}
	return os.Symlink(to, from)
}

func chown(path string) error { return os.Chown(path, 4242, -1) }

// TestMachinePatterns: the caller says which directory is the home, and so may not move the patterns by which the
// administrator requires attestations.
func TestMachinePatterns(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a file of the administrator is root's")
	}
	file := filepath.Join(tempDir(t), "attestation.toml")
	write(t, file, "require = [\"~/ws/**\"]\n")
	if _, _, found := Read([]userdir.Attestation{{Path: file, Machine: true}}, "", "/home/u", nil); !found.Failed() {
		t.Error("a pattern below the caller's home counts")
	}
}

// TestSecret: a key that signs is this user's alone.
func TestSecret(t *testing.T) {
	file := filepath.Join(tempDir(t), "a.key")
	write(t, file, "x")
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o700: true, 0o640: false, 0o604: false, 0o620: false, 0o602: false, 0o644: false} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSecret(file); (err == nil) != ok {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

// TestRememberedInAFile: a FIFO in the place of the serial is not waited for, and a symlink is not followed.
func TestRememberedInAFile(t *testing.T) {
	dir := tempDir(t)
	state := userdir.Dir(dir)
	if err := os.Mkdir(filepath.Dir(state.Attested("t")), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(state.Attested("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(dir, "elsewhere")
	if err := os.Symlink(elsewhere, state.Attested("link")); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"fifo", "link"} {
		if err := Remember(state, tool, 1); err == nil {
			t.Errorf("%s: took it", tool)
		}
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("a file was made where the symlink leads")
	}
}
