package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxHops is the number of symlinks that Linux follows on one path (path_resolution(7)).
const maxHops = 40

// Direct follows the symlinks of a path whose last parts need not exist, but none in the workspace: a commit may have
// put a symlink there, and then accessc would read or write a file of the commit's choice.
// See decision D454.
func Direct(root, file string) (string, error) {
	return follow(file, func(at, link string) error {
		if Lies(at, root) {
			return fmt.Errorf("%s is a symlink in the workspace, which is not followed", link)
		}
		return nil
	})
}

// Way returns the places by which a path leads to its file: the directory of each symlink on it, and the file itself.
func Way(file string) ([]string, error) {
	var out []string
	end, err := follow(file, func(at, _ string) error {
		out = append(out, at)
		return nil
	})
	return append(out, end), err
}

// follow follows the symlinks of a path, of which each is passed to a function with the directory that it is in.
func follow(file string, passes func(at, link string) error) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	separator := string(filepath.Separator)
	at, rest := split(abs)
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		case err != nil || info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0:
			at = next
			continue
		}
		if err := passes(at, next); err != nil {
			return "", err
		}
		if hops++; hops > maxHops {
			return "", fmt.Errorf("%s leads in a circle", next)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		parts := strings.Split(filepath.FromSlash(target), separator)
		if filepath.IsAbs(target) {
			at, parts = split(target)
		}
		rest = slices.Concat(parts, rest)
	}
	return at, nil
}

func split(abs string) (top string, parts []string) {
	abs = filepath.FromSlash(abs)
	volume := filepath.VolumeName(abs)
	separator := string(filepath.Separator)
	return volume + separator, strings.Split(abs[len(volume):], separator)
}

// Lies reports whether a path is the workspace or lies in it, by whatever name.
func Lies(dir, root string) bool {
	is, err := os.Stat(root)
	for at := dir; err == nil; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, is) {
			return true
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	return Within(dir, root)
}
