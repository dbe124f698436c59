package start

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
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// building is a ruleset that is being filled, by two goroutines where the paths are many.
type building struct {
	ruleset
	paths []landlock.Path
	next  atomic.Int32
	// own is that of the run.
	own uint64
	// turn is that of the watch in which a ruleset was made ahead of its start.
	turn uint64
	// aside gets the result of the other goroutine, and filled is closed once it was taken.
	aside  chan error
	filled chan struct{}
}

// begin makes the kernel's ruleset of the specification, at the rights that this ABI version handles, and lists
// the paths that are there before the run.
func (r *run) begin() (*building, error) {
	handled := landlock.Handled(r.spec.Levels, r.abi)
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{
		HandledAccessFS: handled.FS, HandledAccessNet: handled.Net, Scoped: handled.Scoped,
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("landlock_create_ruleset: %w", err)
	}
	b := &building{ruleset: ruleset{fd: fd, handled: handled.FS, net: handled.Net}}
	if r.supervised {
		b.grants = &grants{by: make(supervisor.Grants, 256), of: r.external()}
	}
	for _, p := range r.paths() {
		switch {
		case p.Path == ownProcess && r.supervised:
			// The supervisor shows the tool its processes in /proc.
		case p.Path == ownProcess && r.stays():
			// The process that becomes the tool is not there yet, and grants it to itself.
			b.own = landlock.FSMask(p.Access) & handled.FS
		case p.Path == ownProcess:
			p.Path = "/proc/" + strconv.Itoa(os.Getpid())
			b.paths = append(b.paths, p)
		case !ofRun(p):
			b.paths = append(b.paths, p)
		}
	}
	return b, nil
}

// buildRuleset makes the ruleset of the run, or takes one that was made ahead, and begins to fill it.
func (r *run) buildRuleset() (*building, error) {
	turn := r.site.turn()
	b := r.ahead.take(turn)
	if b == nil {
		var err error
		if b, err = r.begin(); err != nil {
			return nil, err
		}
	}
	r.own = b.own
	for _, p := range r.paths() {
		if p.Path == terminalPath {
			b.paths = append(b.paths, terminalPaths(p)...)
		}
	}
	if r.site.Lasts {
		var err error
		b.keeps = r.keeps()
		if b.paths, err = r.site.places.fill(b, b.paths, turn, false); err != nil {
			_ = unix.Close(b.fd)
			return nil, err
		}
	}
	b.aside, b.filled = make(chan error, 1), make(chan struct{})
	if len(b.paths) > alone {
		go func() { b.aside <- b.fill() }()
	} else {
		b.aside <- nil
	}
	return b, nil
}

// keeps returns the function that takes over the descriptor of a place that was granted, if the place is kept. The
// workspace, the home and the targets of external rules are not: they may go and come back.
func (r *run) keeps() func(path string, fd int) bool {
	own := []string{r.spec.Workspace, r.spec.Home}
	if r.supervised {
		own = append(own, r.external()...)
	}
	return func(path string, fd int) bool {
		return !slices.ContainsFunc(own, func(dir string) bool {
			return dir != "" && strings.HasPrefix(path+"/", strings.TrimSuffix(dir, "/")+"/")
		}) && r.site.places.keep(path, fd)
	}
}

// alone is the number of paths up to which one thread adds them all: to wake another takes longer.
// See decision D104.
const alone = 256

// Places of the base that mean something else for every tool; see landlock.Path.
const (
	ownProcess   = "/" + ir.LinuxProc
	terminalPath = "/" + ir.LinuxTerminal
)

// terminalPaths repeats a grant on the controlling terminal's common name for its own name.
func terminalPaths(p landlock.Path) []landlock.Path {
	path := supervisor.Terminal()
	if path == "" {
		return nil
	}
	p.Path = path
	return []landlock.Path{p}
}

// paths are the grants of the ruleset.
func (r *run) paths() []landlock.Path {
	if r.supervised {
		return r.spec.Supervision.Paths
	}
	return r.spec.Paths
}

// external are the directories, with a slash behind them, below which rules are written:
// the workspace and the targets of external rules.
func (r *run) external() []string {
	out := []string{strings.TrimSuffix(r.spec.Workspace, "/") + "/"}
	if j := r.spec.Supervision.Judged; j != nil {
		for _, target := range j.External {
			out = append(out, strings.TrimSuffix(target, "/")+"/")
		}
	}
	return out
}

// fill adds paths until none is left.
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

// complete adds the remaining paths, also those that the run has made for itself.
func (r *run) complete(b *building) error {
	mine := b.fill()
	err := errors.Join(mine, <-b.aside)
	close(b.filled)
	if r.ruleset = b.fd; b.grants != nil {
		r.grants = b.grants
	}
	if err != nil {
		return err
	}
	b.keeps = nil // nothing that follows is there for the next run
	for _, p := range r.paths() {
		if !ofRun(p) {
			continue
		}
		if err := b.path(r.bind(p)); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	if r.context != "" {
		if err := b.path(landlock.Path{Path: r.context, Access: []landlock.Right{landlock.ReadFile}}); err != nil {
			return fmt.Errorf("the Context: %w", err)
		}
	}
	for _, p := range r.spec.Programs {
		if err := b.program(p.File); err != nil {
			return fmt.Errorf("%s: %w", p.File, err)
		}
	}
	if r.opens(ir.GapNetHost) {
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

// bind replaces the symbol of the run's own directory.
func (r *run) bind(p landlock.Path) landlock.Path {
	p.Path = r.tmp + strings.TrimPrefix(p.Path, runSymbol)
	return p
}

// ruleset is a kernel ruleset that is being filled.
type ruleset struct {
	fd           int
	handled, net uint64
	// grants are the rules that have been added, nil where no supervisor needs them.
	grants *grants
	// keeps takes over the descriptor of a place that is kept for other starts; nil where none is.
	keeps func(path string, fd int) bool
}

// grants are the rules that the two goroutines have added to a ruleset.
type grants struct {
	mu sync.Mutex
	by supervisor.Grants
	// of are the directories that rules are written about; placements are the grants below
	// them, absent the paths of those that are not there.
	of         []string
	placements []supervisor.Placement
	absent     []string
}

func (g *grants) add(st *unix.Stat_t, access uint64) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.by[supervisor.Inode{Dev: st.Dev, Ino: st.Ino}] |= access
}

// place remembers where a directory or file is that is granted as a whole, or that it is not
// there (a negative descriptor).
func (g *grants) place(path string, fd int) {
	if g == nil || !slices.ContainsFunc(g.of, func(dir string) bool { return strings.HasPrefix(path+"/", dir) }) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	kept, err := -1, error(nil)
	if fd >= 0 {
		kept, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	if kept < 0 || err != nil {
		g.absent = append(g.absent, path)
		return
	}
	g.placements = append(g.placements, supervisor.Placement{FD: kept, Path: path})
}

// path adds one grant. It leaves out a path that does not exist, and refuses one that has come
// to lead over a symlink since it was made canonical. Those of an image were not: there a symlink gets
// nothing, and its target gets the rights that the ruleset grants at its own place.
func (b ruleset) path(p landlock.Path) error {
	if p.Entries != nil {
		return b.entries(p)
	}
	fd, err := openNoLinks(p.Path, unix.O_PATH)
	switch {
	case absent(err) || p.Image && errors.Is(err, unix.ELOOP):
		b.grants.place(p.Path, -1)
		return nil
	case errors.Is(err, unix.ELOOP):
		return errors.New("leads over a symlink now; build again")
	case err != nil:
		return err
	}
	defer b.done(p.Path, fd)
	points.ReachOf(points.Opened, p.Path)
	if b.grants == nil {
		return b.grantEither(fd, landlock.FSMask(p.Access)&b.handled)
	}
	b.grants.place(p.Path, fd)
	return b.grant(fd, landlock.FSMask(p.Access), false)
}

// done keeps or closes the descriptor of a place.
func (b ruleset) done(path string, fd int) {
	if b.keeps == nil || !b.keeps(path, fd) {
		_ = unix.Close(fd)
	}
}

// absent reports whether there is nothing at a path that this process could be granted.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES)
}

// grantEither adds a rule on a directory, or on the file that the path leads to. The kernel refuses the
// rights of directories on a file (landlock_add_rule(2), EINVAL), which says what it is without asking.
func (b ruleset) grantEither(fd int, access uint64) error {
	attr := &ll.PathBeneathAttr{AllowedAccess: access, ParentFd: fd}
	if access == 0 {
		return nil
	}
	err := ll.LandlockAddPathBeneathRule(b.fd, attr, 0)
	if attr.AllowedAccess &= landlock.FileMask; err == unix.EINVAL && attr.AllowedAccess != access && attr.AllowedAccess != 0 {
		err = ll.LandlockAddPathBeneathRule(b.fd, attr, 0)
	} else if err == unix.EINVAL && attr.AllowedAccess == 0 {
		err = nil
	}
	return err
}

// openNoLinks opens an absolute path that leads over no symlink; for one that does it returns
// ELOOP. Inside of a tool at Landlock ABI 1 or 2 the filter of that tool refuses openat2(2).
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

// grant adds a rule on the file of fd. entry is set for a file that is reached by its name in
// an expanded directory: the kernel knows files by inode, so another hard link of it would open
// the same file in a place that may be denied.
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
	case absent(err) || p.Image && errors.Is(err, unix.ELOOP):
		return nil
	case errors.Is(err, unix.ELOOP):
		return errors.New("leads over a symlink now; build again")
	case err != nil:
		return err
	}
	defer unix.Close(dir)
	access := landlock.FSMask(p.Access)
	return eachName(dir, func(name string) error {
		if slices.Contains(p.Entries.Except, name) {
			return nil
		}
		return b.entry(dir, name, access)
	})
}

// entry grants on one entry of a directory.
func (b ruleset) entry(dir int, name string, access uint64) error {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		// It was there a moment ago; a file that has gone gets no grant.
		return nil
	}
	defer unix.Close(fd)
	if err := b.grant(fd, access, true); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// eachName calls do with the names in an open directory.
func eachName(dir int, do func(name string) error) error {
	buf := make([]byte, 8192)
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
			if err := do(name); err != nil {
				return err
			}
		}
	}
}

// maxInterpreters bounds the chain of scripts that interpret scripts, as the kernel
// does (fs/exec.c).
const maxInterpreters = 5

// program lets a listed file be started, with the interpreter that it names: the kernel checks
// execute on both. A path without a file, or not to a regular file, is left out.
func (b ruleset) program(file string) error {
	for range maxInterpreters {
		if file == "" {
			return nil
		}
		fd, err := unix.Open(file, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			return nil
		}
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			// Reading a fifo's head to find its interpreter would wait for another process.
			_ = unix.Close(fd)
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
