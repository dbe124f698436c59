package undo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/process/points"
)

// undoing carries a plan out. Whatever it changes has been kept, by a keeper of its own.
type undoing struct {
	*plan
	journal *journal
	store   int // the directory of the run that is taken back
	keeper  *Keeper
	visit   *visit
	// side are the side directories, by the device that they are on, parked is where what has moved is.
	side   map[uint64]sideDir
	beside string // their name
	parked map[string]aside
}

type sideDir struct {
	fd, above int
	path      string
	was       *kept // the directory above
}

type aside struct {
	sideDir
	name string
}

var errMeanwhile = errors.New("has changed in this moment")

// apply carries the plan out.
func (u *undoing) apply() (err error) {
	u.side, u.parked, u.beside = map[uint64]sideDir{}, map[string]aside{}, ".accessc-undo-"+rand.Text()
	defer u.visit.leave()
	defer func() {
		for _, s := range u.side {
			_, _ = unix.Close(s.fd), unix.Close(s.above)
		}
	}()
	for _, p := range u.parks {
		points.Reach(points.Undoing)
		if err := u.park(p); err != nil {
			return &pathError{p.path, err}
		}
	}
	for _, f := range u.names {
		points.Reach(points.Undoing)
		if err := u.fill(f); err != nil {
			return &pathError{f.path, err}
		}
	}
	for _, l := range u.links {
		if err := u.link(l); err != nil {
			return &pathError{l.path, err}
		}
	}
	if err := u.tidy(); err != nil {
		return err
	}
	for _, f := range u.files {
		points.Reach(points.Undoing)
		if err := u.restore(f); err != nil {
			return &pathError{f.path, err}
		}
	}
	return nil
}

// dir opens the directory of a path, which is a place of the run or below it.
func (u *undoing) dir(p string) (int, error) {
	if !u.journal.holds(p) {
		return -1, errJournal
	}
	f, fd, err := u.visit.open(path.Dir(p))
	if err == nil && !f.dir() {
		err = unix.ENOTDIR
	}
	if err == nil && f.Mode&0o300 != 0o300 {
		err = u.writable(fd, path.Dir(p), f)
	}
	return fd, err
}

// writable lets the owner of a directory change it.
func (u *undoing) writable(fd int, at string, f *print) error {
	if f.Mode&0o700 == 0o700 || unix.Geteuid() == 0 || int(f.UID) != unix.Geteuid() {
		return nil // the kernel decides
	}
	if err := u.keeper.Metadata(fd, at); err != nil {
		return err
	}
	return u.visit.permit(fd)
}

// found opens the file at a path, which must be the expected file.
func (u *undoing) found(p, id string) (dir, fd int, f *print, err error) {
	if dir, err = u.dir(p); err != nil {
		return dir, -1, nil, err
	}
	if fd, err = unix.Openat(dir, path.Base(p), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err == nil {
		f, err = look(fd, "")
	}
	if err == nil && id != "" && f.ID != id {
		err = errMeanwhile
	}
	return dir, fd, f, err
}

// park takes what has moved to a side directory of its file system.
func (u *undoing) park(p place) error {
	dir, fd, f, err := u.found(p.path, p.id)
	defer closeBoth(dir, fd)
	if err != nil {
		return err
	}
	s, err := u.sideOf(fd, p.path)
	if err != nil {
		return err
	}
	to := aside{s, strconv.Itoa(len(u.parked))}
	if err := u.keeper.Name(dir, path.Dir(p.path), path.Base(p.path)); err != nil {
		return err
	}
	if err := u.keeper.Name(s.fd, s.path, to.name); err != nil {
		return err
	}
	if f.dir() {
		u.keeper.Moved(p.path, path.Join(s.path, to.name), false)
	}
	u.parked[p.id] = to
	return u.rename(dir, path.Base(p.path), s.fd, to.name, f)
}

// rename moves a file to a free name. A directory has to be writable for that: its entry ".." changes (rename(2)).
func (u *undoing) rename(from int, old string, to int, file string, f *print) error {
	if f.dir() && f.Mode&0o200 == 0 {
		fd, err := unix.Openat(from, old, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Chmod(self(fd), f.Mode&0o7777|0o200); err != nil {
			return err
		}
		defer func() { _ = unix.Chmod(self(fd), f.Mode&0o7777) }()
	}
	return unix.Renameat2(from, old, to, file, unix.RENAME_NOREPLACE)
}

// sideOf is the side directory for what is at a path: in the first directory from the place on that is on the same
// file system.
func (u *undoing) sideOf(fd int, p string) (sideDir, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return sideDir{}, err
	}
	if s, ok := u.side[st.Dev]; ok {
		return s, nil
	}
	for _, at := range ancestors(path.Dir(p)) {
		if !u.journal.holds(at) {
			continue
		}
		var above unix.Stat_t
		dir, err := take(at, unix.O_PATH|unix.O_DIRECTORY)
		if err == nil {
			err = unix.Fstat(dir, &above)
		}
		if err != nil {
			return sideDir{}, err
		}
		if above.Dev != st.Dev {
			_ = unix.Close(dir)
			continue
		}
		s := sideDir{fd: -1, above: dir, path: path.Join(at, u.beside)}
		if s.was, err = describe(dir); err == nil {
			if err = u.writable(dir, at, &s.was.print); err == nil {
				err = u.keeper.Name(dir, at, u.beside)
			}
		}
		if err == nil {
			err = unix.Mkdirat(dir, u.beside, 0o700)
		}
		if err == nil {
			s.fd, err = unix.Openat(dir, u.beside, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		}
		u.side[st.Dev] = s
		return s, err
	}
	return sideDir{}, unix.EXDEV
}

// tidy removes the side directories.
func (u *undoing) tidy() error {
	for _, s := range u.side {
		if err := unix.Unlinkat(s.above, u.beside, unix.AT_REMOVEDIR); err != nil {
			return &pathError{s.path, err}
		}
		_ = touch(s.above, s.was)
	}
	return nil
}

// fill clears a name and gives it its file.
func (u *undoing) fill(f filling) error {
	dir, err := u.dir(f.path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	at, base := path.Split(f.path)
	at = path.Clean(at)
	now, err := look(dir, base)
	switch {
	case err != nil:
		return err
	case now != nil && f.want != nil && now.ID == f.want.ID:
		return nil
	case now != nil:
		if err := u.remove(dir, at, base); err != nil {
			return err
		}
	}
	if f.want == nil {
		return nil
	}
	if err := u.keeper.Name(dir, at, base); err != nil {
		return err
	}
	switch {
	case f.parked:
		from := u.parked[f.want.ID]
		if f.want.dir() {
			u.keeper.Moved(path.Join(from.path, from.name), f.path, false)
		}
		now, err := look(from.fd, from.name)
		if err != nil || now == nil {
			return errMeanwhile
		}
		return u.rename(from.fd, from.name, dir, base, now)
	case f.kept != nil:
		return u.create(dir, base, f.kept)
	}
	return nil
}

// remove removes what is at a name, and everything in it.
func (u *undoing) remove(dir int, at, base string) error {
	fd, err := unix.Openat2(dir, base, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_XDEV})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	f, err := look(fd, "")
	if err != nil {
		return err
	}
	p, flags := path.Join(at, base), 0
	if f.dir() {
		flags = unix.AT_REMOVEDIR
		if f.Mode&0o700 != 0o700 {
			if err := u.writable(fd, p, f); err != nil {
				return err
			}
		}
		list, err := entries(fd)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := u.remove(fd, p, e); err != nil {
				return err
			}
		}
	}
	if err := u.keeper.Name(dir, at, base); err != nil {
		return err
	}
	defer u.keeper.Stayed(fd)
	if err := u.keeper.Lost(fd, p); err != nil {
		return err
	}
	return unix.Unlinkat(dir, base, flags)
}

// create makes a file that is nowhere any more.
func (u *undoing) create(dir int, base string, k *kept) error {
	if k.Linked {
		return unix.Linkat(u.store, k.Blob, dir, base, 0)
	}
	var err error
	switch t := k.Mode & typeMask; t {
	case typeDir:
		err = unix.Mkdirat(dir, base, 0o700)
	case typeLink:
		err = unix.Symlinkat(string(k.Target), dir, base)
	case typeFile:
		var to int
		if to, err = unix.Openat(dir, base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600); err == nil {
			err = u.bring(k, to)
			_ = unix.Close(to)
		}
	default:
		err = unix.Mknodat(dir, base, t|0o600, int(k.Dev))
	}
	if err == nil {
		u.keeper.Made(dir, base)
	}
	return err
}

// bring copies the kept contents of a file.
func (u *undoing) bring(k *kept, to int) error {
	from, err := unix.Openat(u.store, k.Blob, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	return contents(from, to, k.Size)
}

// link gives a file a further name.
func (u *undoing) link(l linking) error {
	was, of, _, err := u.found(l.of, "")
	defer closeBoth(was, of)
	if err != nil {
		return err
	}
	dir, err := u.dir(l.path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := u.keeper.Name(dir, path.Dir(l.path), path.Base(l.path)); err != nil {
		return err
	}
	if err := u.keeper.Metadata(of, l.of); err != nil { // the time of its last change
		return err
	}
	return unix.Linkat(unix.AT_FDCWD, self(of), dir, path.Base(l.path), unix.AT_SYMLINK_FOLLOW)
}

// restore brings the contents of a file back, and mode, owner, times and attributes.
func (u *undoing) restore(r restoring) error {
	id := r.kept.ID
	if u.gone[id] {
		id = ""
	}
	dir, fd, f, err := u.found(r.path, id)
	defer closeBoth(dir, fd)
	if err != nil {
		return err
	}
	if err := u.keeper.Metadata(fd, r.path); err != nil {
		return err
	}
	if r.contents {
		if err := u.rewrite(r, fd, f); err != nil {
			return err
		}
	}
	u.visit.settled(f.ID)
	return dress(fd, r.kept)
}

// rewrite brings the contents back into the file, which keeps its further names.
func (u *undoing) rewrite(r restoring, fd int, f *print) error {
	if f.Mode&0o600 != 0o600 {
		_ = unix.Chmod(self(fd), f.Mode&0o7777|0o600)
	}
	if err := u.keeper.Contents(fd, r.path); err != nil {
		return err
	}
	to, err := unix.Open(self(fd), unix.O_WRONLY|unix.O_TRUNC|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	return u.bring(r.kept, to)
}

// dress gives a file owner, attributes, mode and times.
func dress(fd int, k *kept) error {
	now, err := describe(fd)
	if err != nil {
		return err
	}
	if now.UID != k.UID || now.GID != k.GID {
		if err := unix.Fchownat(fd, "", int(k.UID), int(k.GID), unix.AT_EMPTY_PATH); err != nil {
			return err
		}
	}
	if k.Mode&typeMask == typeLink {
		return touch(fd, k)
	}
	for key := range now.Attrs {
		if _, is := k.Attrs[key]; !is {
			if err := unix.Removexattr(self(fd), key); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	for key, value := range k.Attrs {
		if have, is := now.Attrs[key]; is && string(have) == string(value) {
			continue
		}
		if err := unix.Setxattr(self(fd), key, value, 0); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if err := unix.Chmod(self(fd), k.Mode&0o7777); err != nil {
		return err
	}
	return touch(fd, k)
}

// touch sets the times of a file.
func touch(fd int, k *kept) error {
	return unix.UtimesNanoAt(fd, "", []unix.Timespec{timespec(k.ATime), timespec(k.MTime)}, unix.AT_EMPTY_PATH)
}

func closeBoth(a, b int) {
	for _, fd := range []int{a, b} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
