package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/sandbox"
)

// userMode has this test's program be a host that gives up the rights of root before it starts tools.
const userMode = "ACCESSC_TEST_USER"

const nobody = 65534

// beUser is that host.
func beUser(dir string) error {
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	h, err := sandbox.Open(sandbox.Config{Dir: dir})
	if err != nil {
		return err
	}
	for _, tool := range both {
		out, err := h.Command(tool, "-c", "cat plain; id -u; id -G").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", tool, err, out)
		}
		fmt.Printf("%s", out)
	}
	return h.Close()
}

// TestUserChanged: a host that changes its user and groups before its first start has tools of both kinds
// with those.
func TestUserChanged(t *testing.T) {
	if os.Getuid() != 0 || start.ABI() == 0 {
		t.Skip("needs root, and Landlock")
	}
	dir, err := os.MkdirTemp("/tmp", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ws, tmp := dir+"/ws", dir+"/tmp"
	for _, d := range []string{ws, tmp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, ws+"/accessc.toml", config)
	write(t, ws+"/plain", "shown\n")
	write(t, ws+"/secret", "hidden\n")
	for _, f := range []string{dir, ws, tmp, ws + "/accessc.toml", ws + "/plain", ws + "/secret"} {
		if err := os.Chown(f, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Dir = "/"
	c.Env = []string{userMode + "=" + ws, "PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + tmp}
	want := "shown\n65534\n65534\n"
	if out, err := c.CombinedOutput(); err != nil || string(out) != want+want {
		t.Errorf("%v %s", err, out)
	}
}
