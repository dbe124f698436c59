package main

import (
	"io/fs"
	"os"
	"slices"

	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/userdir"
)

// inputs are the files that a policy was compiled from, as they were then; nil for one that was not there.
type inputs map[string]fs.FileInfo

// compileWatched compiles for questions on this host, whatever is wrong with single tools.
// The inputs are looked at between two compilations, of which the first says what they are:
// what changes meanwhile is seen as changed.
func (g *globals) compileWatched() (*hostfacts.Result, inputs, error) {
	opts, err := g.asking().options(true)
	if err != nil {
		return nil, nil, err
	}
	opts.Apart = true
	first, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, nil, usageError{err}
	}
	in := inputs{}
	for _, path := range slices.Concat(g.Config, g.Untrusted, []string{userdir.UserConfig()}, first.Inputs()) {
		in[path], _ = os.Stat(path)
	}
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return res, in, nil
}

// changed reports whether any input is another than it was.
func (in inputs) changed() bool {
	for path, was := range in {
		is, _ := os.Stat(path)
		if (is == nil) != (was == nil) {
			return true
		}
		if is != nil && (!os.SameFile(is, was) || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime())) {
			return true
		}
	}
	return false
}
