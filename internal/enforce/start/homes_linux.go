package start

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/host/userdir"
)

// releaser gives a private home free.
type releaser interface{ Release() }

// home makes the private home of a tool, where it has one, and holds it.
func (s *Site) home(l *backends.Launch) (releaser, error) {
	if s.Lasts {
		return s.homes.hold(l)
	}
	hold, err := makeHome(l)
	return hold, err
}

// homes are the private homes that runs of this process hold, or have held a moment ago.
type homes struct {
	mu sync.Mutex
	by map[string]*heldHome
}

type heldHome struct {
	homes *homes
	path  string
	hold  *userdir.Hold
	runs  int
	idle  *time.Timer
}

// lingers is how long a home is held after its last run. A removal waits longer (userdir).
const lingers = time.Second

func (h *homes) hold(l *backends.Launch) (releaser, error) {
	if l.Home == "" {
		return nil, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if held := h.by[l.Home]; held != nil {
		err := private(l.Home)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Mkdir(l.Home, 0o700)
		}
		if err != nil {
			return nil, failed("the private home %s: %w", l.Home, err)
		}
		held.idle.Stop()
		held.runs++
		return held, nil
	}
	hold, err := makeHome(l)
	if err != nil {
		hold.Release()
		return nil, err
	}
	held := &heldHome{homes: h, path: l.Home, hold: hold, runs: 1}
	held.idle = time.AfterFunc(time.Hour, held.end)
	held.idle.Stop()
	if h.by == nil {
		h.by = map[string]*heldHome{}
	}
	h.by[l.Home] = held
	return held, nil
}

// Release implements releaser.
func (h *heldHome) Release() {
	h.homes.mu.Lock()
	defer h.homes.mu.Unlock()
	if h.runs--; h.runs == 0 {
		h.idle.Reset(lingers)
	}
}

// end gives the home free if no run holds it.
func (h *heldHome) end() {
	h.homes.mu.Lock()
	defer h.homes.mu.Unlock()
	if h.runs == 0 && h.homes.by[h.path] == h {
		delete(h.homes.by, h.path)
		h.hold.Release()
	}
}
