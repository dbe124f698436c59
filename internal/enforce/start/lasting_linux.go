package start

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/host/userdir"
)

// A process that starts many tools keeps the things between two starts that cost more to make than to check.

// releaser gives a private home free.
type releaser interface{ Release() }

// release gives the home of the run free.
func (r *run) release() {
	if r.home != nil {
		r.home.Release()
	}
}

// homeFile is the lock of the home, nil for none.
func (r *run) homeFile() *os.File {
	if hold, ok := r.home.(*userdir.Hold); ok {
		return hold.File()
	}
	return nil
}

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

// Identity tells a run from the others of a process that starts many. The process that has the run started finds the remains of the run
// by it, should the supervisor die.
type Identity struct {
	// Name is that of the directories of the run and of its cgroup.
	Name string
	// Mark is that of its processes, nil where nothing marks them.
	Mark *supervisor.Mark
}

// NewIdentity draws the name of a run that is not marked.
func NewIdentity() Identity { return Identity{Name: runPrefix + rand.Text()} }

// Remains are the words by which Sweep removes all remains of a supervised run with its directories in base.
func (p *Plan) Remains(base string, id Identity) (dir string, further []string) {
	group := ""
	if p.place.dir != "" {
		group = filepath.Join(p.place.dir, id.Name)
	}
	return filepath.Join(base, id.Name), append([]string{survivors}, beside(group, filepath.Join(sharedMemory, id.Name), id.Mark)...)
}

// directories makes the directories of a run. It returns them also when it fails. name is that of the run where this process starts
// many; apart leaves the Context out.
func (s *Site) directories(l *backends.Launch, name string, apart bool) (directories, error) {
	if !s.Lasts {
		return makeDirectories(l)
	}
	dir := s.Base + "/" + name
	if err := unix.Mkdir(dir, 0o700); err != nil {
		return directories{}, failed("the temporary directory: %w", err)
	}
	d := directories{dir: dir, tmp: dir}
	if apart {
		return d, nil
	}
	return d, writeContext(dir+contextFile, l)
}

// writeContext makes the file of the Context.
func writeContext(file string, l *backends.Launch) error {
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return failed("the Context: %w", err)
	}
	for text := []byte(l.Context); len(text) > 0 && err == nil; {
		var n int
		n, err = unix.Write(fd, text)
		text = text[max(n, 0):]
	}
	if closed := unix.Close(fd); err == nil {
		err = closed
	}
	if err != nil {
		return failed("the Context: %w", err)
	}
	return nil
}

// RemoveRuns removes a base of runs with everything in it, and the cgroups of those runs, once no
// process that starts tools there is left.
func RemoveRuns(base string) {
	if !isRun(base) {
		return
	}
	entries, _ := os.ReadDir(base)
	if place := delegated(); place.dir != "" {
		for _, e := range entries {
			if group := filepath.Join(place.dir, e.Name()); isRun(group) && isGroup(group) {
				endGroup(group, true)
			}
		}
	}
	for _, e := range entries {
		if dir, ok := strings.CutSuffix(filepath.Join(base, e.Name()), supervisor.ListOfObjects("")); ok {
			supervisor.RemoveObjects(dir)
		}
	}
	_ = rmtree.Remove(base)
}

// MakeBase makes a directory for the directories of runs. It refuses a place in the workspace root, or
// another one where tools may write.
func MakeBase(root string) (string, error) {
	dir, err := os.MkdirTemp("", runPrefix+"*")
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		if why := Exposed(real, root); why != "" {
			err = failed("the directories of runs: %s %s, where tools may write; let TMPDIR be elsewhere", filepath.Dir(real), why)
		}
	}
	if err != nil {
		_ = os.Remove(dir)
		return "", err
	}
	return real, nil
}
