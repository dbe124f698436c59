package start

import (
	"path"
	"slices"
	"sync"
	"sync/atomic"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
)

// places are descriptors of places that the policies of this process grant, kept between two starts. A kept place
// is used while its path, over no symlink, leads to it.
// See decision D305.
type places struct {
	mu sync.RWMutex
	by map[string]*keptPlace
	// closed is set when this process starts no more.
	closed bool
	watch  watch
	// mounts are directories whose mounts may be held; nil for those of a system.
	mounts []string
}

// keptPlace is a directory or file that was opened without a symlink on its way.
type keptPlace struct {
	fd int
	is identity
	st unix.Stat_t
	// in is the kept directory above, nil for the root. If that is another one now, the watch is not on its names.
	in *keptPlace
	// watched is set where the watch tells of each change on the way to the place, and in it where it is a
	// directory above other places. proved is the turn of the watch in which its path has led to it.
	watched bool
	proved  atomic.Uint64
}

// maxPlaces bounds the places that are kept, and so the descriptors.
const maxPlaces = 128

// fill adds the rules on kept places to a ruleset, in a turn of the watch, and returns the other paths. With
// watched it leaves those places out that each start compares.
func (k *places) fill(b *building, paths []landlock.Path, turn uint64, watched bool) ([]landlock.Path, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	look := look{places: k, dirs: map[string]bool{}}
	var rest []landlock.Path
	for _, p := range paths {
		at := k.by[p.Path]
		if at == nil || p.Entries != nil || !at.provedIn(turn) && (!look.proves(p.Path, at, turn) || watched && !at.provedIn(turn)) {
			rest = append(rest, p)
			continue
		}
		if err := b.kept(at, landlock.FSMask(p.Access)); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// provedIn reports whether nothing has changed since the path led to the place.
func (at *keptPlace) provedIn(turn uint64) bool { return turn != 0 && at.proved.Load() == turn }

// kept adds a rule on a kept place.
func (b *building) kept(at *keptPlace, access uint64) error {
	if at.is.kind != unix.S_IFDIR {
		access &= landlock.FileMask
	}
	if access &= b.handled; access == 0 {
		return nil
	}
	b.grants.add(&at.st, access)
	return ll.LandlockAddPathBeneathRule(b.fd, &ll.PathBeneathAttr{AllowedAccess: access, ParentFd: at.fd}, 0)
}

// look is one round of comparisons. dirs are the kept directories that it has compared already.
type look struct {
	*places
	dirs map[string]bool
}

// proves reports whether a path leads to a kept place, and has the watch stand for it from the given turn on.
func (l look) proves(to string, at *keptPlace, turn uint64) bool {
	if !l.leads(to, at) {
		return false
	}
	if at.watched {
		at.proved.Store(turn)
	}
	return true
}

// leads reports whether a path leads to a kept place. Each directory on the way is one as well, so that a
// symlink is seen at any place of it.
func (l look) leads(to string, at *keptPlace) bool {
	in, name := unix.AT_FDCWD, to
	if dir := path.Dir(to); dir != "/" {
		above := l.by[dir]
		if above == nil || above != at.in {
			return false
		}
		fresh, known := l.dirs[dir]
		if !known {
			fresh = l.leads(dir, above)
			l.dirs[dir] = fresh
		}
		if !fresh {
			return false
		}
		in, name = above.fd, path.Base(to)
	}
	now, ok := identify(in, name, noFollow)
	return ok && now == at.is
}

// keep takes over the descriptor of a place that was opened without a symlink on its way, and keeps the directories
// above it, too. It returns false where the place is not kept.
func (k *places) keep(to string, fd int) bool {
	is, ok := identify(fd, "", unix.AT_EMPTY_PATH)
	if !ok || is.kind == unix.S_IFLNK || !k.lasts(is.mount) {
		return false
	}
	at := &keptPlace{fd: fd, is: is}
	above, watched, ok := k.above(to)
	if !ok || unix.Fstat(fd, &at.st) != nil {
		return false
	}
	at.in, at.watched = above, watched && local(fd)
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.by[to]
	if k.closed || was == nil && len(k.by) >= maxPlaces || was.equals(at) {
		return false
	}
	if was != nil {
		_ = unix.Close(was.fd)
	}
	if k.by == nil {
		k.by = map[string]*keptPlace{}
	}
	k.by[to] = at
	return true
}

// equals reports whether another descriptor of the same place adds nothing. Places below this one stay proved then.
func (at *keptPlace) equals(other *keptPlace) bool {
	return at != nil && at.is == other.is && at.in == other.in && at.watched == other.watched
}

// above keeps the directory above a path as it is now, and reports whether it is watched. It is nil for the root.
func (k *places) above(to string) (in *keptPlace, watched, ok bool) {
	dir := path.Dir(to)
	if dir == "/" {
		return nil, k.watch.root(), true
	}
	k.mu.RLock()
	at := k.by[dir]
	fresh := at != nil && look{places: k, dirs: map[string]bool{}}.leads(dir, at)
	k.mu.RUnlock()
	if fresh {
		return at, at.watched && k.watch.add(at.fd), true
	}
	fd, err := openNoLinks(dir, unix.O_PATH)
	if err != nil {
		return nil, false, false
	}
	if !k.keep(dir, fd) {
		_ = unix.Close(fd)
		return nil, false, false
	}
	return k.above(to)
}

// lasts reports whether a mount is one that no one takes away from a running system: a descriptor would
// keep another one from being unmounted.
func (k *places) lasts(mount uint64) bool {
	dirs := k.mounts
	if dirs == nil {
		dirs = []string{"/", "/dev", "/proc"}
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		at, ok := identify(unix.AT_FDCWD, dir, noFollow)
		return ok && at.mount == mount
	})
}

// close closes the descriptors. No other is kept from now on.
func (k *places) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.by {
		_ = unix.Close(p.fd)
	}
	k.by, k.closed = nil, true
	k.watch.close()
}
