package mount

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// swap keeps exchanging a file or directory with a symlink, at once (renameat2(2)), until
// it is stopped; then the thing itself is in its place. It returns how often it did.
func swap(t *testing.T, path, target string) (stop func() int) {
	t.Helper()
	pauses := epoch.Source(epoch.Seed(t), 1)
	link := path + ".link"
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	exchange := func() error { return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE) }
	var done atomic.Bool
	count := make(chan int)
	go func() {
		n := 0
		for !done.Load() {
			if exchange() == nil {
				n++
			}
			// Both stay for a while, of any length, so that every step of the other side
			// is hit and some rounds pass.
			for range pauses.IntN(200) {
				runtime.Gosched()
			}
		}
		if info, err := os.Lstat(path); err == nil && isLink(info) {
			_ = exchange()
		}
		count <- n
	}()
	return func() int { done.Store(true); return <-count }
}

// untouched fails when something was made or changed in directories that nothing may
// be made in.
func untouched(t *testing.T, want string, dirs ...string) {
	t.Helper()
	var got strings.Builder
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, _ := os.ReadFile(filepath.Join(dir, e.Name()))
			got.WriteString(e.Name() + "=" + string(text) + " ")
		}
	}
	if got.String() != want {
		t.Fatalf("outside there is now %q, expected %q", got.String(), want)
	}
}

// TestSwappedDirectories: while a directory on the way is swapped for a symlink that leads out
// of the workspace, or to a place where nothing is mounted, links are made in the workspace or
// nowhere, and undone in the same place.
func TestSwappedDirectories(t *testing.T) {
	for _, target := range []string{"out/evil", "ws/.git"} {
		t.Run(target, func(t *testing.T) {
			w := newWorld(t, nil)
			evil := filepath.Join(w.dir, target)
			for _, d := range []string{filepath.Join(w.ws, "sub"), filepath.Join(evil, "deep")} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			// A relative symlink: os.Root follows none that is absolute.
			link, err := filepath.Rel(w.ws, evil)
			if err != nil {
				t.Fatal(err)
			}
			stop := swap(t, filepath.Join(w.ws, "sub"), link)
			names := epoch.Rand(t)
			irtest.Race(t, irtest.Times(100_000)/200, irtest.Times(100_000), turns(func() bool {
				deep := []string{"sub/x", "sub/deep/x", "sub/new/x"}[names.IntN(3)]
				err := w.makeAndUnmake(deep, evil)
				if errors.Is(err, errLanded) {
					t.Fatal(err)
				}
				return err == nil
			}))
			t.Logf("%d swaps", stop())
			untouched(t, "deep= ", evil)
			untouched(t, "", filepath.Join(evil, "deep"))
		})
	}
}

var errLanded = errors.New("a link was made where none may be")

// makeAndUnmake does a plan's steps with a link, and undoes them. A link that was in a
// directory that nothing may be made in is an error even if it is gone again.
func (w *world) makeAndUnmake(name, evil string) error {
	tree, err := openTree(w.ws)
	if err != nil {
		return err
	}
	defer tree.root.Close()
	at, err := tree.locate(name)
	if err != nil {
		return err
	}
	defer func() { at.close() }()
	j := &journal{ctx: context.Background()}
	if at.info != nil {
		return errors.New("is there") // an earlier round could not take it back
	}
	err = tree.makeDirs(j, at)
	if err == nil {
		err = makeLink(j, at, w.dir)
		for _, dir := range []string{evil, filepath.Join(evil, "deep"), filepath.Join(evil, "new")} {
			there, _ := os.Stat(dir)
			here, _ := at.parent().Stat(".")
			if err == nil && there != nil && os.SameFile(there, here) {
				err = errors.Join(errLanded, j.rollBack(errLanded))
			}
		}
	}
	if err == nil {
		err = tree.verify(at)
	}
	if err != nil {
		return j.rollBack(err)
	}
	_ = j.rollBack(errors.New("done"))
	return nil
}

// TestSwappedLocalLayer: while the local layer, or its directory, is swapped for a symlink, the
// target is not written.
func TestSwappedLocalLayer(t *testing.T) {
	for path, target := range map[string]string{"ws/.accessc": "out/evil", "ws/.accessc/local.toml": "out/evil/local.toml"} {
		t.Run(path, func(t *testing.T) {
			w := newWorld(t, map[string]string{"ws/.accessc/local.toml": "# mine\n", "out/evil/local.toml": "# theirs\n"})
			stop := swap(t, filepath.Join(w.dir, path), filepath.Join(w.dir, target))
			n := 0
			irtest.Race(t, irtest.Times(1000)/5, 20*irtest.Times(1000), turns(func() bool {
				n++
				return w.writeLocal("# mine "+strconv.Itoa(n)+"\n") == nil
			}))
			t.Logf("%d swaps", stop())
			untouched(t, "local.toml=# theirs\n ", filepath.Join(w.dir, "out", "evil"))
		})
	}
}

func (w *world) writeLocal(text string) error {
	tree, err := openTree(w.ws)
	if err != nil {
		return err
	}
	defer tree.root.Close()
	l, err := tree.openLocal()
	if err != nil {
		return err
	}
	defer l.Close()
	return tree.replace(&journal{ctx: context.Background()}, l, []byte(text))
}

// TestSwappedWhileMounting: the whole of mount and unmount while a directory is swapped.
func TestSwappedWhileMounting(t *testing.T) {
	w := newWorld(t, map[string]string{"ws/sub/deep/keep": "", "out/evil/deep/keep": ""})
	stop := swap(t, filepath.Join(w.ws, "sub"), filepath.Join(w.dir, "out", "evil"))
	irtest.Race(t, irtest.Times(2000)/4, 4*irtest.Times(2000), turns(func() bool {
		err := w.mount(context.Background(), "sub/deep/x=../out/fork", "y=../out/other")
		_ = w.unmount(context.Background())
		return err == nil
	}))
	t.Logf("%d swaps", stop())
	untouched(t, "keep= ", filepath.Join(w.dir, "out", "evil", "deep"))
	if err := w.unmount(context.Background()); err != nil {
		t.Error(err)
	}
}
