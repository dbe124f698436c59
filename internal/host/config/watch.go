package config

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/usage"
)

// Watched is a configuration with the files that it was read from, as they were at the time.
type Watched struct {
	*hostfacts.Result
	flags Flags
	// further are files of the workspace besides the configuration's own.
	further []string
	// files has nil for one that was not there.
	files map[string]fs.FileInfo
	at    time.Time
}

// Tick is how long a file may be written again and keep its times: those are stamped by a clock of jiffies
// (current_time(), fs/inode.c), until Linux 6.13 always.
const Tick = 20 * time.Millisecond

// Watch compiles for questions on this host, whatever is wrong with single tools. Further files of the workspace are
// watched as well.
// The inputs are looked at between two compilations, of which the first says what they are:
// what changes meanwhile is seen as changed.
func Watch(f Flags, further ...string) (*Watched, error) {
	f.Tested = false
	opts, err := f.Options(true)
	if err != nil {
		return nil, err
	}
	opts.Apart = true
	first, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usage.Error{Err: err}
	}
	w := &Watched{flags: f, further: further, files: map[string]fs.FileInfo{}, at: time.Now()}
	others := []string{userdir.UserConfig(), userdir.Maximum()}
	for _, name := range further {
		others = append(others, filepath.Join(filepath.FromSlash(first.Resolver.Root), name))
	}
	for _, a := range userdir.Attestations() {
		others = append(others, a.Path)
	}
	for _, path := range slices.Concat(f.Config, f.Untrusted, others, first.Inputs()) {
		w.files[path], _ = os.Stat(path)
	}
	if w.Result, err = hostfacts.Compile(opts); err != nil {
		return nil, usage.Error{Err: err}
	}
	return w, nil
}

// Again reads the configuration anew.
func (w *Watched) Again() (*Watched, error) { return Watch(w.flags, w.further...) }

// Changed reports whether any input is another than it was, or may be: one that had just been written then
// could have been written again since.
func (w *Watched) Changed() bool {
	for path, was := range w.files {
		if differs(path, was) || was != nil && w.at.Sub(changeTime(was)).Abs() < Tick {
			return true
		}
	}
	return false
}

// differing are the inputs that are others than they were, in order.
func (w *Watched) differing() []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if differs(path, w.files[path]) {
			out = append(out, path)
		}
	}
	return out
}

func differs(path string, was fs.FileInfo) bool {
	is, _ := os.Stat(path)
	if is == nil || was == nil {
		return (is == nil) != (was == nil)
	}
	return !os.SameFile(is, was) || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) ||
		!changeTime(is).Equal(changeTime(was))
}
