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
