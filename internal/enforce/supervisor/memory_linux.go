package supervisor

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

const pathMax = 4096 // PATH_MAX, limits.h

// text reads a string from the caller's memory, of at most limit bytes with its final zero
// byte: first the usual length of a path, then page by page, since the next page may not be
// mapped.
func (c *caller) text(addr uint64, limit int, tooLong unix.Errno) (string, unix.Errno) {
	var out []byte
	for len(out) < limit {
		at := addr + uint64(len(out))
		n := min(pathMax-int(at%pathMax), limit-len(out))
		if len(out) == 0 {
			n = min(n, 256)
		}
		part, e := c.bytes(at, n)
		if e != 0 {
			return "", e
		}
		if i := bytes.IndexByte(part, 0); i >= 0 {
			return string(append(out, part[:i]...)), 0
		}
		out = append(out, part...)
	}
	return "", tooLong
}

// path reads a path, unless the worker has read it already.
func (c *call) path(addr uint64) (string, unix.Errno) {
	path, e := c.known, unix.Errno(0)
	if c.known = ""; path == "" || addr != c.args[1] {
		path, e = c.text(addr, pathMax, unix.ENAMETOOLONG)
	}
	if e == 0 {
		c.asked = append(c.asked, path)
	}
	return path, e
}

// Bounds on arguments (execve(2)): on each (MAX_ARG_STRLEN) and on all together, which the
// kernel bounds by three quarters of _STK_LIM, 8 MiB.
const (
	maxArgument  = 32 * pathMax
	maxArguments = 6 << 20
)

// strings reads the strings of a zero-terminated list of addresses.
func (c *caller) strings(list uint64) ([]string, unix.Errno) {
	if list == 0 {
		return nil, 0
	}
	var out []string
	for total := 0; ; list += 8 {
		at, e := c.words(list, 1)
		if e != 0 || at[0] == 0 {
			return out, e
		}
		s, e := c.text(at[0], maxArgument, unix.E2BIG)
		if e != 0 {
			return nil, e
		}
		out = append(out, s)
		const pointer = 8
		if total += len(s) + 1 + pointer; total > maxArguments {
			return nil, unix.E2BIG
		}
	}
}

// bytes reads exactly n bytes.
func (c *caller) bytes(addr uint64, n int) ([]byte, unix.Errno) {
	if n == 0 {
		return nil, 0
	}
	buf := make([]byte, n)
	got, err := memory(c.tid, addr, buf)
	switch {
	case err == unix.EFAULT || err == nil && got != n:
		return nil, unix.EFAULT
	case err != nil:
		// Arguments that cannot be read cannot be judged.
		return nil, unix.EACCES
	}
	return buf, 0
}

// memory reads as much of the memory of a thread as fits into buf, and returns the number of bytes.
func memory(tid int, addr uint64, buf []byte) (int, error) {
	return unix.ProcessVMReadv(tid, []unix.Iovec{iovec(buf)},
		[]unix.RemoteIovec{{Base: uintptr(addr), Len: len(buf)}}, 0)
}

func iovec(b []byte) unix.Iovec {
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	return v
}

// words reads n integers of 64 bits.
func (c *caller) words(addr uint64, n int) ([]uint64, unix.Errno) {
	buf, e := c.bytes(addr, 8*n)
	if e != 0 {
		return nil, e
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(buf[8*i:])
	}
	return out, 0
}

// put writes to the caller's memory.
func (c *caller) put(addr uint64, b []byte) unix.Errno {
	if len(b) == 0 {
		return 0
	}
	n, err := unix.ProcessVMWritev(c.tid, []unix.Iovec{iovec(b)}, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0)
	if err != nil || n != len(b) {
		return unix.EFAULT
	}
	return 0
}

// putCounted writes what there is room for by a number at another place, and then there how much it would be, as
// getpeername(2) and getsockname(2) do with addresses.
func (c *caller) putCounted(addr, count uint64, b []byte) unix.Errno {
	size, e := c.bytes(count, 4)
	if e != 0 {
		return e
	}
	room := int(int32(binary.NativeEndian.Uint32(size)))
	if room < 0 {
		return unix.EINVAL
	}
	if e := c.put(addr, b[:min(room, len(b))]); e != 0 {
		return e
	}
	return c.put(count, binary.NativeEndian.AppendUint32(nil, uint32(len(b))))
}
