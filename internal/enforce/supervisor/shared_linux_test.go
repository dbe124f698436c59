package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSharedMemory: a name in the shared memory of all processes leads to the directory of the run, by whatever
// path, and that directory is the shared memory for the rules.
func TestSharedMemory(t *testing.T) {
	dir, err := os.MkdirTemp(sharedMemory, "accessc-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range []string{"mine", "sub/mine"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := calling(t, t.TempDir(), "/dev")
	if c.box.shared, err = openPrivate(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(c.box.shared.dir) })
	for path, want := range map[string]string{
		"/dev/shm": dir, "/dev/shm/": dir, "/dev/shm/mine": dir + "/mine", "/dev/shm/sub/../mine": dir + "/mine",
		"/dev/../dev/shm/sub/mine": dir + "/sub/mine", "/proc/self/fd/5/shm/mine": dir + "/mine",
	} {
		base, e := c.paths.base(unix.AT_FDCWD, path)
		if e != 0 {
			t.Fatal(e)
		}
		if n, e := c.paths.object(base, path, followed, 0); e != 0 || where(n.object) != want {
			t.Errorf("%s: %s, %v; want %s", path, where(n.object), e, want)
		}
	}
	for path, want := range map[string]string{dir + "/mine": "/dev/shm/mine",
		dir: "/dev/shm", "/dev/shm/theirs": "/dev/shm of other processes/theirs"} {
		if got := c.box.at(path); got.At.String() != want {
			t.Errorf("%s is the place %s, want %s", path, got.At, want)
		}
	}
}
