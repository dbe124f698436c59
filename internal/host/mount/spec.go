package mount

import (
	"fmt"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Form is the written form of a mount.
const Form = "[TOOL:]NAME=PATH[:ro|:rw|:rx|:rwx]"

// Spec is one mount as the command line asks for it.
type Spec struct {
	// Tool is the tool that is granted access; empty means every enabled local tool.
	Tool string
	// Name is the path of the link, relative to the current directory.
	Name string
	// Path is the target of the link.
	Path string
	// Write grants create, update and delete besides read, Execute the start of programs.
	Write, Execute bool
}

// isToolName reports whether a tool can have a name: small letters, digits and
// underscores, no digit first.
func isToolName(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Parse reads a mount. The first "=" separates name and path; a ":" in front of it
// ends the name of a tool, and ":ro", ":rw", ":rx" or ":rwx" at the very end is the mode, so
// the path of a Windows drive needs no quoting.
func Parse(text string) (Spec, error) {
	fail := func(format string, args ...any) (Spec, error) {
		return Spec{}, fmt.Errorf("%q: %s", text, fmt.Sprintf(format, args...))
	}
	left, right, ok := strings.Cut(text, "=")
	if !ok {
		return fail("found no =, expected %s", Form)
	}
	s := Spec{Name: left, Path: right}
	if tool, name, ok := strings.Cut(left, ":"); ok {
		if !isToolName(tool) {
			return fail(`found %q in front of a ":", expected the name of a tool: a-z, 0-9 and _, no digit first`, tool)
		}
		s.Tool, s.Name = tool, name
	}
	for _, mode := range []string{":ro", ":rw", ":rx", ":rwx"} {
		if path, ok := strings.CutSuffix(s.Path, mode); ok {
			s.Path, s.Write, s.Execute = path, strings.Contains(mode, "w"), strings.Contains(mode, "x")
			break
		}
	}
	switch {
	case s.Name == "":
		return fail("found no name in front of the =, expected %s", Form)
	case strings.Contains(s.Name, ":"):
		return fail(`found a second ":", which no name may hold`)
	case s.Path == "":
		return fail("found no path behind the =, expected %s", Form)
	case s.Write && s.Tool == "":
		return fail("a mode with w needs the tool that may write: TOOL:%s", text)
	}
	return s, nil
}

// caps are the capabilities that the mount grants.
func (s Spec) caps() ir.CapSet {
	caps := ir.Caps(ir.Read)
	if s.Write {
		caps |= ir.Write
	}
	if s.Execute {
		caps = caps.With(ir.Execute)
	}
	return caps
}
