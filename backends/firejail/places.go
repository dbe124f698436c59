package firejail

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/ir"
)

// shown is the lines about files. firejail applies whitelist first and the others in their order (sandbox.c,
// fs_whitelist and fs_blacklist).
type shown struct {
	// white are the places that are all that is shown in a directory of firejail's, and whole the others.
	white, whole []string
	// links are symbolic links to shown places, which only have to stay.
	links []string
	rest  []string
}

// places are the lines about the files of a plan.
func places(plan *mounts.Plan) *shown {
	s, in := &shown{}, newAround(plan)
	for _, m := range plan.Mounts {
		if in.covered(m.Place) {
			continue
		}
		inner := in.within(m.Place)
		switch {
		case m.Kind == mounts.Hide:
			s.rest = append(s.rest, "blacklist "+m.Place)
		case m.Kind == mounts.Link:
			s.links = append(s.links, m.Place)
		case m.Kind != mounts.Bind || m.Pin:
		case inner != mounts.Closed && m.Mode == mounts.ReadOnly:
			s.rest = append(s.rest, "read-only "+m.Place)
		case inner != mounts.Closed:
			s.rest = append(s.rest, "read-write "+m.Place)
		default:
			s.show(m)
		}
	}
	return s
}

// show adds a place around which nothing is shown.
func (s *shown) show(m mounts.Mount) {
	whole := strings.HasPrefix(m.Place, "/") && top(m.Place) == m.Place
	if whole {
		s.whole = append(s.whole, m.Place)
	} else {
		s.white = append(s.white, m.Place)
	}
	switch {
	case m.Mode == mounts.ReadOnly:
		s.rest = append(s.rest, "read-only "+m.Place)
	case whole: // no directory of firejail's is around it, but the host's
		s.rest = append(s.rest, "read-write "+m.Place)
	}
}

// top is the directory that firejail replaces by one of its own, with nothing in it but the places that a whitelist
// names (firejail(1), --whitelist): one of /, or of /usr, which it does not replace itself.
func top(place string) string {
	n := 1
	if strings.HasPrefix(place, "/usr/") {
		n = 2
	}
	parts := strings.SplitN(place, "/", n+2)
	return strings.Join(parts[:min(n+1, len(parts))], "/")
}

// maxTops is how many such directories firejail takes (fs_whitelist.c, TOP_MAX; seen with 0.9.72). It counts the names
// of places that are not there, too.
const maxTops = 64

// unfit says why firejail starts nothing under the lines; empty if it does. start is the workspace.
func (s *shown) unfit(start string) string {
	for _, place := range s.all(start) {
		if !plain(place) {
			return fmt.Sprintf("firejail does not take %q for the name of one place", place)
		}
		// The other lines about it are no longer.
		if n := len("noblacklist ") + len(place); n > maxLine {
			return fmt.Sprintf("firejail reads %d bytes of a line, and that of the place %.40s… has %d", maxLine, place,
				n)
		}
	}
	tops := map[string]bool{}
	for _, place := range s.white {
		if strings.HasPrefix(place, "/") {
			tops[top(place)] = true
		}
	}
	if len(tops) > maxTops {
		return fmt.Sprintf("firejail shows places in %d directories of / at most, and these are in %d", maxTops,
			len(tops))
	}
	for _, dir := range []string{"/proc", "/sys"} {
		if tops[dir] {
			return "firejail cannot show single places of " + dir
		}
	}
	enters := func(place string) bool { return ir.Within(place, start) || ir.Within(start, place) }
	closed := func(line string) bool {
		place, hides := strings.CutPrefix(line, "blacklist ")
		return hides && ir.Within(start, place)
	}
	if !slices.ContainsFunc(s.white, enters) && !slices.ContainsFunc(s.whole, enters) ||
		slices.ContainsFunc(s.rest, closed) {
		return "nothing is granted in the workspace, and firejail cannot start a tool in a directory of which it " +
			"shows nothing"
	}
	return ""
}

// all are the places that lines are about, and start.
func (s *shown) all(start string) []string {
	out := slices.Concat([]string{start}, s.white, s.whole, s.links)
	for _, line := range s.rest {
		_, place, _ := strings.Cut(line, " ")
		out = append(out, place)
	}
	return out
}

// lines are the lines of a profile.
func (s *shown) lines() []string {
	var out []string
	for _, place := range s.white {
		out = append(out, "whitelist "+place)
	}
	open, around := map[string]bool{"/dev": true, "/proc": true, "/run": true}, map[string]bool{}
	for _, place := range slices.Concat(s.white, s.whole, s.links) {
		// See decision D257. The directories around a symbol are not known.
		open[place] = true
		for dir := place; strings.HasPrefix(dir, "/"); {
			open[dir] = true
			dir = dir[:strings.LastIndexByte(dir, '/')]
			around[dir] = dir != "" && dir != "/run"
		}
	}
	for _, place := range slices.Sorted(maps.Keys(open)) {
		out = append(out, "noblacklist "+place)
	}
	out = append(append(out, kept...), everything...)
	for _, dir := range slices.Sorted(maps.Keys(around)) {
		if around[dir] {
			out = append(out, "blacklist "+dir+"/*")
		}
	}
	return append(out, s.rest...)
}

// kept are the lines about places in /run that stay: firejail's own, and a symbolic link to shared memory, which
// firejail would follow, so that the private /dev/shm was covered (Debian has the link).
var kept = []string{"noblacklist /run/firejail", "noblacklist /run/shm"}

// everything are the lines that cover all directories without an exception, and keep the others as they are: root could
// make, move and remove names in /, which is the host's. firejail 0.9.72 does not start where /run is read-only.
// See decision D257.
var everything = []string{"blacklist /*", "blacklist /run/*", "read-only /"}

// named reports whether firejail takes a line of a profile to be about one place, or about all in one directory, as the
// lines that cover are.
func named(line string) bool {
	word, place, _ := strings.Cut(line, " ")
	if word == "blacklist" && strings.HasPrefix(place, "/") {
		place = strings.TrimSuffix(place, "/*")
	}
	return plain(place)
}

// around are the mounts that decide about others in them.
type around struct {
	modes map[string]mounts.Mode // of the places that are shown
	hides map[string]bool
}

func newAround(plan *mounts.Plan) around {
	a := around{map[string]mounts.Mode{}, map[string]bool{}}
	for _, m := range plan.Mounts {
		switch m.Kind {
		case mounts.Bind:
			a.modes[m.Place] = m.Mode
		case mounts.Hide:
			a.hides[m.Place] = true
		case mounts.Lead, mounts.Device, mounts.Devices, mounts.Memory, mounts.Processes, mounts.Link:
		}
	}
	return a
}

// within is the mode of the mount around a place.
func (a around) within(place string) mounts.Mode {
	for dir := mounts.Around(place); dir != ""; dir = mounts.Around(dir) {
		if mode, ok := a.modes[dir]; ok {
			return mode
		}
	}
	return mounts.Closed
}

// covered reports whether a place lies in a covered place, where firejail can show nothing.
func (a around) covered(place string) bool {
	for dir := mounts.Around(place); dir != ""; dir = mounts.Around(dir) {
		if a.hides[dir] {
			return true
		}
	}
	return false
}
