package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/ir"
)

// denial is the part that an entry takes away: all, or only writing.
type denial bool

const (
	// Closes takes all.
	Closes denial = true
	// KeepsFrom takes writing.
	KeepsFrom denial = false
)

// named is an entry that denies names at any depth below a place.
type named struct {
	base  string
	names []string
	what  denial
	fold  bool // in any case of letters
	entry *Entry
}

// denials are the entries that deny names at any depth.
type denials []named

// about reports whether one of the names is that of a place, or of one that it lies in.
func (n *named) about(abs string) bool {
	for at := abs; at != n.base && ir.Within(at, n.base); at = path.Dir(at) {
		if ir.MatchNames(n.names, path.Base(at)) {
			return true
		}
	}
	return false
}

var class = expression.Once{Text: `\[[^/]*?\]`}

// ByName takes a pattern of names at any depth for rules by name, with the places to deny besides. It is false for
// another pattern. See decision D196.
func (t *Translation) ByName(p Point, opened []string, what denial) (led []Point, ok bool) {
	dir, name, deep := strings.Cut(p.Abs, "/**/")
	if p.Name != "" {
		dir, name, deep = "", p.Name, true
	}
	name = class.Get().ReplaceAllString(name, "?") // programs differ on what a set matches
	odd := strings.ContainsAny(dir, "*?[") || strings.ContainsAny(name, `/\{}`) || strings.Contains(name, "**")
	if !deep || odd || ir.BadName(name) != "" {
		return nil, false
	}
	dir = path.Clean("/" + dir)
	var out []named
	for _, root := range opened {
		if !ir.Within(root, dir) && !ir.Within(dir, root) {
			continue
		}
		dirs := []string{root}
		if ir.Within(dir, root) {
			dirs = []string{dir}
		}
		if p.Fold {
			dirs = Without(append(dirs, cased(dir, []string{root})...))
		}
		for _, base := range dirs {
			n := named{base, []string{name}, what, p.Fold, p.Entry}
			targets, ok := n.existing(&t.Host, p.Fold)
			if !ok || t.Host.Follow(base) != base || t.named.clashes(&n) {
				return nil, false
			}
			for _, abs := range targets {
				led = append(led, Point{Abs: abs, Entry: p.Entry, Fold: p.Fold})
			}
			out = append(out, n)
		}
	}
	if t.named = append(t.named, out...); len(out) == 0 {
		p.Entry.Become(Carried, "no rule grants anything there")
	}
	return led, true
}

// existing adds the names that exist in another case of letters, and returns the places that symlinks of such names
// lead to: a rule is about these.
func (n *named) existing(host *foreign.Host, fold bool) (led []string, ok bool) {
	pattern, seen := []string{strings.ToLower(n.names[0])}, 0
	err := filepath.WalkDir(n.base, func(abs string, d fs.DirEntry, err error) error {
		if seen++; seen > maxSeen {
			return errTooMany
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		name := path.Base(abs)
		exact := ir.MatchNames(n.names, name)
		switch {
		case err != nil || abs == n.base || !exact && (!fold || !ir.MatchNames(pattern, strings.ToLower(name))):
		case d.Type()&fs.ModeSymlink != 0:
			led = append(led, host.Follow(abs))
		case !exact:
			n.names = append(n.names, escape.Get().ReplaceAllString(name, `\$0`))
		}
		return nil
	})
	slices.Sort(n.names)
	return led, err == nil && !slices.ContainsFunc(n.names, func(s string) bool { return ir.BadName(s) != "" })
}

var escape = expression.Once{Text: `[*?\[\]{}!\\]`}

// clashes reports whether a rule by name that lets names be read would open one in a directory that another closes.
func (all denials) clashes(n *named) bool {
	return slices.ContainsFunc(all, func(o named) bool {
		nested := ir.Within(o.base, n.base) || ir.Within(n.base, o.base)
		return nested && o.what != n.what && !n.within(&o)
	})
}

// less is an access without that which rules by name take away at a place.
func (all denials) less(abs string, is Access) Access {
	for i := range all {
		if n := &all[i]; n.about(abs) {
			is = n.what.of(is)
		}
	}
	return is
}

// of is an access without the denied part.
func (d denial) of(is Access) Access { return Access{Read: is.Read && d != Closes} }

// nameRules are the rules by name, at the places from which they count and at those in them that differ.
func (t *Translation) nameRules(written map[string]Access) (out []FSRule) {
	var places []string
	for abs := range written {
		places = append(places, abs)
	}
	slices.Sort(places)
	for _, n := range t.named {
		said := map[string]Access{}
		for _, at := range Without(append([]string{n.base}, places...)) {
			if !ir.Within(at, n.base) {
				continue
			}
			around, inside := enclosing(written, at)
			before, again := enclosing(said, at)
			now := n.what.of(around)
			if !inside || again && before == now || !again && around == now || t.named.covered(&n) {
				continue
			}
			said[at] = now
			r := FSRule{Path: t.Spell(at), names: n.names, read: now.Read, From: n.entry.From()}
			r.External = now != Access{} && !ir.Within(at, t.Host.Dir)
			out = append(out, r)
			also := Point{Fold: n.fold}.otherwise()
			n.entry.Become(Carried, "access.fs %s, names %s%s", r.Path, strings.Join(n.names, ", "), also)
		}
		n.entry.Become(Carried, "other rules say the same")
	}
	return out
}

// covered reports whether another entry closes the names.
func (all denials) covered(n *named) bool {
	return slices.ContainsFunc(all, func(o named) bool { return n.within(&o) })
}

// within reports whether an entry that keeps names from being written is about names that another one closes.
func (n *named) within(o *named) bool {
	other := func(s string) bool { return !slices.Contains(o.names, s) }
	return n.what == KeepsFrom && o.what == Closes && ir.Within(n.base, o.base) && !slices.ContainsFunc(n.names, other)
}

// enclosing is the value for the deepest place around another one.
func enclosing(of map[string]Access, abs string) (Access, bool) {
	for at := abs; ; at = path.Dir(at) {
		if is, ok := of[at]; ok {
			return is, true
		}
		if at == path.Dir(at) {
			return Access{}, false
		}
	}
}

// names are examples that stand for all names that rules by name and patterns of the settings tell apart in a region.
func (c *check) names(r *ir.Region) []string {
	if len(r.ByName) == 0 {
		return nil
	}
	var lists [][]string
	for _, e := range r.ByName {
		lists = append(lists, e.Rule.Names)
	}
	for _, p := range c.marks.Patterns {
		if name := p.Name(); name != "" && ir.BadName(name) == "" {
			lists = append(lists, []string{name})
		}
	}
	return c.examples(lists)
}

// examples are names of all classes. A name without wildcards is its own class, and told from the others by itself.
func (c *check) examples(lists [][]string) (out []string) {
	var wild [][]string
	for _, list := range lists {
		var some []string
		for _, name := range list {
			if strings.ContainsAny(name, `*?[\`) {
				some = append(some, name)
			} else {
				out = append(out, name)
			}
		}
		if len(some) > 0 && !slices.ContainsFunc(wild, func(o []string) bool { return slices.Equal(o, some) }) {
			wild = append(wild, some)
		}
	}
	key := fmt.Sprint(wild)
	known, ok := c.classes[key]
	if !ok {
		known = classes(wild)
		c.classes[key] = known
	}
	return Without(append(out, known...))
}

// classes are names of all classes, or of those of each two lists where these are too many.
func classes(lists [][]string) (out []string) {
	if out, ok := ir.NameClasses(lists, nil); ok {
		return out
	}
	for i := range lists {
		for j := range i {
			pair, _ := ir.NameClasses([][]string{lists[j], lists[i]}, nil)
			out = append(out, pair...)
		}
	}
	return Without(out)
}
