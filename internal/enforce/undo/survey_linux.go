package undo

import (
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// survey is the state of the files that a run has changed, by path: of each path of the journal and, where that is a
// directory that the run has made or moved, of everything in it.
func survey(j *journal, v *visit) (map[string]*print, error) {
	out := map[string]*print{}
	v.out = out
	paths := map[string]bool{}
	for p := range j.names {
		paths[p] = true
	}
	for _, k := range j.files {
		for _, p := range append([]string{string(k.Path)}, k.also...) {
			paths[p] = true
		}
	}
	for p := range paths {
		f, fd, err := v.open(p)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		out[p] = f
		if n := j.names[p]; n != nil && f.dir() && (n.Was == nil || n.Was.ID != f.ID) {
			err = v.walk(fd, p)
		}
		_ = unix.Close(fd)
		if err != nil {
			return nil, err
		}
	}
	return out, v.others(j)
}

// others looks in the places of the run for files that have lost a name, and may have others.
func (v *visit) others(j *journal) error {
	missing := map[string]bool{}
	for _, n := range j.names {
		if n.Was == nil {
			continue
		}
		if k := j.files[n.Was.ID]; k != nil && k.Links > 1 && !k.dir() {
			missing[k.ID] = true
		}
	}
	for _, f := range v.out {
		delete(missing, f.ID)
	}
	if len(missing) == 0 {
		return nil
	}
	all := &visit{out: map[string]*print{}}
	defer all.leave()
	for _, at := range j.Places {
		f, fd, err := all.open(string(at))
		if err != nil || !f.dir() {
			continue
		}
		_ = all.walk(fd, string(at)) // what it cannot see is not found
		_ = unix.Close(fd)
	}
	for p, f := range all.out {
		if missing[f.ID] {
			v.out[p] = f
		}
	}
	return nil
}

// visit goes through directories, also through those of which the mode keeps their owner out. It changes these modes
// until it leaves.
type visit struct {
	out  map[string]*print
	shut []closed
}

type closed struct {
	fd   int
	id   string
	mode uint32
}

// leave gives directories their modes back.
func (v *visit) leave() {
	slices.Reverse(v.shut)
	for _, c := range v.shut {
		_ = unix.Chmod(self(c.fd), c.mode)
		_ = unix.Close(c.fd)
	}
	v.shut = nil
}

// settled leaves a directory its mode, which is set otherwise.
func (v *visit) settled(id string) {
	v.shut = slices.DeleteFunc(v.shut, func(c closed) bool {
		if c.id == id {
			_ = unix.Close(c.fd)
		}
		return c.id == id
	})
}

// correct gives a directory the mode in a description that it has without this visit.
func (v *visit) correct(p *print) {
	if v == nil || p == nil {
		return
	}
	for _, c := range v.shut {
		if c.id == p.ID {
			p.Mode = p.Mode&^0o7777 | c.mode
			return
		}
	}
}

// permit lets the owner of a directory in.
func (v *visit) permit(fd int) error {
	f, err := look(fd, "")
	if err != nil || !f.dir() || f.Mode&0o700 == 0o700 {
		return unix.EACCES
	}
	if err := unix.Chmod(self(fd), f.Mode&0o7777|0o700); err != nil {
		return err
	}
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		v.shut = append(v.shut, closed{dup, f.ID, f.Mode & 0o7777})
	}
	return err
}

// open opens what is at a path, over no symlink; nothing where nothing is there.
func (v *visit) open(p string) (*print, int, error) {
	fd, err := take(p, unix.O_PATH)
	if err == unix.EACCES {
		if err = v.enter(path.Dir(p)); err == nil {
			fd, err = take(p, unix.O_PATH)
		}
	}
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ENAMETOOLONG:
		return nil, -1, nil
	default:
		return nil, -1, &pathError{p, err}
	}
	f, err := look(fd, "")
	return f, fd, err
}

// enter lets the owner into the directories of a path.
func (v *visit) enter(p string) error {
	for _, at := range ancestors(p) {
		fd, err := take(at, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return err
		}
		if f, err := look(fd, ""); err == nil && f.Mode&0o100 == 0 {
			_ = v.permit(fd)
		}
		_ = unix.Close(fd)
	}
	return nil
}

// ancestors are the directories on a path from the root to itself.
func ancestors(p string) (out []string) {
	for ; p != "/"; p = path.Dir(p) {
		out = append(out, p)
	}
	slices.Reverse(out)
	return out
}

// walk adds everything in a directory. What is mounted there is left out.
func (v *visit) walk(dir int, at string) error {
	list, err := v.list(dir)
	if err != nil {
		return &pathError{at, err}
	}
	for _, file := range list {
		p := path.Join(at, file)
		fd, err := unix.Openat2(dir, file, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_NO_XDEV})
		if err == unix.ENOENT || err == unix.EXDEV {
			continue
		}
		if err != nil {
			return &pathError{p, err}
		}
		f, err := look(fd, "")
		if err == nil {
			v.out[p] = f
			if f.dir() {
				err = v.walk(fd, p)
			}
		}
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}

// list lists a directory.
func (v *visit) list(dir int) ([]string, error) {
	if f, err := look(dir, ""); err == nil && f.Mode&0o500 != 0o500 {
		_ = v.permit(dir)
	}
	return entries(dir)
}

// pathError is the error of a path.
type pathError struct {
	path string
	err  error
}

// Error implements error.
func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *pathError) Unwrap() error { return e.err }
