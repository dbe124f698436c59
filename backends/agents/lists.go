package agents

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Lists are the lists of files of the sandbox runtime (srt), which other agents have as well.
// Reading is open but for DenyRead, in which AllowRead opens the same places and those deeper in.
// Writing is closed but for AllowWrite, in which DenyWrite closes places for good.
type Lists struct {
	DenyRead   []Path `json:"denyRead"`   // closed
	AllowRead  []Path `json:"allowRead"`  // opened in DenyRead
	AllowWrite []Path `json:"allowWrite"` // opened
	DenyWrite  []Path `json:"denyWrite"`  // closed in AllowWrite
}

// Path is an entry of a list: a text, or an object that says that nothing in it is a wildcard.
type Path struct {
	Text    string // from the workspace, from "~", or absolute
	Pattern bool   // its wildcards are some
}

// wildcards are the characters of patterns.
const wildcards = `*?[]{}\`

// MarshalJSON implements json.Marshaler.
func (p Path) MarshalJSON() ([]byte, error) {
	if !p.Pattern && (strings.ContainsAny(p.Text, wildcards) || strings.HasSuffix(p.Text, "/") && p.Text != "/") {
		return backends.Compact(struct {
			Path    string `json:"path"`
			Literal bool   `json:"literal"`
		}{p.Text, true})
	}
	return backends.Compact(p.Text)
}

// ListDialect returns the dialect of Lists.
func ListDialect() Dialect {
	return Dialect{Spell: spellListed, Give: giveListed, Names: GlobsBelow(wildcards)}
}

// PlainLists is that of Lists in settings that do not take objects as entries, and that read names with some characters as
// patterns. The program lets commands write the directory in which it starts.
func PlainLists(odd string) Dialect {
	plainly := Plainly(odd)
	return Dialect{
		Spell: func(target backends.Target, l ir.Location) (string, ir.CauseID) {
			path, why := spellListed(target, l)
			if strings.ContainsAny(path, odd) {
				return "", WhyPattern
			}
			return path, why
		},
		Give: func(p *Place) (Access, ir.CauseID) {
			is, why := giveListed(p)
			if plain, because := plainly(p); plain < is {
				return plain, because
			}
			return is, why
		},
		Workspace: Write, Names: GlobsBelow(odd),
	}
}

// spellListed leaves out the directories that the kernel fills: srt has its own of them.
func spellListed(target backends.Target, l ir.Location) (string, ir.CauseID) {
	if Kernel(l) {
		return "", ""
	}
	return Relative(target, l)
}

// giveListed: AllowWrite does not open a place again that lies in one of DenyWrite.
func giveListed(p *Place) (Access, ir.CauseID) {
	for o := p; o.Outer != nil && p.Wants == Write; o = o.Outer {
		if o.Outer.shut() {
			return Read, WhyNested
		}
	}
	return p.Wants, ""
}

// shut reports whether DenyWrite has the place.
func (p *Place) shut() bool { return p.Has < Write && p.Most == Write && p.Path != "" }

// Lists are the lists for the places of a plan. The root directory itself is closed first.
//
// A place that may be written in one that may only be read is in DenyRead as well: srt binds
// readable places over writable ones that lie in them, and each place of DenyRead anew
// (measured with srt 0.0.83 on Linux, November 2026).
func (p *Plan) Lists() Lists {
	out := Lists{DenyRead: []Path{{Text: "/"}}, AllowRead: []Path{}, AllowWrite: []Path{}, DenyWrite: []Path{}}
	add := func(to *[]Path, at *Place, when bool) {
		if p := (Path{Text: at.Path}); when && !slices.Contains(*to, p) {
			*to = append(*to, p)
		}
	}
	for _, at := range p.Places {
		if at.Path == "" || at.Link || at.Through {
			continue
		}
		add(&out.DenyRead, at, at.Most > None && (at.Has == None || at.Has == Write && at.Least < Write))
		add(&out.AllowRead, at, at.Has > at.Least && at.Has > None && (at.Least == None || at.Has == Write))
		add(&out.AllowWrite, at, at.Has == Write && at.Least < Write)
		add(&out.DenyWrite, at, at.shut())
	}
	for _, n := range p.Named {
		for _, text := range n.Patterns {
			if n.holds(Read) {
				out.DenyRead = append(out.DenyRead, Path{text, true})
			}
			out.DenyWrite = append(out.DenyWrite, Path{text, true})
		}
	}
	return out
}
