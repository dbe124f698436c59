//go:build linux

// Package held is a test's side of package points: it holds processes of the tagged build at places, so that
// the test makes its own move between two of theirs.
//
//	h := held.New(t)
//	cmd.Env = append(cmd.Env, h.Env())
//	// ... the process is started, and waits for the tool's next call
//	stop := h.At(points.Acting)
//	// ... the tool makes its call
//	stop.Reached(t)
//	// ... the test makes its move
//	stop.Open()
//
// Tests of a package that is not a program, and tests in the process that is held, are in files with the tag;
// Again runs them from a test without it.
package held

import (
	"encoding/binary"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accessc/accessc/test/testbuild"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/test/await"
)

// Tag is the build tag of programs that can be held.
const Tag = "accessc_points"

// A Holder has the processes that may be held for a test.
type Holder struct {
	socket  int
	address string

	mu    sync.Mutex
	at    map[points.Name]*Stop
	conns []int
	ended bool
}

// A Stop is a place at which processes are held.
type Stop struct {
	name points.Name
	// of is what the held calls are about, empty for anything.
	of string
	h  *Holder
	// come has the held calls, in the order in which they came.
	come chan *One
	// one, if set, has only the first of all held.
	one  bool
	held []*One
}

// A One is a call of Reach that is held.
type One struct {
	conn int
	id   uint64
	once sync.Once
}

// maxHeld bounds the calls that are held at one place at a time, pathMax what they are about.
const (
	maxHeld = 1 << 10
	pathMax = 4096
)

// New begins to hold processes for a test. It lets all of them go when the test ends.
func New(t testing.TB) *Holder {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		// The kernel picks an abstract address (unix(7)), which every user reaches, wherever the test keeps its files.
		err = unix.Bind(fd, &unix.SockaddrUnix{})
	}
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	var own unix.Sockaddr
	if err == nil {
		own, err = unix.Getsockname(fd)
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &Holder{socket: fd, address: own.(*unix.SockaddrUnix).Name, at: map[points.Name]*Stop{}}
	var accepting sync.WaitGroup
	accepting.Go(h.accept)
	t.Cleanup(func() {
		h.end()
		accepting.Wait()
		for _, fd := range append(h.conns, h.socket) {
			_ = unix.Close(fd)
		}
	})
	return h
}

// Address is what a process connects to.
func (h *Holder) Address() string { return h.address }

// Env is the variable by which a process belongs to the test.
func (h *Holder) Env() string { return "ACCESSC_POINTS=" + h.address }

// accept has every process that connects served.
func (h *Holder) accept() {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		conn, _, err := unix.Accept4(h.socket, unix.SOCK_CLOEXEC)
		if err == unix.EINTR || err == unix.ECONNABORTED {
			continue
		}
		if err != nil {
			return
		}
		h.mu.Lock()
		h.conns = append(h.conns, conn)
		if h.ended {
			_ = unix.Shutdown(conn, unix.SHUT_RDWR)
		}
		h.mu.Unlock()
		all.Go(func() { h.serve(conn) })
	}
}

// serve holds the calls of a process that reach a place at which the test holds, and lets others go
// on.
func (h *Holder) serve(conn int) {
	buf := make([]byte, 2*pathMax)
	for {
		n, err := unix.Read(conn, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		words := strings.SplitN(string(buf[:n]), " ", 3)
		if len(words) != 3 {
			return
		}
		id, name, what := words[0], words[1], words[2]
		number, _ := strconv.ParseUint(id, 10, 64)
		one := &One{conn: conn, id: number}
		h.mu.Lock()
		s := h.at[points.Name(name)]
		holds := s != nil && !h.ended && !(s.one && len(s.held) > 0) && (s.of == "" || s.of == what)
		if holds {
			s.held = append(s.held, one)
			s.come <- one
		}
		h.mu.Unlock()
		if !holds {
			one.Release()
		}
	}
}

// end lets everybody go on, and ends the connections.
func (h *Holder) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	_ = unix.Shutdown(h.socket, unix.SHUT_RDWR)
	for _, conn := range h.conns {
		_ = unix.Shutdown(conn, unix.SHUT_RDWR) // which every process takes for the permission to go on
	}
}

// At holds from now on all that reach a place, until the stop is opened.
func (h *Holder) At(name points.Name) *Stop { return h.stop(&Stop{name: name}) }

// Once holds the first that reaches a place from now on, and no other.
func (h *Holder) Once(name points.Name) *Stop { return h.stop(&Stop{name: name, one: true}) }

// Of holds the first that reaches a place about a certain thing.
func (h *Holder) Of(name points.Name, what string) *Stop {
	return h.stop(&Stop{name: name, of: what, one: true})
}

func (h *Holder) stop(s *Stop) *Stop {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.h, s.come = h, make(chan *One, maxHeld)
	name := s.name
	h.at[name] = s
	return s
}

// Reached waits until somebody is held at the place.
func (s *Stop) Reached(t testing.TB) *One {
	t.Helper()
	one, _ := await.Receive(t, "a process at "+string(s.name), s.come)
	return one
}

// Passed reports whether no call is held at the place, beyond the calls that Reached has
// returned.
func (s *Stop) Passed() bool { return len(s.come) == 0 }

// Open lets the held calls go on, and holds no further calls there.
func (s *Stop) Open() {
	s.h.mu.Lock()
	if s.h.at[s.name] == s {
		delete(s.h.at, s.name)
	}
	held := slices.Clone(s.held)
	s.h.mu.Unlock()
	for _, one := range held {
		one.Release()
	}
}

// Release lets a call go on.
func (o *One) Release() {
	o.once.Do(func() {
		_, _ = unix.Write(o.conn, binary.LittleEndian.AppendUint64(nil, o.id))
	})
}

// Build makes a program of this module that can be held.
func Build(t testing.TB, out, pkg string) {
	t.Helper()
	if err := testbuild.Program(out, pkg, "-tags", Tag); err != nil {
		t.Fatal(err)
	}
}

// margin is the time that this run has left when the run of Again is out of time.
const margin = 5 * time.Second

// Again runs the tests of this package whose names match a pattern in a build with the tag.
func Again(t *testing.T, pattern string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the tests at places are built with the tag, and there is no go command")
	}
	args := []string{"test", "-tags", Tag, "-ldflags=-s -w", "-count=1", "-v", "-run", pattern}
	if at, ok := t.Deadline(); ok {
		args = append(args, "-timeout", (time.Until(at) - margin).String())
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, ".")...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "\n--- PASS: ") && !strings.Contains(string(out), "\n--- SKIP: ") {
		t.Errorf("%v: %v", cmd.Args, err)
	}
}
