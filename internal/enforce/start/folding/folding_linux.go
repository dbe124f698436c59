// Package folding detects whether a directory distinguishes upper from lower case. Landlock
// goes by files and the supervisor by names; where two spellings are one file these differ.
package folding

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The flag of a directory that folds case (FS_CASEFOLD_FL in linux/fs.h).
const caseFold = 0x40000000

// folders are file systems that fold case, as far as statfs(2) tells them apart. For a FUSE or
// 9P server, such as that of the drives of Windows, only a trial tells.
var folders = []int64{unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC, 0x7366746e, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC}

// Folds reports whether names in a directory are looked up without regard to case. Where no
// name in it has a letter, only the kind of its file system tells.
func Folds(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	if flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS); err == nil && flags&caseFold != 0 {
		return true
	}
	names, _ := f.Readdirnames(maxTried)
	for _, name := range names {
		other := swapCase(name)
		if other == name || slices.Contains(names, other) {
			continue
		}
		var a, b unix.Stat_t
		if unix.Lstat(filepath.Join(dir, name), &a) != nil {
			continue
		}
		return unix.Lstat(filepath.Join(dir, other), &b) == nil && a.Dev == b.Dev && a.Ino == b.Ino
	}
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && slices.Contains(folders, st.Type)
}

// maxTried is how many names of a directory are looked at for one with a letter.
const maxTried = 100

func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return r
		}
	}, name)
}
