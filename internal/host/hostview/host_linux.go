package hostview

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/kernelfs"
)

// fileSystem names the file system of a place, if the kernel shows itself there: nothing of /proc is a target of a
// rule, of /dev only the devices and terminals.
func fileSystem(path string) string {
	all, err := mounts(nil, nil)
	if err != nil {
		return unlisted
	}
	m := mountOf(all, path)
	if m == nil || !m.Closed && !(kernelfs.Shows(m.Type) && kernelfs.Below(m.Point, "/proc")) {
		return ""
	}
	return m.Type
}

// kernels lists the places at, below and around some directories at which the kernel shows itself, or a mount shows a
// place under another name, with their file systems, and the file systems of the directories that do so themselves.
// Where the host does not list its mounts, all of them are such places.
func kernels(roots, base []string) (out []Kernel) {
	all, err := mounts(roots, base)
	if err != nil {
		for _, dir := range slices.Concat(roots, base) {
			out = append(out, Kernel{Path: dir, Type: unlisted})
		}
		return out
	}
	add := func(k Kernel) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	for i := range all {
		m := &all[i]
		for _, dir := range slices.Concat(roots, base) {
			switch {
			case !m.Closed:
			case m.Point != dir && kernelfs.Below(m.Point, dir) && visible(all, m):
				add(Kernel{m.Point, m.Type, m.Again})
			case kernelfs.Below(dir, m.Point):
				if on := mountOf(all, dir); on != nil && on.Closed {
					add(Kernel{dir, on.Type, on.Again})
				}
			}
		}
	}
	for _, m := range kernelfs.Same(all, roots, base, Link) {
		add(Kernel{m.Point, m.Type, m.Again})
	}
	return out
}

// visible reports whether no other mount that holds files hides the mount m.
func visible(all []kernelfs.Mount, m *kernelfs.Mount) bool {
	there := mountOf(all, m.Point)
	return there == nil || there.Closed
}

// unlisted stands for the type of a file system where the host does not list its mounts.
const unlisted = "unknown"

// Listed returns an error where the host does not list its mounts, so that nobody knows where the kernel shows itself.
// See decision D362.
func Listed() error {
	_, err := mounts(nil, nil)
	return err
}

func mounts(roots, base []string) ([]kernelfs.Mount, error) {
	text, err := os.ReadFile("/proc/thread-self/mountinfo")
	var all []kernelfs.Mount
	if err == nil {
		all, err = kernelfs.Parse(text, roots, base, Link)
	}
	if err != nil {
		return nil, fmt.Errorf("the mounts of this host are not known, and the kernel may show itself by any: %w", err)
	}
	return all, nil
}

// Link returns the text of a symbolic link, empty for a file of another kind.
func Link(path string) (string, error) {
	to, err := os.Readlink(path)
	if errors.Is(err, unix.EINVAL) {
		return "", nil
	}
	return to, err
}

// Names are the canonical names that mounts give a place, its own first, and the points of mounts that show a part of
// it.
func Names(path string) []string {
	all, err := mounts(nil, nil)
	if err != nil {
		return []string{path}
	}
	return kernelfs.Names(all, path)
}

// mountOf is the mount that a file is on, by its name where the kernel does not say it. nil is none.
func mountOf(all []kernelfs.Mount, path string) *kernelfs.Mount {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT|unix.AT_STATX_DONT_SYNC,
		unix.STATX_MNT_ID, &st)
	if err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return kernelfs.At(all, strings.TrimSuffix(path, "/"))
	}
	for i := range all {
		if all[i].ID == st.Mnt_id {
			return &all[i]
		}
	}
	return nil
}
