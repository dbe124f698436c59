package hostfacts

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir"
)

// mostNames and mostNested bound the directories in which members are looked for, and how deep members lie in members.
const mostNames, mostNested = 20_000, 16

// guardMembers adds the files that make a directory a member of the workspace, so that neither a member nor a
// directory around it is moved: approvals go by the path of a workspace, and a member in the place of another
// member would have the other's approvals. Names that a member may have are protected as well: a directory with a
// workspace of its own that is moved there would be listed. See decision D368.
func (r *Result) guardMembers(add guarding) {
	for _, member := range r.Members {
		for _, mark := range workspace.Marks() {
			r.guardPattern(member + "/" + mark)
		}
	}
	m := members{r: r, add: add, left: mostNames}
	m.of(r.Resolver.Root, r.Members, 0)
}

// members looks for the members of a workspace, and for theirs.
type members struct {
	r    *Result
	add  guarding
	left int // names that may be looked at still
}

func (m *members) of(root string, patterns []string, depth int) {
	for _, pattern := range patterns {
		for _, dir := range m.match(root, strings.Split(pattern, "/")) {
			m.member(dir, depth)
		}
	}
}

// member adds the marks of a directory, if it has any, and its own members.
func (m *members) member(dir string, depth int) {
	marked := false
	for _, mark := range workspace.Marks() {
		if _, err := m.r.view.Lstat(filepath.FromSlash(path.Join(dir, mark))); err == nil {
			m.r.guardAt(path.Join(dir, mark), ir.WhyPolicy, m.add)
			marked = true
		}
	}
	if marked {
		m.layers(dir)
	}
	switch {
	case !marked:
	case depth == mostNested:
		m.add(dir, ir.WhyPolicy, false)
	default:
		m.of(dir, source.MembersIn(filepath.FromSlash(dir), m.r.view), depth+1)
	}
}

// layers adds the files that a member's layers extend, and the names by which others would be: a tool of a workspace
// around it could choose the member's policy by them. Where files that it extends are not found, one that is made may
// be a layer, so the member is protected whole.
func (m *members) layers(dir string) {
	set, findings := source.Load(source.Request{Root: filepath.FromSlash(dir), Host: m.r.view})
	unread := []diag.Code{diag.Unreadable, diag.ExtendsNothing, diag.ExtendsTooMuch, diag.LayerLeaves}
	if slices.ContainsFunc(findings, func(d diag.Diagnostic) bool { return slices.Contains(unread, d.Code) }) {
		m.add(dir, ir.WhyPolicy, false)
	}
	for _, f := range set.Files {
		if found, err := m.r.Resolver.Disk.Follow(filepath.ToSlash(f.Path)); err == nil && found.Kind == ir.File {
			m.r.guardLinks(found, ir.WhyPolicy, m.add)
			m.add(found.Abs, ir.WhyPolicy, false)
		}
	}
	// The member's own directory is no place of layers: names that patterns match there are.
	listed := slices.DeleteFunc(set.Listed, func(at string) bool { return filepath.ToSlash(at) == dir })
	m.r.guardLayers(set.Dangling, listed, m.add)
	literal := func(name string) bool { return !strings.ContainsAny(name, `*?[]\`) }
	parts := strings.Split(m.r.within(dir), "/")
	for i, name := range parts {
		if !literal(name) {
			parts[i] = "*"
		}
	}
	for _, p := range set.Patterns {
		for _, pattern := range p.Inside(filepath.FromSlash(dir)) {
			pattern = strings.Join(parts, "/") + "/" + pattern
			if strings.Count(pattern, "/") >= ir.MaxPatternParts {
				m.add(dir, ir.WhyPolicy, false)
				continue
			}
			m.r.guardPattern(pattern)
		}
	}
}

// match returns the directories that the parts of a pattern match. A directory that cannot be listed, or is not
// because it would be too much, is protected whole.
func (m *members) match(dir string, parts []string) []string {
	if len(parts) == 0 {
		return []string{dir}
	}
	if !strings.Contains(parts[0], "*") {
		next := path.Join(dir, parts[0])
		if mode, err := m.r.view.Lstat(filepath.FromSlash(next)); err != nil || !mode.IsDir() {
			return nil
		}
		return m.match(next, parts[1:])
	}
	entries, err := m.r.view.ReadDir(filepath.FromSlash(dir))
	unknown := err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	if m.left -= len(entries); m.left < 0 || unknown {
		m.add(dir, ir.WhyPolicy, false)
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && ir.MatchName(parts[0], e.Name()) {
			out = append(out, m.match(path.Join(dir, e.Name()), parts[1:])...)
		}
	}
	return out
}
