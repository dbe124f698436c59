package recorded

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir"
)

// Format and Version identify the record of a run.
const (
	Format  = "accessc/run"
	Version = 2
)

// Max is the largest size of the accesses in a record, in bytes.
const Max = 8 << 20

// Bounds of a directory of records.
const (
	maxFile = Max + 8<<20
	maxRuns = 10_000
	maxSaid = 5
)

// Accesses are the accesses in the record of a traced run.
type Accesses struct {
	Roots    *Roots   `json:"roots,omitempty"`
	Accesses []Access `json:"accesses,omitempty"`
	// LeftOut is how many accesses the record lacks: beyond its size, or not judged by the policy.
	LeftOut int `json:"accesses_left_out,omitempty"`
}

// Run is the part of a record that another policy can be asked about.
type Run struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	Tool    string `json:"tool"`
	Traced  bool   `json:"traced"`
	Policy  string `json:"policy_sha256"`
	Accesses
	// File is the name of the record.
	File string `json:"-"`
}

// Add puts an access into a record, unless that is full; size is its size by now.
func (a *Accesses) Add(x Access, size *int) {
	// Strings and integers always have a JSON form.
	text, _ := json.Marshal(x)
	const indented = 2 // in a document that is laid out for readers
	if *size += indented * (len(text) + 1); *size > Max {
		a.LeftOut += x.Times
		return
	}
	a.Accesses = append(a.Accesses, x)
}

// Load reads the records in a directory, which are the files whose names end in ".json". The error
// names the files that are none.
func Load(dir string) ([]Run, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, oserr.Reason(err))
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != ".json" })
	switch {
	case len(entries) == 0:
		return nil, fmt.Errorf("%s has no records: accessc exec --trace --record FILE.json writes one", dir)
	case len(entries) > maxRuns:
		return nil, fmt.Errorf("%s has more than %d records", dir, maxRuns)
	}
	var out []Run
	var wrong []error
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		r, err := read(name)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			continue
		}
		out = append(out, *r)
	}
	if more := len(wrong) - maxSaid; more > 0 {
		wrong = append(wrong[:maxSaid], fmt.Errorf("and %d files more", more))
	}
	return out, errors.Join(wrong...)
}

// read reads a record.
func read(name string) (*Run, error) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, oserr.Reason(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() == 0:
		return nil, errors.New("is empty: the run goes on, or its accessc was killed")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, oserr.Reason(err)
	}
	defer f.Close()
	text, err := bounded.Read(f, maxFile)
	if err != nil {
		return nil, err
	}
	r := &Run{File: name}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("is not the record of a run, or a part of one: %w", err)
	}
	switch {
	case r.Format != Format:
		return nil, fmt.Errorf("is not the record of a run: found the format %q, expected %q", r.Format, Format)
	case r.Version != Version:
		return nil, fmt.Errorf("has version %d of the format; this accessc reads %d", r.Version, Version)
	}
	return r, r.check()
}

// check makes sure that every access can be asked about.
func (r *Run) check() error {
	if len(r.Accesses.Accesses) == 0 {
		return nil
	}
	if r.Roots == nil || !clean(r.Roots.Workspace) {
		return errors.New("has accesses, but not where the workspace was")
	}
	b := r.Bindings(nil)
	for i, a := range r.Accesses.Accesses {
		if a.Times < 1 {
			return fmt.Errorf("accesses[%d]: found %d times", i, a.Times)
		}
		if _, err := a.Operations(b); err != nil {
			return fmt.Errorf("accesses[%d]: %w", i, err)
		}
	}
	return nil
}

// Bindings are the places of the run for the rules of a tool; the places of the run's own policy for
// nil. A rule that leads out by a symlink has its place only if it had a place in the run.
func (r *Run) Bindings(t *ir.Tool) *ir.Bindings {
	b := &ir.Bindings{Workspace: r.Roots.Workspace, Home: r.Roots.Home, Temp: r.Roots.Temp,
		External: map[string]string{}}
	if t == nil {
		b.External = r.Roots.External
		return b
	}
	if t.Home != ir.HomePrivate {
		b.Home = ""
	}
	for i := range t.FS {
		root := t.FS[i].At.Root
		if target := r.target(root); target != "" && t.FS[i].External {
			b.External[root.Name] = target
		}
	}
	return b
}

// target is where an external rule led in the run, or would have.
func (r *Run) target(root ir.Root) string {
	if was := r.Roots.External[root.Name]; was != "" {
		return was
	}
	switch {
	case !root.Direct():
		return ""
	case root.Name[0] != '~':
		return root.Name
	case r.Roots.UserHome == "":
		return ""
	default:
		return r.Roots.UserHome + root.Name[1:]
	}
}
