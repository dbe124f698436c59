package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// world is a directory that is changed as the supervisor changes it: originals first.
type world struct {
	*rand.Rand
	dir   string
	store Store
	k     *Keeper
	step  int
}

func newWorld(t *testing.T, r *rand.Rand) *world {
	t.Helper()
	top := t.TempDir()
	w := &world{Rand: r, dir: filepath.Join(top, "ws"), store: Store(filepath.Join(top, "undo"))}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// begin begins a run.
func (w *world) begin(t *testing.T) {
	t.Helper()
	var err error
	if w.k, err = w.store.Keep(Options{Tool: "t", Places: []string{w.dir}}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) end(t *testing.T) {
	t.Helper()
	if _, err := w.k.End(); err != nil {
		t.Fatal(err)
	}
	w.k = nil
}

// snapshot is everything that an undo brings back, by path. Times of a file that no run opens for reading stay.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	names := map[uint64]string{}
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return err
		}
		first, known := names[st.Ino]
		if !known {
			names[st.Ino], first = p, p
		}
		text := fmt.Sprintf("%o %d:%d %d %d.%09d", st.Mode, st.Uid, st.Gid, st.Nlink, st.Mtim.Sec, st.Mtim.Nsec)
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			x, err := attributes(p)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %q %v as %s", data, x, strings.TrimPrefix(first, dir))
		case unix.S_IFLNK:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			text += " to " + to
		}
		out[strings.TrimPrefix(p, dir)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func differences(a, b map[string]string) (out []string) {
	for p := range maps.Keys(a) {
		if a[p] != b[p] {
			out = append(out, fmt.Sprintf("%s\n  %s\n  %s", p, a[p], b[p]))
		}
	}
	for p := range maps.Keys(b) {
		if _, is := a[p]; !is {
			out = append(out, p+"\n  -\n  "+b[p])
		}
	}
	slices.Sort(out)
	return out
}

// opened opens a path of the world as the supervisor has it: its directory, and the file, -1 for none.
func (w *world) opened(p string) (dir, fd int, at, base string, done func()) {
	at, base = filepath.Dir(p), filepath.Base(p)
	dir, err := take(at, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return -1, -1, at, base, func() {}
	}
	fd, err = unix.Openat(dir, base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	return dir, fd, at, base, func() { closeBoth(dir, fd) }
}

func (w *world) any() string {
	names := []string{"a", "b", "c"}
	p := w.dir
	for range 1 + w.IntN(3) {
		p += "/" + names[w.IntN(len(names))]
	}
	return p
}

// change makes one change, mostly; the kernel may refuse it.
func (w *world) change() error {
	w.step++
	p, q := w.any(), w.any()
	dir, fd, at, base, done := w.opened(p)
	defer done()
	if dir < 0 {
		return nil
	}
	make := func(act func() error) error {
		if fd >= 0 {
			return nil
		}
		if err := w.k.Name(dir, at, base); err != nil {
			return err
		}
		if act() == nil {
			w.k.Made(dir, base)
		}
		return nil
	}
	write := func(flags int, text string) error {
		if f, _ := look(fd, ""); fd < 0 || f.Mode&typeMask != typeFile {
			return nil
		}
		if err := w.k.Contents(fd, p); err != nil {
			return err
		}
		out, err := unix.Open(self(fd), flags|unix.O_WRONLY, 0)
		if err == nil {
			_, _ = unix.Write(out, []byte(text))
			_ = unix.Close(out)
		}
		return nil
	}
	text := fmt.Sprintf("%d", w.step)
	switch w.IntN(17) {
	case 0, 1, 2:
		return make(func() error { return os.WriteFile(p, []byte(text), 0o644) })
	case 3, 4:
		return make(func() error { return unix.Mkdirat(dir, base, 0o755) })
	case 5:
		return make(func() error { return unix.Symlinkat(text, dir, base) })
	case 6:
		return make(func() error { return unix.Mknodat(dir, base, unix.S_IFIFO|0o600, 0) })
	case 7:
		return write(unix.O_APPEND, text)
	case 8:
		return write(unix.O_TRUNC, text)
	case 9, 10:
		return w.remove(dir, fd, at, base)
	case 11, 12, 13:
		return w.move(p, q, 0)
	case 14:
		return w.move(p, q, unix.RENAME_EXCHANGE)
	case 15:
		return w.link(fd, p, q)
	default:
		return w.meta(fd, p)
	}
}

func (w *world) remove(dir, fd int, at, base string) error {
	if fd < 0 {
		return nil
	}
	defer w.k.Stayed(fd)
	if err := errors.Join(w.k.Name(dir, at, base), w.k.Lost(fd, at+"/"+base)); err != nil {
		return err
	}
	if unix.Unlinkat(dir, base, 0) != nil {
		_ = unix.Unlinkat(dir, base, unix.AT_REMOVEDIR)
	}
	return nil
}

func (w *world) move(p, q string, flags uint) error {
	dir, fd, at, base, done := w.opened(p)
	defer done()
	dir2, fd2, at2, base2, done2 := w.opened(q)
	defer done2()
	if fd < 0 || dir2 < 0 || flags != 0 && fd2 < 0 {
		return nil
	}
	err := errors.Join(w.k.Name(dir, at, base), w.k.Name(dir2, at2, base2))
	if err == nil && fd2 >= 0 && flags == 0 {
		defer w.k.Stayed(fd2)
		err = w.k.Lost(fd2, q)
	}
	if err != nil {
		return err
	}
	a, _ := look(fd, "")
	var b *print
	if fd2 >= 0 {
		b, _ = look(fd2, "")
	}
	if unix.Renameat2(dir, base, dir2, base2, flags) == nil && (a.dir() || flags != 0 && b.dir()) {
		w.k.Moved(p, q, flags != 0)
	}
	return nil
}

func (w *world) link(fd int, p, q string) error {
	dir, fd2, at, base, done := w.opened(q)
	defer done()
	if fd < 0 || fd2 >= 0 || dir < 0 {
		return nil
	}
	if err := errors.Join(w.k.Name(dir, at, base), w.k.Metadata(fd, p)); err != nil {
		return err
	}
	_ = unix.Linkat(unix.AT_FDCWD, self(fd), dir, base, unix.AT_SYMLINK_FOLLOW)
	return nil
}

func (w *world) meta(fd int, p string) error {
	if fd < 0 {
		return nil
	}
	if err := w.k.Metadata(fd, p); err != nil {
		return err
	}
	f, _ := look(fd, "")
	switch {
	case f.Mode&typeMask == typeLink:
	case w.IntN(2) == 0:
		_ = unix.Chmod(self(fd), []uint32{0o700, 0o755, 0o640, 0o500, 0}[w.IntN(5)])
	case w.IntN(2) == 0:
		_ = unix.Setxattr(self(fd), "user.t", []byte{byte(w.step)}, 0)
	default:
		_ = touch(fd, &kept{print: print{MTime: int64(w.step) * second}, ATime: 5 * second})
	}
	return nil
}

// fixed is a world with a few files, and a run that changes them.
func fixed(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, nil)
	for p, text := range map[string]string{"a": "one", "b": "two", "gone/deep/f": "x", "src/x": "x"} {
		p = filepath.Join(w.dir, p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// does is the supervisor's part of some changes of fixed.
func (w *world) does(t *testing.T) {
	t.Helper()
	w.begin(t)
	dir, fd, at, base, done := w.opened(w.dir + "/a")
	defer done()
	_, _ = at, base
	err := errors.Join(w.k.Contents(fd, w.dir+"/a"), os.WriteFile(w.dir+"/a", []byte("other"), 0o644))
	err = errors.Join(err, w.k.Name(dir, w.dir, "new"), os.Mkdir(w.dir+"/new", 0o755))
	w.k.Made(dir, "new")
	err = errors.Join(err, os.WriteFile(w.dir+"/new/f", nil, 0o644), w.move(w.dir+"/b", w.dir+"/new/b", 0))
	for _, p := range []string{"gone/deep/f", "gone/deep", "gone"} {
		d, f, at, base, done := w.opened(filepath.Join(w.dir, p))
		err = errors.Join(err, w.remove(d, f, at, base))
		done()
	}
	d, f, at, base, done := w.opened(w.dir + "/src")
	_, _, _ = d, at, base
	err = errors.Join(err, w.k.Metadata(f, w.dir+"/src"), unix.Chmod(w.dir+"/src", 0o700))
	done()
	if err != nil {
		t.Fatal(err)
	}
}

// TestParts: paths are taken back by themselves, with what belongs to them, and then the rest. The directory above them
// counted as taken back, so that nothing else in it was found, and as changed by others where the first part had given
// it its mode.
func TestParts(t *testing.T) {
	for _, parts := range [][]string{{"gone"}, {"src", "gone"}, {"b"}, {"a", "src", "new"}, {"gone/deep/f", "a"}} {
		w := fixed(t)
		before := snapshot(t, w.dir)
		w.does(t)
		w.end(t)
		for _, p := range parts {
			if _, err := w.store.Undo(1, []string{filepath.Join(w.dir, p)}, false); err != nil {
				t.Errorf("%v: %s: %v", parts, p, err)
			}
			for _, q := range []string{p, p + "/deep/f"} {
				if now := snapshot(t, w.dir)["/"+q]; now != before["/"+q] {
					t.Errorf("%v: %s:\n%s\n%s", parts, q, now, before["/"+q])
				}
			}
		}
		if _, err := w.store.Undo(1, nil, false); err != nil {
			t.Errorf("%v: the rest: %v", parts, err)
		}
		if d := differences(before, snapshot(t, w.dir)); len(d) > 0 {
			t.Errorf("%v: %s", parts, strings.Join(d, "\n"))
		}
	}
}

// TestOthersHaveChanged: what others have done since the end of a run is named, and nothing is undone; by force it is,
// and the undo of that brings theirs back.
func TestOthersHaveChanged(t *testing.T) {
	for what, change := range map[string]func(dir string) error{
		"a was changed since": func(dir string) error { return os.WriteFile(dir+"/a", []byte("mine!"), 0o644) },
		"a was changed since ": func(dir string) error {
			return errors.Join(os.WriteFile(dir+"/tmp", []byte("mine"), 0o644), os.Rename(dir+"/tmp", dir+"/a"))
		},
		"a was removed since":     func(dir string) error { return os.Remove(dir + "/a") },
		"new/mine was made since": func(dir string) error { return os.WriteFile(dir+"/new/mine", nil, 0o644) },
		"new/f was changed since": func(dir string) error { return os.Chmod(dir+"/new/f", 0o600) },
		"gone was made since":     func(dir string) error { return os.Mkdir(dir+"/gone", 0o755) },
		"src was changed since":   func(dir string) error { return os.Chmod(dir+"/src", 0o711) },
		"new/b was removed since": func(dir string) error { return os.Remove(dir + "/new/b") },
		"":                        func(dir string) error { return os.WriteFile(dir+"/src/mine", nil, 0o644) },
	} {
		w := fixed(t)
		w.does(t)
		w.end(t)
		if err := change(w.dir); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, w.dir)
		_, err := w.store.Undo(0, nil, false)
		if what == "" {
			if err != nil {
				t.Errorf("beside the changes: %v", err)
			}
			continue
		}
		var refused *Refusal
		if !errors.As(err, &refused) || !slices.ContainsFunc(refused.Conflicts, func(c Conflict) bool {
			return strings.TrimPrefix(c.Path, w.dir)+" "+c.Why == "/"+strings.TrimSpace(what)
		}) {
			t.Errorf("%s: %+v", what, err)
			continue
		}
		if d := differences(before, snapshot(t, w.dir)); len(d) > 0 {
			t.Errorf("%s: %s", what, strings.Join(d, "\n"))
		}
		out, err := w.store.Undo(0, nil, true)
		if err == nil {
			_, err = w.store.Undo(out.Run, nil, false)
		}
		if d := differences(before, snapshot(t, w.dir)); err != nil || len(d) > 0 {
			t.Errorf("%s: by force and back: %v %s", what, err, strings.Join(d, "\n"))
		}
	}
}

// TestKilled: of a run without an end nobody knows who has changed what, and a journal that ends in the midst of a
// record is read up to there.
func TestKilled(t *testing.T) {
	w := fixed(t)
	before := snapshot(t, w.dir)
	w.does(t)
	if _, err := unix.Write(w.k.journal, []byte(`{"name":{"pa`)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Undo(0, nil, true); err == nil || !strings.Contains(err.Error(), "goes on") {
		t.Errorf("while it goes on: %v", err)
	}
	w.k.Close()
	var refused *Refusal
	if _, err := w.store.Undo(0, nil, false); !errors.As(err, &refused) || !refused.Killed {
		t.Errorf("without force: %v", err)
	}
	if _, err := w.store.Undo(0, nil, true); err != nil {
		t.Error(err)
	}
	if d := differences(before, snapshot(t, w.dir)); len(d) > 0 {
		t.Error(strings.Join(d, "\n"))
	}
}

// TestLeadsNowhereElse: what is put in the way of an undo leads it nowhere: no symlink in place of a directory of the
// journal, no journal with a path outside of its places.
func TestLeadsNowhereElse(t *testing.T) {
	w := fixed(t)
	w.begin(t)
	d, f, at, base, done := w.opened(w.dir + "/src/x")
	if err := w.remove(d, f, at, base); err != nil {
		t.Fatal(err)
	}
	done()
	w.end(t)
	outside := filepath.Join(filepath.Dir(w.dir), "outside")
	err := errors.Join(os.Mkdir(outside, 0o755), os.Remove(w.dir+"/src"), os.Symlink(outside, w.dir+"/src"))
	if err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		if out, err := w.store.Undo(0, nil, force); err == nil && (!force || len(out.Lost) == 0) {
			t.Errorf("force %v: an undo over a symlink", force)
		}
		if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
			t.Errorf("force %v: outside has %v, %v", force, list, err)
		}
	}
	for _, p := range []string{outside, w.dir + "/../outside/x", "x", w.dir + "x"} {
		text := `{"run":{"format":"accessc-undo","format_version":1,"places":["` + w.dir + `"]}}` + "\n" +
			`{"name":{"path":"` + p + `","in":"1","was":null}}` + "\n"
		if _, err := read(strings.NewReader(text)); !errors.Is(err, errJournal) {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// TestFull: what does not fit is refused before it is changed, and what fits is kept.
func TestFull(t *testing.T) {
	w := fixed(t)
	var err error
	if w.k, err = w.store.Keep(Options{Places: []string{w.dir}, Size: 4}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		want error
	}{{"a", nil}, {"b", ErrFull}, {"src/x", nil}, {"b", ErrFull}, {"a", nil}} {
		_, fd, _, _, done := w.opened(filepath.Join(w.dir, tt.path))
		if err := w.k.Contents(fd, filepath.Join(w.dir, tt.path)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.path, err)
		}
		done()
	}
	w.end(t)
}

// TestForgets: the store has as many runs as it may, and forgets none that goes on.
func TestForgets(t *testing.T) {
	w := fixed(t)
	w.does(t)
	first := w.k
	for range 4 {
		k, err := w.store.Keep(Options{Places: []string{w.dir}, Runs: 2})
		if err != nil {
			t.Fatal(err)
		}
		k.Close()
	}
	list, err := w.store.List()
	if err != nil || len(list) != 3 || list[2].Run != 1 || list[2].State != "goes on" {
		t.Errorf("%+v, %v", list, err)
	}
	first.Close()
}

// TestUndoBringsAllBack: after any sequence of changes an undo leaves the tree as it was in names, contents, types,
// modes, owners, times, attributes and links, and an undo of that as it was after the changes. Three runs follow each
// other and are taken back in turn.
func TestUndoBringsAllBack(t *testing.T) {
	count := irtest.Times(2000)
	seed := epoch.Seed(t)
	t.Logf("%d worlds, seed %d", count, seed)
	for i := range count {
		r := epoch.Source(seed, uint64(i))
		w := newWorld(t, r)
		w.begin(t)
		for range 12 {
			if err := w.change(); err != nil {
				t.Fatal(err)
			}
		}
		w.end(t)
		states := []map[string]string{snapshot(t, w.dir)}
		var runs []int
		for range 3 {
			w.begin(t)
			number := w.k.Number()
			for range 1 + w.IntN(20) {
				if err := w.change(); err != nil {
					t.Fatal(err)
				}
			}
			w.end(t)
			if _, err := os.Stat(filepath.Join(string(w.store), fmt.Sprint(number))); err == nil {
				runs, states = append(runs, number), append(states, snapshot(t, w.dir))
			}
		}
		for n := len(runs) - 1; n >= 0; n-- {
			was := states[n+1]
			out, err := w.store.Undo(runs[n], nil, false)
			if err != nil && strings.Contains(err.Error(), "has changed nothing") {
				continue
			}
			if err != nil {
				t.Fatalf("world %d, run %d: %v", i, runs[n], err)
			}
			if d := differences(states[n], snapshot(t, w.dir)); len(d) > 0 {
				t.Fatalf("world %d, undo of run %d:\n%s", i, runs[n], strings.Join(d, "\n"))
			}
			again, err := w.store.Undo(out.Run, nil, false)
			if err != nil {
				t.Fatalf("world %d, undo of the undo of run %d: %v", i, runs[n], err)
			}
			if d := differences(was, snapshot(t, w.dir)); len(d) > 0 {
				t.Fatalf("world %d, undo of the undo of run %d:\n%s", i, runs[n], strings.Join(d, "\n"))
			}
			if _, err := w.store.Undo(again.Run, nil, false); err != nil {
				t.Fatalf("world %d, run %d for the second time: %v", i, runs[n], err)
			}
			if d := differences(states[n], snapshot(t, w.dir)); len(d) > 0 {
				t.Fatalf("world %d, run %d for the second time:\n%s", i, runs[n], strings.Join(d, "\n"))
			}
		}
	}
}
