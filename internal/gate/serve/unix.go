//go:build linux || darwin

package serve

import (
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ServeSocket is ServePipe for input from one of a pair of sockets, from which it takes descriptors as well. It
// returns false where the input is no such socket.
func (s *Server) ServeSocket(in, out *os.File) bool {
	info, err := in.Stat()
	if err != nil || info.Mode()&fs.ModeSocket == 0 {
		return false
	}
	fd := int(in.Fd())
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if at, err2 := unix.Getsockname(fd); err != nil || err2 != nil || kind != unix.SOCK_STREAM || !isUnix(at) {
		return false
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		return false
	}
	var answers io.Writer = out
	if other, err := out.Stat(); err == nil && os.SameFile(info, other) {
		answers = waiting(fd) // package os takes the file for one that does not wait if it was
	}
	s.serve(waiting(fd).read(), answers, "", func() {})
	return true
}

func isUnix(at unix.Sockaddr) bool {
	_, ok := at.(*unix.SockaddrUnix)
	return ok
}

// waiting is a socket whose calls wait in the kernel. The server has one client then, and a thread that waits for it wakes
// sooner than one that waits for all descriptors and then looks for a goroutine.
// See decision D238.
type waiting int

func (w waiting) read() source {
	return withFiles(func(b, oob []byte) (n, oobn, flags int, err error) {
		for {
			n, oobn, flags, _, err = unix.Recvmsg(int(w), b, oob, cloexec)
			if err != unix.EINTR {
				return n, oobn, flags, err
			}
		}
	})
}

// Write implements io.Writer.
func (w waiting) Write(b []byte) (n int, err error) {
	for n < len(b) {
		k, err := unix.SendmsgN(int(w), b[n:], nil, nil, unix.MSG_NOSIGNAL)
		if n += max(k, 0); err != nil && err != unix.EINTR {
			return n, err
		}
	}
	return n, nil
}

// withFiles reads a stream socket with descriptors. The kernel ends a read behind the bytes that some came
// with (unix_stream_read_generic of net/unix/af_unix.c), so they belong to the last of those that were read.
func withFiles(read func(b, oob []byte) (n, oobn, flags int, err error)) source {
	oob := make([]byte, unix.CmsgSpace(4*(maxFiles+1)))
	return func(b []byte) (int, []*os.File, error) {
		n, oobn, flags, err := read(b, oob)
		files := received(oob[:max(oobn, 0)])
		if err == nil && flags&unix.MSG_CTRUNC != 0 {
			// The kernel has dropped some. Which line lacks them is not known.
			err, n = errFiles, 0
		}
		if err != nil {
			closeAll(files)
			return max(n, 0), nil, err // package net has -1 of a read that failed
		}
		return n, files, nil
	}
}

// received are the descriptors of control messages. They are closed at the next exec (MSG_CMSG_CLOEXEC, which
// package net sets).
func received(oob []byte) []*os.File {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	var out []*os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue // credentials, for which no one has asked
		}
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			out = append(out, os.NewFile(uintptr(fd), "descriptor"))
		}
	}
	return out
}
