package source

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// members is the key by which the configuration of a workspace lists the workspaces in it.
const members = "members"

// MembersIn returns the patterns by which a workspace lists the workspaces in it, by the files of its root that are accessc's
// own. A file that cannot be read lists none.
func MembersIn(root string, host Host) []string {
	var out []string
	for _, path := range (Request{Root: root}).own() {
		f, err := readFile(path, path, host.Open)
		if err != nil {
			continue
		}
		if t, err := parse(f); err == nil {
			out = append(out, patternsOf(t)...)
		}
	}
	return slices.DeleteFunc(out, func(pattern string) bool { return memberMistake(pattern) != "" })
}

// Lists returns what reports whether the workspace at a directory of a host lists another one that lies in it. Both
// paths are canonical.
func Lists(host Host) func(outer, inner string) bool {
	return func(outer, inner string) bool {
		rel, err := filepath.Rel(outer, inner)
		return err == nil && filepath.IsLocal(rel) && IsMember(MembersIn(outer, host), filepath.ToSlash(rel))
	}
}

// IsMember reports whether patterns list a directory, by its path in the workspace.
func IsMember(patterns []string, name string) bool {
	names := strings.Split(name, "/")
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		parts := strings.Split(pattern, "/")
		return memberMistake(pattern) == "" && slices.EqualFunc(parts, names, ir.MatchName)
	})
}

// own are the files of a workspace's root that are accessc's own.
func (r Request) own() []string {
	return []string{filepath.Join(r.Root, "accessc.toml"), r.LocalPath()}
}

// patternsOf are the members that a root table lists, without those that are no text.
func patternsOf(t *Table) []string {
	var out []string
	if v := t.Get(members); v != nil && v.Kind == ArrayKind {
		for _, item := range v.Array {
			if item.Kind == StringKind {
				out = append(out, item.Text)
			}
		}
	}
	return out
}

// memberMistake is what is wrong with a pattern, empty if nothing is. A component with "**" would list what nobody has
// seen yet.
func memberMistake(pattern string) string {
	for part := range strings.SplitSeq(pattern, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return "found no path below the workspace such as packages/*"
		case strings.Contains(part, "**"):
			return "found **, expected one * for each directory"
		case strings.ContainsAny(part, `?[]{}\`):
			return "found a pattern with more than *"
		}
	}
	return ""
}

// members checks the members that a file of the root lists. Elsewhere the key is not accessc's.
func (l *loader) members(path string, root *Table) {
	v := root.Get(members)
	if v == nil || !slices.Contains(l.req.own(), path) {
		return
	}
	l.set.Members = append(l.set.Members, patternsOf(root)...)
	if v.Kind != ArrayKind {
		l.wrongType(v, members, "an array of strings")
		return
	}
	for _, item := range v.Array {
		if item.Kind != StringKind {
			l.wrongType(item, members, "a string")
			continue
		}
		if why := memberMistake(item.Text); why != "" {
			d := diag.New(diag.BadValue, item.At, item.Span)
			d.Path, d.Label = members, why
			l.diags.Add(d)
		}
	}
}
