package start

import "path/filepath"

// place is the directory that the tool starts in.
// See decision D95.
func (r *Request) place(workspace string) string {
	dir, err := filepath.EvalSymlinks(r.Dir)
	if err != nil || !filepath.IsAbs(dir) {
		return workspace
	}
	if rel, err := filepath.Rel(workspace, dir); err != nil || !filepath.IsLocal(rel) {
		return workspace
	}
	return dir
}
