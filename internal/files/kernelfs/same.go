package kernelfs

import (
	"cmp"
	"slices"
)

// Same are the roots of a policy that show another of them, a part of it, or what is around it, under another
// name, or what processes share: rules and protected paths of that place would not count there. They are returned as
// mounts. The first root, the workspace, is none of them. Of two other roots it is the root of the further mount. So
// is what of the base shows the workspace. See decision D441.
func Same(all []Mount, roots, base []string, link Link) (out []Mount) {
	if len(roots) == 0 {
		return nil
	}
	f := finder{all, link}
	places, _ := f.at(roots[0])
	workspace := len(places)
	shared, _ := f.at(sharedMemory)
	places = append(places, shared...)
	others := slices.DeleteFunc(slices.Clone(roots[1:]), func(r string) bool { return r == roots[0] })
	slices.SortFunc(others, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(all, a), depth(all, b)), cmp.Compare(a, b))
	})
	for _, r := range slices.Compact(others) {
		shows, known := f.at(r)
		if m, ok := f.named(r, shows, places); ok || !known && !f.vouched(shows[0].Device, roots) {
			out = append(out, m)
			continue
		}
		places = append(places, shows...)
	}
	for _, b := range base {
		shows, _ := f.at(b)
		if m, ok := f.named(b, shows, places[:workspace]); ok {
			out = append(out, m)
		} else if i := Nearest(out, roots, b); i != nil {
			m.Again = i.Again
			out = append(out, m)
		}
	}
	return out
}

// named is a place as a mount, and whether it shows any of others under another name.
func (f *finder) named(place string, shows, others []Mount) (out Mount, ok bool) {
	out.Point = place
	if m := At(f.all, place); m != nil {
		out.Type = m.Type
	}
	for i := range shows {
		for j := range others {
			if out.Again = again(&shows[i], &others[j]); out.Again != "" {
				return out, true
			}
		}
	}
	return out, false
}

// vouched reports whether the root directory or the workspace is on a device: whoever mounted these chose all
// places, and the names of their layers are often names in another root.
func (f *finder) vouched(device string, roots []string) bool {
	for _, place := range append([]string{"/"}, roots[:min(1, len(roots))]...) {
		if m := At(f.all, place); m != nil && m.Device == device {
			return true
		}
	}
	return false
}

// Nearest is the root among Same whose rules count for a path, nil where that root is none of them.
func Nearest(same []Mount, roots []string, path string) *Mount {
	if len(same) == 0 {
		return nil
	}
	near := ""
	for _, r := range roots {
		if Below(path, r) && len(r) >= len(near) {
			near = r
		}
	}
	if i := slices.IndexFunc(same, func(m Mount) bool { return m.Point == near }); i >= 0 {
		return &same[i]
	}
	return nil
}

// depth is how long the name of the mount is that gives a path its files: the nearest above it, passing over
// mounts that show the files under them.
func depth(all []Mount, path string) int {
	place, _ := shown(all, path)
	out := len(path)
	for i := range all {
		m := &all[i]
		if Below(path, m.Point) && m.Device == place.Device && join(m.Root, tail(path, m.Point)) == place.Root {
			out = min(out, len(m.Point))
		}
	}
	return out
}

// sharedMemory is the memory that processes share (shm_overview(7)): a tool has a directory of the run in its place.
// See decision D441.
const sharedMemory = "/dev/shm"
