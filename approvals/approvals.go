// Package approvals is the store of which external rules may lead where: trust on
// first use, kept per user and workspace, never in the workspace itself.
//
// This version reads. A store that cannot be used counts as empty, with a reason:
// an unreadable trust decision is no trust decision.
package approvals

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxSize bounds the store, in bytes.
const maxSize = 4 << 20

// Status is what the store says of a binding.
type Status uint8

// The statuses. The zero value approves nothing.
const (
	// Unknown: nothing was ever approved for the rule.
	Unknown Status = iota
	// Retargeted: another target was approved.
	Retargeted
	// Approved: this very target was approved.
	Approved
)

// Store holds the approved targets by rule path.
type Store struct {
	targets map[string]string
}

type document struct {
	Mounts []struct {
		RulePath        string `json:"rule_path"`
		CanonicalTarget string `json:"canonical_target"`
	} `json:"mounts"`
}

// Load reads the store. A store that does not exist is empty. The error says why
// an existing one counts as empty; the store is usable either way.
func Load(path string) (Store, error) {
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Store{}, nil
	}
	if err != nil {
		return Store{}, err
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return Store{}, fmt.Errorf("malformed JSON: %w", err)
	}
	s := Store{targets: make(map[string]string, len(d.Mounts))}
	for _, m := range d.Mounts {
		s.targets[m.RulePath] = m.CanonicalTarget
	}
	return s, nil
}

func read(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxSize:
		return nil, fmt.Errorf("larger than %d bytes", maxSize)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.New("replaced while it was being opened")
	}
	return io.ReadAll(io.LimitReader(f, maxSize))
}

// Lookup says whether a rule may lead to a canonical target, and for a retargeted
// one what was approved instead.
func (s Store) Lookup(rulePath, target string) (Status, string) {
	was, ok := s.targets[rulePath]
	switch {
	case !ok:
		return Unknown, ""
	case was != target:
		return Retargeted, was
	default:
		return Approved, was
	}
}
