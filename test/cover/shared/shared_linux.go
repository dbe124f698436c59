// Package shared keeps the coverage counters of a test binary in a file that all its processes
// map, so that none of them has to write anything when it ends: a loader replaces itself by the
// tool, a supervisor may be killed, a sandbox has no file to write to. The process that runs the
// tests reports the statements that all of them reached.
//
// The command cover links it into the tests, with its counters in mode set: every process then
// stores the same values, in any order.
package shared

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dir is where the files are, set by the linker.
var dir string

// pad is larger than any other variable without pointers. The linker orders those by size and
// puts the counters behind them, so what shares their first page belongs to pad.
var pad [1 << 26]byte

// maxGap is the alignment that the linker may put between pad and the counters.
const maxGap = 32

// blob is a list of counters, as in internal/coverage/rtcov.
type blob struct {
	counters *uint32
	len      uint64
}

//go:linkname blobs internal/coverage/cfile.getCovCounterList
func blobs() []blob

// quiet keeps a process that ends in os.Exit from writing, or from complaining that it cannot.
//
//go:linkname quiet internal/coverage/cfile.MarkProfileEmitted
func quiet(bool)

func init() {
	quiet(true)
	list := blobs()
	// A confined process could not open the file, and its try would be a denial more in what
	// the tests compare.
	if confined, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); len(list) != 1 || err != nil || confined != 0 {
		return
	}
	if err := share(list[0]); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
	}
}

// share replaces the pages of the counters by those of the file, and adds what was counted
// before.
func share(b blob) error {
	page := uintptr(os.Getpagesize())
	first := uintptr(unsafe.Pointer(b.counters))
	start, end := first&^(page-1), (first+4*uintptr(b.len)+page-1)&^(page-1)
	if before := uintptr(unsafe.Pointer(&pad)); start != first && (start < before || first-before > uintptr(len(pad)+maxGap)) {
		return fmt.Errorf("the linker puts something else before the counters")
	}
	file, err := open(int64(end - start))
	if err != nil {
		return err
	}
	defer file.Close()
	whole, err := unix.Mmap(int(file.Fd()), 0, int(end-start), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	shared := unsafe.Slice((*uint32)(unsafe.Pointer(&whole[first-start])), b.len)
	for i, n := range unsafe.Slice(b.counters, b.len) {
		if n != 0 {
			shared[i] = n
		}
	}
	if err := unix.Munmap(whole); err != nil {
		return err
	}
	at := unsafe.Add(unsafe.Pointer(b.counters), -int(first-start))
	_, err = unix.MmapPtr(int(file.Fd()), 0, at, end-start, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

// open opens the file of this binary. Every user may write it: tests start programs as others.
func open(size int64) (*os.File, error) {
	info, _ := debug.ReadBuildInfo()
	if info == nil || dir == "" {
		return nil, fmt.Errorf("the binary does not say what it is, or the linker where files are")
	}
	path := filepath.Join(dir, filepath.Base(filepath.Dir(info.Path))+"-"+filepath.Base(info.Path))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	_ = file.Chmod(0o666) // of another user
	return file, file.Truncate(size)
}
