package importer

import (
	"slices"
	"strings"
)

// touching are programs whose arguments opencode takes for paths: outside of the repository it asks about them.
var touching = strings.Fields("add-content cat cd chdir chmod chown copy-item cp get-content mkdir move-item mv new-item popd pushd push-location remove-item rename-item rm set-content set-location touch")

// lines writes rules for commands. Here the first rule that matches decides and there the last one, so they are written
// from the last to the first; those that come later stand in the way of one that allows.
func (o *opencode) lines() {
	var later []lineRule
	for _, r := range slices.Backward(o.of("bash")) {
		l := lineRule{pattern: o.pattern(r.Pattern), deny: r.Action == "deny", entry: r.entry}
		if r.Action != "allow" {
			if later = append(later, l); r.Permission != "bash" {
				other := *r.entry // others says its fate
				l.entry = &other
			}
			o.t.stopLine(l)
			continue
		}
		if r.Permission != "bash" {
			continue // every command; others says so
		}
		if own := strings.Fields(strings.Join(slices.Concat(l.prefix, l.exact, []string{strings.TrimRight(l.glob, "*")}), " ")); len(own) > 0 && slices.Contains(touching, own[0]) && !inside(l) {
			r.entry.become(LeftOut, "opencode asks about its paths outside of the repository, which no rule for commands tells apart")
			continue
		}
		o.t.allowLine(l, later)
	}
}

// inside reports whether a command has no argument that leads out of its directory.
func inside(l lineRule) bool {
	return len(l.exact) > 0 && !slices.ContainsFunc(l.exact[1:], func(w string) bool {
		return strings.HasPrefix(w, "/") || strings.Contains(w, "..")
	})
}

// pattern reads a pattern of commands.
func (o *opencode) pattern(text string) pattern {
	text = o.expanded(text)
	prefix, more := strings.CutSuffix(text, " *")
	switch {
	case strings.Trim(text, "*") == "":
		return pattern{all: true}
	case more && words(prefix) != nil:
		return pattern{prefix: words(prefix)}
	case words(text) != nil:
		return pattern{exact: words(text)}
	}
	return pattern{glob: text}
}
