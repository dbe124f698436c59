package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// opener is a worker for a tool that may read a directory, but not below "secret" there. It knows the directory's file system.
func opener(t *testing.T, dir string) *worker {
	t.Helper()
	s := &Supervisor{policy: &judge{}, sandbox: sandbox{self: os.Getpid(), roots: &ir.Bindings{Workspace: dir}}}
	tool := &ir.Tool{FS: []ir.FSRule{
		{At: ir.Location{Root: ir.Root{Kind: ir.Workspace}}, Caps: ir.Caps(ir.Read)},
		{At: ir.Location{Root: ir.Root{Kind: ir.Workspace}, Path: "secret"}},
	}}
	s.policy.view = ir.NewView(tool, ir.Linux, ir.Facts{Bindings: s.sandbox.roots})
	var err error
	if s.sandbox.procfs, err = unix.Open("/proc", unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	if s.sandbox.root, err = unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	id, _ := mountOf(unix.AT_FDCWD, dir)
	if of, _ := standing.hold(id); !of.Quiet {
		t.Skip("the temporary directory is on a file system of another kind")
	}
	w := &worker{Supervisor: s}
	t.Cleanup(func() { w.close(); _, _ = unix.Close(s.sandbox.procfs), unix.Close(s.sandbox.root) })
	return w
}

// files makes files, links and a fifo in a directory without symlinks above it.
func files(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"sub", "secret", "lost (deleted)"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, d), 0o755), os.WriteFile(filepath.Join(dir, d, "f"), nil, 0o644))
	}
	err = errors.Join(err, os.Symlink("sub/f", filepath.Join(dir, "link")), os.Symlink("sub", filepath.Join(dir, "up")),
		os.Symlink("/proc/self", filepath.Join(dir, "self")), unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestExists: something is at a path by whose text alone it is found, of any kind and under any rule. All other paths are left to
// the resolution, also those of which the text says that nothing is there.
func TestExists(t *testing.T) {
	dir := files(t)
	w := opener(t, dir)
	for path, want := range map[string]bool{
		"/sub": true, "/sub/f": true, "/secret/f": true, "/fifo": true, "/link": true, "/self": true, "": true,
		"/none": false, "/none/x": false, "/sub/none": false, "/sub/f/x": false, "/up/f": false, "/self/fd": false,
		"/sub/": false, "/sub/.": false, "/sub/../sub": false, "//sub": false, "/lost (deleted)": false,
	} {
		if got := w.exists([]byte(dir + path)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	for path, want := range map[string]bool{"/": true, "sub": false, ".": false, "/proc/self": false, "/dev/null": false} {
		if got := w.exists([]byte(path)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestOpenedDirectly: a granted regular file or directory is opened by a path that says which one it is, with the flags that were asked for. All
// other paths are left to the resolution.
func TestOpenedDirectly(t *testing.T) {
	dir := files(t)
	w := opener(t, dir)
	c := calling(t, filepath.Join(dir, "sub"), filepath.Join(dir, "sub/f"))
	const five = 5 // a descriptor of the file "sub/f" there
	for _, x := range []struct {
		dir   int
		path  string
		flags uint64
		want  string
	}{
		{unix.AT_FDCWD, dir + "/sub/f", unix.O_CLOEXEC, "sub/f"},
		{unix.AT_FDCWD, dir + "/sub/f", unix.O_NONBLOCK, "sub/f"},
		{unix.AT_FDCWD, dir + "/sub/f", largeFile | unix.O_NOFOLLOW, "sub/f"},
		{unix.AT_FDCWD, dir + "/sub", unix.O_DIRECTORY, "sub"},
		{unix.AT_FDCWD, "f", 0, "sub/f"},
		{unix.AT_FDCWD, "././f", 0, "sub/f"},
		{unix.AT_FDCWD, ".", unix.O_DIRECTORY, "sub"},
		{unix.AT_FDCWD, dir + "/sub/f", unix.O_DIRECTORY, ""},
		{unix.AT_FDCWD, dir + "/secret/f", 0, ""},
		{unix.AT_FDCWD, "../secret/f", 0, ""},
		{unix.AT_FDCWD, dir + "/sub/../secret/f", 0, ""},
		{unix.AT_FDCWD, dir + "//sub/f", 0, ""},
		{unix.AT_FDCWD, dir + "/./sub/f", 0, ""},
		{unix.AT_FDCWD, dir + "/sub/", 0, ""},
		{unix.AT_FDCWD, dir + "/link", 0, ""},
		{unix.AT_FDCWD, dir + "/up/f", 0, ""},
		{unix.AT_FDCWD, dir + "/self/status", 0, ""},
		{unix.AT_FDCWD, dir + "/fifo", 0, ""},
		{unix.AT_FDCWD, dir + "/lost (deleted)", 0, ""},
		{unix.AT_FDCWD, dir + "/none", 0, ""},
		{unix.AT_FDCWD, "none", 0, ""},
		{unix.AT_FDCWD, dir + "/self/nothing", 0, ""},
		{unix.AT_FDCWD, dir + "/secret/nothing", 0, ""},
		{unix.AT_FDCWD, "/proc/self/status", 0, ""},
		{unix.AT_FDCWD, "/dev/null", 0, ""},
		{five, ".", 0, ""},
		{five, "f", 0, ""},
		{99, "f", 0, ""},
	} {
		fd, e := w.opened(c.tid, x.dir, []byte(x.path), x.flags)
		if got := where(fd); fd >= 0 && got != filepath.Join(dir, x.want) || fd < 0 != (x.want == "") {
			t.Errorf("%d %s: %d, %s", x.dir, x.path, fd, got)
		}
		if missing := x.path == dir+"/none"; fd < 0 && (e == unix.ENOENT) != missing {
			t.Errorf("%d %s: %v", x.dir, x.path, e)
		}
		if fd < 0 {
			continue
		}
		got, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || got&unix.O_NONBLOCK != int(x.flags&unix.O_NONBLOCK) || got&unix.O_ACCMODE != 0 {
			t.Errorf("%s: flags %#o, %v", x.path, got, err)
		}
		_ = unix.Close(fd)
	}
	if n := testing.AllocsPerRun(100, func() { fd, _ := w.opened(c.tid, unix.AT_FDCWD, []byte("f"), 0); _ = unix.Close(fd) }); n > 6 {
		t.Errorf("%v allocations for an open", n)
	}
}

// TestOpenedByName: what was opened is handed over by the kernel's name of it, not by the text that led there. A link that says another name
// stands for a host that moves the file in between.
func TestOpenedByName(t *testing.T) {
	dir := files(t)
	w := opener(t, dir)
	fd, _ := w.opened(os.Getpid(), unix.AT_FDCWD, []byte(dir+"/sub/f"), 0)
	if fd < 0 {
		t.Fatal("a granted file is not opened")
	}
	_ = unix.Close(fd)
	link, err := unix.Open(filepath.Join(dir, "link"), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.close()
	w.files.open = map[int]int{}
	for n := range 100 {
		w.files.open[n] = link
	}
	if fd, _ := w.opened(os.Getpid(), unix.AT_FDCWD, []byte(dir+"/sub/f"), 0); fd >= 0 {
		t.Errorf("%s is handed over", where(fd))
	}
	w.files.open = map[int]int{0: link}
}

// TestNothingOpenedUnseen: no fifo is opened before it has been judged, which would let a process go on that waits for a reader.
func TestNothingOpenedUnseen(t *testing.T) {
	dir := files(t)
	w := opener(t, dir)
	waits, thread := make(chan bool), make(chan int)
	go func() {
		runtime.LockOSThread()
		thread <- unix.Gettid()
		fd, err := unix.Open(filepath.Join(dir, "fifo"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		waits <- err == nil && unix.Close(fd) == nil
	}()
	tid := <-thread
	await.Until(t, "a process waits for a reader", func() bool { return waitsInOpen(tid) })
	for range 100 {
		if fd, _ := w.opened(os.Getpid(), unix.AT_FDCWD, []byte(dir+"/fifo"), 0); fd >= 0 {
			t.Fatal("a fifo is opened")
		}
	}
	if !waitsInOpen(tid) {
		t.Error("a process that waits for a reader went on")
	}
	r, err := os.OpenFile(filepath.Join(dir, "fifo"), os.O_RDONLY, 0)
	if err != nil || !<-waits {
		t.Error(err)
	}
	_ = r.Close()
}

// waitsInOpen reports whether a thread sleeps in an open (proc_pid_syscall(5)). The kernel wakes it as soon as a fifo that
// it opens has its other end.
func waitsInOpen(tid int) bool {
	if !strings.HasPrefix(status(tid, "State"), "S") {
		return false
	}
	call, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", tid))
	return err != nil || strings.HasPrefix(string(call), fmt.Sprint(unix.SYS_OPENAT, " "))
}

// TestLostDirectory: a path from a directory that has lost its name leads to none that is called as the kernel calls that one.
func TestLostDirectory(t *testing.T) {
	dir := files(t)
	w := opener(t, dir)
	lost := filepath.Join(dir, "lost")
	if err := os.Mkdir(lost, 0o755); err != nil {
		t.Fatal(err)
	}
	c := calling(t, lost, filepath.Join(dir, "sub"))
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	if fd, _ := w.opened(c.tid, unix.AT_FDCWD, []byte("f"), 0); fd >= 0 {
		t.Errorf("%s is opened", where(fd))
	}
	if fd, _ := w.opened(c.tid, 5, []byte("f"), 0); where(fd) != filepath.Join(dir, "sub/f") {
		t.Errorf("%s is opened", where(fd))
	}
}

// TestDirectoriesExchanged: a path from a directory leads to the file in it, also while another process exchanges that directory with another
// one. The name of the directory alone would lead to the other one's file.
func TestDirectoriesExchanged(t *testing.T) {
	dir := files(t)
	w := opener(t, dir)
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "other")
	for _, d := range []string{one, other} {
		if err := errors.Join(os.Mkdir(d, 0o755), os.WriteFile(filepath.Join(d, "f"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var want, got unix.Stat_t
	if err := unix.Stat(filepath.Join(one, "f"), &want); err != nil {
		t.Fatal(err)
	}
	c := calling(t, one, one)
	var exchanges atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-stopped }()
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
				exchanges.Add(1)
			}
		}
	}()
	irtest.Race(t, irtest.Times(1_000), irtest.Times(250_000), func(int) bool {
		before, opened := exchanges.Load(), 0
		for _, from := range []int{unix.AT_FDCWD, 5} {
			fd, _ := w.opened(c.tid, from, []byte("f"), 0)
			if fd < 0 {
				continue
			}
			opened++
			err := unix.Fstat(fd, &got)
			_ = unix.Close(fd)
			if err != nil || got.Ino != want.Ino {
				t.Fatalf("the file of the other directory is opened from %d: %v", from, err)
			}
		}
		return opened > 0 && exchanges.Load() > before
	})
}

// TestLinksKept: a kept link says where the descriptor of its number leads now, and few are kept.
func TestLinksKept(t *testing.T) {
	var l links
	defer l.close()
	into := make([]byte, pathMax)
	const first, many = 1000, maxLinksKept + 2
	for round := range 2 {
		dirs := make([]string, many)
		for n := range dirs {
			dirs[n] = t.TempDir()
			fd, err := unix.Open(dirs[n], unix.O_PATH|unix.O_CLOEXEC, 0)
			if err == nil {
				err = errors.Join(unix.Dup3(fd, first+n, unix.O_CLOEXEC), unix.Close(fd))
			}
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				t.Cleanup(func() { _ = unix.Close(first + n) })
			}
		}
		for n, dir := range dirs {
			for range 2 {
				if got := string(l.read(descriptors(), first+n, into)); got != dir {
					t.Errorf("%q is the directory, not %s", got, dir)
				}
			}
			if len(l.open) > maxLinksKept {
				t.Errorf("%d links are kept", len(l.open))
			}
		}
	}
	// One that is not to be read any more is opened anew.
	var err error
	l.open[first], err = unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0) // a file: it has no link to read
	if got := string(l.read(descriptors(), first, into)); err != nil || got == "" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDirect: nothing is answered by the text where more has to be known of the call.
func TestDirect(t *testing.T) {
	if s := reader(); !s.direct() {
		t.Error("nothing speaks against it")
	}
	bounded := reader()
	bounded.domains = newDomains(mark{})
	if !bounded.direct() {
		t.Error("no process has restricted itself")
	}
	bounded.domains.used.Store(true)
	traced := reader()
	traced.trace = &Tracing{}
	if bounded.direct() || traced.direct() {
		t.Error("answered by the text")
	}
	moving := &worker{Supervisor: reader()}
	moving.names.Lock()
	if moving.opensDirectly(&notification{nr: unix.SYS_OPENAT}, []byte("/ws/file")) {
		t.Error("answered during a move")
	}
}

// TestLooks: opens that are answered by their text look for other calls now and then, and those that go on in the kernel only while
// several workers receive.
func TestLooks(t *testing.T) {
	w := &worker{Supervisor: reader()}
	count := func(passes bool) (n int) {
		for range 10 * often {
			if w.looks(passes) {
				n++
			}
		}
		return n
	}
	if got := []int{count(true), count(false)}; got[0] != 0 || got[1] != 10 {
		t.Error(got)
	}
	w.seats.more.Store(1)
	if got := count(true); got != 10 {
		t.Error(got)
	}
}
