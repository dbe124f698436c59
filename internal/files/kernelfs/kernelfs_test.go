package kernelfs

import (
	"strings"
	"testing"
)

// list is a list of mounts: what a host has, and what lies below /w.
const list = `1 1 8:1 / / rw - ext4 /dev/sda1 rw
2 1 0:2 / /proc rw - proc proc rw
3 2 0:3 / /proc/sys/fs/binfmt_misc rw shared:9 master:4 - autofs systemd-1 rw
4 1 0:4 / /sys rw - sysfs sysfs rw
5 4 0:5 / /sys/fs/cgroup rw - tmpfs tmpfs rw
6 1 0:6 / /dev rw - devtmpfs udev rw
7 6 0:7 / /dev/pts rw - devpts devpts rw
8 6 0:8 / /dev/shm rw - tmpfs tmpfs rw
9 6 0:9 / /dev/mqueue rw - mqueue mqueue rw
20 1 0:20 / /w rw - fuse.sshfs host: rw
21 20 0:2 / /w/p rw - proc proc rw
22 21 0:22 / /w/p/x rw - ext4 disk rw
23 20 0:6 / /w/d\040v rw - devtmpfs udev rw
24 20 0:24 / /w/new rw - kernelnewfs none rw
25 20 0:25 / /w/over rw - sysfs sysfs rw
26 25 0:26 / /w/over rw - tmpfs tmpfs rw
27 1 0:27 / /own rw - weirdfs disk rw
28 27 0:28 / /own/further rw - weirdfs disk rw
`

// TestClosed: closed is what shows the kernel and what lies in it, but neither what the base is about nor a file system that is
// mounted over one. A type that no list has is open where a place of the policy is on it.
func TestClosed(t *testing.T) {
	closed := map[bool]string{
		false: " /sys /sys/fs/cgroup /dev/mqueue /w/p /w/p/x /w/d v /w/new /w/over:sysfs /own /own/further ",
		true:  " /sys /sys/fs/cgroup /dev/mqueue /w/p /w/p/x /w/d v /w/new /w/over:sysfs ",
	}
	for vouched, want := range closed {
		roots := []string{"/w", "/w/p"}
		if vouched {
			roots = append(roots, "/own/ws")
		}
		all, err := Parse([]byte(list), roots, nil, nil)
		if err != nil || len(all) != strings.Count(list, "\n") {
			t.Fatal(err, len(all))
		}
		for _, m := range all {
			name := m.Point
			if m.Point == "/w/over" && m.Type == "sysfs" {
				name += ":sysfs"
			}
			if is(want, name) != m.Closed {
				t.Errorf("%s of %s: closed %v", m.Point, m.Type, m.Closed)
			}
			if m.Quiet && m.Closed {
				t.Errorf("%s is closed and opened without a look", m.Point)
			}
		}
	}
}

// TestLists: no type is on both lists, and a line of another form is an error, as is a list without any.
func TestLists(t *testing.T) {
	for _, kind := range strings.Fields(kernels) {
		if Holds(kind) || is(quiet, kind) {
			t.Errorf("%s shows the kernel and holds files", kind)
		}
	}
	for _, kind := range strings.Fields(quiet) {
		if !Holds(kind) {
			t.Errorf("%s is quiet and holds no files", kind)
		}
	}
	for _, line := range []string{"", "x", "1 2 3:4 / /p rw - \n", "x 1 0:1 / / rw - ext4 x rw\n"} {
		if all, err := Parse([]byte(line), nil, nil, nil); err == nil {
			t.Errorf("%q is read as %v", line, all)
		}
	}
}

// TestAt: the mount of a path is the last of those nearest above it.
func TestAt(t *testing.T) {
	all, err := Parse([]byte(list), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": "ext4", "/w": "fuse.sshfs", "/wx": "ext4", "/w/p/1": "proc", "/w/d v/null": "devtmpfs", "/w/over/x": "tmpfs", "/dev/pts/0": "devpts"} {
		if m := At(all, path); m == nil || m.Type != want {
			t.Errorf("%s is on %v", path, m)
		}
	}
}
