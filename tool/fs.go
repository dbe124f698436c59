package tool

import "io/fs"

// FS returns the workspace as a file system, for functions such as [fs.WalkDir], [fs.Glob] and
// template.ParseFS. Its Open, ReadFile and ReadDir are those of the policy, with the same errors.
func (p *Policy) FS() fs.FS { return files{p} }

// files implements fs.FS, fs.ReadFileFS and fs.ReadDirFS.
type files struct{ policy *Policy }

// Open implements fs.FS.
func (f files) Open(name string) (fs.File, error) {
	if err := valid("open", name); err != nil {
		return nil, err
	}
	file, err := f.policy.Open(name)
	if err != nil {
		return nil, err // not a *os.File that is nil
	}
	return file, nil
}

// ReadFile implements fs.ReadFileFS.
func (f files) ReadFile(name string) ([]byte, error) {
	if err := valid("readfile", name); err != nil {
		return nil, err
	}
	return f.policy.ReadFile(name)
}

// ReadDir implements fs.ReadDirFS.
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := valid("readdir", name); err != nil {
		return nil, err
	}
	return f.policy.ReadDir(name)
}

// valid refuses names that package fs does not let through.
func valid(op, name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}
