package supervisor

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// reader is the supervisor of a tool that may read and write all of its workspace, with so many places of their own that
// none is looked for at an open.
func reader() *Supervisor {
	return &Supervisor{
		policy: &judge{roots: ir.Bindings{Workspace: "/ws"}}, whole: ir.Caps(ir.Read, ir.Create, ir.Update), crowded: true,
	}
}

// TestPlain: reading goes on by its text wherever the ruleset grants the workspace as a whole. Writing does as long as few
// places have rules of their own, and nothing does in a class that is judged.
func TestPlain(t *testing.T) {
	write := opening{OpenHow: unix.OpenHow{Flags: unix.O_WRONLY}}
	list := opening{OpenHow: unix.OpenHow{Flags: unix.O_DIRECTORY}}
	few, reads, updates, lists, partly := reader(), reader(), reader(), reader(), reader()
	few.crowded = false
	reads.policy.classes.Reads = true
	updates.crowded, updates.policy.classes.Updates = false, true
	lists.policy.classes.Lists = true
	partly.whole = 0
	for _, c := range []struct {
		name string
		s    *Supervisor
		dir  int
		path string
		o    opening
		want bool
	}{
		{"read in the workspace", reader(), unix.AT_FDCWD, "/ws/x", opening{}, true},
		{"read below the working directory", reader(), unix.AT_FDCWD, "x", opening{}, true},
		{"list", reader(), unix.AT_FDCWD, "/ws/d", list, true},
		{"read below a descriptor", reader(), 3, "x", opening{}, false},
		{"read a library", reader(), unix.AT_FDCWD, "/usr/lib/x", opening{}, true},
		{"read elsewhere", reader(), unix.AT_FDCWD, "/etc/passwd", opening{}, false},
		{"a name that begins like the workspace", reader(), unix.AT_FDCWD, "/wsx/y", opening{}, false},
		{"a path that climbs", reader(), unix.AT_FDCWD, "../ws/x", opening{}, false},
		{"no path", reader(), unix.AT_FDCWD, "", opening{}, false},
		{"flags in memory", reader(), unix.AT_FDCWD, "/ws/x", opening{hidden: true}, false},
		{"write beside many places", reader(), unix.AT_FDCWD, "/ws/x", write, false},
		{"write beside few", few, unix.AT_FDCWD, "/ws/x", write, true},
		{"write to a library", few, unix.AT_FDCWD, "/usr/lib/x", write, false},
		{"read where reading is judged", reads, unix.AT_FDCWD, "/ws/x", opening{}, false},
		{"read a library where reading is judged", reads, unix.AT_FDCWD, "/usr/lib/x", opening{}, false},
		{"write where writing is judged", updates, unix.AT_FDCWD, "/ws/x", write, false},
		{"list where listing is judged", lists, unix.AT_FDCWD, "/ws/d", list, false},
		{"read where the workspace is granted in parts", partly, unix.AT_FDCWD, "/ws/x", opening{}, false},
	} {
		if got := c.s.plain(c.dir, c.path, c.o); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestPasses: the text of an open for reading is read from the caller's memory, up to the end of its page. A text that goes on
// there, and one that cannot be read, is left to the judgement, as is every other call.
func TestPasses(t *testing.T) {
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mem) }()
	if err := unix.Mprotect(mem[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	at := func(text string, end int) uint64 {
		copy(mem[end-len(text):], text)
		return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) + uint64(end-len(text))
	}
	cwd := int64(unix.AT_FDCWD)
	open := func(addr, flags uint64) *notification {
		return &notification{pid: uint32(unix.Getpid()), nr: unix.SYS_OPENAT, args: [6]uint64{uint64(cwd), addr, flags}}
	}
	alone := &worker{Supervisor: reader()}
	for _, c := range []struct {
		name, text string
		end        int
		call       int32
		flags      uint64
		w          *worker
		want       bool
	}{
		{"a path", "file\x00", 100, unix.SYS_OPENAT, unix.O_CLOEXEC, alone, true},
		{"a path at the end of the memory", "dir/file\x00", page, unix.SYS_OPENAT, 0, alone, true},
		{"a path that goes on where nothing is", "file", page, unix.SYS_OPENAT, 0, alone, false},
		{"an address without memory", "", page, unix.SYS_OPENAT, 0, alone, false},
		{"no path", "\x00", 100, unix.SYS_OPENAT, 0, alone, false},
		{"a file that is made", "file\x00", 100, unix.SYS_OPENAT, unix.O_CREAT, alone, false},
		{"another call", "file\x00", 100, unix.SYS_UNLINKAT, 0, alone, false},
	} {
		n := open(at(c.text, c.end), c.flags)
		n.nr = c.call
		if got := passes(c.w, n); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { passes(alone, open(at("file\x00", 100), 0)) }); n > 1 {
		t.Errorf("%v allocations for a call", n)
	}
}

// passes reads the path of a call and reports whether it goes on by that.
func passes(w *worker, n *notification) bool {
	text := w.read(n)
	return len(text) > 0 && w.passes(n, text)
}

// TestTextual: the path of a call is read where it is, and of those calls alone that its text may answer.
func TestTextual(t *testing.T) {
	for _, c := range []struct {
		name  string
		call  int32
		flags uint64
		want  uint64
	}{
		{"an open for reading", unix.SYS_OPENAT, unix.O_CLOEXEC, 20},
		{"an open for writing", unix.SYS_OPENAT, unix.O_WRONLY, 0},
		{"a directory", unix.SYS_MKDIRAT, 0, 20},
		{"a directory, by the older call", olderMkdir, 0, 10},
		{"the removal of a name", unix.SYS_UNLINKAT, 0, 0},
	} {
		if c.call < 0 {
			continue
		}
		if got, ok := textual(&notification{nr: c.call, args: [6]uint64{10, 20, c.flags}}); ok != (c.want != 0) || ok && got != c.want {
			t.Errorf("%s: %d, %v", c.name, got, ok)
		}
	}
}
