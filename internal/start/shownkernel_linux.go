package start

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/hostview"
)

// closesKernels refuses a start whose ruleset would open a file system of the kernel that has been mounted below a grant since the
// specification was made. A start that compiles has such places as exceptions.
// See RATIONALE D362.
func closesKernels(paths []landlock.Path) error {
	var dirs []string
	for _, p := range paths {
		if !strings.HasPrefix(p.Path, "/dev/") && !strings.HasPrefix(p.Path, "/proc/") {
			dirs = append(dirs, p.Path)
		}
	}
	for _, k := range (*hostview.View)(nil).Kernels(dirs) {
		for _, p := range paths {
			below, ok := strings.CutPrefix(k.Path+"/", strings.TrimSuffix(p.Path, "/")+"/")
			if first, _, _ := strings.Cut(below, "/"); !ok || p.Entries != nil && slices.Contains(p.Entries.Except, first) {
				continue
			}
			return failed("%s is of the file system %s, by which the kernel shows itself, and %s is granted as a whole: build again", k.Path, k.Type, p.Path)
		}
	}
	return nil
}
