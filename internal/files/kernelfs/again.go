package kernelfs

import (
	"slices"
	"strings"
)

// name finds the mounts below roots that show a place of the policy under another name, and the overlays below
// roots that show the kernel, or directories that nobody here can tell; and the mounts below the base that show
// a root, or a mount below a root.
func (f *finder) name(roots, base []string) {
	var below, inBase []*Mount
	for i := range f.all {
		switch m := &f.all[i]; {
		case m.own():
		// What is around a workspace on a mount of its own is no reason to close the workspace (Same).
		case in(m.Point, roots) && m.Point != roots[0]:
			below = append(below, m)
		case slices.ContainsFunc(base, func(b string) bool { return Below(m.Point, b) }):
			inBase = append(inBase, m)
		}
	}
	if len(below) == 0 && len(inBase) == 0 {
		return
	}
	var places []Mount
	add := func(list []string) {
		for _, r := range list {
			shows, _ := f.at(r)
			places = append(places, shows...)
		}
	}
	add(append(roots[:len(roots):len(roots)], sharedMemory))
	ofRoots := len(places)
	add(base)
	type view struct {
		m     *Mount
		shows []Mount
	}
	var open []view
	for _, m := range below {
		shows, known := f.shows(m, m.Point, m.Root)
		m.kernel = !known && !f.vouched(m.Device, roots)
		for i := range shows {
			m.kernel = m.kernel || shows[i].kernel
		}
		if named, ok := f.named(m.Point, shows, places); ok {
			m.Again = named.Again
		} else {
			open = append(open, view{m, shows})
		}
	}
	// Two that show the same are both closed: rules and protected paths may name either, and count at neither other
	// name.
	for _, a := range open {
		for _, b := range open {
			if named, ok := f.named(a.m.Point, a.shows, b.shows); ok && a.m != b.m && a.m.Again == "" {
				a.m.Again = named.Again
			}
		}
	}
	// Rules and protected paths may name such a mount as well as a root.
	places = places[:ofRoots:ofRoots]
	for _, v := range open {
		places = append(places, v.shows...)
	}
	for _, m := range inBase {
		shows, _ := f.shows(m, m.Point, m.Root)
		if named, ok := f.named(m.Point, shows, places); ok {
			m.Again = named.Again
		}
	}
}

func in(point string, roots []string) bool {
	for _, r := range roots {
		if point != r && Below(point, r) {
			return true
		}
	}
	return false
}

// shown is a place as if it were mounted where it is.
func shown(all []Mount, path string) (Mount, bool) {
	m := At(all, path)
	if m == nil {
		return Mount{}, false
	}
	return Mount{Point: path, Device: m.Device, Root: join(m.Root, tail(path, m.Point))}, true
}

// again is the name at a place of what a mount shows as well, empty where they show nothing in common, or show it under
// the same name, as where a directory is mounted on itself.
func again(m, place *Mount) string {
	var own, other string
	switch {
	case m.Device != place.Device:
	case Below(m.Root, place.Root):
		own, other = m.Point, join(place.Point, tail(m.Root, place.Root))
	case Below(place.Root, m.Root):
		own, other = join(m.Point, tail(place.Root, m.Root)), place.Point
	}
	if own == other {
		return ""
	}
	return other
}

// Names are the canonical names of a place: its own, the names that other mounts give it, and the points of mounts
// that show a part of it.
func Names(all []Mount, path string) []string {
	out := []string{path}
	place, ok := shown(all, path)
	for i := range all {
		m := &all[i]
		switch {
		case !ok || m.Device != place.Device || again(m, &place) == "":
		case Below(place.Root, m.Root):
			out = append(out, join(m.Point, tail(place.Root, m.Root)))
		default:
			out = append(out, m.Point)
		}
	}
	return out
}

// tail is what a path has below a directory.
func tail(path, dir string) string { return strings.TrimPrefix(path, strings.TrimSuffix(dir, "/")) }

func join(dir, rest string) string {
	if rest == "" || rest == "/" {
		return dir
	}
	return strings.TrimSuffix(dir, "/") + rest
}
