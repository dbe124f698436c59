// Package compiled keeps the artifacts that starts of tools were compiled to, for later starts.
//
// An entry has the artifact and every look at the host that it was compiled from (package
// hostview). A start asks all of it again and uses the artifact if all the answers are the same:
// a compilation would get the same answers, and so the same artifact. No clock says that an entry
// is good. An entry that is not as this package writes it, or not only this user's, is none: the
// start compiles, and replaces it.
package compiled

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
)

// Key is the request of a start.
type Key struct {
	// Root is the canonical workspace root, Tool the name of the tool.
	Root, Tool string
	// Flags are the flags that select layers, with absolute paths.
	Flags []string
}

// Flags writes the flags that select layers, with absolute paths.
func Flags(configs, untrusted, sets []string, shared bool) []string {
	var out []string
	add := func(flag string, files []string) {
		for _, f := range files {
			if abs, err := filepath.Abs(f); err == nil {
				f = abs
			}
			out = append(out, flag+f)
		}
	}
	add("--config=", configs)
	add("--untrusted=", untrusted)
	for _, set := range sets {
		out = append(out, "--set="+set)
	}
	if shared {
		out = append(out, "--shared")
	}
	return out
}

// name is the name of the key's file.
func (k Key) name() string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{k.Root, k.Tool}, k.Flags...), "\x00")))
	return hex.EncodeToString(sum[:16])
}

// stated is everything that the artifact depends on and that is no look: the request, this
// program, its user, and the variables that say where accessc's own files are.
func (k Key) stated() (string, error) {
	program, err := program()
	if err != nil {
		return "", err
	}
	all := append([]string{k.Root, k.Tool, asker(), program}, k.Flags...)
	for _, name := range userdir.Variables() {
		value, set := os.LookupEnv(name)
		all = append(all, strconv.FormatBool(set), value)
	}
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return string(sum[:]), nil
}

// asker is the identity and the privileges with which the compiler asks: they decide which files it may see.
func asker() string {
	groups, _ := os.Getgroups() // Windows has none
	slices.Sort(groups)
	return fmt.Sprint(os.Geteuid(), os.Getegid(), groups, privileges())
}

// dir is the directory of a workspace's entries.
func (k Key) dir() (string, error) {
	state, err := userdir.For(filepath.ToSlash(k.Root))
	return state.Compiled(), err
}

// Entry is a kept compilation.
type Entry struct {
	// Artifact is the specification of the start.
	Artifact []byte
	// Reaches are the sensitive paths that the tool reaches, as the user is asked about them.
	Reaches []string
	// File is where the entry was read from.
	File string

	stated string
	seen   hostview.Seen
}

// Load returns the entry for a key, if this user wrote an entry for this program. Whether
// it still holds is another question.
func Load(k Key) (*Entry, bool) {
	dir, err := k.dir()
	if err != nil {
		return nil, false
	}
	data, err := readOwn(dir, k.name())
	if err != nil {
		return nil, false
	}
	stated, err := k.stated()
	if err != nil {
		return nil, false
	}
	e, ok := decode(data)
	if !ok || e.stated != stated {
		return nil, false
	}
	e.File = filepath.Join(dir, k.name())
	return e, true
}

// Holds reports whether a compilation now would see all that the kept compilation saw.
func (e *Entry) Holds() bool {
	again := hostview.Again{Approvals: func(path string) string { return approvals.Statement(approvals.Load(path)) }}
	defer again.Close()
	holds, listed := again.Holds(&e.seen)
	if holds && listed > worth {
		_ = wholefile.Spare(e.File, e.encode()) // if that fails, the next start lists them once more
	}
	return holds
}

// worth is how many directories are listed anew at a start before it pays to keep that.
const worth = 16

// Save keeps a compilation for later starts, and drops the oldest beyond a bound. It keeps
// nothing of a compilation that saw a host in motion.
func Save(k Key, artifact []byte, reaches []string, view *hostview.View) error {
	seen, ok := view.Seen()
	if !ok {
		return nil
	}
	dir, err := k.dir()
	if err != nil {
		return err
	}
	e := &Entry{Artifact: artifact, Reaches: reaches, seen: seen}
	if e.stated, err = k.stated(); err != nil {
		return err
	}
	if err := makeOwn(dir); err != nil {
		return err
	}
	data := e.encode()
	if len(data) > maxEntry {
		return nil
	}
	if err := wholefile.Spare(filepath.Join(dir, k.name()), data); err != nil {
		return err
	}
	return prune(dir)
}

// Bounds of the entries: the bytes of an entry, and how many a workspace has.
const (
	maxEntry   = 16 << 20
	maxEntries = 64
)

// prune removes the entries that were written longest ago.
func prune(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= maxEntries {
		return err
	}
	age := func(e os.DirEntry) int64 {
		if info, err := e.Info(); err == nil {
			return info.ModTime().UnixNano()
		}
		return 0 // another start has removed it
	}
	ages := map[string]int64{}
	for _, e := range entries {
		ages[e.Name()] = age(e)
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return int(min(1, max(-1, ages[a.Name()]-ages[b.Name()]))) })
	for _, e := range entries[:len(entries)-maxEntries] {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
	return nil
}
