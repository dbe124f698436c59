package build

import "github.com/accessc/accessc/compiler/diag"

// Report counts the files that a build wrote.
type Report struct {
	Confined, Others int // tools
	Files            int // of the build, the manifest among them
	// Written and Removed are the paths of the files that differed from the build.
	Written, Removed []string
}

// Write gives dir exactly the content of a build. Files that no manifest lists stay. When it
// fails, or there are findings, dir is unchanged.
func Write(req Request, dir string) (*Report, diag.List, error) {
	at, err := openPlace(dir, req.Workspace, true)
	if err != nil {
		return nil, nil, err
	}
	defer at.close()
	root := at.root
	s := &stage{root: root}
	o := newOutput(root, s.add)
	before := []byte(nil)
	if req.Memory != "" {
		o.memory, before = recollect(req.Memory)
		req.recall = o.recall
	}
	x, findings, err := o.build(req)
	if err == nil && x != nil {
		err = s.apply()
	}
	s.clear()
	if err != nil || x == nil {
		at.undo()
		return nil, findings, err
	}
	sweep(root)
	if req.Memory != "" {
		o.memory.keep(req.Memory, x, before)
	}
	report := &Report{Files: len(o.made)}
	for _, p := range x.parts {
		if p.entry.Confined {
			report.Confined++
		} else {
			report.Others++
		}
	}
	for _, c := range s.changes {
		if c.staged == "" {
			report.Removed = append(report.Removed, c.path)
		} else {
			report.Written = append(report.Written, c.path)
		}
	}
	return report, nil, nil
}
