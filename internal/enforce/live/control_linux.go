package live

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Control is the socket of a run.
type Control struct {
	listener *net.UnixListener
	dir      *os.File
	name     string
	session  *Session
	// refuses reports whether a process may not be talked to.
	refuses func(pid int) bool

	mu sync.Mutex
	// answering counts the requests that are carried out or answered; over is closed when there
	// are none after the end of the run.
	answering int
	ended     bool
	over      chan struct{}
}

// Limits of a conversation, so that no client keeps a run.
const (
	maxRequest = 4096
	talkTime   = 10 * time.Second
	// lastTime is how long the end of a run waits for requests under way.
	lastTime = 2 * time.Second
)

// Listen makes the control socket of this run in a directory of the user's own. refuses is asked
// about each process that connects.
// See decision D201.
func Listen(dir string, s *Session, refuses func(pid int) bool) (*Control, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
		return nil, errors.New(dir + " is not a directory of this user alone")
	}
	at, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	c := &Control{dir: at, session: s, refuses: refuses, over: make(chan struct{}), name: strconv.Itoa(os.Getpid()) + "-" + rand.Text() + suffix}
	// A path through the descriptor is short enough for a socket's address (unix(7)).
	if c.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: through(at, c.name), Net: "unix"}); err != nil {
		_ = at.Close()
		return nil, err
	}
	c.listener.SetUnlinkOnClose(false)
	go c.serve()
	return c, nil
}

const suffix = ".sock"

func through(dir *os.File, name string) string {
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + name
}

// Close removes the socket. An answer may have ended the run: a request that is under way is answered first, and
// one that comes later is not carried out.
func (c *Control) Close() {
	_ = c.listener.Close()
	c.mu.Lock()
	c.ended = true
	if c.answering == 0 {
		close(c.over)
	}
	c.mu.Unlock()
	select {
	case <-c.over:
	case <-time.After(lastTime):
	}
	_ = unix.Unlinkat(int(c.dir.Fd()), c.name, 0)
	_ = c.dir.Close()
}

// begin reports whether a request is carried out, and counts it until done is called.
func (c *Control) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.answering++
	return true
}

func (c *Control) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answering--; c.ended && c.answering == 0 {
		close(c.over)
	}
}

func (c *Control) serve() {
	for {
		conn, err := c.listener.AcceptUnix()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if c.trusts(conn) {
				c.talk(conn)
			}
		}()
	}
}

// trusts reports whether the process at the other end is this user's or root's, and no tool nor
// this process in the place of one.
func (c *Control) trusts(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	if raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }) != nil || err != nil {
		return false
	}
	return (int(peer.Uid) == os.Geteuid() || peer.Uid == 0) && peer.Pid > 0 && int(peer.Pid) != os.Getpid() && !c.refuses(int(peer.Pid))
}

// talk answers one request.
func (c *Control) talk(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(talkTime))
	line, err := bufio.NewReader(io.LimitReader(conn, maxRequest)).ReadBytes('\n')
	if err != nil || !c.begin() {
		return
	}
	defer c.done()
	var req Request
	reply := Reply{}
	if err = json.Unmarshal(line, &req); err == nil {
		err = c.act(req)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	reply.Status = c.session.status()
	data, err := json.Marshal(reply)
	if err != nil {
		return
	}
	// A write to the layer may have taken long.
	_ = conn.SetDeadline(time.Now().Add(talkTime))
	_, _ = conn.Write(append(data, '\n'))
}

func (c *Control) act(req Request) error {
	switch req.Command {
	case "list":
		return nil
	case "revoke":
		return c.session.Revoke(req.ID)
	case "answer":
		return c.session.AnswerUntil(req.ID, req.Answer, req.End)
	default:
		return errors.New("there is no command " + strconv.Quote(req.Command))
	}
}

// status is the state of the session for a client.
func (s *Session) status() Status {
	out := Status{Tool: s.o.Tool, PID: os.Getpid(), Grants: []Granted{}, Pending: []Event{}}
	for _, g := range s.Grants() {
		out.Grants = append(out.Grants, Granted{Grant: g, Rules: GrantTexts(g.Rules), May: ruleText(g.By, plain)})
	}
	s.mu.Lock()
	for _, c := range s.counted {
		out.Grants = append(out.Grants, Granted{c.Grant, GrantTexts(c.Rules), ruleText(c.By, plain), c.left})
	}
	s.mu.Unlock()
	pending, _ := s.Pending()
	for _, q := range pending {
		out.Pending = append(out.Pending, Event{Event: "question"}.of(s, q))
	}
	return out
}

// Runs lists the sockets of the runs that a directory has, and removes those whose run has ended. A process that is not
// there may run in another PID namespace, which shares the directory: its socket is kept while it listens.
func Runs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		pid, _, ok := strings.Cut(e.Name(), "-")
		n, bad := strconv.Atoi(pid)
		if bad != nil || !ok || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		socket := filepath.Join(dir, e.Name())
		if unix.Kill(n, 0) == unix.ESRCH {
			conn, err := dial(socket)
			if errors.Is(err, unix.ECONNREFUSED) { // no process listens (unix(7))
				_ = os.Remove(socket)
				continue
			}
			if err == nil {
				_ = conn.Close()
			}
		}
		out = append(out, socket)
	}
	return out, err
}

// dial connects to a socket by a path that is short enough for its address.
func dial(socket string) (net.Conn, error) {
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return net.Dial("unix", through(dir, filepath.Base(socket)))
}

// Talk sends a request to the run of a socket.
func Talk(socket string, req Request) (*Reply, error) {
	conn, err := dial(socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	data, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(2 * talkTime))
	if _, err := conn.Write(append(data, '\n')); err != nil {
		return nil, err
	}
	reply := &Reply{}
	if err = json.NewDecoder(conn).Decode(reply); errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) {
		err = errors.New("the run ended before it answered")
	}
	return reply, err
}
