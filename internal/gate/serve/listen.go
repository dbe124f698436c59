//go:build linux || darwin

package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/lock"
)

const (
	// maxStrangers are the clients that have not said hello yet; patience is how long they may take.
	maxStrangers = 16
	maxClients   = 64
	patience     = 10 * time.Second
	// maxPath is the longest path of a socket, in bytes: sun_path of macOS has four less than that of Linux.
	maxPath = 103
)

// Listener is a socket for clients.
type Listener struct {
	// Path is the canonical one of the socket.
	Path  string
	token string

	socket *net.UnixListener
	lock   *os.File
	made   os.FileInfo
	uid    int
	// patience is how long a client may take to say hello.
	patience time.Duration

	mu        sync.Mutex
	strangers int
	clients   map[*net.UnixConn]bool
}

// Listen makes a socket that only this user can connect to, in a directory that no other can change. A client has
// to know the token. A socket that a server has left behind is replaced.
func Listen(path, token string) (*Listener, error) {
	dir, err := canonicalDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l := &Listener{Path: filepath.Join(dir, filepath.Base(path)), token: token, uid: os.Geteuid(), patience: patience, clients: map[*net.UnixConn]bool{}}
	if len(l.Path) > maxPath {
		return nil, fmt.Errorf("%s: the path of a socket has at most %d bytes", l.Path, maxPath)
	}
	if l.lock, err = lockBeside(l.Path); err != nil {
		return nil, err
	}
	if err := removeStale(l.Path); err != nil {
		l.unlock()
		return nil, err
	}
	// No other mode, not even for a moment; nothing else of this process makes files yet.
	mask := unix.Umask(0o177)
	l.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: l.Path, Net: "unix"})
	unix.Umask(mask)
	if err != nil {
		l.unlock()
		return nil, err
	}
	l.socket.SetUnlinkOnClose(false)
	if l.made, err = os.Lstat(l.Path); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// canonicalDir is a directory of this user's in which no other can make or replace names, nor in one around it.
func canonicalDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		var st unix.Stat_t
		if err := unix.Lstat(at, &st); err != nil {
			return "", &fs.PathError{Op: "lstat", Path: at, Err: err}
		}
		own := int(st.Uid) == os.Geteuid()
		open := st.Mode&0o022 != 0 && (at == dir || st.Mode&unix.S_ISVTX == 0)
		switch {
		case at == dir && !own:
			return "", fmt.Errorf("%s: the directory of the socket belongs to another user", at)
		case !own && st.Uid != 0:
			return "", fmt.Errorf("%s: belongs to another user, who could replace the socket", at)
		case open:
			return "", fmt.Errorf("%s: others can write there, and replace the socket", at)
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
	}
}

// lockBeside locks the name of a socket for as long as this process lives.
func lockBeside(path string) (*os.File, error) {
	name := path + ".lock"
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lock.Try(f); err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("another accessc serve has %s", path)
		}
		// A server that ends removes the name before it gives the lock free.
		mine, err1 := f.Stat()
		there, err2 := os.Lstat(name)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return f, nil
		}
		_ = f.Close()
	}
}

// removeStale removes the socket of a server that is gone. Anything else stays.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is there already, and no socket", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
		return fmt.Errorf("a program listens at %s", path)
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		return fmt.Errorf("%s is there already: %w", path, err)
	}
	return os.Remove(path)
}

func (l *Listener) unlock() {
	_ = os.Remove(l.lock.Name())
	_ = l.lock.Close()
}

// Close removes the socket, and ends the connections.
func (l *Listener) Close() {
	if there, err := os.Lstat(l.Path); err == nil && l.made != nil && os.SameFile(l.made, there) {
		_ = os.Remove(l.Path)
	}
	_ = l.socket.Close()
	l.mu.Lock()
	for c := range l.clients {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.unlock()
}

// Serve serves clients until the listener is closed.
func (l *Listener) Serve(s *Server) error {
	for {
		conn, err := l.socket.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			// Such as too many descriptors; a client that goes gives one back.
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if l.admit(conn) {
			go l.attend(s, conn)
		} else {
			_ = conn.Close()
		}
	}
}

// admit reports whether a client may say hello: a process of this user or of root, while there is room.
func (l *Listener) admit(conn *net.UnixConn) bool {
	uid, err := peer(conn)
	if err != nil || uid != l.uid && uid != 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.strangers >= maxStrangers || len(l.clients) >= maxClients+maxStrangers {
		return false
	}
	l.strangers++
	l.clients[conn] = true
	return true
}

func (l *Listener) attend(s *Server, conn *net.UnixConn) {
	known := false
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !known {
			known = true
			l.strangers--
		}
	}
	defer func() {
		leave()
		l.mu.Lock()
		delete(l.clients, conn)
		l.mu.Unlock()
		_ = conn.Close()
	}()
	_ = conn.SetReadDeadline(time.Now().Add(l.patience))
	s.serve(withFiles(func(b, oob []byte) (n, oobn, flags int, err error) {
		n, oobn, flags, _, err = conn.ReadMsgUnix(b, oob)
		return n, oobn, flags, err
	}), conn, l.token, func() {
		_ = conn.SetReadDeadline(time.Time{})
		leave()
	})
}
