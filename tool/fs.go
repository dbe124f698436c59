package tool

import "io/fs"

// FS returns the workspace as a file system, for functions such as [fs.WalkDir], [fs.Glob] and
// template.ParseFS. Files are opened by [Policy.Open], with the same errors.
func (p *Policy) FS() fs.FS { return files{p} }

// files implements fs.FS.
type files struct{ policy *Policy }

// Open implements fs.FS.
func (f files) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := f.policy.Open(name)
	if err != nil {
		return nil, err // a *os.File that is nil would be a file
	}
	return file, nil
}
