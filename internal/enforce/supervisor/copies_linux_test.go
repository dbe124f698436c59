package supervisor

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestCopiesTogether: copies of programs count together as long as somebody has one, whatever they have of it: four programs of 400 MiB each took 1.6 GiB
// of memory, which no limit of the tool counted.
func TestCopiesTogether(t *testing.T) {
	const size, most = 3 << 12, 7 << 12
	made := func() int {
		t.Helper()
		fd, err := inMemory("x", func(fd int) error { return unix.Ftruncate(fd, size) })
		if err != nil {
			t.Skip(err)
		}
		return fd
	}
	// Each way keeps a copy in use until the function that it returns is called.
	ways := map[string]func(fd int) (end func()){
		"open": func(fd int) func() { return func() { _ = unix.Close(fd) } },
		"mapped": func(fd int) func() {
			text, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
			if err != nil {
				t.Fatal(err)
			}
			_ = unix.Close(fd)
			return func() { _ = unix.Munmap(text) }
		},
		"on its way": func(fd int) func() {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				err = unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(fd), nil, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = unix.Close(fd)
			return func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }
		},
	}
	for name, way := range ways {
		m := &images{}
		m.used.most = most
		var ends []func()
		for range most / size {
			if !m.reserves(size) {
				t.Fatalf("%s: no room", name)
			}
			fd := made()
			if err := m.used.hold(fd, size); err != nil {
				t.Fatal(err)
			}
			m.add(&image{size: size}, fd, true)
			ends = append(ends, way(fd))
		}
		if m.reserves(size) {
			t.Errorf("%s: there is room for more than the bound", name)
		}
		ends[0]()
		if !m.reserves(size) || m.reserves(size) {
			t.Errorf("%s: the end of one makes no room for another one, or for more", name)
		}
		m.used.free(size)
		ends[1]()
		if m.used.prune(); len(m.used.list) != 0 || m.used.size != 0 {
			t.Errorf("%s: %d are counted in the end, of %d bytes", name, len(m.used.list), m.used.size)
		}
	}
}
