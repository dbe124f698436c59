//go:build unix

package mount

import "os"

// symlink makes a symlink in a directory; symlinkat(2) never follows or replaces an existing
// file.
func symlink(dir *os.Root, target, name string) error { return dir.Symlink(target, name) }
