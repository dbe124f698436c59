package supervisor

import (
	"path/filepath"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLinkItself: an open that does not follow a symlink fails as the kernel has it fail, which looks whether a directory was asked for before
// it looks at the kind of the file.
func TestLinkItself(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := unix.Symlink("/", link); err != nil {
		t.Fatal(err)
	}
	n := node{}
	if err := unix.Lstat(link, &n.st); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []int{0, unix.O_DIRECTORY, unix.O_RDWR, unix.O_RDWR | unix.O_DIRECTORY, unix.O_TMPFILE | unix.O_RDWR} {
		flags |= unix.O_NOFOLLOW
		fd, err := unix.Open(link, flags|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_ = unix.Close(fd)
			t.Fatalf("%#x: the kernel has opened a symlink", flags)
		}
		got := opens{}.reopen(n, opening{OpenHow: unix.OpenHow{Flags: uint64(flags)}})
		if want := fails(errno(err)); !reflect.DeepEqual(got, want) {
			t.Errorf("%#x: %+v, from the kernel %v", flags, got, err)
		}
	}
}

// TestInvalidFlags: flags that no path makes good are refused before the path is looked at, as the kernel does: the error was that of the path.
func TestInvalidFlags(t *testing.T) {
	for flags, want := range map[uint64]bool{
		unix.O_RDONLY: false, unix.O_RDWR | unix.O_CREAT: false, unix.O_DIRECTORY: false, unix.O_RDWR | unix.O_DIRECTORY: false,
		unix.O_TMPFILE | unix.O_RDWR: false, unix.O_TMPFILE | unix.O_WRONLY | unix.O_EXCL: false, unix.O_TMPFILE: true,
		tmpFile | unix.O_RDWR: true, unix.O_TMPFILE | unix.O_RDWR | unix.O_CREAT: true, unix.O_CREAT | unix.O_DIRECTORY: true,
	} {
		if got := (opening{OpenHow: unix.OpenHow{Flags: flags}}).invalid(); got != want {
			t.Errorf("%#o: %v", flags, got)
		}
	}
}
