package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/broker"
)

// building is a ruleset that is being filled by two: the paths of a policy are many, and
// opening them is most of a start.
type building struct {
	ruleset
	paths []landlock.Path
	next  atomic.Int32
	aside chan error
}

// buildRuleset makes the kernel's ruleset from the specification, at the rights that
// this ABI version handles, and begins to fill it.
func (r *run) buildRuleset() (*building, error) {
	handled := landlock.Handled(r.spec.Levels, r.abi)
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{
		HandledAccessFS: handled.FS, HandledAccessNet: handled.Net, Scoped: handled.Scoped,
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("landlock_create_ruleset: %w", err)
	}
	b := &building{ruleset: ruleset{fd: fd, handled: handled.FS, net: handled.Net, self: strconv.Itoa(os.Getpid())}}
	if r.supervised {
		b.grants = &grants{by: make(broker.Grants, 256)}
	}
	b.aside = make(chan error, 1)
	for _, p := range r.spec.Paths {
		if r.stays() && p.Entries != nil && p.Entries.OwnProcess {
			r.own = landlock.FSMask(p.Access) & handled.FS
			b.self = noProcess
		}
		if !ofRun(p) {
			b.paths = append(b.paths, p)
		}
	}
	go func() { b.aside <- b.fill() }()
	return b, nil
}

// fill takes paths until there are none left.
func (b *building) fill() error {
	for {
		i := int(b.next.Add(1)) - 1
		if i >= len(b.paths) {
			return nil
		}
		if err := b.path(b.paths[i]); err != nil {
			return fmt.Errorf("%s: %w", b.paths[i].Path, err)
		}
	}
}

// complete fills the ruleset with all that is left, also with what the run has made for
// itself.
func (r *run) complete(b *building) error {
	mine := b.fill()
	if err := errors.Join(mine, <-b.aside); err != nil {
		return err
	}
	if r.ruleset = b.fd; b.grants != nil {
		r.grants = b.grants.by
	}
	for _, p := range r.spec.Paths {
		if !ofRun(p) {
			continue
		}
		if err := b.path(r.bind(p)); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	for _, p := range r.spec.Programs {
		if err := b.program(p.File); err != nil {
			return fmt.Errorf("%s: %w", p.File, err)
		}
	}
	if r.opens("net.host") {
		for _, p := range r.spec.Ports {
			if err := b.port(p); err != nil {
				return fmt.Errorf("port %d: %w", p.Port, err)
			}
		}
	}
	return nil
}

// runSymbol stands for the run's own directory.
const runSymbol = "${tmp}"

func ofRun(p landlock.Path) bool { return strings.HasPrefix(p.Path, runSymbol) }

// bind puts the run's own directory in the place of its symbol.
func (r *run) bind(p landlock.Path) landlock.Path {
	p.Path = r.tmp + strings.TrimPrefix(p.Path, runSymbol)
	return p
}

// ruleset is a kernel ruleset that is being filled.
type ruleset struct {
	fd           int
	handled, net uint64
	// self is the directory of /proc that the tool will have, noProcess where a child
	// grants it to itself.
	self string
	// grants are the rules that have been added, nil where no supervisor asks for them.
	grants *grants
}

// grants are rules that have been added, by any of those who fill a ruleset.
type grants struct {
	mu sync.Mutex
	by broker.Grants
}

func (g *grants) add(st *unix.Stat_t, access uint64) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.by[broker.Inode{Dev: st.Dev, Ino: st.Ino}] |= access
}

const noProcess = ""

// path adds one grant. What does not exist is left out; a path that has come to
// lead over a symlink since it was made canonical is refused.
func (b ruleset) path(p landlock.Path) error {
	if p.Entries != nil {
		return b.entries(p)
	}
	fd, err := openNoLinks(p.Path, unix.O_PATH)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES):
		return nil
	case errors.Is(err, unix.ELOOP):
		return errors.New("leads over a symlink now; build again")
	case err != nil:
		return err
	}
	defer unix.Close(fd)
	return b.grant(fd, landlock.FSMask(p.Access), false)
}

// openNoLinks opens an absolute path that leads over no symlink; one that does comes to
// ELOOP. Inside of a tool at Landlock ABI 1 or 2 its filter refuses openat2(2).
func openNoLinks(path string, flags int) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != unix.ENOSYS {
		return fd, err
	}
	return walkNoLinks(path, flags)
}

// walkNoLinks is openNoLinks step by step.
func walkNoLinks(path string, flags int) (int, error) {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for name := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' }) {
		if err != nil {
			return -1, err
		}
		dir, st := at, unix.Stat_t{}
		at, err = unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		_ = unix.Close(dir)
		if err == nil {
			err = unix.Fstat(at, &st)
		}
		if err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			_ = unix.Close(at)
			return -1, unix.ELOOP
		}
	}
	if err != nil || flags == unix.O_PATH {
		return at, err
	}
	defer unix.Close(at)
	return unix.Openat(at, ".", flags|unix.O_CLOEXEC, 0)
}

// grant adds a rule on what fd refers to. entry tells a file that is reached by
// its name in an expanded directory: the kernel knows files by inode, so another
// hard link of it would open the same file in a place that may be denied.
func (b ruleset) grant(fd int, access uint64, entry bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFLNK:
		return nil
	default:
		if access &= landlock.FileMask; entry && st.Nlink > 1 && st.Mode&unix.S_IFMT == unix.S_IFREG {
			return nil
		}
	}
	if access &= b.handled; access == 0 {
		return nil
	}
	b.grants.add(&st, access)
	return ll.LandlockAddPathBeneathRule(b.fd, &ll.PathBeneathAttr{AllowedAccess: access, ParentFd: fd}, 0)
}

// entries grants on each entry that a directory has now.
func (b ruleset) entries(p landlock.Path) error {
	dir, err := openNoLinks(p.Path, unix.O_RDONLY|unix.O_DIRECTORY)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES):
		return nil
	case errors.Is(err, unix.ELOOP):
		return errors.New("leads over a symlink now; build again")
	case err != nil:
		return err
	}
	defer unix.Close(dir)
	access := landlock.FSMask(p.Access)
	if p.Entries.OwnProcess && b.self != noProcess {
		if err := b.entry(dir, b.self, access, false); err != nil {
			return err
		}
	}
	return eachName(dir, p.Entries.OwnProcess, func(name string) error {
		if slices.Contains(p.Entries.Except, name) {
			return nil
		}
		return b.entry(dir, name, access, !p.Entries.OwnProcess)
	})
}

// entry grants on one entry of a directory. linked is set where a file may have another
// name.
func (b ruleset) entry(dir int, name string, access uint64, linked bool) error {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		// It was there a moment ago; nothing is granted on what has gone.
		return nil
	}
	defer unix.Close(fd)
	if err := b.grant(fd, access, linked); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// eachName calls do with the names in an open directory. In /proc those of processes
// come behind all others (proc_root_readdir in fs/proc/root.c) and are left out: listing
// them takes the kernel longer than all the rest, so little is read at a time.
func eachName(dir int, proc bool, do func(name string) error) error {
	buf := make([]byte, 8192)
	if proc {
		buf = buf[:1024]
	}
	for {
		n, err := unix.ReadDirent(dir, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if proc && isNumber(name) {
				return nil
			}
			if err := do(name); err != nil {
				return err
			}
		}
	}
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// maxInterpreters bounds the chain of scripts that interpret scripts, as the kernel
// does (fs/exec.c).
const maxInterpreters = 5

// program lets a listed file be started, with the interpreter that it names: the
// kernel asks for execute of both.
func (b ruleset) program(file string) error {
	for range maxInterpreters {
		if file == "" {
			return nil
		}
		fd, err := unix.Open(file, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err != nil {
			return err
		}
		err = b.grant(fd, landlock.FSMask([]landlock.Right{landlock.Execute, landlock.ReadFile}), false)
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
		if file, err = interpreter(file); err != nil {
			return err
		}
		if file != "" && !path.IsAbs(file) {
			return fmt.Errorf("names the interpreter %q, which is not absolute", file)
		}
	}
	return errors.New("is a script of a script of a script")
}

func (b ruleset) port(p landlock.Port) error {
	access := landlock.NetMask(p.Access) & b.net
	if access == 0 {
		return nil
	}
	return ll.LandlockAddNetPortRule(b.fd, &ll.NetPortAttr{AllowedAccess: access, Port: uint64(p.Port)}, 0)
}
