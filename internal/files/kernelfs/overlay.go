package kernelfs

import (
	"path"
	"strings"
)

// Link returns the text of a symbolic link at a place, empty for a file of another kind.
type Link func(path string) (string, error)

// finder looks for the places that mounts show.
type finder struct {
	all  []Mount
	link Link
}

// at are the directories that a place shows (shows).
func (f *finder) at(place string) (out []Mount, known bool) {
	m := At(f.all, place)
	if m == nil {
		return nil, true
	}
	return f.shows(m, place, join(m.Root, tail(place, m.Point)))
}

// shows are the directories of file systems that a directory of a mount shows, each as if it were mounted at a place:
// its own, and the directories of layers, where the mount or a layer is of an overlay. They are not all known where a
// layer has no name that means the same here. See https://docs.kernel.org/filesystems/overlayfs.html and decision
// D441.
func (f *finder) shows(m *Mount, place, dir string) (out []Mount, known bool) {
	if m.Type != "overlay" {
		return []Mount{{Point: place, Device: m.Device, Root: dir, kernel: Shows(m.Type)}}, true
	}
	known = true
	seen := map[[2]string]bool{}
	var add func(m *Mount, dir string)
	add = func(m *Mount, dir string) {
		if key := [2]string{m.Device, dir}; !seen[key] {
			seen[key] = true
			out = append(out, Mount{Point: place, Device: m.Device, Root: dir, kernel: Shows(m.Type)})
			if m.Type != "overlay" {
				return
			}
			for _, layer := range layers(m.options) {
				way, ok := f.way(layer)
				known = known && ok
				for _, at := range way {
					// None is a layer of itself: that name is of another time.
					if on := At(f.all, at); on != nil && on.Device != m.Device {
						add(on, join(join(on.Root, tail(at, on.Point)), dir))
					}
				}
			}
		}
	}
	add(m, dir)
	return out, known
}

// layers are the names of an overlay's layers, as whoever mounted it wrote them.
func layers(options string) (out []string) {
	for _, option := range split(options, ',') {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "lowerdir", "lowerdir+", "upperdir", "datadir+":
			for _, dir := range split(value, ':') {
				if dir != "" { // between two colons, before layers of data
					out = append(out, strings.ReplaceAll(dir, `\`, ""))
				}
			}
		}
	}
	return out
}

// way are the symbolic links that a layer's name leads over, any of which a tool may write, and where it ends. Not
// known is a name that counts from the directory of whoever mounted, of a descriptor of theirs (no layer is of proc),
// that nobody here may follow, or whose place is gone.
func (f *finder) way(name string) (out []string, known bool) {
	if !strings.HasPrefix(name, "/") || Below(name, "/proc") {
		return nil, false
	}
	const most = 40 // links, as in the kernel (MAXSYMLINKS)
	at, rest := "/", name[1:]
	for rest != "" {
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		next := path.Join(at, first)
		if first == "" || first == "." || first == ".." || f.link == nil {
			at = next
			continue
		}
		to, err := f.link(next)
		switch {
		case err != nil || len(out) > most:
			return append(out, path.Join(next, rest)), false
		case to == "":
			at = next
			continue
		}
		if out = append(out, next); to[0] == '/' {
			at = "/"
		}
		rest = to + "/" + rest
	}
	return append(out, at), true
}

// split separates a text where a byte stands that no backslash quotes, and keeps the backslashes.
func split(s string, at byte) (out []string) {
	begin := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case at:
			out = append(out, s[begin:i])
			begin = i + 1
		}
	}
	return append(out, s[begin:])
}
