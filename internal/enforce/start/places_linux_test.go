package start

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// PlacesMode has this program try kept places in a directory: alone in its mount namespace, or without privileges.
const PlacesMode = "places-worker"

// placesWorld is a tree whose places are granted, and changed meanwhile.
type placesWorld struct {
	dir   string
	paths []landlock.Path
	// mounting is set where this process may mount.
	mounting bool
	kept     places
	// ahead has a ruleset from before the latest changes; taken counts those that were still good.
	ahead ahead
	taken int
}

// empty is a ruleset without rules.
func (w *placesWorld) empty() (*building, error) {
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: landlock.FSMask([]landlock.Right{landlock.ReadFile, landlock.ReadDir})}, 0)
	return &building{ruleset: ruleset{fd: fd, handled: ^uint64(0), grants: &grants{by: supervisor.Grants{}}}, paths: w.paths}, err
}

// laid makes a ruleset as it was before the latest changes, if that is still good, and one for after the next.
func (w *placesWorld) laid() (out supervisor.Grants, err error) {
	turn := w.kept.watch.turn()
	b := w.ahead.take(turn)
	if b == nil {
		if b, err = w.empty(); err != nil {
			return nil, err
		}
	} else if w.taken++; turn == 0 {
		return nil, errors.New("a ruleset was taken that nothing watches")
	}
	defer unix.Close(b.fd)
	if b.paths, err = w.kept.fill(b, b.paths, turn, false); err == nil {
		err = b.fill()
	}
	next, err2 := w.empty()
	if err2 == nil {
		next.turn = w.kept.watch.turn()
		next.paths, err2 = w.kept.fill(next, next.paths, next.turn, true)
		w.ahead.put(next)
	}
	return b.grants.by, errors.Join(err, err2)
}

func newPlacesWorld(dir string, mounting bool) (*placesWorld, error) {
	w := &placesWorld{dir: dir, mounting: mounting}
	w.kept.mounts = []string{dir}
	for _, name := range []string{"a", "a/b", "a/b/file", "a/b/dir", "a/file", "c", "c/file", "d", "e", "none", "a/none", "c/sub/deep/file"} {
		w.paths = append(w.paths, landlock.Path{
			Path: dir + "/" + name, Access: []landlock.Right{landlock.ReadFile, landlock.ReadDir}, Image: true,
		})
	}
	for _, d := range []string{"a/b/dir", "c/sub/deep", "d", "spare/x"} {
		if err := os.MkdirAll(dir+"/"+d, 0o755); err != nil {
			return nil, err
		}
	}
	for _, f := range []string{"a/b/file", "a/file", "c/file", "c/sub/deep/file", "e", "spare/file"} {
		if err := os.WriteFile(dir+"/"+f, nil, 0o644); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// granted makes a ruleset of the paths, by kept places or without, and returns its rules.
func (w *placesWorld) granted(kept bool) (out supervisor.Grants, left int, err error) {
	b, err := w.empty()
	if err != nil {
		return nil, 0, err
	}
	defer unix.Close(b.fd)
	rest := w.paths
	if kept {
		b.keeps = w.kept.keep
		if rest, err = w.kept.fill(b, w.paths, w.kept.watch.turn(), false); err != nil {
			return nil, 0, err
		}
	}
	for _, p := range rest {
		if err := b.path(p); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return b.grants.by, len(rest), nil
}

// same reports a difference between the rules with kept places and without.
func (w *placesWorld) same(when string) error {
	with, _, err := w.granted(true)
	without, _, err2 := w.granted(false)
	laid, err3 := w.laid()
	if err := errors.Join(err, err2, err3); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	if !maps.Equal(laid, without) {
		return fmt.Errorf("%s: granted %v by a ruleset that was made ahead, expected %v", when, laid, without)
	}
	if !maps.Equal(with, without) {
		return fmt.Errorf("%s: granted %v, expected %v", when, with, without)
	}
	return nil
}

// change makes one change and describes it. Most changes of a random tree fail, which is no change.
func (w *placesWorld) change(r *rand.Rand) string {
	names := []string{"a", "a/b", "a/b/file", "a/b/dir", "a/file", "c", "c/file", "d", "e", "none", "a/none", "c/sub", "c/sub/deep", "spare/file", "spare/x"}
	name := func() string { return w.dir + "/" + names[r.IntN(len(names))] }
	one, other := name(), name()
	switch r.IntN(9) {
	case 0:
		return fmt.Sprint("rename ", one, " ", other, ": ", os.Rename(one, other))
	case 1:
		return fmt.Sprint("exchange ", one, " ", other, ": ", unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE))
	case 2:
		return fmt.Sprint("remove ", one, ": ", unix.Unlink(one), unix.Rmdir(one))
	case 3:
		return fmt.Sprint("replace ", one, ": ", unix.Unlink(one), os.WriteFile(one, nil, 0o644))
	case 4:
		return fmt.Sprint("mkdir ", one, ": ", os.Mkdir(one, 0o755))
	case 5:
		aside := w.dir + "/spare/aside" + fmt.Sprint(r.Int())
		return fmt.Sprint("link ", one, ": ", os.Rename(one, aside), os.Symlink(aside, one))
	case 6:
		return fmt.Sprint("chmod ", one, ": ", os.Chmod(one, os.FileMode([]int{0, 0o755}[r.IntN(2)])))
	case 7:
		return fmt.Sprint("hard link ", one, " ", other, ": ", os.Link(one, other))
	default:
		return w.mount(r, one, other)
	}
}

func (w *placesWorld) mount(r *rand.Rand, one, other string) string {
	if !w.mounting {
		return "nothing"
	}
	if r.IntN(2) == 0 {
		return fmt.Sprint("unmount ", one, ": ", unix.Unmount(one, unix.MNT_DETACH))
	}
	return fmt.Sprint("mount ", one, " ", other, ": ", unix.Mount(one, other, "", unix.MS_BIND, ""))
}

// RunPlaces is the worker.
func RunPlaces(dir string, rounds int, seed uint64) error {
	mounting := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") == nil
	r := epoch.Source(seed, 0)
	used, taken := 0, 0
	for round := range rounds {
		world := filepath.Join(dir, fmt.Sprint("world", round))
		if err := os.Mkdir(world, 0o755); err != nil {
			return err
		}
		w, err := newPlacesWorld(world, mounting)
		if err != nil {
			return err
		}
		said := []string{"nothing"}
		for range 12 {
			if err := w.same(strings.Join(said, "\n")); err != nil {
				return fmt.Errorf("seed %d, mounts %v: %w", seed, mounting, err)
			}
			_, left, err := w.granted(true)
			if err != nil {
				return err
			}
			used += len(w.paths) - left
			for range r.IntN(3) {
				said = append(said, w.change(r))
			}
		}
		if n := len(w.kept.by); n > maxPlaces {
			return fmt.Errorf("%d places are kept", n)
		}
		taken += w.taken
		w.ahead.close()
		w.kept.close()
	}
	fmt.Printf("kept places: %d rounds, %d places used again, mounts %v, seed %d\n", rounds, used, mounting, seed)
	if taken < rounds {
		return fmt.Errorf("%d rulesets that were made ahead were still good in %d rounds", taken, rounds)
	}
	if used < rounds*len("a few places") {
		return fmt.Errorf("%d places were used again in %d rounds", used, rounds)
	}
	return nil
}

// TestPlaces: a ruleset of kept places grants the same as one of places that are opened for it, whatever others
// have changed meanwhile: names, directories, links, modes and mounts.
func TestPlaces(t *testing.T) {
	t.Parallel()
	if ABI() == 0 {
		t.Skip("needs Landlock")
	}
	root := os.Getuid() == 0
	run := func(seed uint64, attr *syscall.SysProcAttr) {
		t.Helper()
		dir, err := os.MkdirTemp("/tmp", "places-test-")
		if err == nil && attr.Credential != nil {
			err = os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid))
		}
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.Open(self) // whose directory another user may not search
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		c := exec.Command("/proc/self/fd/3", PlacesMode, dir, fmt.Sprint(irtest.Times(100)), fmt.Sprint(seed))
		c.ExtraFiles, c.SysProcAttr, c.Dir = []*os.File{program}, attr, "/"
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		if err != nil || root && attr.Credential == nil && !strings.Contains(string(out), "mounts true") {
			t.Errorf("%v: %s", err, out)
		}
	}
	for _, seed := range epoch.Seeds(t) {
		if !root {
			run(seed, &syscall.SysProcAttr{})
			continue
		}
		run(seed, &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS})
		run(seed, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
	}
}

// TestPlacesUnwatched: a place that each start has to compare gets no rule ahead of the start.
func TestPlacesUnwatched(t *testing.T) {
	if ABI() == 0 {
		t.Skip("needs Landlock")
	}
	w, err := newPlacesWorld(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.kept.close()
	if err := w.same("at first"); err != nil {
		t.Fatal(err)
	}
	file := w.dir + "/a/file"
	at := w.kept.by[file]
	if at == nil || !at.watched {
		t.Skip("the temporary directory is on a file system that cannot be watched")
	}
	at.watched = false
	at.proved.Store(0)
	for _, watched := range []bool{true, false} {
		b, err := w.empty()
		if err != nil {
			t.Fatal(err)
		}
		rest, err := w.kept.fill(b, b.paths, w.kept.watch.turn(), watched)
		_ = unix.Close(b.fd)
		if left := slices.ContainsFunc(rest, func(p landlock.Path) bool { return p.Path == file }); err != nil || left != watched {
			t.Errorf("watched places alone: %v, the place is left out: %v, %v", watched, left, err)
		}
	}
}

// TestPlacesKept: kept are the places of a system's own mounts, up to a number, until the end.
func TestPlacesKept(t *testing.T) {
	open := func(path string) int {
		t.Helper()
		fd, err := openNoLinks(path, unix.O_PATH)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	count := func() int {
		t.Helper()
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := count()
	var k places
	if fd := open("/dev/pts"); k.keep("/dev/pts", fd) {
		t.Error("another mount is held")
	} else {
		_ = unix.Close(fd)
	}
	if fd := open("/dev/null"); !k.keep("/dev/null", fd) {
		t.Error("/dev/null is not kept")
	}
	if got := slices.Sorted(maps.Keys(k.by)); !slices.Equal(got, []string{"/dev", "/dev/null"}) {
		t.Errorf("kept %v", got)
	}
	for i := range maxPlaces {
		path := fmt.Sprintf("/dev/place%d", i)
		if fd := open("/dev/null"); !k.keep(path, fd) {
			_ = unix.Close(fd)
		}
	}
	if len(k.by) != maxPlaces {
		t.Errorf("%d places are kept", len(k.by))
	}
	k.close()
	if fd := open("/dev/null"); k.keep("/dev/null", fd) {
		t.Error("a place is kept after the end")
	} else {
		_ = unix.Close(fd)
	}
	if now := count(); now != before {
		t.Errorf("%d descriptors are open, %d before", now, before)
	}
}

// TestPlacesMovedBack: a directory with a rule of its own is replaced, and a place with a rule in it is moved from the old one
// to the new one. The watch was on the old one alone, so the place was taken for proved after it had lost its name.
func TestPlacesMovedBack(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &placesWorld{dir: dir}
	w.kept.mounts = []string{dir}
	defer w.kept.close()
	for _, name := range []string{"a", "a/c"} {
		w.paths = append(w.paths, landlock.Path{Path: dir + "/" + name, Access: []landlock.Right{landlock.ReadFile}})
	}
	move := func(from, to string) error { return os.Rename(dir+"/"+from, dir+"/"+to) }
	for i, step := range []func() error{
		func() error { return os.MkdirAll(dir+"/a/c", 0o755) },
		func() error { return errors.Join(move("a", "old"), os.Mkdir(dir+"/a", 0o755)) },
		func() error { return move("old/c", "a/c") },
		func() error { return errors.Join(move("a/c", "a/moved"), os.Mkdir(dir+"/a/c", 0o755)) },
		func() error { return os.Rename(dir+"/a/c", dir+"/a/gone") },
	} {
		err := step()
		for range 3 {
			err = errors.Join(err, w.same(fmt.Sprint("step ", i)))
		}
		if err != nil {
			t.Error(err)
		}
	}
}
