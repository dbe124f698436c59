package hostfacts

import (
	"path/filepath"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/ir"
)

// unfit returns the check of the targets of external rules: no tool gets files that the kernel
// makes up, and none may write to accessc's own files, or to the whole home.
// See RATIONALE D183.
func (r *Result) unfit(resolver *resolve.Resolver) func(string, ir.CapSet) string {
	var own []string
	at := func(dir string) string {
		found, err := resolver.Disk.Follow(filepath.ToSlash(dir))
		if dir == "" || err != nil {
			return ""
		}
		return found.Abs
	}
	state, _ := userdir.Root()
	for _, dir := range []string{string(r.State), state, filepath.Dir(userdir.UserConfig())} {
		if abs := at(dir); abs != "" && filepath.IsAbs(filepath.FromSlash(abs)) {
			own = append(own, abs)
		}
	}
	home := at(r.home)
	return func(target string, caps ir.CapSet) string {
		if name := madeUp(target); name != "" {
			return "which is of the file system " + name
		}
		if caps&ir.Write == 0 {
			return ""
		}
		for _, dir := range own {
			_, inside := below(target, dir)
			if _, around := below(dir, target); inside || around {
				return "where the tool could change accessc's own files in " + dir
			}
		}
		if _, whole := below(home, target); whole && home != "" {
			return "the whole home directory, which no tool may write"
		}
		return ""
	}
}
