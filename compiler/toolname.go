package compiler

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
)

// maxToolName bounds the length of a tool's name, in bytes.
const maxToolName = 128

// checkName refuses names that cannot be directories of the output, on any system.
func (c *compilation) checkName(d *draft) {
	why := BadName(d.name)
	if why == "" {
		return
	}
	f := diag.New(diag.BadToolName, d.first.At, d.first.Span)
	f.Path, f.Label = d.path(), why
	c.findings.Add(f)
}

// BadName is the fault of a name of a tool or a server, empty for none.
func BadName(name string) string {
	safe := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.-", r)
	}
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch {
	case name == "":
		return "found an empty name"
	case strings.ContainsFunc(name, func(r rune) bool { return !safe(r) }):
		return "found a name that is not made of letters, digits, _, . and -"
	case name == "." || name == "..":
		return "found a name that means a directory already"
	case name[0] == '-':
		return "found a name that begins like a flag"
	case strings.HasSuffix(name, "."):
		return "found a name with a dot at the end, which Windows drops"
	case isDevice(stem):
		return "found a name that means a device on Windows"
	case len(name) > maxToolName:
		return "found a name that is too long for a directory"
	default:
		return ""
	}
}

// isDevice reports whether Windows takes a name for a device, with any extension
// (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
func isDevice(stem string) bool {
	port := strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")
	return port && len(stem) == 4 && '0' <= stem[3] && stem[3] <= '9' ||
		slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, stem)
}

// checkFolded refuses two tools whose names are one directory where upper and lower case
// are the same.
func (c *compilation) checkFolded(drafts []*draft) {
	seen := map[string]*draft{}
	for _, d := range drafts {
		if d.source == nil && d.server == nil {
			continue // settings of a tool that is not there
		}
		folded := strings.ToLower(d.name)
		other := seen[folded]
		seen[folded] = d
		if other == nil {
			continue
		}
		f := diag.New(diag.BadToolName, d.first.At, d.first.Span)
		f.Path = d.path()
		f.Label = "found the name of another tool in other case, which is the same directory on macOS and Windows"
		if d.name == other.name {
			f.Label = "found the name of a server and of a tool, whose homes and artifacts would be the same " +
				"directories"
		}
		f.Related = []diag.Related{{At: other.first.At, Note: "the other tool"}}
		c.findings.Add(f)
	}
}

// ServerName is the name in a configuration of the server that a client calls name: other characters
// than letters, digits, "-" and "_" become "_", so different names may become the same.
func ServerName(name string) string {
	name = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if name = strings.TrimLeft(name, "-"); name == "" {
		return "server"
	}
	return name
}
