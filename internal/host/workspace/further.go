package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxFurther bounds the workspaces below another that are looked for, and maxBelow how deep.
const maxFurther, maxBelow = 1000, 200

// Further returns the directories of a tree, other than the tree itself, that a mark makes workspaces. Symlinks are not
// followed. Repositories of git in the tree are passed over, and returned: what lies in them is no part of the
// repository around them, and a revision of that does not have it. A directory that cannot be listed has no policy that
// could be read either.
func Further(tree fs.FS, fold func(string) string) (further, apart []string, err error) {
	var out []string
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)):
			return fs.SkipDir
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() && name != "." && repository(tree, name):
			apart = append(apart, name)
			return fs.SkipDir
		case d.IsDir() && strings.Count(name, "/") > maxBelow:
			return fmt.Errorf("%s: more than %d directories in each other", name, maxBelow)
		}
		out = append(out, markedBy(name)...)
		return Alike(name, fold)
	})
	further, err = furthest(out, err)
	return further, apart, err
}

// repository reports whether a directory is a repository of its own, in a revision a submodule.
func repository(tree fs.FS, dir string) bool {
	if r, ok := tree.(interface{ Submodule(string) (string, bool) }); ok {
		_, in := r.Submodule(dir)
		return in
	}
	_, err := fs.Lstat(tree, path.Join(dir, ".git"))
	return err == nil
}

// FurtherOf is Further for the names of files, as git lists them.
func FurtherOf(files []string, fold func(string) string) ([]string, error) {
	var out []string
	for _, name := range files {
		for at := name; at != "."; at = path.Dir(at) {
			out = append(out, markedBy(at)...)
			if err := Alike(at, fold); err != nil {
				return nil, err
			}
		}
	}
	return furthest(out, nil)
}

// markedBy returns the directory below the top that the name of a mark makes a workspace, if it is such a name.
func markedBy(name string) []string {
	if dir := path.Dir(name); dir != "." && slices.Contains(marks, path.Base(name)) {
		return []string{dir}
	}
	return nil
}

// Alike returns an error for a path that ends with another spelling of a mark: a file system that does not tell upper
// from lower case makes a workspace of the directory around it. Names that fold makes equal are the same there.
// See decision D360.
func Alike(name string, fold func(string) string) error {
	base := path.Base(name)
	if i := slices.Index(marks, fold(base)); i >= 0 && base != marks[i] {
		return fmt.Errorf("%s: a file system that does not tell upper from lower case takes it for %s", name, marks[i])
	}
	return nil
}

func furthest(dirs []string, err error) ([]string, error) {
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	if err == nil && len(dirs) > maxFurther {
		err = fmt.Errorf("found more than %d workspaces in another one", maxFurther)
	}
	return dirs, err
}
