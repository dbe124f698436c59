package start

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/host/hostview"
)

// closesKernels refuses a start whose ruleset would open a file system of the kernel that has been mounted below a
// grant since the specification was made, or a mount that shows a place of the policy under another name. A start that
// compiles has such places as exceptions.
// See decisions D362 and D441.
func closesKernels(s *landlock.Spec, paths []landlock.Path) error {
	if err := hostview.Listed(); err != nil {
		return failed("%w", err)
	}
	var dirs, roots []string
	for _, dir := range []string{s.Workspace, s.Home} {
		if dir != "" {
			roots = append(roots, dir)
		}
	}
	if s.Supervision != nil && s.Supervision.Judged != nil {
		roots = append(roots, slices.Sorted(maps.Values(s.Supervision.Judged.External))...)
	}
	for _, p := range paths {
		if !strings.HasPrefix(p.Path, "/dev/") && !strings.HasPrefix(p.Path, "/proc/") {
			dirs = append(dirs, p.Path)
		}
	}
	for _, k := range (*hostview.View)(nil).Kernels(roots, dirs) {
		for _, p := range paths {
			below, ok := strings.CutPrefix(k.Path+"/", strings.TrimSuffix(p.Path, "/")+"/")
			if first, _, _ := strings.Cut(below, "/"); !ok || p.Entries != nil && slices.Contains(p.Entries.Except, first) {
				continue
			}
			if !utf8.ValidString(k.Path) {
				return failed("%s is %s, and %s is granted around it; no policy can leave out a name that is not UTF-8: unmount it, or mount it elsewhere",
					k.Path, k.Why(), p.Path)
			}
			return failed("%s is %s, and %s is granted as a whole: build again", k.Path, k.Why(), p.Path)
		}
	}
	return nil
}
