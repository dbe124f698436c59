package prompt

import (
	"errors"
	"io"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/text/visible"
)

// ErrGone: the question was withdrawn before it was answered.
var ErrGone = errors.New("the question was withdrawn")

// tick is how often a waiting question looks whether it was withdrawn, in milliseconds.
const tick = 100

// Ask writes a text and reads a line, until done is closed. It is for a terminal that a running
// program uses as well: the terminal edits lines and echoes them for that time, signals do not
// disturb the reading, and the input that the program reads first is not seen. The end of the
// input is io.EOF, and a terminal whose foreground this process has left ErrNone.
func (t *Terminal) Ask(text string, done <-chan struct{}) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// A process in the background that reads with SIGTTIN blocked gets EIO, and is not stopped
	// (termios(3)).
	var every, before unix.Sigset_t
	for i := range every.Val {
		every.Val[i] = ^every.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &every, &before); err != nil {
		return "", err
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }()
	fd := int(t.in.Fd())
	defer lineMode(fd)()
	discard(t.in)
	if _, err := io.WriteString(t.out, visible.Question(text, columns)); err != nil {
		return "", err
	}
	// The file description is this terminal's own.
	if err := unix.SetNonblock(fd, true); err != nil {
		return "", err
	}
	defer func() { _ = unix.SetNonblock(fd, false) }()
	return read(fd, done)
}

// Tell writes a text.
func (t *Terminal) Tell(text string) { _, _ = io.WriteString(t.out, visible.Question(text, columns)) }

// read reads one line.
func read(fd int, done <-chan struct{}) (string, error) {
	var buf [maxAnswer]byte
	for {
		select {
		case <-done:
			return "", ErrGone
		default:
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, tick); err != nil && err != unix.EINTR || n == 0 {
			continue
		}
		switch n, err := unix.Read(fd, buf[:]); {
		case err == unix.EAGAIN || err == unix.EINTR:
		case err != nil:
			return "", ErrNone
		case n == 0:
			return "", io.EOF
		default:
			line, _, _ := strings.Cut(string(buf[:n]), "\n")
			return line, nil
		}
	}
}

// lineMode has a terminal edit and echo lines, and returns a function that restores its mode.
func lineMode(fd int) (restore func()) {
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}
	}
	now := *before
	now.Lflag |= unix.ICANON | unix.ECHO | unix.ISIG
	now.Iflag |= unix.ICRNL
	now.Oflag |= unix.OPOST | unix.ONLCR
	if now == *before || unix.IoctlSetTermios(fd, unix.TCSETS, &now) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }
}
