//go:build linux || darwin

package serve

import (
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ServeSocket is ServePipe for input from one of a pair of sockets, from which it takes descriptors as well. It
// returns false where the input is no such socket.
func (s *Server) ServeSocket(in, out *os.File) bool {
	// Package net has any file not wait any more before it looks at its kind.
	info, err := in.Stat()
	if err != nil || info.Mode()&fs.ModeSocket == 0 {
		return false
	}
	c, err := net.FileConn(in)
	if err != nil {
		return false
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close()
		return false
	}
	defer conn.Close()
	var answers io.Writer = out
	if other, err := out.Stat(); err == nil && os.SameFile(info, other) {
		answers = conn // writes to the file itself would not wait
	}
	s.serve(withFiles(conn), answers, "", func() {})
	return true
}

// withFiles reads a stream socket with descriptors. The kernel ends a read behind the bytes that some came
// with (unix_stream_read_generic of net/unix/af_unix.c), so they belong to the last of those that were read.
func withFiles(conn *net.UnixConn) source {
	oob := make([]byte, unix.CmsgSpace(4*(maxFiles+1)))
	return func(b []byte) (int, []*os.File, error) {
		n, oobn, flags, _, err := conn.ReadMsgUnix(b, oob)
		files := received(oob[:oobn])
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
