package start_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Other processes' operations, each as often as it is to come: files that are replaced
// atomically, names removed and made again, directories moved and exchanged, also out of the
// workspace and back, symlinks that lead elsewhere.
var opsOfHost = []string{
	"host replace", "host replace", "host make", "host make", "host remove", "host renew", "host move", "host move",
	"host exchange", "host link", "host retarget",
}

// host draws a step of another process.
func (d *draws) host(t *tree) step {
	any := func() string {
		e := pick(d.Rand, append(d.entries(t, func(e *entry) bool { return e.up != t.top }), t.top.kid(inWorkspace)))
		return e.path()
	}
	fresh := func() string { return strings.TrimPrefix(d.anyDir(t).path()+"/"+pick(d.Rand, d.names), "/") }
	q := step{Op: pick(d.Rand, opsOfHost), Host: true, A: spot{Rest: any()}, B: spot{Rest: fresh()}, Text: d.image()}
	switch q.Op {
	case "host make", "host replace":
		q.A.Rest = fresh()
		q.Text = pick(d.Rand, []string{d.image(), d.image(), holdsScript, "", "/"})
	case "host retarget":
		q.Text = d.target(t)
		if d.oneIn(2) {
			q.A.Rest = fresh()
		}
	case "host exchange":
		q.B.Rest = any()
	}
	return q
}

// lookup finds an entry by its path from the top.
func (t *tree) lookup(p string) (dir *entry, name string, e *entry) {
	dir = t.top
	names := strings.Split(p, "/")
	for i, n := range names {
		k := dir.kid(n)
		if i+1 == len(names) {
			return dir, n, k
		}
		if k == nil || !k.dir() {
			return nil, "", nil
		}
		dir = k
	}
	return nil, "", nil
}

// byHost makes the change of another process to the model, and reports whether it can be
// made.
func (t *tree) byHost(q step) bool {
	dir, name, e := t.lookup(q.A.Rest)
	to, as, over := t.lookup(q.B.Rest)
	rooted := dir == nil || dir == t.top
	switch q.Op {
	case "host make":
		if rooted || e != nil {
			return false
		}
		t.put(dir, name, made(q.Text)).strayed = true
	case "host replace":
		if rooted || e != nil && e.dir() || q.Text == "/" {
			return false
		}
		if e != nil {
			t.drop(e)
		}
		t.put(dir, name, made(q.Text)).strayed = true
	case "host retarget":
		if rooted || e != nil && e.dir() {
			return false
		}
		if e != nil {
			t.drop(e)
		}
		t.put(dir, name, &inode{kind: unix.S_IFLNK, target: q.Text})
	case "host remove":
		if rooted || e == nil {
			return false
		}
		t.drop(e)
	case "host renew":
		if rooted || e == nil || e.symlink() || e.file.kind == unix.S_IFIFO {
			return false
		}
		kind := "/"
		if !e.dir() {
			kind = q.Text
		}
		t.drop(e)
		t.put(dir, name, made(kind)).strayed = true
	case "host move":
		if rooted || e == nil || to == nil || to == t.top || over != nil || to.under(e) || to.depth() > 5 {
			return false
		}
		t.move(e, to, as)
		e.strayed = true
	case "host exchange":
		if rooted || e == nil || over == nil || to == t.top || over.under(e) || e.under(over) {
			return false
		}
		t.exchange(e, over)
		e.strayed, over.strayed = true, true
	case "host link":
		if rooted || e == nil || e.dir() || to == nil || to == t.top || over != nil {
			return false
		}
		t.put(to, as, e.file).strayed = true
	}
	return true
}

func made(kind string) *inode {
	if kind == "/" {
		return &inode{kind: unix.S_IFDIR}
	}
	return &inode{kind: unix.S_IFREG, holds: kind}
}

// disk makes the change on disk.
func (s *sequence) disk(q step) error {
	a, b := s.dir+"/"+q.A.Rest, s.dir+"/"+q.B.Rest
	staged := s.dir + "/staged"
	switch q.Op {
	case "host make":
		return s.put(a, made(q.Text))
	case "host replace":
		return errors.Join(s.put(staged, made(q.Text)), os.Rename(staged, a))
	case "host retarget":
		return errors.Join(s.put(staged, &inode{kind: unix.S_IFLNK, target: q.Text}), os.Rename(staged, a))
	case "host remove":
		return os.RemoveAll(a)
	case "host renew":
		var st unix.Stat_t
		if err := unix.Lstat(a, &st); err != nil {
			return err
		}
		kind := q.Text
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			kind = "/"
		}
		return errors.Join(os.RemoveAll(a), s.put(a, made(kind)))
	case "host move":
		return os.Rename(a, b)
	case "host exchange":
		return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	case "host link":
		return unix.Linkat(unix.AT_FDCWD, a, unix.AT_FDCWD, b, 0)
	}
	return fmt.Errorf("no such operation: %s", q.Op)
}

// put makes a file on disk, which belongs to the user of the tool.
func (s *sequence) put(p string, f *inode) error {
	var err error
	switch f.kind {
	case unix.S_IFDIR:
		err = unix.Mkdir(p, 0o755)
	case unix.S_IFLNK:
		err = unix.Symlink(f.target, p)
	case unix.S_IFIFO:
		err = unix.Mknod(p, unix.S_IFIFO|0o755, 0)
	default:
		err = fillProgram(p, os.O_CREATE|os.O_EXCL, contents(f.holds))
	}
	if err == nil && s.who != nil {
		err = unix.Lchown(p, int(s.who.Uid), int(s.who.Gid))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return nil
}

// lay makes the files below an entry of the model on disk.
func (s *sequence) lay(e *entry) error {
	for _, k := range e.kids {
		if err := s.put(s.dir+"/"+k.path(), k.file); err != nil {
			return err
		}
		if err := s.lay(k); err != nil {
			return err
		}
	}
	return nil
}

// verify compares the disk with the model. spare are places where a refused call may have left
// an empty file, since the kernel makes it before it refuses to open it; verify removes these.
func (s *sequence) verify(e *entry, spare []string) error {
	dir := s.dir + "/" + e.path()
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	seen := 0
	for _, d := range list {
		if e == s.tree.top && d.Name() != inWorkspace && d.Name() != inOutside {
			continue
		}
		k := e.kid(d.Name())
		p := dir + "/" + d.Name()
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return err
		}
		if k == nil {
			if st.Size == 0 && slices.Contains(spare, strings.TrimPrefix(e.path()+"/"+d.Name(), "/")) {
				if err := unix.Unlink(p); err != nil {
					return err
				}
				continue
			}
			return fmt.Errorf("%s is there", p)
		}
		seen++
		if err := s.same(k, p, &st); err != nil {
			return err
		}
	}
	if seen != len(e.kids) {
		return fmt.Errorf("of %d names in %s %d are there", len(e.kids), dir, seen)
	}
	for _, k := range e.kids {
		if k.dir() {
			if err := s.verify(k, spare); err != nil {
				return err
			}
		}
	}
	return nil
}

// same compares one file with the model.
func (s *sequence) same(k *entry, p string, st *unix.Stat_t) error {
	switch {
	case st.Mode&unix.S_IFMT != k.file.kind:
		return fmt.Errorf("%s is of type %o, not %o", p, st.Mode&unix.S_IFMT, k.file.kind)
	case k.file.kind == unix.S_IFREG && st.Size != int64(len(contents(k.file.holds))):
		return fmt.Errorf("%s has %d bytes, not %d", p, st.Size, len(contents(k.file.holds)))
	case k.file.ino != 0 && k.file.ino != st.Ino:
		return fmt.Errorf("%s is another file", p)
	}
	k.file.ino = st.Ino
	if !k.dir() && int(st.Nlink) != s.tree.names(k.file) {
		return fmt.Errorf("%s has %d names, not %d", p, st.Nlink, s.tree.names(k.file))
	}
	return nil
}
