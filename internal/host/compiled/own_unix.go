//go:build unix

package compiled

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/bounded"
)

var errNotOwn = errors.New("not this user's alone")

// readOwn reads a regular file that only this user may read and write, in a directory that only
// this user may use. It follows no symlink to either.
// See decision D224.
func readOwn(dir, name string) ([]byte, error) {
	at, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer unix.Close(at)
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if err := own(fd, unix.S_IFREG); err != nil {
		return nil, err
	}
	return bounded.Read(f, maxEntry)
}

// openDir opens a directory that only this user may use.
func openDir(dir string) (int, error) {
	at, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := own(at, unix.S_IFDIR); err != nil {
		unix.Close(at)
		return -1, err
	}
	return at, nil
}

// own refuses an open file that is not of a type, not this user's, or has permissions for others.
func own(fd int, kind uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if uint32(st.Mode)&unix.S_IFMT != kind || uint32(st.Mode)&0o077 != 0 || int(st.Uid) != os.Geteuid() {
		return errNotOwn
	}
	return nil
}

// makeOwn makes the directory of entries. In another user's state, as with sudo, it makes none,
// which would be in that user's way.
func makeOwn(dir string) error {
	above := filepath.Dir(dir)
	if err := os.MkdirAll(above, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(above)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return errNotOwn
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	at, err := openDir(dir)
	if err == nil {
		err = unix.Close(at)
	}
	return err
}

// program identifies the binary that runs, since another binary may compile otherwise: by its
// file, and by the hash of its beginning, which has the linker's build ID
// (cmd/internal/buildid).
func program() (string, error) {
	f, err := openProgram()
	if err != nil {
		return "", err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", err
	}
	begin := make([]byte, 4096)
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	sum := sha256.Sum256(begin[:n])
	return fmt.Sprintf("%d %d %d %v %v %x", st.Dev, st.Ino, st.Size, modified(&st), changed(&st), sum), nil
}
