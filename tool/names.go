package tool

import (
	"runtime"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

const (
	// foldsNames is true where names that differ by case or composition are one file:
	// by default on APFS and NTFS.
	foldsNames = runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	// aliases is true where one file has names that lstat(2) does not distinguish.
	aliases = runtime.GOOS == "windows"
)

// spelling returns a path with slashes, or why it may be another name of something. On
// Windows a name before a colon names the file of a stream, dots and blanks at the end
// do not count, a tilde with a digit is a generated short name, and some names are
// devices (learn.microsoft.com, "Naming Files, Paths, and Namespaces").
func spelling(path string, windows bool) (spelled, why string) {
	if strings.ContainsRune(path, 0) {
		return "", "found a NUL, which no path holds"
	}
	if !windows {
		return path, ""
	}
	path = strings.ReplaceAll(path, `\`, "/")
	if _, err := resolve.RuleName(path); err != nil {
		return path, "" // refused for that
	}
	names := path
	if len(path) > 2 && path[1:3] == ":/" {
		names = path[3:]
	}
	for name := range strings.SplitSeq(names, "/") {
		switch {
		case name == "." || name == "..":
		case strings.ContainsAny(name, ":*?\"<>|"):
			return "", "found a character that no Windows file name holds"
		case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
			return "", "found a name that ends in a dot or blank, which Windows drops"
		case shortName(name):
			return "", "found a possible short name, expected the long one"
		case device(name):
			return "", "found the name of a device"
		}
	}
	return path, ""
}

func shortName(name string) bool {
	_, after, ok := strings.Cut(name, "~")
	return ok && after != "" && '0' <= after[0] && after[0] <= '9'
}

func device(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}, stem) {
		return true
	}
	rest, com := strings.CutPrefix(stem, "COM")
	if !com {
		if rest, com = strings.CutPrefix(stem, "LPT"); !com {
			return false
		}
	}
	return slices.Contains([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, rest)
}

// foldedPolicy is a policy on folded paths, in which two spellings of a name are the same.
func foldedPolicy(t *ir.Tool) *ir.Tool {
	out := *t
	out.FS = slices.Clone(t.FS)
	for i := range out.FS {
		out.FS[i].At = foldedAt(out.FS[i].At)
		out.FS[i].Names = foldedNames(out.FS[i].Names)
	}
	// Programs are files, which the policy as it is written has judged.
	out.Commands = nil
	return &out
}

// foldedNames are patterns that match the folded form of the names that these match, and may match more: a policy is
// asked as it is written as well.
func foldedNames(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		out = append(out, p, resolve.Fold(p))
	}
	return ir.FoldNames(out)
}

func foldedPlace(p ir.Place) ir.Place {
	p.At, p.Lexical = foldedAt(p.At), resolve.Fold(p.Lexical)
	return p
}

// See decision D86.
func foldedAt(l ir.Location) ir.Location {
	return ir.Location{Root: ir.Root{Kind: l.Root.Kind, Name: resolve.Fold(l.Root.Name)}, Path: resolve.Fold(l.Path)}
}
