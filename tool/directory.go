package tool

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// A holder opens directories of the policy's places so that no symlink is followed on the way:
// the opened directory is the directory that was judged, or the error is a *swappedError.
type holder interface {
	directory(at ir.Location) (directory, error)
}

// A directory is open. Its operations act on a name in it and follow no symlink; "." is
// the directory itself.
type directory interface {
	// open opens without waiting for a peer. With os.O_EXCL it makes the file. full is
	// the name that the file is to have.
	open(name, full string, flag int, perm fs.FileMode) (*os.File, error)
	mkdir(name string, perm fs.FileMode) error
	remove(name string, dir bool) error
	close()
}

func sortEntries(entries []fs.DirEntry) {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}
