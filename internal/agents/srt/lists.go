package srt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// ListDialect returns the dialect of Lists.
func ListDialect() writer.Dialect {
	return writer.Dialect{Spell: spellListed, Give: giveListed, Names: writer.GlobsBelow(wildcards)}
}

// PlainLists is that of Lists in settings that do not take objects as entries, and that read names with some characters
// as patterns. The program lets commands write the directory in which it starts.
func PlainLists(odd string) writer.Dialect {
	plainly := writer.Plainly(odd)
	return writer.Dialect{
		Spell: func(target backends.Target, l ir.Location) (string, ir.CauseID) {
			path, why := spellListed(target, l)
			if strings.ContainsAny(path, odd) {
				return "", writer.WhyPattern
			}
			return path, why
		},
		Give: func(p *writer.Place) (writer.Access, ir.CauseID) {
			is, why := giveListed(p)
			if plain, because := plainly(p); plain < is {
				return plain, because
			}
			return is, why
		},
		Workspace: writer.Write, Names: writer.GlobsBelow(odd),
	}
}

// spellListed leaves out the directories that the kernel fills: srt has its own of them.
func spellListed(target backends.Target, l ir.Location) (string, ir.CauseID) {
	if writer.Kernel(l) {
		return "", ""
	}
	return writer.Relative(target, l)
}

// giveListed: AllowWrite does not open a place again that lies in one of DenyWrite.
func giveListed(p *writer.Place) (writer.Access, ir.CauseID) {
	for o := p; o.Outer != nil && p.Wants == writer.Write; o = o.Outer {
		if shut(o.Outer) {
			return writer.Read, writer.WhyNested
		}
	}
	return p.Wants, ""
}

// shut reports whether DenyWrite has the place.
func shut(p *writer.Place) bool {
	return p.Has < writer.Write && p.Most == writer.Write && p.Path != ""
}

// ListsOf are the lists for the places of a plan. The root directory itself is closed first.
//
// A place that may be written in one that may only be read is in DenyRead as well: srt binds
// readable places over writable ones that lie in them, and each place of DenyRead anew
// (measured with srt 0.0.83 on Linux, November 2026).
func ListsOf(p *writer.Plan) Lists {
	out := Lists{DenyRead: []Path{{Text: "/"}}, AllowRead: []Path{}, AllowWrite: []Path{}, DenyWrite: []Path{}}
	add := func(to *[]Path, at *writer.Place, when bool) {
		if p := (Path{Text: at.Path}); when && !slices.Contains(*to, p) {
			*to = append(*to, p)
		}
	}
	for _, at := range p.Places {
		if at.Path == "" || at.Link || at.Through {
			continue
		}
		add(&out.DenyRead, at, at.Most > writer.None &&
			(at.Has == writer.None || at.Has == writer.Write && at.Least < writer.Write))
		add(&out.AllowRead, at, at.Has > at.Least && at.Has > writer.None &&
			(at.Least == writer.None || at.Has == writer.Write))
		add(&out.AllowWrite, at, at.Has == writer.Write && at.Least < writer.Write)
		add(&out.DenyWrite, at, shut(at))
	}
	for _, n := range p.Named {
		for _, text := range n.Patterns {
			if n.Holds(writer.Read) {
				out.DenyRead = append(out.DenyRead, Path{text, true})
			}
			out.DenyWrite = append(out.DenyWrite, Path{text, true})
		}
	}
	return out
}
