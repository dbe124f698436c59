package claudecode

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/srt"
)

// places are the absolute paths that rules for files are about, and those with wildcards.
func (c *reader) places(t *importer.Translation, rules []ruleOf) (plain, patterns []importer.Point) {
	for _, r := range rules {
		for _, abs := range spread(specified(r, t.Host), t.Host) {
			p := importer.Point{Abs: abs, Entry: r.entry, Fold: true}
			if strings.ContainsAny(abs, "*?[") {
				patterns = append(patterns, p)
				continue
			}
			p.Abs = t.Host.Follow(abs)
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
func specified(r ruleOf, h foreign.Host) []string {
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
func (c *reader) files(t *importer.Translation, box *srt.Sandbox) {
	noRead, noReadNames := c.places(t, c.of("Read", "deny", "ask"))
	noEdit, noEditNames := c.places(t, append(c.of("Edit", "deny", "ask"), c.of("Write", "deny", "ask")...))
	edits := c.edits(t)
	var boxed boxedPoints
	if box != nil {
		boxed = boxedPlaces(t, box, !c.asks && c.mode != "plan")
		noRead, noReadNames = append(noRead, boxed.noRead...), append(noReadNames, boxed.noReadNames...)
	}
	for _, r := range append(c.of("Read", "allow"), c.of("Write", "allow")...) {
		r.entry.Become(importer.LeftOut, "it opens nothing: the workspace can be read, and Edit rules are about writing")
	}
	opened := t.Roots(slices.Concat(edits, boxed.write))
	noRead = append(noRead, t.EveryName(noReadNames, opened, importer.Closes)...)
	noEdit = append(noEdit, t.EveryName(noEditNames, opened, importer.KeepsFrom)...)
	noRead = append(noRead, t.EveryCase(noRead, opened)...)
	noEdit = append(noEdit, t.EveryCase(noEdit, opened)...)
	boxed.noWrite = append(boxed.noWrite, t.EveryName(boxed.noWriteNames, opened, importer.KeepsFrom)...)
	writable := slices.Concat(edits, boxed.write)
	kept := srt.Instructions(t, writable, false)
	asked := kept
	if len(kept) > 0 {
		asked = append(slices.Clone(kept), t.Always([]string{".claude", ".git"})...)
	}
	t.Files(slices.Concat(noRead, noEdit, writable, boxed.noWrite, boxed.read, asked),
		func(abs string) importer.Access {
			read := importer.Deepest(noRead, abs) <= importer.Deepest(boxed.read, abs) ||
				importer.Deepest(noRead, abs) < 0
			if importer.Deepest(c.plain(t, noRead, box), abs) >= 0 {
				read = false
			}
			byBox := importer.Deepest(boxed.write, abs) >= 0 && importer.Deepest(boxed.noWrite, abs) < 0 &&
				importer.Deepest(kept, abs) < 0
			byEdit := importer.Deepest(edits, abs) >= 0 && importer.Deepest(asked, abs) < 0
			return importer.Access{Read: read, Write: read && importer.Deepest(noEdit, abs) < 0 && (byBox || byEdit)}
		})
}

// plain are the places that no allowRead of the sandbox opens again.
func (c *reader) plain(t *importer.Translation, noRead []importer.Point, box *srt.Sandbox) []importer.Point {
	if box == nil {
		return noRead
	}
	own, _ := t.Located(box.DenyRead)
	own = t.Closed(own)
	return slices.DeleteFunc(slices.Clone(noRead), func(p importer.Point) bool { return slices.Contains(own, p) })
}

// boxedPoints are the lists of the sandbox as places.
type boxedPoints struct {
	noRead, read, write, noWrite []importer.Point
	noReadNames, noWriteNames    []importer.Point
}

// boxedPlaces are the places of the sandbox. It lets commands write the working directory; where it asks before
// each command, it lets them write nothing.
func boxedPlaces(t *importer.Translation, s *srt.Sandbox, unasked bool) boxedPoints {
	var out boxedPoints
	var names []importer.Point
	out.noRead, out.noReadNames = t.Located(s.DenyRead)
	out.read, names = t.Located(s.AllowRead)
	write, more := t.Located(s.AllowWrite)
	for _, p := range append(names, more...) {
		p.Entry.Become(importer.LeftOut, "a rule knows no patterns")
	}
	out.noWrite, out.noWriteNames = t.Located(s.DenyWrite)
	out.noRead, out.noWrite = t.Closed(out.noRead), t.Closed(out.noWrite)
	out.read, out.write = t.Opened(out.read), t.Opened(write)
	for i := range out.read {
		out.read[i].Opens = false // reading is carried over in the workspace alone
	}
	if !unasked {
		for _, p := range out.write {
			p.Entry.Become(importer.LeftOut, "each command is asked about")
		}
		out.write = nil
		return out
	}
	out.write = append(out.write, importer.Point{Abs: t.Host.Dir, Entry: t.Own, Opens: true})
	return out
}

// edits are the places that may be edited unasked.
func (c *reader) edits(t *importer.Translation) []importer.Point {
	var out []importer.Point
	dirs, _ := t.Located(c.additional)
	dirs = t.Opened(dirs)
	switch c.mode {
	case "plan":
		for _, r := range c.of("Edit", "allow") {
			r.entry.Become(importer.LeftOut, "the mode plan edits nothing")
		}
		fallthrough
	default:
		for _, p := range dirs {
			p.Entry.Become(importer.LeftOut,
				"nothing there may be written unasked; a rule to read it is yours to write")
		}
	case "acceptEdits", "bypassPermissions":
		out = append(dirs, importer.Point{Abs: t.Host.Dir, Entry: t.Own, Opens: true})
	}
	for _, r := range c.of("Edit", "allow") {
		plain := specified(r, t.Host)
		switch {
		case c.mode == "plan":
		case r.Whole:
			out = append(out, importer.Point{Abs: t.Host.Dir, Entry: r.entry, Opens: true})
			r.entry.Become(importer.Narrowed, "the workspace alone may be written")
		case len(plain) != 1:
			r.entry.Become(importer.LeftOut, "it is not certain from where its path counts in your own settings")
		case strings.ContainsAny(plain[0], `*?[]!\`):
			r.entry.Become(importer.LeftOut, "a rule knows no patterns")
		default:
			out = append(out, t.Opened([]importer.Point{{Abs: plain[0], Entry: r.entry}})...)
		}
	}
	return out
}
