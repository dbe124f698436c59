package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Located are the entries of a list by their absolute paths; those with wildcards apart.
func (t *Translation) Located(list []Listed) (plain, patterns []Point) {
	for _, l := range list {
		text := strings.TrimRight(l.Path, "/")
		if !l.Literal {
			text = strings.TrimSuffix(text, "/**")
		}
		switch {
		case text == "~" || strings.HasPrefix(text, "~/"):
			text = t.Host.Home + text[1:]
		case !path.IsAbs(text) && text != "":
			text = t.Host.Dir + "/" + text
		}
		p := Point{Abs: path.Clean("/" + text), Entry: l.Entry}
		if !l.Literal && strings.ContainsAny(p.Abs, "*?[]") {
			patterns = append(patterns, p)
			continue
		}
		plain = append(plain, p)
	}
	return plain, patterns
}

// Closed are the places of entries that deny: those that their paths lead to.
func (t *Translation) Closed(points []Point) []Point {
	out := slices.Clone(points)
	for i, p := range out {
		out[i].Abs = t.Host.Follow(p.Abs)
	}
	return out
}

// Opened are the places of entries that allow. Over a symlink they open nothing.
func (t *Translation) Opened(points []Point) []Point {
	var out []Point
	for _, p := range points {
		if t.Host.Follow(p.Abs) != p.Abs {
			p.Entry.Become(LeftOut, "its path leads over a symlink")
			continue
		}
		p.Opens = true
		out = append(out, p)
	}
	return out
}

// Deepest is the length of the longest of the places around a path, -1 for none.
func Deepest(points []Point, abs string) int {
	out := -1
	for _, p := range points {
		if ir.Within(abs, p.Abs) {
			out = max(out, len(p.Abs))
		}
	}
	return out
}

// EveryName resolves patterns that deny.
func (t *Translation) EveryName(patterns []Point, opened []string, what denial) []Point {
	var out []Point
	for _, p := range patterns {
		out = append(out, t.Names(p, opened, what)...)
	}
	return out
}

// Instructing are files that the next shell, git, an editor or an agent takes instructions from.
var Instructing = []string{".bash_profile", ".bashrc", ".claude/agents", ".claude/commands", ".git/config",
	".git/hooks", ".gitconfig", ".gitmodules", ".idea",
	".mcp.json", ".profile", ".ripgreprc", ".vscode", ".zprofile", ".zshrc"}

// Always are names that a program keeps from being written at any depth.
func (t *Translation) Always(names []string) []Point {
	var patterns []string
	for _, name := range names {
		patterns = append(patterns, t.Host.Dir+"/**/"+name)
	}
	found, err := Matching(t.Host.Dir, "s", patterns...)
	if err != nil {
		t.Faults = append(t.Faults, err)
	}
	var out []Point
	for _, abs := range found {
		out = append(out, Point{Abs: t.Host.Follow(abs),
			Entry: &Entry{Key: "no list of the settings lets it be written"}})
	}
	return out
}
