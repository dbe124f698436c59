package supervisor

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// sockTypes masks the type of a socket in the argument of socket(2), which has flags as well (net.h, SOCK_TYPE_MASK).
const sockTypes = 0xf

// pairs are the supervisor's ends of pairs of sockets, of which the tool has the others in the place of sockets that it
// does not get.
type pairs struct {
	mu   sync.Mutex
	open map[*os.File]struct{}
	over bool
}

// maxPairs bounds the sockets of a tool that are served at a time.
const maxPairs = 256

// serve has an end served until a server returns or the tool ends. It takes the descriptor over. It is false where
// the tool has too many.
func (p *pairs) serve(s *Supervisor, fd int, server func(*os.File)) bool {
	_ = unix.SetNonblock(fd, true)
	f := os.NewFile(uintptr(fd), "pair")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || len(p.open) >= maxPairs {
		_ = f.Close()
		return false
	}
	if p.open == nil {
		p.open = map[*os.File]struct{}{}
	}
	p.open[f] = struct{}{}
	s.busy.Go(func() {
		defer p.drop(f)
		server(f)
	})
	return true
}

func (p *pairs) drop(f *os.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, f)
	_ = f.Close()
}

// end closes all ends of a tool that has ended.
func (p *pairs) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for f := range p.open {
		_ = f.Close()
	}
}
