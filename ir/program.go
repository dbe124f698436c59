package ir

import "strings"

// ProgramPath is the search path for programs where the policy forwards no PATH, on systems other
// than Windows.
const ProgramPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// ProgramNames returns the file names under which p looks a program up, in order. Windows knows
// programs by their extension; the extensions of batch files are left out, since their interpreter reads
// arguments as code.
func (p Platform) ProgramNames(name string) []string {
	if p != Windows {
		return []string{name}
	}
	switch i := strings.LastIndexByte(name, '.'); {
	case i >= 0 && strings.EqualFold(name[i:], ".exe"), i >= 0 && strings.EqualFold(name[i:], ".com"):
		return []string{name}
	default:
		return []string{name + ".com", name + ".exe", name}
	}
}
