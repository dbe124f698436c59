// Package approvals is the store of the approved targets of external rules: trust on first use,
// kept per user and workspace, never in the workspace itself.
//
// Reading takes no lock: the file is replaced as a whole. A store that cannot be used counts as
// empty, with a reason: an unreadable trust decision is no trust decision. Writing goes through
// Update, which excludes every other writer and leaves either the old or the new contents.
//
// The store trusts its file if the user owns it and no other user can write it. Every process
// of the user can approve anything.
package approvals

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxSize bounds the store, in bytes. It is enough for some 20,000 bindings.
const MaxSize = 4 << 20

// Status is the state of a binding in the store.
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

// String returns the status as a word.
func (s Status) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Retargeted:
		return "retargeted"
	case Approved:
		return "approved"
	default:
		return "unknown"
	}
}

// Mount is one approved binding: a rule of this path may lead to this target.
type Mount struct {
	// RulePath is the rule's path from the workspace root, ".." collapsed, its own
	// symlink not resolved, slash-separated.
	RulePath string
	// CanonicalTarget is the approved target: absolute, without symlinks, slash-separated.
	CanonicalTarget string
	// ApprovedAt is the time of the approval, in whole seconds; zero if the store does not have
	// it.
	ApprovedAt time.Time
	// ApprovedBy is who approved it where, such as name@host; empty if the store does not have it.
	ApprovedBy string
}

// Given is an approval by this user on this host now.
func Given(rulePath, target string) Mount {
	by := "?"
	if u, err := user.Current(); err == nil {
		by = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		by += "@" + host
	}
	return Mount{rulePath, target, time.Now(), strings.ToValidUTF8(by, "?")}
}

// Store is the content of a store file. The zero value is an empty store.
type Store struct {
	doc document
}

// Load reads the store. A store that does not exist is empty. The error says why an existing
// store counts as empty; the returned store is usable either way.
func Load(path string) (Store, error) {
	if err := checkDir(filepath.Dir(path)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Store{}, nil
		}
		return Store{}, err
	}
	data, err := readFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Store{}, nil
		}
		return Store{}, err
	}
	doc, err := parse(data)
	if err != nil {
		return Store{}, err
	}
	return Store{doc}, nil
}

// Lookup returns whether a rule may lead to a canonical target, and for a retargeted rule the
// approved target.
func (s Store) Lookup(rulePath, target string) (Status, string) {
	m, ok := s.Mount(rulePath)
	switch {
	case !ok:
		return Unknown, ""
	case m.CanonicalTarget != target:
		return Retargeted, m.CanonicalTarget
	default:
		return Approved, m.CanonicalTarget
	}
}

// Mount returns the approval of a rule path. Of several entries for a path the last
// counts.
func (s Store) Mount(rulePath string) (Mount, bool) {
	for _, e := range slices.Backward(s.doc.mounts) {
		if e.RulePath == rulePath {
			return e.Mount, true
		}
	}
	return Mount{}, false
}

// Mounts lists the approved bindings by rule path.
func (s Store) Mounts() []Mount {
	last := map[string]Mount{}
	for _, e := range s.doc.mounts {
		last[e.RulePath] = e.Mount
	}
	out := make([]Mount, 0, len(last))
	for _, m := range last {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Mount) int { return strings.Compare(a.RulePath, b.RulePath) })
	return out
}

// Approve records a binding and replaces an earlier approval of the rule path. A binding that
// is approved already keeps its time and its user. It is an error to approve a path that is empty, a target
// that is not absolute, or either that is not UTF-8 and therefore cannot be written down. The change lasts only within
// Update.
func (s *Store) Approve(m Mount) error {
	switch {
	case m.RulePath == "":
		return fmt.Errorf("%q is not the path of a rule", m.RulePath)
	case !path.IsAbs(m.CanonicalTarget) && !filepath.IsAbs(m.CanonicalTarget):
		return fmt.Errorf("the target %q is not absolute", m.CanonicalTarget)
	case !utf8.ValidString(m.RulePath) || !utf8.ValidString(m.CanonicalTarget):
		return fmt.Errorf("%q → %q is not valid UTF-8 and cannot be remembered", m.RulePath, m.CanonicalTarget)
	}
	if status, _ := s.Lookup(m.RulePath, m.CanonicalTarget); status == Approved {
		return nil
	}
	s.Forget(m.RulePath)
	m.ApprovedAt = m.ApprovedAt.UTC().Truncate(time.Second)
	s.doc.mounts = append(s.doc.mounts, entry{Mount: m})
	return nil
}

// Forget removes the approval of a rule path and reports whether there was an approval. The
// change lasts only within Update.
func (s *Store) Forget(rulePath string) bool {
	n := len(s.doc.mounts)
	s.doc.mounts = slices.DeleteFunc(slices.Clone(s.doc.mounts), func(e entry) bool { return e.RulePath == rulePath })
	return len(s.doc.mounts) < n
}

// Statement is all that a loaded store says about bindings, and its error, for comparison.
func Statement(s Store, err error) string {
	sum := sha256.New()
	for _, m := range s.Mounts() {
		fmt.Fprintf(sum, "%d %s %d %s\n", len(m.RulePath), m.RulePath, len(m.CanonicalTarget), m.CanonicalTarget)
	}
	if err != nil {
		fmt.Fprintf(sum, "! %v", err)
	}
	return string(sum.Sum(nil))
}
