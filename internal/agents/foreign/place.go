package foreign

import (
	"path"
	"strings"
)

// Host has the facts about the machine that the evaluation needs.
type Host struct {
	// Dir is the canonical directory in which the program works, Home the user's.
	Dir, Home string
	// Exists reports whether something has a name.
	Exists func(abs string) bool
	// Follow returns a path without symlinks, as far as it exists.
	Follow func(abs string) string
	// Existing has user's patterns that deny cover names that exist alone.
	Existing bool
}

// Covers reports whether a pattern that denies covers a path. Names in another case than its own it covers where
// they exist.
func (h *Host) Covers(p Pattern, abs string) bool {
	if at, ok := p.covering(abs); p.Fold && ok && h.Exists(at) {
		return true
	}
	p.Fold = false
	at, ok := p.covering(abs)
	return ok && (p.Literal() || !h.Existing || h.Exists(at))
}

// Absolute is the absolute form of a path of the settings, relative to dir.
func (h *Host) Absolute(text, dir string) string {
	switch {
	case text == "~":
		text = h.Home
	case strings.HasPrefix(text, "~/"):
		text = h.Home + text[1:]
	case !strings.HasPrefix(text, "/"):
		text = dir + "/" + text
	}
	return path.Clean(text)
}

// Whole is the directory of a path that ends in "/**", which is all of that directory; others stay.
func Whole(text string) string {
	out := strings.TrimSuffix(text, "/**")
	if out == "" && text != "" {
		return "/"
	}
	return out
}

// Startup are names at any depth of a working directory that its programs, or the next shell, take
// instructions from. Both srt and Claude Code take them out of the places that may be written.
var Startup = []string{
	".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile", ".ripgreprc",
	".mcp.json",
	".vscode", ".idea", ".claude/commands", ".claude/agents", ".git/hooks", ".git/config",
}

// Instructs reports whether a path is, or lies in, one of the names: always in the directory itself, and
// below it where the name exists.
func (h *Host) Instructs(abs string, names []string) bool {
	if !Under(abs, h.Dir) {
		return false
	}
	parts := Split(strings.TrimPrefix(abs, h.Dir))
	for from := range parts {
		for _, name := range names {
			want := Split(name)
			if len(parts)-from < len(want) || strings.Join(parts[from:from+len(want)], "/") != name {
				continue
			}
			if from == 0 || h.Exists(path.Join(h.Dir, strings.Join(parts[:from+len(want)], "/"))) {
				return true
			}
		}
	}
	return false
}

// Spelled is an entry of a list of paths.
type Spelled struct {
	Path    string
	Literal bool // wildcards in it are none
}

// Glob reports whether an entry is a pattern.
func (s Spelled) Glob() bool { return !s.Literal && strings.ContainsAny(s.Path, "*?[]") }
