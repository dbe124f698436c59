package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/host/hostview"
)

// A tool writes its private home and the directories of its runs. A policy there would be the tool's own.

const inState = "lies in accessc's own state, where tools have their homes"

// RunPrefix starts the name of every directory of a run.
const RunPrefix = "accessc-"

// isRun reports whether a directory of a run can have a name: with the digits of os.MkdirTemp, or with rand.Text.
func isRun(name string) bool {
	drawn, ok := strings.CutPrefix(name, RunPrefix)
	digits := strings.Trim(drawn, "0123456789") == "" && len(drawn) <= len("4294967295")
	text := strings.Trim(drawn, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == "" && len(drawn) == 26
	return ok && drawn != "" && (digits || text)
}

// leastDrawn is the number of digits from which a name is that of a run wherever it lies: the caller of a run may have
// had another TMPDIR. Fewer are a number of somebody's own, but where runs are now; one run in 400,000 has so few.
const leastDrawn = 5

// writtenByTools returns the reason why a canonical directory is a directory of accessc's that tools write, by
// any name that mounts give it. Empty is no reason.
func writtenByTools(dir, state string) string {
	if filepath.IsAbs(state) {
		for _, name := range hostview.Names(canonical(state)) {
			if Within(dir, name) {
				return inState
			}
		}
	}
	temporary := []string{os.TempDir()}
	if runtime.GOOS != "windows" {
		temporary = append(temporary, "/tmp", "/var/tmp")
	}
	for i, at := range temporary {
		temporary[i] = canonical(at)
	}
	for at := dir; filepath.Dir(at) != at; at = filepath.Dir(at) {
		name := filepath.Base(at)
		drawn := slices.Contains(temporary, filepath.Dir(at)) || len(name) >= len(RunPrefix)+leastDrawn
		// In a run, accessc may be started in the directory of that very run.
		if isRun(name) && drawn && !Within(temporary[0], at) {
			return "lies in " + at + ", which has the name of a directory of a tool's run"
		}
	}
	return ""
}

// led returns an error where a path leads to a root over a symlink of another workspace, whose tools may have made the
// symlink. What the workspace lists does not count: they may have put the symlink in the place of a member.
// See decision D454.
func led(dir, root, state string) error {
	for _, link := range links(dir) {
		if outer, ok := Around(link, state); ok && !Within(root, outer) {
			why := "is reached by " + link + ", a symlink that leads out of the workspace " + outer
			return &Refused{Dir: root, Why: why}
		}
	}
	return nil
}

// mostLinks are the symlinks that are followed, more than any system follows.
const mostLinks = 255

// links returns the places of the symlinks that an absolute path leads over, each in a directory without any.
func links(dir string) (out []string) {
	const sep = string(filepath.Separator)
	top := func(path string) (string, []string) {
		volume := filepath.VolumeName(path)
		return volume + sep, strings.Split(path[len(volume):], sep)
	}
	at, rest := top(dir)
	for len(rest) > 0 && len(out) < mostLinks {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		out = append(out, next)
		further := strings.Split(filepath.FromSlash(to), sep)
		if filepath.IsAbs(to) {
			at, further = top(filepath.FromSlash(to))
		}
		rest = slices.Concat(further, rest)
	}
	return out
}
