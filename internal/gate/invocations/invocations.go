// Package invocations counts the invocations of tools in a session, and holds the constraints that
// are about them: how often a tool may be invoked, and after which others. The processes that take
// part in a session share its counts by a file.
package invocations

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/lock"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// Counts are the invocations of a session so far, by the names of tools and servers in the
// configuration.
type Counts map[string]int

// Invoke counts an invocation of a tool, or returns the reason why its constraints refuse it. The
// reason begins with is, such as "the tool", and the name. alias turns another name of a tool into that in the
// configuration; it may be nil.
func (c Counts) Invoke(is, name string, limits *ir.Constraints, alias func(string) string) string {
	if limits != nil {
		if limits.Forbidden {
			return fmt.Sprintf("%s %s is forbidden: %s", is, name, limits.Origin)
		}
		if made := c.made(name) + c.pending(name); limits.MaxInvocations > 0 && made >= limits.MaxInvocations {
			verb := "was invoked"
			if c.pending(name) > 0 {
				verb = "was invoked, or asked for,"
			}
			return fmt.Sprintf("%s %s %s %s in this session, as often as it may be: %s",
				is, name, verb, plural.Count(made, "time"), limits.Origin)
		}
		var missing []string
		for _, other := range limits.OnlyAfter {
			if !c.completed(other) && (alias == nil || !c.completed(alias(other))) {
				missing = append(missing, other)
			}
		}
		if len(missing) > 0 {
			return fmt.Sprintf("%s %s may be invoked only after %s: %s", is, name, strings.Join(missing, " and "), limits.Origin)
		}
	}
	// A server is named by the agent or its settings. Tabs mark questions, and lines separate names.
	if strings.ContainsAny(name, "\t\n") {
		return fmt.Sprintf("%s %q has a name that cannot be counted", is, name)
	}
	c[name]++
	return ""
}

// The prefixes of the names under which questions are counted, and those of them that led to an invocation. No
// counted name has a tab.
const (
	askedPrefix   = "asked\t"
	settledPrefix = "settled\t"
)

// pending is how many invocations of a tool may happen, or were refused by a person.
func (c Counts) pending(name string) int { return c[askedPrefix+name] - c[settledPrefix+name] }

// Ask counts the invocations of f, which returns a reason to refuse them, as ones that a person may refuse yet:
// they count for max_invocations, and not for only_after.
// See decision D149.
func (c Counts) Ask(f func(Counts) string) string {
	made := maps.Clone(c)
	if why := f(made); why != "" {
		return why
	}
	for name, n := range made {
		c.add(askedPrefix+name, n-c[name])
	}
	return ""
}

// Settle counts the invocations of f as made, in place of earlier questions about them if there are any.
func (c Counts) Settle(f func(Counts) string) string {
	made := maps.Clone(c)
	maps.DeleteFunc(made, func(name string, _ int) bool {
		return strings.HasPrefix(name, askedPrefix) || strings.HasPrefix(name, settledPrefix)
	})
	if why := f(made); why != "" {
		return why
	}
	for name, n := range made {
		if more := n - c[name]; more > 0 {
			c.add(settledPrefix+name, min(more, c.pending(name)))
			c.add(name, more)
		}
	}
	return ""
}

// add counts under a name that may be new.
func (c Counts) add(name string, n int) {
	if n > 0 {
		c[name] += n
	}
}

// Session is a session whose invocations are counted.
type Session struct {
	// path is the file of the session, empty for one of this process alone.
	path string
	mu   sync.Mutex
	made Counts
}

// New begins a session of this process alone.
func New() *Session { return &Session{made: Counts{}} }

// maxID is the longest name of a session, in bytes.
const maxID = 256

// Open takes part in the session of a name. Its file lies in a directory for this user alone, which is made if
// there is none. Files of sessions in which nothing was invoked for long are removed.
func Open(dir, id string) (*Session, error) {
	unseen := func(r rune) bool { return r == utf8.RuneError || visible.Hidden(r) }
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unseen) {
		return nil, fmt.Errorf("found the session %q, expected 1 to %d bytes of visible characters", id, maxID)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	forget(dir)
	name := sha256.Sum256([]byte(id))
	return &Session{path: filepath.Join(dir, hex.EncodeToString(name[:]))}, nil
}

// long is the time after which a session in which nothing was invoked is forgotten.
const long = 90 * 24 * time.Hour

// forget removes the files of old sessions. One that stays only takes room.
func forget(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > long {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Take lets f count invocations. They are kept if f returns nil, before Take returns; any error means
// that none is.
// See decision D149.
func (s *Session) Take(f func(Counts) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == "" {
		made := maps.Clone(s.made)
		err := f(made)
		if err == nil {
			s.made = made
		}
		return err
	}
	file, err := open(s.path)
	if err != nil {
		return err
	}
	err = take(file, f)
	return errors.Join(err, file.Close())
}

// Invoke counts an invocation of a tool. The error is the reason why its constraints refuse it.
func (s *Session) Invoke(t *ir.Tool) error { return s.Take(invoking(t)) }

func invoking(t *ir.Tool) func(Counts) error {
	return func(made Counts) error {
		if why := made.Invoke("the tool", t.Name, t.Constraints, nil); why != "" {
			return errors.New(why)
		}
		return nil
	}
}

// errEnough ends a count that is not kept.
var errEnough = errors.New("enough")

// try is Take without effect: it returns the error of f, and keeps no invocation.
func (s *Session) try(f func(Counts) error) error {
	err := s.Take(func(made Counts) error {
		if err := f(made); err != nil {
			return err
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// May returns the reason why the constraints of a tool refuse an invocation now, and counts none.
func (s *Session) May(t *ir.Tool) error { return s.try(invoking(t)) }

// patience is how long another process may have the lock of a session.
const patience = 5 * time.Second

// open opens the file of a session under its lock.
func open(path string) (*lockedfile.File, error) {
	take := func() (*lockedfile.File, error) { return lockedfile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }
	return lock.Within("the session "+path, patience, take, func(f *lockedfile.File) { _ = f.Close() })
}

// maxFile is the largest file of a session, in bytes.
const maxFile = 16 << 20

// take reads a file with a line for each invocation, and appends lines. A line without its end was not
// written whole, so that its process has not invoked the tool.
func take(file *lockedfile.File, f func(Counts) error) error {
	text, err := bounded.Read(file, maxFile)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	was := Counts{}
	for line := range strings.Lines(string(whole)) {
		was[strings.TrimSuffix(line, "\n")]++
	}
	made := maps.Clone(was)
	if err := f(made); err != nil {
		return err
	}
	var add strings.Builder
	for _, name := range slices.Sorted(maps.Keys(made)) {
		add.WriteString(strings.Repeat(name+"\n", made[name]-was[name]))
	}
	if _, err = file.Seek(int64(len(whole)), io.SeekStart); err == nil {
		err = file.Truncate(int64(len(whole)))
	}
	if err == nil {
		_, err = io.WriteString(file, add.String())
	}
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		_ = file.Truncate(int64(len(whole))) // a part of a line counts no more than none
	}
	return err
}
