package supervisor

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/testbuild"
)

// TestCopies: a copy has the contents of the file, whether this process or a clone made it, and
// cannot be changed.
func TestCopies(t *testing.T) {
	data := bytes.Repeat([]byte("program\n"), 100_000)
	file := filepath.Join(t.TempDir(), "x")
	if err := testbuild.WriteFile(file, data, 0o755); err != nil {
		t.Fatal(err)
	}
	// /dev/null stands for the list of a cgroup's processes: it takes any number.
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, m := range []*images{{}, {join: null}} {
		from, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := inMemory("x", func(to int) error { return m.transfer(to, int(from.Fd()), int64(len(data))) })
		_ = from.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(self(fd)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
		if w, err := unix.Open(self(fd), unix.O_WRONLY, 0); err == nil {
			if _, err := unix.Write(w, []byte("x")); err != unix.EPERM {
				t.Errorf("writing: %v", err)
			}
			_ = unix.Close(w)
		}
		_ = unix.Close(fd)
	}
	short, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	for _, m := range []*images{{}, {join: null}} {
		if _, err := inMemory("x", func(to int) error { return m.transfer(to, int(short.Fd()), int64(len(data)+1)) }); err != errChanged {
			t.Errorf("a file that became shorter: %v", err)
		}
	}
}

// TestKept: the copy of a file that has changed since is not used, and copies are kept up to a
// number and a size.
func TestKept(t *testing.T) {
	var m images
	stat := func(n int) unix.Stat_t { return unix.Stat_t{Ino: uint64(n), Size: 1} }
	for n := range maxKept + 3 {
		fd, err := inMemory("x", func(int) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		i := &image{source: stat(n), place: "/x", size: 1}
		i.memory, _ = inode(fd)
		m.add(i, fd, true)
		if m.place(fd) != "/x" {
			t.Error("the place is forgotten")
		}
		_ = unix.Close(fd)
	}
	has := func(n int, size int64) bool {
		s := stat(n)
		s.Size = size
		fd, ok := m.kept(&s)
		if ok {
			_ = unix.Close(fd)
		}
		return ok
	}
	if len(m.list) != maxKept || has(0, 1) || has(2, 1) || !has(3, 1) || !has(maxKept+2, 1) || has(maxKept+2, 2) {
		t.Errorf("%d are kept", len(m.list))
	}
	for n := range 3 {
		fd, _ := inMemory("x", func(int) error { return nil })
		m.add(&image{source: stat(1000 + n), size: maxKeptBytes / 2}, fd, true)
		_ = unix.Close(fd)
	}
	if has(maxKept, 1) || has(1000, 1) || !has(1001, 1) || !has(1002, 1) {
		t.Error("more is kept than may be")
	}
	for _, i := range m.list {
		i.drop()
	}
}

func TestTrampoline(t *testing.T) {
	f, err := elf.NewFile(bytes.NewReader(trampolineImage()))
	if err != nil {
		t.Fatal(err)
	}
	code := make([]byte, len(trap))
	if _, err := f.Progs[0].ReadAt(code, int64(f.Entry-f.Progs[0].Vaddr)); err != nil || string(code) != trap || f.Type != elf.ET_EXEC || len(f.Progs) != 2 {
		t.Errorf("%v: %q of %+v", err, code, f.FileHeader)
	}
}

func TestMemoryName(t *testing.T) {
	long := "/" + strings.Repeat("d/", 150) + "x"
	for place, want := range map[string]string{"/ws/x": "/../ws/x", long: "x"} {
		if got := memoryName(place); got != want {
			t.Errorf("%s: %q", place, got)
		}
	}
}

// TestChangedByMapping: a write to a mapping of a file of tmpfs that was read before changes no time of the file, and a copy of the file as it was before
// was started. A copy that is kept there is compared with the file.
func TestChangedByMapping(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{1, 300 << 10, 512 << 10} {
		data := bytes.Repeat([]byte("x"), size)
		file := filepath.Join(dir, "x")
		if err := testbuild.WriteFile(file, data, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := inMemory("x", func(to int) error { return new(images).transfer(to, int(f.Fd()), int64(size)) })
		if err != nil {
			t.Fatal(err)
		}
		if !alike(int(f.Fd()), fd, int64(size)) || alike(int(f.Fd()), fd, int64(size+1)) {
			t.Errorf("%d bytes: the same and more are not told apart", size)
		}
		m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		if m[size-1] == 'x' {
			m[size-1] = 'y'
		}
		if alike(int(f.Fd()), fd, int64(size)) {
			t.Errorf("%d bytes: the last has changed", size)
		}
		_, _, _ = unix.Munmap(m), f.Close(), unix.Close(fd)
	}
	for path, want := range map[string]bool{"/dev/shm": false, "/proc": false} {
		if d, err := os.Open(path); err == nil {
			if tellsChanges(int(d.Fd())) != want {
				t.Error(path)
			}
			_ = d.Close()
		}
	}
}
