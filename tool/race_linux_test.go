package tool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/irtest"
)

func init() {
	for name, e := range map[string]error{"no openat2": unix.ENOSYS, "filtered openat2": unix.EPERM} {
		holders[name] = func(_ *testing.T, c *Policy) holder {
			return &linuxHolder{c.bindings, func(int, string, *unix.OpenHow) (int, error) { return -1, e }}
		}
	}
}

// TestPipes: no open waits for the other end of a pipe, and a socket is none either.
func TestPipes(t *testing.T) {
	eachHolder(t, func(t *testing.T, c *Policy, dir string) {
		if err := unix.Mkfifo(filepath.Join(dir, "ws/src/pipe"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			if f, err := c.OpenFile("src/pipe", flag, 0); err == nil {
				t.Errorf("flags %x: opened %s", flag, f.Name())
			}
		}
	})
}

// swaps are pairs of names in a workspace that trade places all the time: a permitted path, and a link to a denied
// path.
var swaps = [][2]string{
	{"src/d", "src/.inside"},     // a directory, and a link to a denied one
	{"src/e", "src/.outside"},    // a directory, and a link out of the workspace
	{"src/f", "src/.file"},       // a file, and a link to a denied one
	{"fork/d", "fork/.away"},     // below an external target, and out of it
	{"src/deep", "src/.through"}, // a directory on the way, and a link to a denied tree of the same shape
	{"src/s", "src/.sibling"},    // a directory, and a link to a denied one beside it, which os.Root follows
	{"src/g", "src/.near"},       // a file, and a link to a denied one below, which os.Root follows
}

// arena is a workspace in which names trade places.
type arena struct {
	*Policy
	dir   string
	swaps atomic.Int64
}

// denied are the files that no rule grants.
var denied = []string{"ws/secret/key", "ws/secret/a/b/key", "outside/key", "ws/src/vault/key"}

const harmless, forbidden = "harmless", "forbidden"

func newArena(t *testing.T, hold func(*testing.T, *Policy) holder) *arena {
	c, dir := newPolicy(t, `"read": true, "update": true}`, `"read": true, "create": true, "update": true, "delete": true}`,
		`{"lexical_path": "secret"}`, `{"lexical_path": "secret"}, {"lexical_path": "src/vault"}`)
	c.holder = hold(t, c)
	a := &arena{Policy: c, dir: dir}
	for _, p := range []string{"ws/src/d/key", "ws/src/e/key", "ws/src/f", "fork/d/key", "ws/src/deep/a/b/key", "ws/src/s/key", "ws/src/g"} {
		a.write(t, p, harmless)
	}
	for _, p := range denied {
		a.write(t, p, forbidden)
	}
	for link, to := range map[string]string{
		"ws/src/.inside": "../secret", "ws/src/.outside": "../../outside", "ws/src/.file": "../secret/key", "fork/.away": "../outside",
		"ws/src/.through": "../secret", "ws/src/.sibling": "vault", "ws/src/.near": "vault/key",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a *arena) write(t *testing.T, name, text string) {
	p := filepath.Join(a.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// trade swaps names until it is told to end.
func (a *arena) trade(stop <-chan struct{}) {
	for {
		for _, s := range swaps {
			select {
			case <-stop:
				return
			default:
			}
			one, two := filepath.Join(a.Root(), s[0]), filepath.Join(a.Root(), s[1])
			if unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, two, unix.RENAME_EXCHANGE) == nil {
				a.swaps.Add(1)
			}
		}
	}
}

// during runs a test while names trade places.
func (a *arena) during(test func()) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { a.trade(stop) })
	defer wg.Wait()
	defer close(stop)
	test()
}

var targets = []string{"src/d/key", "src/e/key", "src/f", "fork/d/key", "src/deep/a/b/key", "src/s/key", "src/g"}

// contents reads a file and closes it.
func contents(t *testing.T, f *os.File) string {
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// round does one thing of each kind to a target, and reports whether it was done and
// refused.
func (a *arena) round(t *testing.T, targets []string, i int) (done, refused int) {
	target := targets[i%len(targets)]
	count := func(err error) {
		switch {
		case err == nil:
			done++
		case errors.Is(err, fs.ErrPermission), errors.Is(err, ErrChanged), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist),
			errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
			refused++
		default:
			t.Errorf("%s: %v", target, err)
		}
	}
	switch i / len(targets) % 4 {
	case 0:
		f, err := a.Open(target)
		count(err)
		if err == nil {
			if got := contents(t, f); got != harmless {
				t.Fatalf("%s: read %q", target, got)
			}
		}
	case 1:
		count(a.WriteFile(target, []byte(harmless), 0o644))
	case 2:
		// In the same directory, and in none that was put in its place.
		made := filepath.Join(filepath.Dir(target), "made")
		f, err := a.OpenFile(made, os.O_WRONLY|os.O_CREATE, 0o644)
		count(err)
		if err == nil {
			_ = f.Close()
		}
		count(a.Remove(made))
	default:
		made := filepath.Join(filepath.Dir(target), "dir")
		count(a.Mkdir(made, 0o755))
		count(a.Remove(made))
	}
	return done, refused
}

// unharmed checks that nothing was made, emptied or removed where nothing may be.
func (a *arena) unharmed(t *testing.T) {
	for dir, want := range map[string]int{"ws/secret": 2, "ws/secret/a/b": 1, "outside": 2, "ws/src/vault": 1} {
		entries, err := os.ReadDir(filepath.Join(a.dir, dir))
		if err != nil || len(entries) != want {
			t.Errorf("%s holds %v, %v", dir, entries, err)
		}
	}
	for _, p := range denied {
		if data, err := os.ReadFile(filepath.Join(a.dir, p)); err != nil || string(data) != forbidden {
			t.Errorf("%s: %q, %v", p, data, err)
		}
	}
}

// TestSwaps: while directories and files trade places with symlinks, nothing is opened,
// made or removed outside of what the rules allow.
func TestSwaps(t *testing.T) {
	for name, hold := range holders {
		t.Run(name, func(t *testing.T) {
			count, targets := 20_000, targets
			switch name {
			case system:
				count = 100_000
			case "os.Root":
				// Refusals by the policy show nothing.
				count, targets = 50_000, targets[len(targets)-2:]
			}
			rounds := irtest.Rounds(t, count)
			a := newArena(t, hold)
			var done, refused int
			a.during(func() {
				contended := func(i int) bool {
					d, r := a.round(t, targets, i)
					done, refused = done+d, refused+r
					return done > 0 && refused > 0 && a.swaps.Load() > 0
				}
				for i := range rounds {
					contended(i)
				}
				irtest.Race(t, 1, count, contended)
			})
			t.Logf("%d swaps; %d done, %d refused", a.swaps.Load(), done, refused)
			a.unharmed(t)
		})
	}
}

// TestSwapsAreSeen: a program that checks and then opens the path is led astray by the same
// swaps; so the test above can fail.
func TestSwapsAreSeen(t *testing.T) {
	a := newArena(t, holders[system])
	a.during(func() {
		irtest.Race(t, 1, 500_000, func(i int) bool {
			path := targets[i%len(targets)]
			if _, err := a.CheckRead(path); err != nil {
				return false
			}
			data, err := os.ReadFile(filepath.Join(a.Root(), path))
			return err == nil && string(data) == forbidden
		})
	})
}
