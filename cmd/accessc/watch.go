package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
)

// inputs are the files of a policy, as they were at a time.
type inputs struct {
	// files has nil for one that was not there.
	files map[string]fs.FileInfo
	at    time.Time
}

// tick is how long a file may be written again and keep its times: those are stamped by a clock of jiffies
// (current_time(), fs/inode.c), until Linux 6.13 always.
const tick = 20 * time.Millisecond

// compileWatched compiles for questions on this host, whatever is wrong with single tools.
// The inputs are looked at between two compilations, of which the first says what they are:
// what changes meanwhile is seen as changed.
func (g *globals) compileWatched() (*hostfacts.Result, inputs, error) {
	opts, err := g.asking().options(true)
	if err != nil {
		return nil, inputs{}, err
	}
	opts.Apart = true
	first, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, inputs{}, usageError{err}
	}
	in := inputs{map[string]fs.FileInfo{}, time.Now()}
	others := []string{userdir.UserConfig(), filepath.Join(filepath.FromSlash(first.Resolver.Root), "access", build.AttestationFile)}
	for _, a := range userdir.Attestations() {
		others = append(others, a.Path)
	}
	for _, path := range slices.Concat(g.Config, g.Untrusted, others, first.Inputs()) {
		in.files[path], _ = os.Stat(path)
	}
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, inputs{}, usageError{err}
	}
	return res, in, nil
}

// changed reports whether any input is another than it was, or may be: one that had just been written then
// could have been written again since.
func (in inputs) changed() bool {
	for path, was := range in.files {
		is, _ := os.Stat(path)
		if (is == nil) != (was == nil) {
			return true
		}
		if is != nil && (!os.SameFile(is, was) || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) ||
			!changeTime(is).Equal(changeTime(was)) || in.at.Sub(changeTime(was)).Abs() < tick) {
			return true
		}
	}
	return false
}
