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

	"github.com/accessc/accessc/internal/bounded"
	"github.com/accessc/accessc/internal/supervisor/denial"
)

// MaxRuns is how many runs of a tool are kept: the last ones.
// See RATIONALE D187.
const MaxRuns = 16

// Store is the directory of the kept runs of one tool. Only the user reads it.
type Store string

const (
	unfinished = ".run-"
	suffix     = ".json"
)

// Begin is the path of a file for the evidence of a run that is about to begin. Keep or Drop ends it.
func (s Store) Begin() (string, error) {
	if err := os.MkdirAll(string(s), 0o700); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(string(s))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, fmt.Sprintf("%s%d-%d", unfinished, os.Getpid(), time.Now().UnixNano())), nil
}

// Drop forgets a run that has left no evidence.
func (s Store) Drop(file string) { _ = os.Remove(file) }

// Keep adds the run whose evidence is in a file that Begin has named, and forgets the oldest.
func (s Store) Keep(file string) (*denial.Evidence, error) {
	e, err := read(file)
	if err != nil {
		s.Drop(file)
		return nil, err
	}
	for at := time.Now().UnixNano(); ; at++ {
		// Not os.Rename: two runs may end together.
		err = os.Link(file, filepath.Join(string(s), fmt.Sprintf("%020d%s", at, suffix)))
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	s.Drop(file)
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
	return len(files), os.RemoveAll(string(s))
}

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
	var e denial.Evidence
	if json.Unmarshal(text, &e) != nil || e.Format != denial.EvidenceFormat || e.Version != denial.EvidenceVersion {
		return nil, errVersion
	}
	return &e, nil
}
