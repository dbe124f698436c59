package supervisor

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/kernelfs"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// Some places in the base mean another file for every tool: its processes in /proc, its
// terminals, its shared memory, its standard descriptors. Here the path of a file becomes the
// place that rules are about.

// sandbox is how this process knows the tool's files and processes.
type sandbox struct {
	// self is this process, procfs and root its views of /proc and "/".
	self int
	// proxy is the egress proxy, a child of this process that is not the tool's; 0 for none.
	proxy        int
	procfs, root int
	roots        *ir.Bindings
	places       *places
	// terminal is the controlling terminal, given are the standard descriptors that the tool was
	// started with, shared is the shared memory of the run.
	terminal terminal
	given    [3]given
	shared   private
	kinds    filesystems
	// marks identifies the processes of the tool, nil where processes cannot be marked.
	marks *mark
}

// open looks at this process and its host.
func (s *sandbox) open(roots *ir.Bindings, base []ir.FSRule, o Options) (err error) {
	s.places = standing.about(directories(roots), hostview.Base(base), roots.Temp)
	s.self, s.roots, s.terminal = unix.Getpid(), roots, runTerminal()
	if s.terminal.pin, err = unix.Open(s.terminal.path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
		s.terminal.pin = -1
	}
	if o.Mark != nil {
		s.marks = &o.Mark.mark
	}
	if o.Egress != nil {
		s.proxy = o.Egress.PID
	}
	files := o.Files
	if files == nil {
		files = &[3]int{0, 1, 2}
	}
	for n, fd := range files {
		s.given[n] = asGiven(fd)
	}
	if s.shared, err = openPrivate(o.Shared); err != nil {
		return err
	}
	if s.procfs, err = unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	if !isProc(s.procfs, true) {
		return unix.ENODEV
	}
	s.root, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return err
}

// directories are the directories of the places that a policy is about, the workspace first.
func directories(roots *ir.Bindings) (out []string) {
	for _, r := range roots.Roots() {
		if dir, ok := roots.Path(ir.Location{Root: r}); ok {
			out = append(out, dir)
		}
	}
	return out
}

// given is a standard descriptor that the tool was started with: the file, and the mode that it is open with. held
// keeps the number of the inode from being given to another file. The next pseudo-terminal gets the number of a
// pseudo-terminal that has lost its name.
type given struct {
	known  bool
	file   Inode
	device bool
	mode   uint64
	held   int
}

// is reports whether an open file is the given file.
func (g *given) is(fd int) bool {
	at, known := inode(fd)
	if !g.known || !known || at != g.file {
		return false
	}
	if !g.device {
		return true
	}
	was, err := nameOf(g.held)
	now, err2 := nameOf(fd)
	return err == nil && err2 == nil && was == now
}

// asGiven is a descriptor as a given descriptor. A descriptor without a right (O_PATH) counts
// as none.
func asGiven(fd int) (g given) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_PATH != 0 {
		return g
	}
	// This is no end of a pipe, whose other end could not tell otherwise that the tool has closed its own.
	if g.held, err = unix.Open(self(fd), unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return g
	}
	var st unix.Stat_t
	g.known = unix.Fstat(g.held, &st) == nil
	g.file, g.device, g.mode = Inode{st.Dev, st.Ino}, st.Mode&unix.S_IFMT == unix.S_IFCHR, uint64(flags)&accessMode
	return g
}

// at is the place of an absolute path as the kernel names it.
func (s *sandbox) at(path string) ir.Place {
	if path == "/proc" {
		return ir.Direct(ir.Sys(ir.LinuxProc)) // listing it shows numbers only
	}
	if below, ok := strings.CutPrefix(path, "/proc/"); ok {
		return ir.Direct(ir.Sys(s.ofProcess(below)))
	}
	if kernelfs.Below(path, nowhere) || kernelfs.Below(path, inKernel) || kernelfs.Below(path, inAlias) {
		return ir.Direct(ir.Sys(path[1:])) // of no workspace either, which may be the root
	}
	if s.places.shut(path) {
		return ir.Direct(ir.Sys(inAlias[1:] + path))
	}
	if number, ok := strings.CutPrefix(path, "/dev/pts/"); ok {
		return ir.Direct(ir.Sys(s.ofTerminal(number)))
	}
	if below, ok := strings.CutPrefix(path, sharedMemory); ok && (below == "" || below[0] == '/') {
		return ir.Direct(ir.Sys(s.ofSharedMemory(strings.TrimPrefix(below, "/"))))
	}
	return ir.Direct(s.roots.Locate(path))
}

// ofProcess is the place of a path below /proc. The directories of all processes of the
// tool are one place.
func (s *sandbox) ofProcess(path string) string {
	first, below, _ := strings.Cut(path, "/")
	if pid, err := strconv.Atoi(first); err != nil || !s.ours(pid) {
		return "proc/" + path
	}
	return strings.TrimSuffix(ir.LinuxProc+"/"+below, "/")
}

// ofTerminal is the place of a pseudo-terminal by its number.
func (s *sandbox) ofTerminal(number string) string {
	if n, err := strconv.Atoi(number); err == nil && s.ownsTerminal(n) {
		return ir.LinuxTerminal
	}
	return "dev/pts/" + number
}

// sharedMemory is the directory of POSIX shared memory (shm_overview(7)).
const sharedMemory = "/" + ir.LinuxShared

// ofSharedMemory is the place of a path below the shared memory. The directory of the run
// stands for the whole of it; no rule is about the rest.
func (s *sandbox) ofSharedMemory(path string) string {
	first, below, _ := strings.Cut(path, "/")
	if s.shared.name == "" || first != s.shared.name {
		return strings.TrimSuffix(ir.LinuxShared+" of other processes/"+path, "/")
	}
	return strings.TrimSuffix(ir.LinuxShared+"/"+below, "/")
}

// private is a directory of the run that stands for a directory of all processes.
type private struct {
	// name is the name of the run's directory within the common directory; empty for none.
	name string
	// dir is a descriptor of the run's directory, all identifies the common directory, and dev
	// is their file system.
	dir int
	all Inode
	dev uint64
}

// openPrivate opens the directory of shared memory of a run.
func openPrivate(dir string) (private, error) {
	p := private{dir: -1}
	name, ok := strings.CutPrefix(dir, sharedMemory+"/")
	if !ok {
		return p, nil
	}
	var err error
	if p.dir, err = unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
		return p, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(sharedMemory, &st); err != nil {
		return p, err
	}
	p.name, p.all, p.dev = name, Inode{st.Dev, st.Ino}, st.Dev
	return p, nil
}

// stands returns the directory of the run in place of the common directory.
func (p *private) stands(at Inode) (int, bool) { return p.dir, p.name != "" && at == p.all }

// own reports whether a file is on one of the file systems where the same path is another file
// for every tool.
func (s *sandbox) own(fd int, st *unix.Stat_t) bool {
	_, slave := terminalNumber(st.Rdev)
	return slave && st.Mode&unix.S_IFMT == unix.S_IFCHR || s.shared.name != "" && st.Dev == s.shared.dev ||
		s.kinds.proc(fd, st.Dev)
}

// inOwn reports the same of a directory.
func (s *sandbox) inOwn(dir int) bool {
	var st unix.Stat_t
	return unix.Fstat(dir, &st) != nil || s.own(dir, &st)
}

// terminal is the controlling terminal of the run; dev is 0 for none.
type terminal struct {
	dev  uint64
	path string
	// pin is a descriptor of the file at path, which loses its name with the terminal. It does not keep that open. -1
	// for none.
	pin int
}

// Terminal is the path of the controlling terminal of this process, empty for none.
func Terminal() string { return runTerminal().path }

// runTerminal finds the controlling terminal of this process. A terminal that is no
// pseudo-terminal is found by the standard descriptors that lead to it.
func runTerminal() terminal {
	var t terminal
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.ENXIO {
		return t // there is none (tty(4)), which costs less to learn so than to read
	}
	if err == nil {
		_ = unix.Close(fd)
	}
	// The file of this thread, which the kernel writes without adding up the times of all
	// threads.
	t.dev = controllingIn("/proc/thread-self/stat")
	if number, ok := terminalNumber(t.dev); ok {
		t.path = "/dev/pts/" + strconv.Itoa(number)
	}
	for fd := 0; fd < 3 && t.dev != 0 && t.path == ""; fd++ {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Rdev == t.dev {
			t.path, _ = nameOf(fd)
		}
	}
	return t
}

// ownsTerminal reports whether a pseudo-terminal is the controlling terminal of the run, or whether a process of the
// tool holds its other end. The next pseudo-terminal gets the number of a terminal that has gone: the answer is about
// a file that was found before the question.
func (s *sandbox) ownsTerminal(number int) bool {
	if at, ok := terminalNumber(s.terminal.dev); ok && at == number {
		if name, err := nameOf(s.terminal.pin); err == nil && name == s.terminal.path {
			return true
		}
	}
	return s.mastered(number)
}

// Slaves of pseudo-terminals have the major numbers from 136 to 143, each 256 of them
// (Documentation/admin-guide/devices.txt).
const firstSlave, lastSlave = 136, 143

// terminalNumber is the number of the pseudo-terminal that a device is the slave of.
func terminalNumber(dev uint64) (int, bool) {
	major := unix.Major(dev)
	return int(major-firstSlave)<<8 | int(unix.Minor(dev)), major >= firstSlave && major <= lastSlave
}

// mastered reports whether a process of the tool has the master of a pseudo-terminal open. The
// kernel gives its number with the descriptor (tty_show_fdinfo() in drivers/tty/tty_io.c).
func (s *sandbox) mastered(number int) bool {
	want := "tty-index:\t" + strconv.Itoa(number) + "\n"
	for _, pid := range s.processes() {
		dir := "/proc/" + strconv.Itoa(pid)
		list, _ := os.ReadDir(dir + "/fd")
		for _, fd := range list {
			target, err := os.Readlink(dir + "/fd/" + fd.Name())
			if err != nil || !strings.HasSuffix(target, "ptmx") {
				continue
			}
			info, _ := os.ReadFile(dir + "/fdinfo/" + fd.Name())
			if strings.Contains(string(info), want) {
				return true
			}
		}
	}
	return false
}

// processes lists the processes of the tool.
func (s *sandbox) processes() []int {
	var out []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && s.ours(pid) {
			out = append(out, pid)
		}
	}
	return out
}

// controlling is the device of a process's controlling terminal, 0 for none: the seventh
// field of /proc/PID/stat, where the name in parentheses is the second (proc_pid_stat(5)).
func controlling(pid int) uint64 { return controllingIn("/proc/" + strconv.Itoa(pid) + "/stat") }

func controllingIn(file string) uint64 {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var buf [1024]byte // 52 numbers and a name of up to 64 bytes, of which the first are of interest
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return 0
	}
	text := string(buf[:n])
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const ttyNr = 4
	if len(f) <= ttyNr {
		return 0
	}
	tty, _ := strconv.ParseUint(f[ttyNr], 10, 32)
	// The encoding of new_encode_dev() in include/linux/kdev_t.h.
	return unix.Mkdev(uint32(tty>>8)&0xfff, uint32(tty&0xff|tty>>12&0xfff00))
}

// filesystems remembers which devices belong to proc file systems.
type filesystems struct {
	mu sync.RWMutex
	of map[uint64]bool
}

// proc reports whether a file is on a proc file system.
func (f *filesystems) proc(fd int, dev uint64) bool {
	f.mu.RLock()
	is, known := f.of[dev]
	f.mu.RUnlock()
	if known {
		return is
	}
	var fs unix.Statfs_t
	is = unix.Fstatfs(fd, &fs) == nil && fs.Type == unix.PROC_SUPER_MAGIC
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[uint64]bool{}
	}
	f.of[dev] = is
	return is
}
