package revision

import (
	"context"
	"errors"
	"strings"
)

// maxFiles bounds the names that Files returns, in bytes.
const maxFiles = 16 << 20

// Files returns the names of files of the work tree, below the directory that the repository was found for and relative
// to it, that have a name among their components: files that git tracks, and others that it does not ignore. Names that
// some file systems take for such a name are among them, and more of the kind: case does not count, and any letters may
// be an s, since ſ and ß do there.
func (r *Repository) Files(names ...string) ([]string, error) {
	git, err := r.program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	args := []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}
	for _, name := range names {
		loose := ":(glob,icase)**/" + strings.ReplaceAll(strings.ReplaceAll(name, "ss", "s"), "s", "*")
		args = append(args, loose, loose+"/**")
	}
	out, err := r.tell(ctx, git, maxFiles, args...)
	switch {
	case err != nil:
		return nil, err
	case len(out) >= maxFiles:
		return nil, errors.New("git lists too many files")
	}
	return strings.FieldsFunc(out, func(c rune) bool { return c == 0 }), nil
}
