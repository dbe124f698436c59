package main

import (
	"fmt"
	"io"
)

// The kernel reads an initial file system in the format "newc"
// (Documentation/driver-api/early-userspace/buffer-format.rst): a header of thirteen
// hexadecimal numbers, the name, the content, each padded to four bytes. Writing it
// takes less than a dependency would.

// cpio writes an initial file system.
type cpio struct {
	out io.Writer
	ino int

	err error
}

const (
	modeType    = 0o170000
	modeDir     = 0o040000
	modeFile    = 0o100000
	modeSymlink = 0o120000
	modeChar    = 0o020000
)

// dir adds a directory. Directories come before their contents.
func (a *cpio) dir(name string, perm int) { a.entry(name, modeDir|perm, nil, 0, 0) }

// file adds a file.
func (a *cpio) file(name string, perm int, data []byte) { a.entry(name, modeFile|perm, data, 0, 0) }

// symlink adds a symlink.
func (a *cpio) symlink(name, target string) {
	a.entry(name, modeSymlink|0o777, []byte(target), 0, 0)
}

// device adds a character device.
func (a *cpio) device(name string, perm, major, minor int) {
	a.entry(name, modeChar|perm, nil, major, minor)
}

// close ends the archive.
func (a *cpio) close() error {
	a.entry("TRAILER!!!", 0, nil, 0, 0)
	return a.err
}

func (a *cpio) entry(name string, mode int, data []byte, major, minor int) {
	a.ino++
	links := 1
	if mode&modeType == modeDir {
		links = 2
	}
	const owner, group, modified, checksum = 0, 0, 0, 0
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.ino, mode, owner, group, links, modified, len(data), 0, 0, major, minor, len(name)+1, checksum, name))
	a.write(data)
}

// write writes and pads.
func (a *cpio) write(p []byte) {
	if a.err == nil {
		_, a.err = a.out.Write(append(p[:len(p):len(p)], make([]byte, -len(p)&3)...))
	}
}
