package rmtree

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRemoveLeavesMounts: what is mounted in a directory stays, also of the same file system, and all else goes. The
// directories of runs and private homes were emptied with whatever the host had mounted there, as the workspace.
func TestRemoveLeavesMounts(t *testing.T) {
	mounts(t)
	for at, place := range map[string]func(dir string) string{
		"in it":       func(dir string) string { return dir + "/sub/mount" },
		"in a closed": func(dir string) string { return dir + "/sub/closed" },
		"over it":     func(dir string) string { return dir },
	} {
		for name, remove := range map[string]func(string) error{
			"all": Remove, "small": func(dir string) error { return RemoveSmall(dir, 8, 100) },
		} {
			dir, victim := tree(t)
			if err := unix.Mount(victim, place(dir), "", unix.MS_BIND, ""); err != nil {
				t.Fatal(err)
			}
			if err := remove(dir); !errors.Is(err, unix.EXDEV) {
				t.Errorf("%s, %s: %v", name, at, err)
			}
			whole(t, victim)
			if _, err := os.Lstat(dir + "/file"); err == nil && at != "over it" {
				t.Errorf("%s, %s: the rest is left", name, at)
			}
			if err := unix.Unmount(place(dir), 0); err != nil {
				t.Fatal(err)
			}
			if err := remove(dir); err != nil {
				t.Errorf("%s, %s: then: %v", name, at, err)
			}
		}
	}
}

// TestMountsAreTold: without openat2(2) a mount is told as well.
func TestMountsAreTold(t *testing.T) {
	mounts(t)
	dir, victim := tree(t)
	if err := unix.Mount(victim, dir+"/sub/mount", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	of := func(path string) [3]uint64 {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return mount(int(f.Fd()))
	}
	if of(dir) != of(victim) || of(dir) == of(dir+"/sub/mount") {
		t.Errorf("%v, %v, %v", of(dir), of(victim), of(dir+"/sub/mount"))
	}
	if err := unix.Unmount(dir+"/sub/mount", 0); err != nil {
		t.Fatal(err)
	}
}

// mounts gives the test a list of mounts of its own, on a thread that ends with it.
func mounts(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		t.Skip("mounts need a privilege: ", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
}
