package rulediff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulejson"
)

// otherOperations compares the operations that run nothing.
func (c *comparison) otherOperations() {
	for _, name := range ruleset.KindNames() {
		kind, _ := ruleset.ParseKind(name)
		old, new := about(c.old, kind), about(c.new, kind)
		if kind == ruleset.Execute || equal(old, new) {
			continue
		}
		c.operations(kind, slices.Concat(old, new))
	}
}

func about(s *ruleset.Set, kind ruleset.Kind) []*ruleset.Rule {
	return slices.DeleteFunc(slices.Clone(s.Rules), func(r *ruleset.Rule) bool {
		return !slices.Contains(r.Operations(), kind)
	})
}

// operations compares the operations of one kind by the hosts or directories that rules name.
func (c *comparison) operations(kind ruleset.Kind, all []*ruleset.Rule) {
	var hosts, dirs []string
	for _, r := range all {
		walk(r.Matcher, func(m ruleset.Matcher) {
			switch m := m.(type) {
			case ruleset.Hosts:
				for _, h := range m {
					hosts = union(hosts, h)
				}
			case ruleset.Within:
				dirs = union(dirs, string(m))
			case ruleset.All, ruleset.Any, ruleset.Not, ruleset.Command, ruleset.Prefix, ruleset.Args, ruleset.Flags,
				ruleset.Group, ruleset.PipedToShell:
			}
		})
	}
	root := &tree{where: kind.String() + " anything", words: []string{"/"}}
	ops := map[*tree]ruleset.Operation{root: {Kind: kind, Dir: Root, Paths: []string{"/elsewhere/file"}}}
	if kind == ruleset.Fetch {
		c.hosts(root, ops, hosts)
	} else {
		c.places(root, ops, union(dirs, Root))
	}
	bare := &tree{where: kind.String() + " without a target"}
	ops[bare] = ruleset.Operation{Kind: kind, Dir: Root}
	root.below = append(root.below, bare)
	root.each(func(t *tree) { t.label = c.ask(ops[t], "", false) })
	root.describe(nil)
}

// places adds directories to a tree, inner directories below outer directories.
func (c *comparison) places(root *tree, ops map[*tree]ruleset.Operation, dirs []string) {
	slices.Sort(dirs)
	nodes := []*tree{root}
	kind := ops[root].Kind
	for _, d := range dirs {
		t := &tree{where: kind.String() + " below " + rulejson.Below(Root, d), words: []string{d + "/"}}
		if d == Root {
			t.where = kind.String() + " in the workspace"
		}
		ops[t] = ruleset.Operation{Kind: kind, Dir: Root, Paths: []string{d + "/file"}}
		hang(nodes, t, func(o *tree) bool { return strings.HasPrefix(t.words[0], o.words[0]) })
		nodes = append(nodes, t)
	}
}

// hosts adds patterns of hosts to a tree.
func (c *comparison) hosts(root *tree, ops map[*tree]ruleset.Operation, hosts []string) {
	fetch := func(host string) ruleset.Operation {
		return ruleset.Operation{Kind: ruleset.Fetch, Dir: Root, URL: "https://" + host + "/"}
	}
	suffix := func(h string) string { return strings.TrimPrefix(h, "*") }
	slices.SortFunc(hosts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(suffix(a)), len(suffix(b))), cmp.Compare(a, b))
	})
	root.words = []string{"*"}
	free := "other.example"
	for slices.ContainsFunc(hosts, func(h string) bool { return strings.HasSuffix(free, suffix(h)) && h != "*" }) {
		free += "x"
	}
	ops[root] = fetch(free)
	nodes := []*tree{root}
	for _, h := range hosts {
		if h == "*" {
			continue
		}
		t := &tree{where: "fetch from " + h, words: []string{h}}
		ops[t] = fetch(h)
		if strings.HasPrefix(h, "*") {
			below := "other" + suffix(h)
			for slices.Contains(hosts, below) {
				below = "x" + below
			}
			ops[t] = fetch(below)
		}
		hang(nodes, t, func(o *tree) bool {
			wide := o.words[0]
			return wide == "*" || wide != h && strings.HasPrefix(wide, "*") && strings.HasSuffix(h, suffix(wide))
		})
		nodes = append(nodes, t)
	}
}

// hang adds a node below the last node that covers it.
func hang(nodes []*tree, t *tree, covers func(*tree) bool) {
	for _, o := range slices.Backward(nodes) {
		if covers(o) {
			o.below = append(o.below, t)
			return
		}
	}
}
