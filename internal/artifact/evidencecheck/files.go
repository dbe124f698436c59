package evidencecheck

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/denial/evidencelog"
)

// Files checks the files of a log, the earlier first, with the counter of the last, which is below a directory of
// state.
func Files(names []string, state string, o Options) (*Report, error) {
	path := names[len(names)-1]
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	counter := evidencelog.CounterOf(state, abs)
	if o.Counter, err = evidencelog.ReadCounter(counter); err != nil {
		return nil, err
	}
	report, err := read(names, o, -1)
	if err != nil || o.Counter == nil {
		return report, err
	}
	now, err := evidencelog.ReadCounter(counter)
	if err != nil {
		return nil, err
	}
	if now == nil || *now == *o.Counter {
		return report, nil
	}
	// A run has written meanwhile. What it writes from now on is left out.
	o.Counter = now
	return read(names, o, now.Size)
}

// read checks files, of the last no more than a number of bytes, all of it for a negative number.
func read(names []string, o Options, most int64) (*Report, error) {
	var files []io.Reader
	for i, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file", name)
		}
		r := io.Reader(f)
		if i == len(names)-1 {
			o.Device, o.Inode = evidencelog.Identity(info)
			if most >= 0 {
				r = io.LimitReader(f, most)
			}
		}
		files = append(files, r)
	}
	return Check(files, o)
}
