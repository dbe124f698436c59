package undo

import (
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/rmtree"
)

// Keeper keeps the originals of one run. Many threads use it.
type Keeper struct {
	run     Run
	dir     int // of the run
	journal int
	limit   int64

	mu sync.Mutex
	// names and files are what has been kept, by directory and name, and by ID. made are files of the run itself.
	names map[entry]*once
	files map[string]*state
	made  map[string]bool
	moves []move
	blobs int
	size  int64
	bad   error
	// visit knows the modes of directories that an undo has changed to get in, nil for a run of a tool.
	visit *visit
	// back is set while an undo is taken back, which goes on as well without a journal of its own steps.
	back bool
}

type entry struct{ in, name string }

// once is something to be kept once. Others that need it wait for it.
type once struct {
	sync.Once
	err error
}

// state is how much of a file has been kept.
type state struct {
	sync.Mutex
	meta, linked, copied bool
	// blob is the further name, losing the number of calls that are about to take a name from the file.
	blob   string
	losing int
}

// move is the move of a directory, or the exchange of two.
type move struct {
	from, to string
	exchange bool
}

// ErrFull says that the run may not keep more.
var ErrFull = errors.New("the run has changed as much as is kept for accessc undo")

// write adds records. After an error nothing more is kept: the journal may end in the midst of a line.
func (k *Keeper) write(list ...record) error {
	var out []byte
	for _, r := range list {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bad == nil {
		k.bad = writeAll(k.journal, out)
	}
	if k.back {
		return nil
	}
	return k.bad
}

func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err != nil && err != unix.EINTR {
			return err
		}
		data = data[max(n, 0):]
	}
	return nil
}

// Name keeps what a name in a directory stands for, before it is made, removed or given to another file. at is the
// path of the directory now.
func (k *Keeper) Name(dir int, at, file string) error {
	in, err := look(dir, "")
	if err != nil {
		return err
	}
	k.mu.Lock()
	if k.made[in.ID] {
		k.mu.Unlock()
		return nil
	}
	o := k.names[entry{in.ID, file}]
	if o == nil {
		o = &once{}
		k.names[entry{in.ID, file}] = o
	}
	k.mu.Unlock()
	o.Do(func() { o.err = k.name(dir, at, file, in) })
	return o.err
}

func (k *Keeper) name(dir int, at, file string, in *print) error {
	if err := k.file(dir, at, nothing); err != nil { // its times change with its names
		return err
	}
	was, err := look(dir, file)
	if err != nil {
		return err
	}
	k.visit.correct(was)
	return k.write(record{Name: &named{Path: name(path.Join(k.original(at), file)), In: in.ID, Was: was}})
}

// original is the path that a file had when the run began, by its path now.
func (k *Keeper) original(p string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(k.moves) - 1; i >= 0; i-- {
		m := k.moves[i]
		switch {
		case within(p, m.to):
			p = m.from + p[len(m.to):]
		case m.exchange && within(p, m.from):
			p = m.to + p[len(m.from):]
		}
	}
	return p
}

// Moved notes that a directory is about to move, or to be exchanged.
func (k *Keeper) Moved(from, to string, exchange bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.moves); n > 0 && !exchange && k.moves[n-1] == (move{from: to, to: from}) {
		k.moves = k.moves[:n-1] // back again
		return
	}
	k.moves = append(k.moves, move{from, to, exchange})
}

// Made notes that the run itself has made a file, of which nothing needs to be kept: a name in a directory, or with
// the empty name an open file.
func (k *Keeper) Made(dir int, file string) {
	if p, err := look(dir, file); err == nil && p != nil {
		k.mu.Lock()
		k.made[p.ID] = true
		k.mu.Unlock()
	}
}

// What is to be kept of a file.
const (
	nothing  = iota // of its contents
	itself          // the file, which loses a name
	whatHeld        // its contents, which change
)

// Metadata keeps mode, owner, times and attributes of a file before they change. at is its path now.
func (k *Keeper) Metadata(fd int, at string) error { return k.file(fd, at, nothing) }

// Contents keeps what a file holds, before it changes.
func (k *Keeper) Contents(fd int, at string) error { return k.file(fd, at, whatHeld) }

// Lost keeps a file that is about to lose a name. Then Stayed is called.
func (k *Keeper) Lost(fd int, at string) error { return k.file(fd, at, itself) }

func (k *Keeper) file(fd int, at string, what int) error {
	p, err := look(fd, "")
	if err != nil {
		return err
	}
	k.mu.Lock()
	if k.made[p.ID] {
		k.mu.Unlock()
		return nil
	}
	s := k.files[p.ID]
	if s == nil {
		s = &state{}
		k.files[p.ID] = s
	}
	k.mu.Unlock()
	s.Lock()
	defer s.Unlock()
	if what == itself {
		s.losing++
	}
	plain := p.Mode&typeMask == typeFile
	if p.dir() || what == whatHeld && !plain {
		what = nothing
	}
	switch {
	case what == nothing && s.meta, what == itself && (s.linked || s.copied), what == whatHeld && s.copied:
		return nil
	}
	d, err := describe(fd)
	if err != nil {
		return err
	}
	k.visit.correct(&d.print)
	d.Path = name(k.original(at))
	switch what {
	case itself:
		// With a further name here a file that goes on under another name would have one name too many.
		err = unix.EMLINK
		if d.Links == 1 {
			d.Blob, err = k.linked(fd, p)
		}
		if err == nil {
			d.Linked = true
			break
		}
		if !plain {
			if t := p.Mode & typeMask; t != typeLink && t != unix.S_IFIFO && t != unix.S_IFSOCK {
				return err // a device, which the user cannot make again
			}
			break
		}
		d.Blob, err = k.copied(fd, p)
	case whatHeld:
		d.Blob, err = k.copied(fd, p)
	}
	if errors.Is(err, ErrFull) || err != nil && plain {
		return err
	}
	if err := k.write(record{Kept: d}); err != nil {
		return err
	}
	if d.Linked {
		s.blob = d.Blob
	}
	s.meta, s.linked = true, s.linked || d.Linked
	s.copied = s.copied || !d.Linked && (d.Blob != "" || what == itself)
	return nil
}

// Stayed ends what Lost has begun, whether the file has lost the name or not. If it has not, it gets no further name.
func (k *Keeper) Stayed(fd int) {
	p, err := look(fd, "")
	if err != nil {
		return
	}
	k.mu.Lock()
	s := k.files[p.ID]
	k.mu.Unlock()
	if s == nil {
		return
	}
	s.Lock()
	defer s.Unlock()
	var st unix.Stat_t
	if s.losing--; s.losing <= 0 && s.linked && unix.Fstat(fd, &st) == nil && st.Nlink > 1 {
		_ = unix.Unlinkat(k.dir, s.blob, 0)
		s.linked = false
	}
}

// blob is the name of the next file with contents, within the bound.
func (k *Keeper) blob(p *print) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.size += p.Size; k.limit > 0 && k.size > k.limit {
		k.size -= p.Size
		return "", ErrFull
	}
	k.blobs++
	return strconv.Itoa(k.blobs), nil
}

// linked gives a file a further name in the directory of the run.
func (k *Keeper) linked(fd int, p *print) (string, error) {
	blob, err := k.blob(p)
	if err == nil {
		if err = unix.Linkat(unix.AT_FDCWD, self(fd), k.dir, blob, unix.AT_SYMLINK_FOLLOW); err != nil {
			k.refund(p)
		}
	}
	return blob, err
}

// copied copies what a file holds.
func (k *Keeper) copied(fd int, p *print) (string, error) {
	from, err := unix.Open(self(fd), unix.O_RDONLY|unix.O_NOATIME|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.EPERM { // of another owner
		from, err = unix.Open(self(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return "", err
	}
	defer unix.Close(from)
	blob, err := k.blob(p)
	if err != nil {
		return "", err
	}
	to, err := unix.Openat(k.dir, blob, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err == nil {
		err = contents(from, to, p.Size)
		_ = unix.Close(to)
		if err != nil {
			_ = unix.Unlinkat(k.dir, blob, 0)
		}
	}
	if err != nil {
		k.refund(p)
	}
	return blob, err
}

// refund takes back the size of a file that could not be kept.
func (k *Keeper) refund(p *print) {
	k.mu.Lock()
	k.size -= p.Size
	k.mu.Unlock()
}

// Drop forgets a run that has changed nothing.
func (k *Keeper) Drop() {
	k.Close()
	_ = rmtree.Remove(k.run.dir)
}

// End writes how the run has left the files that it has changed, and returns their number. Nothing of the run goes on.
func (k *Keeper) End() (int, error) {
	j, err := k.run.journal()
	defer k.Close()
	if err != nil {
		return 0, err
	}
	if len(j.names)+len(j.files) == 0 {
		return 0, rmtree.Remove(k.run.dir)
	}
	v := &visit{}
	seen, err := survey(j, v)
	v.leave()
	if err != nil {
		return 0, err
	}
	var list []record
	for p, f := range seen {
		list = append(list, record{Left: &left{name(p), *f}})
	}
	now := time.Now().UTC()
	if err := k.write(append(list, record{End: &now})...); err != nil {
		return 0, err
	}
	_ = unix.Fsync(k.journal)
	j.left = seen
	return len(j.changes()), nil
}

// Close gives the run free.
func (k *Keeper) Close() {
	_ = unix.Close(k.journal)
	_ = unix.Close(k.dir)
}

// Knows reports whether the run itself has made an open file.
func (k *Keeper) Knows(fd int) bool {
	p, err := look(fd, "")
	k.mu.Lock()
	defer k.mu.Unlock()
	return err == nil && k.made[p.ID]
}
