package main

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// setIDByList sets a file's set-user-ID bit, by the call that asks for no leaf of file-write*.
func setIDByList(path string) error {
	mode := binary.NativeEndian.AppendUint32(nil, 0o4755)
	return unix.Setattrlist(path, &unix.Attrlist{Bitmapcount: unix.ATTR_BIT_MAP_COUNT, Commonattr: unix.ATTR_CMN_ACCESSMASK}, mode, 0)
}

// argumentsOf reads the arguments of a process, behind which its environment stands.
func argumentsOf(pid int) error {
	_, err := unix.SysctlRaw("kern.procargs2", pid)
	return err
}

// cloned copies a file or a directory as a whole, by one call.
func cloned(from, to string) error { return unix.Clonefile(from, to, 0) }

// exchanged has two names change places.
func exchanged(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
