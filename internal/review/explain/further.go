package explain

import (
	"path"
	"slices"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir/compare"
)

// Further is a workspace in the workspace that a comparison is about, on one side of it.
type Further struct {
	// Dir is its path in the other workspace.
	Dir string
	// Members are the patterns by which it lists workspaces in it.
	Members []string
	// Dangling are symlinks to nothing whose targets would be layers, with where they lead.
	Dangling []string
	// Here is false where the side does not have it.
	Here bool
	// Listed is true where tools may be started there without naming it.
	Listed bool
}

// FurtherChange compares one of these workspaces, apart from its tools and rulesets. Tools start by its policy where it
// is listed, and for whoever names it, so its presence counts by itself. See decision D368.
func FurtherChange(old, new Further) Change {
	c := Change{Workspace: new.Dir, Name: new.Dir, Further: true}
	add := func(wider bool, what string, of Further) {
		where := "not listed: no tool starts there unless -C names it"
		if of.Listed {
			where = "listed by members: tools start there"
		}
		c.Differences = append(c.Differences,
			compare.Difference{Kind: compare.Nesting, Wider: wider, What: what, Where: where})
	}
	switch {
	case !old.Here:
		c.Status = "added"
		add(true, "be a workspace", new)
	case !new.Here:
		c.Status = "removed"
		add(false, "be a workspace", old)
	case old.Listed != new.Listed:
		add(new.Listed, "start tools", new)
	}
	c.list("list members", old.Members, new.Members)
	c.list("take as layer", old.Dangling, new.Dangling)
	return c
}

// AroundChange compares what the workspace of the comparison lets count that may be in no commit, such as what git
// ignores or another repository has: by patterns of members, and by symlinks that would be layers.
func AroundChange(old, new Further) Change {
	c := Change{Workspace: ".", Name: ".", Further: true}
	c.list("list members", old.Members, new.Members)
	c.list("take as layer", old.Dangling, new.Dangling)
	return c
}

// list compares names that count by themselves.
func (c *Change) list(what string, old, new []string) {
	add := func(wider bool, of, others []string) {
		for _, p := range of {
			if !slices.Contains(others, p) {
				c.Differences = append(c.Differences, compare.Difference{
					Kind: compare.Nesting, Wider: wider, What: what, Where: p,
				})
			}
		}
	}
	add(true, new, old)
	add(false, old, new)
	c.Verdict = compare.Sum(c.Differences)
}

// In marks changes as changes of a further workspace.
func In(dir string, cs []Change) []Change {
	for i := range cs {
		cs[i].Workspace = dir
	}
	return cs
}

// List sets which of some workspaces are listed, given the patterns of the workspace around all: by isMember, each
// workspace around a listed workspace lists it, or lists the workspace between.
func List(members []string, all []Further, isMember func(patterns []string, name string) bool) {
	around := func(dir string) *Further {
		i := slices.IndexFunc(all, func(f Further) bool { return f.Here && f.Dir == dir })
		if i < 0 {
			return nil
		}
		return &all[i]
	}
	for i := range all {
		listed := []string{all[i].Dir}
		all[i].Listed = true
		for at := path.Dir(all[i].Dir); all[i].Listed; at = path.Dir(at) {
			patterns, prefix := members, ""
			if at != "." {
				outer := around(at)
				if outer == nil {
					continue
				}
				patterns, prefix = outer.Members, at+"/"
			}
			all[i].Listed = slices.ContainsFunc(listed, func(inner string) bool {
				return isMember(patterns, inner[len(prefix):])
			})
			if listed = append(listed, at); at == "." {
				break
			}
		}
	}
}

// furtherHeadline counts the further workspaces that came, went, or are listed or list otherwise.
func furtherHeadline(cs []Change) string {
	counts := map[string]int{}
	out := ""
	for _, c := range cs {
		switch {
		case !c.Further || len(c.Differences) == 0:
		case c.Workspace == ".":
			out += ", workspace " + c.summary()
		default:
			counts[c.summary()]++
		}
	}
	for _, how := range []string{"added", "removed", compare.Widened.String(), compare.Narrowed.String(),
		compare.Changed.String()} {
		if n := counts[how]; n > 0 {
			out += ", " + plural.Count(n, "further workspace") + " " + how
		}
	}
	return out
}

// FurtherDoc is a further workspace in JSON.
type FurtherDoc struct {
	Workspace   string          `json:"workspace"`
	Status      string          `json:"status,omitempty"`
	Verdict     string          `json:"verdict"`
	Differences []DifferenceDoc `json:"differences"`
}

func furtherDoc(c Change) FurtherDoc {
	out := FurtherDoc{Workspace: c.Workspace, Status: c.Status, Verdict: c.Verdict.String(),
		Differences: []DifferenceDoc{}}
	for _, d := range c.Differences {
		out.Differences = append(out.Differences, differenceDoc(d))
	}
	return out
}
