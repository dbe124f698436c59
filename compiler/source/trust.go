package source

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/accessc/accessc/compiler/diag"
)

// trust is an entry of the user's [[layers]]: how far the files that a pattern matches
// are trusted.
type trust struct {
	pattern string
	narrow  bool
}

// readTrust reads [[layers]] from the user's own files. No other layer may set trust.
func (l *loader) readTrust() {
	for _, layer := range l.set.Layers {
		v := layer.Root.Get("layers")
		if v == nil {
			continue
		}
		if v.Kind != ArrayKind {
			l.wrongType(v, "layers", `an array of tables such as { path = "~/vendor/**", trust = "narrow" }`)
			continue
		}
		for _, item := range v.Array {
			l.readEntry(item)
		}
	}
}

func (l *loader) readEntry(v *Value) {
	if v.Kind != TableKind {
		l.wrongType(v, "layers", `a table such as { path = "~/vendor/**", trust = "narrow" }`)
		return
	}
	report := func(code diag.Code, at *Value, label string) {
		d := diag.New(code, at.At, at.Span)
		d.Path, d.Label = "layers", label
		l.diags.Add(d)
	}
	for i := range v.Table.Entries {
		if e := &v.Table.Entries[i]; e.Key != "path" && e.Key != "trust" {
			report(diag.UnknownKey, &Value{At: e.At, Span: e.Span}, `found "`+e.Key+`", expected one of path, trust`)
		}
	}
	pattern, word := v.Table.Get("path"), v.Table.Get("trust")
	switch {
	case pattern == nil || word == nil:
		report(diag.MissingField, v, "found an entry without path or trust")
	case pattern.Kind != StringKind:
		l.wrongType(pattern, "layers.path", "a string")
	case !doublestar.ValidatePattern(pattern.Text) || pattern.Text == "":
		report(diag.BadValue, pattern, "found no pattern")
	case word.Kind != StringKind:
		l.wrongType(word, "layers.trust", "a string")
	case word.Text != "narrow" && word.Text != "full":
		report(diag.BadValue, word, `found "`+word.Text+`", expected one of narrow, full`)
	default:
		l.trust = append(l.trust, trust{pattern.Text, word.Text == "narrow"})
	}
}

// distrusts reports whether a file may only narrow, as the last pattern that matches it says. A
// pattern that begins with / or ~/ is matched against the whole path, any other pattern against the path in the
// workspace. Symlinks are resolved: a file also has the path that it leads to, and so does a pattern.
func (l *loader) distrusts(name, file, real string) bool {
	return l.distrustsAs(name, filepath.ToSlash(file)) ||
		real != file && l.distrustsAs(l.name(real), filepath.ToSlash(real))
}

func (l *loader) distrustsAs(name, file string) bool {
	narrow := false
	for _, t := range l.trust {
		pattern := t.pattern
		if rest, ok := strings.CutPrefix(pattern, "~/"); ok && l.req.Home != "" {
			pattern = path.Join(escapePattern(filepath.ToSlash(l.req.Home)), rest)
		}
		matches := doublestar.MatchUnvalidated(pattern, name)
		if path.IsAbs(pattern) || filepath.IsAbs(pattern) {
			base, rest := doublestar.SplitPattern(pattern)
			real, err := l.host.EvalSymlinks(filepath.FromSlash(base))
			matches = doublestar.MatchUnvalidated(pattern, file) ||
				err == nil && doublestar.MatchUnvalidated(path.Join(escapePattern(filepath.ToSlash(real)), rest), file)
		}
		if matches {
			narrow = t.narrow
		}
	}
	return narrow
}

// escapePattern makes a path a pattern that matches only itself.
func escapePattern(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(p)
}
