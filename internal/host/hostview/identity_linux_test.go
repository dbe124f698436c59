package hostview

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/irtest/epoch"
)

// TestDevicesAreKept: a device that was seen before answers for its other directories, and for directories of no other
// device, in whatever order they are asked about.
func TestDevicesAreKept(t *testing.T) {
	all := []string{"/", "/usr", "/usr/bin", "/etc", "/proc", "/proc/sys", "/sys", "/sys/kernel", "/dev", "/dev/shm", "/tmp", t.TempDir(), os.DevNull, "/none"}
	expected := map[string]Identity{}
	relied, hourAgo := 0, time.Now().Add(-time.Hour)
	for _, dir := range all {
		var st unix.Stat_t
		var system unix.Statfs_t
		if unix.Lstat(dir, &st) == nil && unix.Statfs(dir, &system) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR &&
			steady(&system) && time.Unix(st.Ctim.Unix()).Before(hourAgo) {
			expected[dir] = Identity{uint64(st.Dev), st.Ino, st.Mtim.Nano(), st.Ctim.Nano()}
			relied++
		}
	}
	t.Logf("the times of %d of %d directories are relied on", relied, len(all))
	r := epoch.Rand(t)
	for range 50 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		d := devices{}
		for _, dir := range all {
			id := d.identify(dir)
			if want, ok := expected[dir]; ok && id != want {
				t.Errorf("after %v, %s is %v, not %v", all, dir, id, want)
			}
			var system unix.Statfs_t
			if unix.Statfs(dir, &system) == nil && !steady(&system) && id != (Identity{}) {
				t.Errorf("after %v, %s has an identity on a file system whose times are not relied on", all, dir)
			}
		}
	}
}

// TestEncryptedAreListed: a directory whose names depend on a key has no identity. Unlocking a directory changes none
// of its times, and a start from a kept compilation did not see the names that came.
func TestEncryptedAreListed(t *testing.T) {
	st, err := statx(unix.AT_FDCWD, "/", 0)
	if err != nil {
		t.Fatal(err)
	}
	st.Ctime.Sec, st.Attributes = 1, 0
	if identity(st) == (Identity{}) {
		t.Error("a directory has no identity")
	}
	st.Attributes = unix.STATX_ATTR_ENCRYPTED
	if id := identity(st); id != (Identity{}) {
		t.Error("an encrypted directory has the identity", id)
	}
}
