package opencode

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/ir"
)

// step is the part of a rule about files: its places, all of them with whole.
type step struct {
	whole, allow bool
	places       []importer.Point
}

// decided reports whether the last of some steps that is about a place allows.
func decided(steps []step, abs string) bool {
	for _, s := range slices.Backward(steps) {
		if s.whole || importer.Deepest(s.places, abs) >= 0 {
			return s.allow
		}
	}
	return false
}

// files writes the rules for files: reading by the permission read, writing by edit, and outside of the repository by
// external_directory as well.
func (o *reader) files() {
	var allowed []importer.Point
	for _, permission := range []string{"external_directory", "read", "edit"} {
		for _, r := range o.of(permission) {
			if text := o.expanded(r.Pattern); r.Action == "allow" && strings.Trim(text, "*") != "" {
				allowed = append(allowed, o.opened(r, text, permission)...)
			}
		}
	}
	opened := o.t.Roots(allowed)
	beyond, reads, edits := o.steps("external_directory", opened), o.steps("read", opened), o.steps("edit", opened)
	var points []importer.Point
	for _, s := range slices.Concat(beyond, reads, edits) {
		points = append(points, s.places...)
	}
	o.t.Files(points, func(abs string) importer.Access {
		read := (ir.Within(abs, o.t.Host.Dir) || decided(beyond, abs)) && decided(reads, abs)
		return importer.Access{Read: read, Write: read && decided(edits, abs)}
	})
}

// steps are the rules of a permission for files, in their order. Those that allow something other than a place are
// none.
func (o *reader) steps(permission string, opened []string) []step {
	var out []step
	for _, r := range o.of(permission) {
		s := step{allow: r.Action == "allow"}
		text := o.expanded(r.Pattern)
		base := strings.TrimRight(text, "*")
		switch {
		case base == "" && text != "":
			s.whole = true
			if permission == "external_directory" && s.allow && r.Permission == permission {
				r.entry.Become(importer.Narrowed,
					"the workspace alone is opened; name directories below your home to open those")
			}
			s.places = o.whole(r, permission)
		case s.allow:
			s.places = o.opened(r, text, permission)
			if len(s.places) == 0 {
				continue
			}
		case r.Own:
			s.places = o.always(text, opened)
		default:
			s.places = o.closed(r, text, permission, opened)
		}
		out = append(out, s)
	}
	return out
}

// whole has the workspace stand for all files, in the report.
func (o *reader) whole(r placed, permission string) []importer.Point {
	if r.Own || permission == "external_directory" || strings.ContainsAny(r.Permission, "*?") {
		return nil
	}
	return []importer.Point{{Abs: o.t.Host.Dir, Entry: r.entry, Opens: r.Action == "allow"}}
}

// expanded is a pattern with the home directory, and with slashes, as opencode reads it.
func (o *reader) expanded(pattern string) string {
	pattern = strings.ReplaceAll(pattern, `\`, "/")
	switch {
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		return o.t.Host.Home + pattern[1:]
	case strings.HasPrefix(pattern, "$HOME"):
		return o.t.Host.Home + strings.TrimPrefix(pattern, "$HOME")
	}
	return pattern
}

// opened is the place that a pattern opens: a directory with all below it, or one file. A pattern that opens anything
// else, or that opencode compares with no path, is none.
func (o *reader) opened(r placed, text, permission string) []importer.Point {
	base, below := strings.CutSuffix(strings.TrimRight(text, "*"), "/")
	below = below && base+"/" != text
	external := permission == "external_directory"
	abs := base
	if !external {
		abs = path.Join(o.worktree, base)
	}
	no := func(why string) []importer.Point {
		r.entry.Become(importer.LeftOut, "%s", why)
		return nil
	}
	switch {
	case strings.ContainsAny(base, "*?") || !below && (strings.HasSuffix(text, "*") || external):
		return no("a rule knows no patterns but all below a directory")
	case strings.ContainsAny(base, "[]"):
		return no("a bracket in a path is not understood")
	case external != path.IsAbs(base) || path.Clean(base) != base || base == "":
		return no("opencode compares no path with it that is spelled so")
	case below != o.t.Host.Exists(abs+"/.") || !o.t.Host.Exists(abs):
		return no("it is about a directory, or a file, that is not there")
	case external && !o.t.Host.Exists(abs+"/."):
		return no("it is no directory")
	case ir.Within(o.t.Host.Dir, abs):
		abs = o.t.Host.Dir
		r.entry.Become(importer.Narrowed, "the workspace alone is opened")
	}
	return o.t.Opened([]importer.Point{{Abs: abs, Entry: r.entry}})
}

var stars = expression.Once{Text: `[*?]+`}

// closed are the places that a pattern closes, or those that take its place. Whatever a path that it matches has below
// it is closed as well.
func (o *reader) closed(r placed, text, permission string, opened []string) []importer.Point {
	if strings.ContainsAny(text, "[]") || strings.HasPrefix(text, "..") && strings.ContainsAny(text, "*?") {
		o.t.Faults = append(o.t.Faults, importer.FaultOf(r.entry,
			"a path that is denied, with a bracket, or a pattern that leads out of the repository, is not understood"))
		return nil
	}
	var out []importer.Point
	if begin, ok := strings.CutSuffix(text, " *"); ok {
		out = o.closed(r, begin, permission, opened)
	}
	base := strings.TrimSuffix(strings.TrimRight(text, "*"), "/")
	if text == base || strings.HasSuffix(strings.TrimRight(text, "*"), "/") {
		text = base
	}
	switch {
	case strings.HasPrefix(r.Pattern, "/") && text == "":
		text = "/"
	case path.IsAbs(text):
	case strings.IndexAny(text, "*?") == 0:
		text = "/" + text
	default:
		text = path.Join(o.worktree, text)
	}
	switch p := (importer.Point{Abs: path.Clean(text), Entry: r.entry}); {
	case !strings.ContainsAny(text, "*?"):
		out = append(out, o.t.Closed([]importer.Point{p})...)
	case permission == "external_directory":
		o.t.Faults = append(o.t.Faults, importer.FaultOf(r.entry,
			"a pattern of directories is not understood; import without it, and without what it takes away from"))
	default:
		p.Name = anyDepth(text)
		p.Abs = stars.Get().ReplaceAllString(p.Abs, "**")
		out = append(out, o.t.Names(p, opened, permission == "read")...)
	}
	return out
}

// anyDepth is the pattern of the names that a pattern is about whose stars stand for directories as well, empty where
// it is about more than a name: "*.env" ends a path, and a text between stars is in one name.
func anyDepth(text string) string {
	text = strings.TrimPrefix(text, "/")
	end := strings.HasSuffix(text, "*")
	begin := strings.TrimLeft(text, "*")
	name := strings.TrimRight(begin, "*")
	if begin == text || name == "" || strings.ContainsAny(name, "*?/") {
		return ""
	}
	if name = "*" + name; end {
		name += "*"
	}
	return name
}

// always are the names that opencode asks about by itself: .env in the workspace, and those that exist.
func (o *reader) always(text string, opened []string) []importer.Point {
	names := []string{path.Join(o.t.Host.Dir, ".env")}
	for _, root := range opened {
		found, err := importer.Matching(root, "s", "/"+stars.Get().ReplaceAllString(text, "**"))
		if err != nil {
			o.t.Faults = append(o.t.Faults, err)
		}
		names = append(names, found...)
	}
	var out []importer.Point
	for _, abs := range names {
		out = append(out, importer.Point{Abs: o.t.Host.Follow(abs),
			Entry: &importer.Entry{Key: "what opencode asks about by itself"}})
	}
	return out
}
