package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
)

// places are the absolute paths that rules for files are about, and those with wildcards.
func (c *claude) places(t *translation, rules []claudeRule) (plain, patterns []point) {
	for _, r := range rules {
		for _, abs := range spread(specified(r, t.host), t.host) {
			p := point{abs: abs, entry: r.entry, fold: true}
			if strings.ContainsAny(abs, "*?[") {
				patterns = append(patterns, p)
				continue
			}
			p.abs = t.host.Follow(abs)
			plain = append(plain, p)
		}
	}
	return plain, patterns
}

// spread are paths with the alternatives in their braces.
func spread(paths []string, h foreign.Host) (out []string) {
	for _, abs := range paths {
		for _, at := range h.Braces(abs) {
			out = append(out, below(at))
		}
	}
	return out
}

// specified are the absolute forms of a specifier. In the user's own settings it is not certain from where "/"
// counts; without a slash inside, which "/**" at the end is not, a name is about every depth.
func specified(r claudeRule, h foreign.Host) []string {
	var out []string
	switch spec := strings.TrimPrefix(r.Spec, "./"); {
	case r.Whole:
		return []string{"/"}
	case strings.HasPrefix(spec, "//"):
		out = []string{spec[1:]}
	case strings.HasPrefix(spec, "~/"):
		out = []string{h.Home + spec[1:]}
	case strings.HasPrefix(spec, "/") && r.Project:
		out = []string{h.Dir + spec}
	case strings.HasPrefix(spec, "/"):
		out = []string{h.Dir + spec, h.Home + spec, h.Home + "/.claude" + spec}
	case strings.Contains(strings.TrimSuffix(strings.TrimSuffix(spec, "/**"), "/"), "/") || r.list == "allow":
		out = []string{h.Dir + "/" + spec}
	default:
		out = []string{h.Dir + "/**/" + spec}
	}
	for i, abs := range out {
		out[i] = below(abs)
	}
	return out
}

// below is the directory that a path for everything below it names.
func below(abs string) string {
	abs = path.Clean(abs)
	for strings.HasSuffix(abs, "/**") {
		abs = strings.TrimSuffix(abs, "/**")
	}
	return path.Clean("/" + abs)
}

// files writes the rules for files.
func (c *claude) files(t *translation, box *sandbox) {
	noRead, noReadNames := c.places(t, c.of("Read", "deny", "ask"))
	noEdit, noEditNames := c.places(t, append(c.of("Edit", "deny", "ask"), c.of("Write", "deny", "ask")...))
	edits := c.edits(t)
	var boxed boxedPoints
	if box != nil {
		boxed = t.boxed(box, !c.asks && c.mode != "plan")
		noRead, noReadNames = append(noRead, boxed.noRead...), append(noReadNames, boxed.noReadNames...)
	}
	for _, r := range append(c.of("Read", "allow"), c.of("Write", "allow")...) {
		r.entry.become(LeftOut, "it opens nothing: the workspace can be read, and Edit rules are about writing")
	}
	opened := t.roots(slices.Concat(edits, boxed.write))
	noRead = append(noRead, t.everyName(noReadNames, opened, closes)...)
	noEdit = append(noEdit, t.everyName(noEditNames, opened, keepsFrom)...)
	noRead = append(noRead, t.everyCase(noRead, opened)...)
	noEdit = append(noEdit, t.everyCase(noEdit, opened)...)
	boxed.noWrite = append(boxed.noWrite, t.everyName(boxed.noWriteNames, opened, keepsFrom)...)
	writable := slices.Concat(edits, boxed.write)
	kept := t.instructions(writable, false)
	asked := kept
	if len(kept) > 0 {
		asked = append(slices.Clone(kept), t.always([]string{".claude", ".git"})...)
	}
	t.files(slices.Concat(noRead, noEdit, writable, boxed.noWrite, boxed.read, asked), func(abs string) access {
		read := deepest(noRead, abs) <= deepest(boxed.read, abs) || deepest(noRead, abs) < 0
		if deepest(c.plain(t, noRead, box), abs) >= 0 {
			read = false
		}
		byBox := deepest(boxed.write, abs) >= 0 && deepest(boxed.noWrite, abs) < 0 && deepest(kept, abs) < 0
		byEdit := deepest(edits, abs) >= 0 && deepest(asked, abs) < 0
		return access{read: read, write: read && deepest(noEdit, abs) < 0 && (byBox || byEdit)}
	})
}

// plain are the places that no allowRead of the sandbox opens again.
func (c *claude) plain(t *translation, noRead []point, box *sandbox) []point {
	if box == nil {
		return noRead
	}
	own, _ := t.located(box.denyRead)
	own = t.closed(own)
	return slices.DeleteFunc(slices.Clone(noRead), func(p point) bool { return slices.Contains(own, p) })
}

// boxedPoints are the lists of the sandbox as places.
type boxedPoints struct {
	noRead, read, write, noWrite []point
	noReadNames, noWriteNames    []point
}

// boxed are the places of the sandbox. It lets commands write the working directory; where it asks before
// each command, it lets them write nothing.
func (t *translation) boxed(s *sandbox, unasked bool) boxedPoints {
	var out boxedPoints
	var names []point
	out.noRead, out.noReadNames = t.located(s.denyRead)
	out.read, names = t.located(s.allowRead)
	write, more := t.located(s.allowWrite)
	for _, p := range append(names, more...) {
		p.entry.become(LeftOut, "a rule knows no patterns")
	}
	out.noWrite, out.noWriteNames = t.located(s.denyWrite)
	out.noRead, out.noWrite = t.closed(out.noRead), t.closed(out.noWrite)
	out.read, out.write = t.opened(out.read), t.opened(write)
	for i := range out.read {
		out.read[i].opens = false // reading is carried over in the workspace alone
	}
	if !unasked {
		for _, p := range out.write {
			p.entry.become(LeftOut, "each command is asked about")
		}
		out.write = nil
		return out
	}
	out.write = append(out.write, point{abs: t.host.Dir, entry: t.own, opens: true})
	return out
}

// edits are the places that may be edited unasked.
func (c *claude) edits(t *translation) []point {
	var out []point
	dirs, _ := t.located(c.additional)
	dirs = t.opened(dirs)
	switch c.mode {
	case "plan":
		for _, r := range c.of("Edit", "allow") {
			r.entry.become(LeftOut, "the mode plan edits nothing")
		}
		fallthrough
	default:
		for _, p := range dirs {
			p.entry.become(LeftOut, "nothing there may be written unasked; a rule to read it is yours to write")
		}
	case "acceptEdits", "bypassPermissions":
		out = append(dirs, point{abs: t.host.Dir, entry: t.own, opens: true})
	}
	for _, r := range c.of("Edit", "allow") {
		plain := specified(r, t.host)
		switch {
		case c.mode == "plan":
		case r.Whole:
			out = append(out, point{abs: t.host.Dir, entry: r.entry, opens: true})
			r.entry.become(Narrowed, "the workspace alone may be written")
		case len(plain) != 1:
			r.entry.become(LeftOut, "it is not certain from where its path counts in your own settings")
		case strings.ContainsAny(plain[0], `*?[]!\`):
			r.entry.become(LeftOut, "a rule knows no patterns")
		default:
			out = append(out, t.opened([]point{{abs: plain[0], entry: r.entry}})...)
		}
	}
	return out
}
