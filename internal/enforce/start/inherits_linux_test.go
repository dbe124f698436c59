package start_test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// TestNothingInherited: of the descriptors of the caller a tool gets the three standard ones, and not the next.
func TestNothingInherited(t *testing.T) {
	f := newFortress(t)
	secret, err := os.Open("/etc/passwd")
	f.must(err)
	defer secret.Close()
	x := startProgram(t, f.spec, f.dir, "sh", "-c", "for n in 3 4 5 6 12; do readlink /proc/$$/fd/$n; done; :")
	var out bytes.Buffer
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.ExtraFiles = nil, &out, slices.Repeat([]*os.File{secret}, 10)
	f.must(x.cmd.Run())
	if bytes.Contains(out.Bytes(), []byte("passwd")) {
		t.Errorf("the tool has %q", out.String())
	}
}

// TestIdentityBits: a supervised tool gives no file the identity of its owner or group, and a directory that of
// its group.
func TestIdentityBits(t *testing.T) {
	f := newFortress(t)
	f.ended("for m in u+s g+s ug+s; do chmod $m docs/a; done; mkdir docs/d; chmod g+s docs/d", nil)
	for name, want := range map[string]os.FileMode{"docs/a": 0, "docs/d": os.ModeSetgid} {
		info, err := os.Stat(f.at(name))
		f.must(err)
		if got := info.Mode() & (os.ModeSetuid | os.ModeSetgid); got != want {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
}

// TestLinkOfLink: link(2) gives a symlink another name, and not the file that it leads to.
func TestLinkOfLink(t *testing.T) {
	if _, err := exec.LookPath("ln"); err != nil {
		t.Skip(err)
	}
	f := newFortress(t)
	f.must(os.Symlink("a", f.at("docs/l")))
	_, out := f.ended("ln -P docs/l docs/p && ln -L docs/l docs/f", nil)
	for name, want := range map[string]os.FileMode{"docs/p": os.ModeSymlink, "docs/f": 0} {
		if info, err := os.Lstat(f.at(name)); err != nil || info.Mode().Type() != want {
			t.Errorf("%s: %v, %v: %s", name, info, err, out)
		}
	}
}
