package start

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/internal/files/bounded"
)

// journal lists the changes of a run outside of itself. The loader writes it before the first
// change and locks it for as long as it lives. A process that can lock a journal so knows that
// its loader is gone, and undoes the listed changes.
// See decision D77.
type journal struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	// Container is the name of the AppContainer's profile, empty where there is none,
	// and Package its identifier.
	Container string `json:"container,omitempty"`
	Package   string `json:"package,omitempty"`
	// Directory is that of the run.
	Directory string   `json:"directory,omitempty"`
	Objects   []change `json:"objects,omitempty"`

	file *os.File
	// alive is true where the loader still holds the lock.
	alive bool
}

// change is an object whose list is changed, and the list that it had before any run.
type change struct {
	Path     string   `json:"path"`
	Identity identity `json:"identity"`
	Original string   `json:"original"`
}

const (
	journalFormat  = "accessc/windows-journal"
	journalVersion = 1
	journalSuffix  = ".json"
	// maxJournal bounds the size of a journal that is read, in bytes.
	maxJournal = 64 << 20
)

// journals is the directory of journals, and the lock that serialises all changes of lists.
type journals struct{ dir string }

// locked runs f while no other process changes lists.
func (j journals) locked(f func() error) error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return failed("the journal: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(j.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return failed("the journal: %w", err)
	}
	defer lock.Close()
	if err := lockFile(lock, windows.LOCKFILE_EXCLUSIVE_LOCK); err != nil {
		return failed("the journal's lock: %w", err)
	}
	return f()
}

// lockFile locks a byte that no file has, so that the contents can still be read. The system
// releases the lock when the process ends, however that is.
func lockFile(f *os.File, flags uint32) error {
	const far = 1 << 30
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: far})
}

// open makes the journal of a run and locks it.
func (j journals) open(run string) (*journal, error) {
	f, err := os.OpenFile(filepath.Join(j.dir, run+journalSuffix), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, failed("the journal: %w", err)
	}
	if err := lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY); err != nil {
		_ = f.Close()
		return nil, failed("the journal's lock: %w", err)
	}
	return &journal{Format: journalFormat, Version: journalVersion, file: f}, nil
}

// write saves the journal's contents on the disk.
func (w *journal) write() error {
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	if _, err := w.file.WriteAt(data, 0); err != nil {
		return failed("the journal: %w", err)
	}
	if err := w.file.Sync(); err != nil {
		return failed("the journal: %w", err)
	}
	return nil
}

// drop removes the journal of a run that left nothing.
func (w *journal) drop() error {
	name := w.file.Name()
	return errors.Join(w.file.Close(), os.Remove(name))
}

// others reads every journal but one. It returns those whose loader is gone open and locked.
func (j journals) others(mine string) (out []*journal, err error) {
	defer func() {
		if err != nil {
			closeAll(out)
		}
	}()
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), journalSuffix) || e.Name() == mine+journalSuffix {
			continue
		}
		f, err := os.OpenFile(filepath.Join(j.dir, e.Name()), os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, err
		}
		alive := lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY) != nil
		w, err := readJournal(f)
		switch {
		case err != nil && !alive:
			// Its loader died before it had written it all, and so before any change.
			_ = (&journal{file: f}).drop()
			continue
		case err != nil:
			_ = f.Close()
			return out, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if w.alive = alive; alive {
			_ = f.Close()
		}
		out = append(out, w)
	}
	return out, nil
}

func closeAll(all []*journal) {
	for _, w := range all {
		_ = w.file.Close()
	}
}

func readJournal(f *os.File) (*journal, error) {
	data, err := bounded.Read(f, maxJournal)
	if err != nil {
		return nil, err
	}
	w := &journal{file: f}
	if err := json.Unmarshal(data, w); err != nil {
		return nil, err
	}
	if w.Format != journalFormat || w.Version != journalVersion {
		return nil, fmt.Errorf("format %s version %d is not known here", w.Format, w.Version)
	}
	return w, nil
}

// change is the journal entry for this object. If another run has changed its list already, the
// entry has the list from before that.
func (o *object) change(others []*journal) change {
	c := change{Path: o.entry.Path, Identity: o.id, Original: o.list.Explicit().String()}
	for _, w := range others {
		if before := w.find(o.id); before != nil {
			c.Original = before.Original
		}
	}
	return c
}

// find returns the journal's entry for an object, nil for none.
func (w *journal) find(id identity) *change {
	for i := range w.Objects {
		if w.Objects[i].Identity == id {
			return &w.Objects[i]
		}
	}
	return nil
}

// sweep undoes the changes that dead loaders left. It goes on if one cannot be undone now; the
// journal of that one stays.
func (j journals) sweep(mine string) error {
	all, err := j.others(mine)
	if err != nil {
		return err
	}
	defer closeAll(all)
	var errs []error
	for i := 0; i < len(all); {
		if all[i].alive {
			i++
			continue
		}
		w := all[i]
		rest := append(append([]*journal{}, all[:i]...), all[i+1:]...)
		if err := w.undo(rest); err != nil {
			errs, i = append(errs, err), i+1
			continue
		}
		all = rest
	}
	return errors.Join(errs...)
}

// undo takes a run's changes back and drops the journal. Where other runs have an entry on an
// object, undo removes this run's entries only; the last run puts back the list from before any
// of them.
func (w *journal) undo(others []*journal) error {
	var errs []error
	for _, c := range w.Objects {
		if err := c.undo(w.Package, others); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.Path, err))
		}
	}
	if w.Container != "" {
		errs = append(errs, deleteProfile(w.Container))
	}
	if w.Directory != "" && strings.HasPrefix(filepath.Base(w.Directory), runPrefix) {
		errs = append(errs, removeTree(w.Directory))
	}
	if err := errors.Join(errs...); err != nil {
		_ = w.file.Close()
		return err
	}
	return w.drop()
}

// undo takes a change of one object back. An object that is gone, or has been replaced, has no
// entry of this run.
func (c change) undo(pkg string, others []*journal) error {
	h, err := openHeld(c.Path, winjob.Holding())
	if errors.Is(err, errAbsent) {
		return nil
	}
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return err
	}
	if (identity{info.VolumeSerialNumber, uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}) != c.Identity {
		return nil
	}
	now, err := listOf(h)
	if err != nil {
		return err
	}
	back, err := c.back(now, pkg, others)
	if err != nil {
		return err
	}
	return setList(h, back)
}

// back is the list that an object gets when a run ends.
func (c change) back(now winjob.List, pkg string, others []*journal) (winjob.List, error) {
	for _, w := range others {
		if w.find(c.Identity) != nil {
			return now.Without(pkg), nil
		}
	}
	return winjob.ParseList(c.Original)
}
