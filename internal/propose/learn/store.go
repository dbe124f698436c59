package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/lock"
	"github.com/accessc/accessc/internal/files/rmtree"
)

// MaxRuns is how many runs of a tool are kept: the last ones.
// See decision D187.
const MaxRuns = 16

// Store is the directory of the kept runs of one tool. Only the user reads it.
type Store string

const (
	unfinished = ".run-"
	suffix     = ".json"
)

// Pending is the file of the evidence of a run that has not ended. The process that began it has it locked.
type Pending struct {
	Path string
	held *os.File
}

// Begin makes a file for the evidence of a run that is about to begin. Keep or Drop ends it. The files of
// processes that were killed before they did are removed.
func (s Store) Begin() (*Pending, error) {
	if err := os.MkdirAll(string(s), 0o700); err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(string(s))
	if err != nil {
		return nil, err
	}
	if err := sweep(dir); err != nil {
		return nil, err
	}
	return begin(dir)
}

// sweep removes the files of runs whose processes are gone.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), unfinished) || !e.Type().IsRegular() {
			continue
		}
		f, err := os.OpenFile(filepath.Join(dir, e.Name()), os.O_RDWR, 0)
		if err != nil {
			continue // another process has removed it
		}
		if lock.Try(f) == nil {
			_ = os.Remove(f.Name())
		}
		_ = f.Close()
	}
	return err
}

// begin makes a locked file. Another process may look at it, and remove it, before it is locked.
func begin(dir string) (*Pending, error) {
	const attempts = 10
	errs := []error{fmt.Errorf("no file for the evidence of a run in %s", dir)}
	for range attempts {
		path := filepath.Join(dir, fmt.Sprintf("%s%d-%d", unfinished, os.Getpid(), time.Now().UnixNano()))
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p := &Pending{path, f}
		err = lock.Try(f)
		if _, gone := os.Lstat(path); err == nil && gone == nil {
			return p, nil
		}
		errs = append(errs, err)
		p.Drop()
	}
	return nil, errors.Join(errs...)
}

// Drop forgets a run that has left no evidence.
func (p *Pending) Drop() {
	_ = p.held.Close() // an open file cannot be removed everywhere
	_ = os.Remove(p.Path)
}

// Keep adds a run that has ended, and forgets the oldest.
func (s Store) Keep(p *Pending) (*denial.Evidence, error) {
	defer p.Drop()
	e, err := read(p.Path)
	if err != nil {
		return nil, err
	}
	for at := time.Now().UnixNano(); ; at++ {
		// Not os.Rename: two runs may end together.
		err = os.Link(p.Path, filepath.Join(string(s), fmt.Sprintf("%020d%s", at, suffix)))
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	for _, old := range files[:max(0, len(files)-MaxRuns)] {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return e, nil
}

// files are the kept runs, the oldest first.
func (s Store) files() ([]string, error) {
	entries, err := os.ReadDir(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), suffix) {
			out = append(out, filepath.Join(string(s), e.Name()))
		}
	}
	return out, err
}

// Runs are the kept runs, the oldest first. Those of another version of accessc are left out.
func (s Store) Runs() ([]denial.Evidence, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	var out []denial.Evidence
	for _, file := range files {
		e, err := read(file)
		switch {
		case errors.Is(err, errVersion) || errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		out = append(out, *e)
	}
	return out, nil
}

// Forget removes all runs and returns how many there were.
func (s Store) Forget() (int, error) {
	files, err := s.files()
	if err != nil {
		return 0, err
	}
	return len(files), rmtree.Remove(string(s))
}

var errNothing = errors.New("no evidence was written")

var errVersion = errors.New("no evidence of this version of accessc")

func read(file string) (*denial.Evidence, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := bounded.Read(f, denial.MaxEvidence<<1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(text) == 0 {
		return nil, errNothing
	}
	var e denial.Evidence
	if json.Unmarshal(text, &e) != nil || e.Format != denial.EvidenceFormat || e.Version != denial.EvidenceVersion {
		return nil, errVersion
	}
	return &e, nil
}
