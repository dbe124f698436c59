package start

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWalkNoLinks: where openat2(2) is refused, paths give the same result as with it. A start
// inside of a tool failed there at Landlock ABI 1 and 2.
func TestWalkNoLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "a", "a/loop": "loop", "a/last": "b"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a/f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "a", "a/b", "a/f", "a/f/g", "link", "link/b", "a/loop", "a/last", "none", "none/b", "/"} {
		if path != "/" {
			path = filepath.Join(dir, path)
		}
		for _, flags := range []int{unix.O_PATH, unix.O_RDONLY | unix.O_DIRECTORY} {
			want, wanted := openNoLinks(path, flags)
			got, err := walkNoLinks(path, flags)
			var a, b unix.Stat_t
			_, _ = unix.Fstat(want, &a), unix.Fstat(got, &b)
			if err != wanted || a.Ino != b.Ino || a.Dev != b.Dev {
				t.Errorf("%s (%#x): %v (inode %d), want %v (%d)", path, flags, err, b.Ino, wanted, a.Ino)
			}
			_, _ = unix.Close(want), unix.Close(got)
		}
	}
}
