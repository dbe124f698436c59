package opencode

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer"
)

// touchingWords are programs whose arguments opencode takes for paths: outside of the repository it asks about them.
var touchingWords = strings.Fields(`
	add-content cat cd chdir chmod chown copy-item cp get-content mkdir move-item mv new-item popd pushd
	push-location remove-item rename-item rm set-content set-location touch`)

// lines writes rules for commands. Here the first rule that matches decides and there the last one, so they are written
// from the last to the first; those that come later stand in the way of one that allows.
func (o *reader) lines() {
	var later []importer.LineRule
	for _, r := range slices.Backward(o.of("bash")) {
		l := importer.LineRule{Pattern: o.pattern(r.Pattern), Deny: r.Action == "deny", Entry: r.entry}
		if r.Action != "allow" {
			if later = append(later, l); r.Permission != "bash" {
				other := *r.entry // others says its fate
				l.Entry = &other
			}
			o.t.StopLine(l)
			continue
		}
		if r.Permission != "bash" {
			continue // every command; others says so
		}
		if own := strings.Fields(strings.Join(slices.Concat(l.Prefix, l.Exact,
			[]string{strings.TrimRight(l.Glob, "*")}), " ")); len(own) > 0 && slices.Contains(touchingWords, own[0]) &&
			!inside(l) {
			r.entry.Become(importer.LeftOut,
				"opencode asks about its paths outside of the repository, which no rule for commands tells apart")
			continue
		}
		o.t.AllowLine(l, later)
	}
}

// inside reports whether a command has no argument that leads out of its directory.
func inside(l importer.LineRule) bool {
	return len(l.Exact) > 0 && !slices.ContainsFunc(l.Exact[1:], func(w string) bool {
		return strings.HasPrefix(w, "/") || strings.Contains(w, "..")
	})
}

// pattern reads a pattern of commands.
func (o *reader) pattern(text string) importer.Pattern {
	text = o.expanded(text)
	prefix, more := strings.CutSuffix(text, " *")
	switch {
	case strings.Trim(text, "*") == "":
		return importer.Pattern{All: true}
	case more && importer.Words(prefix) != nil:
		return importer.Pattern{Prefix: importer.Words(prefix)}
	case importer.Words(text) != nil:
		return importer.Pattern{Exact: importer.Words(text)}
	}
	return importer.Pattern{Glob: text}
}
