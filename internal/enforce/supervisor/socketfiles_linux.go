package supervisor

import (
	"sync"

	"golang.org/x/sys/unix"
)

// socketFiles are socket files that the tool has bound, so that connections to them are known to stay
// within the run.
// See decision D61.
type socketFiles struct {
	mu   sync.Mutex
	made map[socketFile]bool
}

// socketFile tells a file from all others, also from later files with its number.
type socketFile struct {
	major, minor uint32
	inode        uint64
	born         unix.StatxTimestamp
}

// maxSocketFiles bounds how many are known.
const maxSocketFiles = 4096

// bound notes a name to which the tool has just bound a socket.
func (s *socketFiles) bound(dir int, name string) {
	f, ok := socketAt(dir, name, unix.AT_SYMLINK_NOFOLLOW)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ok || len(s.made) >= maxSocketFiles {
		return
	}
	if s.made == nil {
		s.made = map[socketFile]bool{}
	}
	s.made[f] = true
}

// holds reports whether the tool has bound the socket file behind a descriptor.
func (s *socketFiles) holds(object int) bool {
	f, ok := socketAt(object, "", unix.AT_EMPTY_PATH)
	s.mu.Lock()
	defer s.mu.Unlock()
	return ok && s.made[f]
}

// socketAt is the identity of a socket file; false for other files, and where the file system does not
// say when a file was made (statx(2)).
func socketAt(dir int, name string, flags int) (socketFile, bool) {
	const wants = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_BTIME
	var st unix.Statx_t
	if err := unix.Statx(dir, name, flags, wants, &st); err != nil || st.Mask&wants != wants ||
		st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return socketFile{}, false
	}
	return socketFile{st.Dev_major, st.Dev_minor, st.Ino, st.Btime}, true
}
