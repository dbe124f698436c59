package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/rmtree"
)

// Store is the directory of a workspace's runs, of which each has a directory that is named by its number.
type Store string

// Run is a run of a store.
type Run struct {
	Number int
	dir    string
}

// Options are about what a run keeps.
type Options struct {
	Tool string
	// Places are the directories that the tool may change, absolute and without symlinks.
	Places []string
	// Size bounds the contents that the run keeps, in bytes, and Runs the runs that the store keeps; 0 for no bound.
	Size int64
	Runs int
}

const journalName = "journal"

// lock keeps others from adding, removing and taking back runs until it is released.
func (s Store) lock() (release func(), err error) {
	if err := os.MkdirAll(string(s), 0o700); err != nil {
		return nil, err
	}
	const flags = unix.O_RDONLY | unix.O_CREAT | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(filepath.Join(string(s), "lock"), flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(fd, unix.LOCK_EX); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return func() { _ = unix.Close(fd) }, nil
}

// Runs lists the runs, the latest first.
func (s Store) Runs() ([]Run, error) {
	list, err := os.ReadDir(string(s))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []Run
	for _, e := range list {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && e.IsDir() {
			out = append(out, Run{n, filepath.Join(string(s), e.Name())})
		}
	}
	slices.SortFunc(out, func(a, b Run) int { return b.Number - a.Number })
	return out, nil
}

// running reports whether the keeper of a run has it, or that nobody knows.
func (r Run) running() bool {
	fd, err := unix.Open(filepath.Join(r.dir, journalName), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer unix.Close(fd)
	return unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) != nil
}

// journal reads the journal of a run.
func (r Run) journal() (*journal, error) {
	f, err := os.Open(filepath.Join(r.dir, journalName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	j, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("run %d: %w", r.Number, err)
	}
	return j, nil
}

// Keep begins a run that is kept. Older runs beyond the bound are forgotten.
func (s Store) Keep(o Options) (*Keeper, error) {
	release, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer release()
	h := header{Tool: o.Tool}
	for _, p := range o.Places {
		h.Places = append(h.Places, name(p))
	}
	k, err := s.begin(h, o.Size)
	if err == nil && o.Runs > 0 {
		err = s.forget(o.Runs)
	}
	return k, err
}

// begin adds a run. The caller holds the lock.
func (s Store) begin(h header, limit int64) (*Keeper, error) {
	runs, err := s.Runs()
	if err != nil {
		return nil, err
	}
	r := Run{Number: 1}
	if len(runs) > 0 {
		r.Number = runs[0].Number + 1
	}
	r.dir = filepath.Join(string(s), strconv.Itoa(r.Number))
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return nil, err
	}
	k, err := r.keeper(unix.O_CREAT | unix.O_EXCL)
	if err != nil {
		return nil, err
	}
	k.limit = limit
	h.Format, h.Version, h.Begun = format, version, time.Now().UTC().Truncate(time.Second)
	return k, k.write(record{Head: &h})
}

// keeper opens the journal of a run for writing.
func (r Run) keeper(flags int) (*Keeper, error) {
	k := &Keeper{run: r, names: map[entry]*once{}, files: map[string]*state{}, made: map[string]bool{}, journal: -1}
	var err error
	if k.dir, err = r.open(); err != nil {
		return nil, err
	}
	flags |= unix.O_RDWR | unix.O_APPEND | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if k.journal, err = unix.Openat(k.dir, journalName, flags, 0o600); err == nil {
		err = unix.Flock(k.journal, unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// open opens the directory of a run.
func (r Run) open() (int, error) {
	return unix.Open(r.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// resume opens the journal of an undo that was not finished, to take it back.
func (r Run) resume() (*Keeper, error) {
	k, err := r.keeper(0)
	if err != nil {
		return nil, err
	}
	k.back = true
	list, err := entries(k.dir)
	if err != nil {
		k.Close()
		return nil, err
	}
	for _, e := range list {
		n, _ := strconv.Atoi(e)
		k.blobs = max(k.blobs, n)
	}
	return k, k.endLine()
}

// endLine cuts off a part of a record at the end of the journal.
func (k *Keeper) endLine() error {
	end, err := unix.Seek(k.journal, 0, unix.SEEK_END)
	for b := []byte{0}; err == nil && end > 0; end-- {
		if _, err = unix.Pread(k.journal, b, end-1); err == nil && b[0] == '\n' {
			break
		}
	}
	if err != nil {
		return err
	}
	return unix.Ftruncate(k.journal, end)
}

// forget removes the oldest runs beyond a number. The caller holds the lock.
func (s Store) forget(keep int) error {
	runs, err := s.Runs()
	if err != nil {
		return err
	}
	for _, r := range runs[min(keep, len(runs)):] {
		if r.running() {
			continue
		}
		if err := rmtree.Remove(r.dir); err != nil {
			return err
		}
	}
	return nil
}

// Number is that of the run.
func (k *Keeper) Number() int { return k.run.Number }
