package kernelfs

import "strings"

// layers are the directories that an overlay shows, as if each were mounted at its place. The list has the names of their
// time and of whoever mounted them: relative names, and links of /proc, which cannot be a layer itself, are left out.
// See https://docs.kernel.org/filesystems/overlayfs.html and RATIONALE D433.
func (m *Mount) layers(all []Mount) (out []Mount) {
	if m.Type != "overlay" {
		return nil
	}
	for _, option := range split(m.options, ',') {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "lowerdir", "lowerdir+", "upperdir", "datadir+":
			for _, dir := range split(value, ':') {
				dir = strings.ReplaceAll(dir, `\`, "")
				if layer, ok := shown(all, dir); ok && !Below(dir, "/proc") {
					layer.Point, layer.kernel = m.Point, Shows(At(all, dir).Type)
					out = append(out, layer)
				}
			}
		}
	}
	return out
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
