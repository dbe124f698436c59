package serve

import (
	"io"
	"os"
	"sync"
)

// Server serves clients.
type Server struct {
	Host Host

	mu    sync.Mutex
	runs  int
	conns map[*conn]bool
	over  bool
}

// ServePipe serves the one client at the other end of a pipe, and returns when it is gone and its tools have
// ended. Only the program that made the pipe has it, so the client is trusted.
func (s *Server) ServePipe(in io.Reader, out io.Writer) {
	s.serve(plain(in), out, "", func() {})
}

// plain is a source without descriptors.
func plain(in io.Reader) source {
	return func(b []byte) (int, []*os.File, error) {
		n, err := in.Read(b)
		return n, nil, err
	}
}

func (s *Server) serve(read source, out io.Writer, token string, welcome func()) {
	c := &conn{
		server: s, lines: lines{read: read}, out: out, token: token, welcome: welcome,
		queue: newQueue(), gone: make(chan struct{}), runs: map[int]*run{}, waiting: map[string]idOf{},
	}
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return
	}
	if s.conns == nil {
		s.conns = map[*conn]bool{}
	}
	s.conns[c] = true
	s.mu.Unlock()
	c.serve()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// Shutdown ends the tools of all clients.
func (s *Server) Shutdown() {
	s.mu.Lock()
	s.over = true
	var all []*conn
	for c := range s.conns {
		all = append(all, c)
	}
	s.mu.Unlock()
	var ends sync.WaitGroup
	for _, c := range all {
		ends.Go(c.stop)
	}
	ends.Wait()
}

// reserve counts a run, of which a server has so many at once.
func (s *Server) reserve(c *conn) *Error {
	c.mu.Lock()
	own := len(c.runs)
	c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return errorf(Internal, "the server ends")
	case own >= maxRuns:
		return errorf(Limit, "%d runs of this connection have not ended, were not waited for, or their events not taken", maxRuns)
	case s.runs >= maxAllRuns:
		return errorf(Limit, "%d runs of this server have not ended, were not waited for, or their events not taken", maxAllRuns)
	}
	s.runs++
	return nil
}

func (s *Server) release(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs -= n
}
