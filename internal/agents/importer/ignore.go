package importer

import (
	"path"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Ignore reads a file of patterns in the syntax of gitignore(5), which closes the places that they match below a
// directory, and returns the places to close; names at any depth become rules by name. Where a line cannot be said
// exactly, more is closed, and the line says so: what a line opens again stays closed, a name of a directory is also
// one of a file, and what is all in a directory is the directory. A pattern of another form needs a choice, as it does
// in a list of settings.
func (t *Translation) Ignore(file, dir, text string, opened []string) (closed []Point) {
	text = strings.TrimPrefix(text, "\ufeff")
	for i, line := range strings.Split(text, "\n") {
		pattern, ok := ignorePattern(line)
		if !ok {
			continue
		}
		e := &Entry{File: file, Line: i + 1, Col: 1, Key: path.Base(file), Text: pattern}
		t.Entries = append(t.Entries, e)
		if rest, again := strings.CutPrefix(pattern, "!"); again {
			e.Become(Narrowed, "what %s opens again stays closed", rest)
			continue
		}
		closed = append(closed, t.ignore(e, dir, pattern, opened)...)
	}
	return closed
}

// ignorePattern is the pattern of a line, false where it has none: without blanks at its end that no backslash keeps.
func ignorePattern(line string) (pattern string, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = strings.TrimSuffix(line, " ")
	}
	return line, line != "" && !strings.HasPrefix(line, "#")
}

// ignore closes what a pattern matches.
func (t *Translation) ignore(e *Entry, dir, pattern string, opened []string) []Point {
	if strings.Contains(pattern, `\`) || !Clean(pattern) || strings.TrimSpace(pattern) != pattern {
		t.Faults = append(t.Faults, FaultOf(e,
			"a pattern with backslashes, with blanks around it or with control characters is not understood"))
		return nil
	}
	if strings.Trim(pattern, "/") == "" {
		e.Become(Carried, "it matches nothing")
		return nil
	}
	name, dirs := strings.CutSuffix(pattern, "/")
	for _, all := range []string{"/**", "/*"} {
		if outer, ok := strings.CutSuffix(name, all); ok && outer != "" && outer != "**" {
			e.Become(Narrowed, "%s is closed, and not only what is in it", outer)
			name = "/" + strings.TrimPrefix(outer, "/") // a slash that is not at the end counts from the directory
		}
	}
	if dirs {
		e.Become(Narrowed, "a file of that name is closed as well")
	}
	switch {
	case name == "*" || name == "**" || name == "/*" || name == "/**":
		e.Become(Narrowed, "all of %s is closed", t.Spell(dir))
		return []Point{{Abs: dir, Entry: e}}
	case !strings.Contains(name, "/"):
		name = "**/" + name
	}
	p := Point{Abs: path.Join(dir, name), Entry: e}
	if !foreign.NewPattern(p.Abs).Literal() {
		return t.Names(p, opened, Closes)
	}
	return t.Closed([]Point{p})
}
