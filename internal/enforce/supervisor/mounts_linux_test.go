package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// inMountNamespace runs a test on a thread with a mount namespace of its own, which ends with the thread.
func inMountNamespace(t *testing.T, test func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err == nil {
			test()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("no mount namespaces here: %v", err)
	}
}

// TestMountsTakenAway: the kernel names a file of a mount that was taken away by its path in that mount alone, and one that was moved out of a
// bind mount "/": a policy that grants such a path granted the file. The name of any other file is that of its place.
func TestMountsTakenAway(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"disk", "shown/sub", "bound", "else"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inMountNamespace(t, func() {
		m := &mounts{}
		opened := func(path string) int {
			fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return fd
		}
		says := func(what string, fd int, want bool) {
			name, err := readlink(unix.AT_FDCWD, "/proc/thread-self/fd/"+strconv.Itoa(fd))
			if got := m.place(fd, name) == name; err != nil || got != want {
				t.Errorf("%s: %v of %s, %v", what, got, name, err)
			}
		}
		says("the root", opened("/"), true)
		disk, bound := filepath.Join(dir, "disk"), filepath.Join(dir, "bound")
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, ""); err != nil {
			t.Error(err)
		}
		if err := os.MkdirAll(filepath.Join(disk, "usr/share"), 0o755); err != nil {
			t.Error(err)
		}
		on := opened(filepath.Join(disk, "usr/share"))
		says("a mount that has come", on, true)
		if err := unix.Mount(filepath.Join(dir, "shown"), bound, "", unix.MS_BIND, ""); err != nil {
			t.Error(err)
		}
		out := opened(filepath.Join(bound, "sub"))
		says("a bind mount", out, true)
		if err := os.Rename(filepath.Join(dir, "shown/sub"), filepath.Join(dir, "else/sub")); err != nil {
			t.Error(err)
		}
		says("what was moved out of a bind mount", out, false)
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
		says("a mount that was taken away", on, false)
		says("what lies beside", opened(dir), true)
	})
}

// TestLateMounts: a refusal below a mount that came after the start names its cause. A bind mount of a denied directory
// was called a file system of the kernel.
func TestLateMounts(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"w/secret/sub", "w/alias", "w/kernel"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(dir, "w")
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{Written: ".", At: ir.In(""), Caps: ir.All}, {Written: "secret", At: ir.In("secret")}}
	j := judged(t, tool, &ir.Bindings{Workspace: root, Home: "/state/home"})
	box := &sandbox{self: unix.Getpid(), roots: &j.roots}
	inMountNamespace(t, func() {
		m := &mounts{}
		m.about([]string{root}, nil, "")
		alias, kernel := filepath.Join(root, "alias"), filepath.Join(root, "kernel")
		err := unix.Mount(filepath.Join(root, "secret"), alias, "", unix.MS_BIND, "")
		if err = errors.Join(err, unix.Mount("proc", kernel, "proc", 0, "")); err != nil {
			t.Error(err)
			return
		}
		for name, want := range map[string]string{
			"alias/sub": "a mount shows another place of the policy there", "kernel/meminfo": "a file system of the kernel",
			"kernel": "a file system of the kernel", "alias": "a mount shows another place of the policy there",
		} {
			path := filepath.Join(root, name)
			fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got := j.access(box.at(m.place(fd, path)), ir.Read)
			if got.allowed() || !strings.Contains(got.why, want) {
				t.Errorf("%s: allowed %v, %q, want %q", name, got.allowed(), got.why, want)
			}
			_ = unix.Close(fd)
		}
	})
}

// TestFilesOfMemory: a file of memory is told by its device, not by its name, which a file in a mount that was taken away can have.
func TestFilesOfMemory(t *testing.T) {
	fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Close(fd)
	if got := where(fd); got != "" {
		t.Errorf("a file of memory is at %s", got)
	}
	dir, err := unix.Open(t.TempDir(), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	if ofMemory(dir) {
		t.Error("a directory is taken for a file of memory")
	}
}
