package start

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/accessc/accessc/internal/files/kernelfs"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir"
)

// RunsIn returns the directory for the directories of runs: the one that TMPDIR names, if no tool may come to it.
// Projects set TMPDIR to a directory of theirs, where one tool would read and change what another one keeps for itself.
// Then it is another one, as where TMPDIR names no directory. root is the workspace.
// See decisions D183, D441 and D50.
func RunsIn(root string) (string, error) {
	named, why := "", ""
	for _, dir := range append([]string{os.TempDir()}, commonTemp...) {
		real, err := filepath.Abs(dir)
		if err == nil {
			real, err = filepath.EvalSymlinks(real)
		}
		if st, wrong := os.Stat(real); err == nil && (wrong != nil || !st.IsDir()) {
			err = cmp.Or(wrong, error(syscall.ENOTDIR))
		}
		if err != nil {
			if named == "" {
				named, why = dir, "cannot be used ("+err.Error()+")"
			}
			continue
		}
		by := ""
		for _, name := range hostview.Names(real) {
			if by == "" {
				by = cmp.Or(apart(name), reached(filepath.Join(name, runPrefix), root))
			}
		}
		if by == "" {
			return real, nil
		}
		if named == "" {
			named, why = real, by
		}
	}
	return "", failed("the directories of runs: %s %s, and there is no other; let TMPDIR be elsewhere", named, why)
}

// apart returns why no tool gets to the directories of runs at a place, where it is shared memory.
func apart(at string) string {
	if shm := "/" + ir.LinuxShared; runtime.GOOS == "linux" && kernelfs.Below(at, shm) {
		return "lies in " + shm + ", where a supervised tool has memory of its own run"
	}
	return ""
}

// reached returns why tools may come to a place: it lies in a workspace, or in the approved target of one. Empty is no
// reason. Approvals that cannot be read approve nothing.
func reached(at, root string) string {
	if root != "" && lies(at, root) {
		return "lies in the workspace " + root
	}
	all, err := userdir.Root()
	if err != nil {
		return "" // no tool has a state, so none has approvals
	}
	if root, ok := workspace.Around(at, all); ok {
		return "lies in the workspace " + root
	}
	if root, ok := used(at); ok {
		return "lies in " + root + ", which has been a workspace"
	}
	if lies(at, all) {
		return "lies in accessc's state"
	}
	list, _ := os.ReadDir(filepath.Join(all, "workspaces"))
	for _, e := range list {
		store, err := approvals.Load(userdir.Dir(filepath.Join(all, "workspaces", e.Name())).Approvals())
		if err != nil {
			continue
		}
		for _, m := range store.Mounts() {
			if lies(at, filepath.FromSlash(m.CanonicalTarget)) {
				return "lies in " + m.CanonicalTarget + ", to which " + m.RulePath + " of a workspace was approved to lead"
			}
		}
	}
	return ""
}
