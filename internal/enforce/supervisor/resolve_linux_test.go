package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calling is a call of a child process, as the supervisor sees one: the shell waits in dir with
// descriptor 5 open on another file.
func calling(t *testing.T, dir, five string) *call {
	t.Helper()
	sub, err := os.Open(five)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "read x"}, &os.ProcAttr{
		Dir: dir, Files: []*os.File{in, nil, nil, nil, nil, sub}, Env: []string{},
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	t.Cleanup(func() { _ = out.Close(); _, _ = p.Wait() })
	s := &Supervisor{sandbox: sandbox{self: os.Getpid()}}
	if s.sandbox.procfs, err = unix.Open("/proc", unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	s.sandbox.root, _ = unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	c := s.newCall(nil, &notification{pid: uint32(p.Pid)})
	t.Cleanup(c.release)
	return c
}

func tree(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"sub/deep", "else"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"file": "sub/f", "abs": dir + "/sub", "up": "sub/..", "loop": "loop", "dangling": "else/new", "own": "/proc/self/cwd/sub",
		"fd": "/proc/self/fd/5", "chain": "own/deep",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sub/f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestResolve: paths lead where they lead for the caller, both when the kernel resolves them
// and when the supervisor walks them.
func TestResolve(t *testing.T) {
	dir := tree(t)
	c := calling(t, dir, filepath.Join(dir, "sub"))
	pid := strconv.Itoa(c.tid)
	for path, want := range map[string]string{
		"sub": "sub", "sub/": "sub", "./sub/../sub//deep": "sub/deep", "file": "sub/f", "abs/deep": "sub/deep", "up": "", ".": "", "sub/..": "",
		"own": "sub", "own/f": "sub/f", "fd": "sub", "fd/deep": "sub/deep", "chain": "sub/deep", "chain/..": "sub",
		"/proc/self/cwd": "", "/proc/self/cwd/file": "sub/f", "/proc/thread-self/cwd/sub": "sub", "/proc/" + pid + "/cwd/sub": "sub",
		"/proc/self/root" + dir + "/sub": "sub", "/proc/self/fd/5/deep": "sub/deep", "/proc/self/task/" + pid + "/cwd": "", dir + "/abs": "sub",
		"/proc/self/../self/cwd/else": "else",
	} {
		base, e := c.paths.base(unix.AT_FDCWD, path)
		if e != 0 {
			t.Fatal(e)
		}
		n, e := c.paths.object(base, path, followed, 0)
		if got := where(n.object); e != 0 || got != strings.TrimSuffix(dir+"/"+want, "/") {
			t.Errorf("%s: got %s, %v; want %s", path, got, e, want)
		}
		n, e = c.paths.walk(base, path, followed)
		if got := where(n.object); e != 0 || got != strings.TrimSuffix(dir+"/"+want, "/") {
			t.Errorf("walking %s: got %s, %v; want %s", path, got, e, want)
		}
	}
	for path, want := range map[string]unix.Errno{
		"": unix.ENOENT, "none": unix.ENOENT, "none/x": unix.ENOENT, "sub/f/": unix.ENOTDIR, "sub/f/x": unix.ENOTDIR, "loop": unix.ELOOP,
		"dangling": unix.ENOENT, "/proc/self/fd/77": unix.ENOENT, "/proc/" + strconv.Itoa(os.Getpid()) + "/cwd": unix.EACCES, "/proc/1/root/etc": unix.EACCES,
	} {
		base, _ := c.paths.base(unix.AT_FDCWD, path)
		if _, e := c.paths.object(base, path, followed, 0); e != want {
			t.Errorf("%s: got %v, want %v", path, e, want)
		}
	}
}

// TestNames: where a name would be made, over symlinks and behind slashes.
func TestNames(t *testing.T) {
	dir := tree(t)
	c := calling(t, dir, filepath.Join(dir, "sub"))
	for _, tt := range []struct {
		path string
		end  follow
		in   string
		name string
		tail string
	}{
		{"new", kept, "", "new", ""}, {"sub/new/", kept, "sub", "new", "/"}, {"dangling", followed, "else", "new", ""},
		{"dangling", kept, "", "dangling", ""}, {"own/new", kept, "sub", "new", ""}, {"/proc/self/cwd/new", kept, "", "new", ""},
		{"/proc/self/fd/5/new", followed, "sub", "new", ""}, {"file", followed, "sub", "f", ""}, {"file", kept, "", "file", ""},
	} {
		base, _ := c.paths.base(unix.AT_FDCWD, tt.path)
		n, e := c.paths.name(base, tt.path, tt.end)
		if got := where(n.dir); e != 0 || got != strings.TrimSuffix(dir+"/"+tt.in, "/") || n.name != tt.name || n.tail != tt.tail {
			t.Errorf("%s: got %s %q %q, %v", tt.path, got, n.name, n.tail, e)
		}
	}
	for _, path := range []string{".", "..", "/", "sub/.."} {
		base, _ := c.paths.base(unix.AT_FDCWD, path)
		if n, e := c.paths.name(base, path, kept); e != 0 || n.dir >= 0 {
			t.Errorf("%s: %+v, %v", path, n, e)
		}
	}
}

// TestUnnamed: files without a path, and files that have lost theirs.
func TestUnnamed(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	memory, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range []int{pipe[0], memory} {
		if got := where(fd); got != "" {
			t.Errorf("%d is at %q", fd, got)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"gone", "here (deleted)"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "gone" {
			_ = os.Remove(f.Name())
		}
		if got := where(int(f.Fd())); got != f.Name() {
			t.Errorf("%s is at %q", name, got)
		}
		_ = f.Close()
	}
	if got := where(1 << 20); got != nowhere {
		t.Errorf("what cannot be read is at %q", got)
	}
}

// TestText reads strings up to the end of the mapped memory, and no further.
func TestText(t *testing.T) {
	c := &call{caller: caller{tid: os.Getpid()}}
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, e := syscall.Syscall(unix.SYS_MUNMAP, uintptr(unsafe.Pointer(&mem[2*page])), uintptr(page), 0); e != 0 {
		t.Fatal(e)
	}
	mem = mem[:2*page]
	start := uint64(uintptr(unsafe.Pointer(&mem[0])))
	end := start + uint64(len(mem))
	put := func(at uint64, s string) uint64 { copy(mem[at-start:], s); return at }
	for name, tt := range map[string]struct {
		at   uint64
		want string
		e    unix.Errno
	}{
		"at the end":  {put(end-4, "abc\x00"), "abc", 0},
		"over a page": {put(start+uint64(page)-3, "sixsix\x00"), "sixsix", 0},
		"unmapped":    {end, "", unix.EFAULT},
		"null":        {0, "", unix.EFAULT},
	} {
		if got, e := c.path(tt.at); got != tt.want || e != tt.e {
			t.Errorf("%s: got %q, %v", name, got, e)
		}
	}
	c.known, c.args[1] = "read before", start
	if got, e := c.path(start); got != "read before" || e != 0 {
		t.Errorf("a path that was read is %q, %v", got, e)
	}
	c.known = "of another argument"
	if got, e := c.path(end - 4); got != "abc" || e != 0 {
		t.Errorf("another path is %q, %v", got, e)
	}
	put(end-4, "abcd")
	if _, e := c.path(end - 4); e != unix.EFAULT {
		t.Errorf("a string that runs into the unmapped: %v", e)
	}
	for i := range mem {
		mem[i] = 'x'
	}
	if _, e := c.path(start); e != unix.ENAMETOOLONG {
		t.Errorf("a string without an end: %v", e)
	}
}

// TestCloseAll: neighbours are closed together, and no descriptor in a gap between them.
func TestCloseAll(t *testing.T) {
	var fds []int
	for range 6 {
		fd, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		fds = append(fds, fd)
	}
	slices.Sort(fds)
	kept := fds[3]
	defer unix.Close(kept)
	closeAll(slices.Concat(fds[:3], fds[4:]))
	for _, fd := range fds {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if (err == nil) != (fd == kept) {
			t.Errorf("descriptor %d of %v, of which %d is not closed: %v", fd, fds, kept, err)
		}
	}
}
