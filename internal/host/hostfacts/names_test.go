package hostfacts

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/test/irtest"
)

// hostile is a layer that a tool would like to have.
const hostile = `
[tools.t.access]
protected = "none"
net = [{ host = "*", allow = true }]
env = [{ name = "*", read = true }]
[tools.evil]
source = "local"
`

// repository is a workspace in memory that tools change.
type repository struct {
	t    *rapid.T
	root string
	tree fstest.MapFS
	// member is the pattern of members, nested the directory of a workspace in the tree; empty for none.
	member, nested string
}

// names are those of the trees that are drawn: few, so that they meet.
var names = []string{"a", "b", "ab", "x.toml", "access.toml", "link"}

// parts are those of patterns.
var parts = []string{"*", "**", "a*", "?b", "[ab]", "{a,b}", "a", "b", "link"}

func (r *repository) draw(from []string, what string) string {
	return rapid.SampledFrom(from).Draw(r.t, what)
}

func (r *repository) chance(n int, what string) bool {
	return rapid.IntRange(1, n).Draw(r.t, what) == 1
}

func (r *repository) path(most int) string {
	var out []string
	for range rapid.IntRange(1, most).Draw(r.t, "depth") {
		out = append(out, r.draw(names, "name"))
	}
	return strings.Join(out, "/")
}

// pattern is one of extends, with a file that it matches.
func (r *repository) pattern() string {
	var out []string
	for range rapid.IntRange(0, 2).Draw(r.t, "parts") {
		out = append(out, r.draw(parts, "part"))
	}
	out = append(out, r.draw([]string{"*.toml", "access.toml", "x.*", "*access.toml", "[x]*.toml"}, "last"))
	return strings.Join(out, "/")
}

// instance is a name that a pattern matches.
func (r *repository) instance(pattern string) string {
	var out []string
	for part := range strings.SplitSeq(pattern, "/") {
		switch part {
		case "*":
			part = r.draw(names, "instance")
		case "**":
			if r.chance(2, "none") {
				continue
			}
			part = r.draw(names, "instance")
		case "?b":
			part = "ab"
		case "{a,b}", "[ab]":
			part = r.draw([]string{"a", "b"}, "instance")
		case "a*":
			part = r.draw([]string{"a", "ab"}, "instance")
		}
		out = append(out, strings.NewReplacer("[x]*", "x", "*access", "access", "x.*", "x.toml", "*.toml", "x.toml").Replace(part))
	}
	return strings.Join(out, "/")
}

// put adds a file unless another kind of node is in the way, or a file is on the way.
func (r *repository) put(name string, f *fstest.MapFile) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if n := r.tree[at]; n != nil && !n.Mode.IsDir() {
			return false
		}
	}
	for other := range r.tree {
		if other == name || strings.HasPrefix(other, name+"/") {
			return false
		}
	}
	r.tree[name] = f
	return true
}

func layer(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), Mode: 0o644} }

func linkTo(target string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

// grow draws a tree and its configuration, and returns the patterns.
func (r *repository) grow() []string {
	r.tree = fstest.MapFS{}
	var patterns []string
	for range rapid.IntRange(1, 2).Draw(r.t, "patterns") {
		p := r.pattern()
		if r.put(r.instance(p), layer("# none\n")) {
			patterns = append(patterns, p)
			if later := r.instance(p); r.chance(2, "dangling") {
				r.put(later, linkTo(strings.Repeat("../", strings.Count(later, "/"))+"a/later.toml"))
			}
		}
	}
	members := ""
	if r.chance(2, "members") {
		r.member = r.draw([]string{"*", "a/*", "a", "*/b"}, "member")
		members = "members = [\"" + r.member + "\"]\n"
	}
	for range rapid.IntRange(0, 2).Draw(r.t, "links") {
		r.put(r.path(2), linkTo(r.draw([]string{"a", "../a", "b/x.toml", "nowhere", "../b/ab", "a/later.toml"}, "target")))
	}
	if r.chance(2, "nested") {
		r.nested = "b/" + r.path(1)
		r.put(r.nested+"/accessc.toml", layer("[tools.inner]\nsource = \"local\"\n"))
	}
	r.put("a/hostile", layer(hostile))
	r.put("b/dir/"+r.draw([]string{"x.toml", "access.toml"}, "prepared"), layer(hostile))
	text := members + "extends = [\"" + strings.Join(patterns, "\", \"") + "\"]\n"
	if len(patterns) == 0 {
		text = members
	}
	// A path at which only another tool has a rule is a name like any other to a tool: such a rule draws ACC048 (decision D159).
	finer := ""
	if r.chance(2, "rule") {
		caps := r.draw([]string{"write = true", "read = true", "read = true, create = true"}, "caps")
		finer = ", { path = \"" + r.path(2) + "\", " + caps + " }"
	}
	for _, tool := range []string{"t", "u"} {
		text += "[tools." + tool + "]\nsource = \"local\"\n[tools." + tool + ".access]\n" +
			"fs = [{ path = \".\", read = true, write = true }" + finer + "]\n"
	}
	r.put("accessc.toml", layer(text))
	return patterns
}

// policy is what the tools may do, and where tools start: empty where a mistake stops all of it.
func (r *repository) policy() (string, *Result) {
	res, err := Compile(Options{
		Options: compiler.Options{Root: r.root, Tree: r.tree, Layers: source.Request{Shared: true}, Platforms: []ir.Platform{ir.Linux}},
		State:   userdir.Dir(path.Join(r.root, "state")), Untested: true,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if res.Program == nil {
		return "", res
	}
	var docs []irjson.ToolDoc
	for _, t := range res.Program.Tools {
		docs = append(docs, irjson.Tool(t))
	}
	text, err := json.Marshal(docs)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text), res
}

// further are the workspaces in the tree, and those of them where tools start that nobody sends there.
func (r *repository) further(res *Result) (all, listed []string) {
	all, _, err := workspace.Further(r.tree, resolve.Fold)
	if err != nil {
		r.t.Fatal(err)
	}
	unlisted := func(dir string) bool { return !source.IsMember(res.Members, dir) }
	return all, slices.DeleteFunc(slices.Clone(all), unlisted)
}

// permitted reports whether a rule by itself lets a tool write a protected path, or nothing is protected from it: its author wants that.
func permitted(res *Result) bool {
	for _, t := range res.Program.Tools {
		if !t.Protects {
			return true
		}
		protected := slices.Concat(ir.ProtectedPaths(), res.Protected(t))
		for _, rule := range t.FS {
			covered := func(p ir.ProtectedPath) bool { return p.Covers(rule.At) }
			if rule.Caps&ir.Write != 0 && slices.ContainsFunc(protected, covered) {
				return true
			}
		}
	}
	return false
}

// changer is a tool that changes names, by its policy as it is now.
type changer struct {
	*repository
	res *Result
	v   *ir.View
	b   *ir.Bindings
}

func (c *changer) at(name string, follow bool) (ir.Place, ir.NodeKind) {
	place, kind, err := c.res.Resolver.Asked(name, follow, c.b)
	if err != nil {
		place.Fault = ir.ReasonOutside
	}
	return place, kind
}

func (c *changer) may(op ir.Operation) bool { return c.v.Decide(op).Allowed() }

// wanted is a name that a tool would like to make.
func (r *repository) wanted(patterns []string) string {
	switch {
	case len(patterns) > 0 && r.chance(2, "matches"):
		return r.instance(r.draw(patterns, "pattern"))
	case r.member != "" && r.chance(2, "listed"):
		return r.instance(r.member) + r.draw([]string{"", "/accessc.toml", "/.jp/x"}, "of a member")
	case r.chance(4, "mark"):
		return r.path(2) + "/" + r.draw([]string{"accessc.toml", ".accessc/local.toml", ".jp/config.toml"}, "mark")
	case r.chance(4, "target"):
		return "a/later.toml"
	case r.chance(2, "existing"):
		return r.draw(slices.Sorted(maps.Keys(r.tree)), "existing")
	}
	return r.path(3)
}

// change does one thing that a tool may do by its policy, and returns its kind; empty where the tool may not, or nothing can
// be done.
func (c *changer) change(patterns []string) string {
	kind := c.draw([]string{"file", "through", "symlink", "write", "remove", "move", "hard link"}, "kind")
	name, from := c.wanted(patterns), c.draw([]string{"a/hostile", "b/dir", "b", "a", cmp.Or(c.nested, "ab")}, "from")
	if kind == "move" && c.nested != "" && c.member != "" && c.chance(2, "to the members") {
		name, from = c.instance(c.member), c.nested
	}
	dst, is := c.at(name, kind == "through" || kind == "write")
	if dst.Fault != 0 || dst.At.Root.Kind != ir.Workspace {
		return ""
	}
	to := dst.At.Path
	switch {
	case kind == "write":
		if is != ir.File || !c.may(ir.Access{Cap: ir.Update, On: dst}) {
			return ""
		}
		c.tree[to] = layer(hostile)
	case kind == "remove":
		if c.tree[to] == nil || !c.may(ir.Access{Cap: ir.Delete, On: dst, Name: ir.NameFile}) {
			return ""
		}
		delete(c.tree, to)
	case is != ir.Absent || !c.directories(to):
		return ""
	case kind == "move":
		return c.move(from, dst, kind)
	default:
		return c.make(dst, kind)
	}
	return kind
}

// directories reports whether the directories on the way to a name are there, or may be made.
func (c *changer) directories(to string) bool {
	for dir := path.Dir(to); dir != "."; dir = path.Dir(dir) {
		on, is := c.at(dir, false)
		if is == ir.Dir {
			continue
		}
		if is != ir.Absent || on.Fault != 0 || !c.may(ir.Access{Cap: ir.Create, On: on, Name: ir.NameDir}) {
			return false
		}
	}
	return true
}

func (c *changer) make(dst ir.Place, kind string) string {
	to := dst.At.Path
	made, may := layer(hostile), false
	switch kind {
	case "symlink":
		made = linkTo(strings.Repeat("../", strings.Count(to, "/")) + c.draw([]string{"a/hostile", "b/dir", "nowhere", "a"}, "leads"))
		may = c.may(ir.Access{Cap: ir.Create, On: dst, Name: ir.NameLink})
	case "hard link":
		src, is := c.at("a/hostile", false)
		may = is == ir.File && c.may(ir.Link{Src: src, Dst: dst})
	default:
		may = c.may(ir.Access{Cap: ir.Create, On: dst, Name: ir.NameFile})
	}
	if !may {
		return ""
	}
	c.tree[to] = made
	return kind
}

func (c *changer) move(from string, dst ir.Place, kind string) string {
	to := dst.At.Path
	src, is := c.at(from, false)
	if is == ir.Absent || from == to || strings.HasPrefix(to, from+"/") ||
		!c.may(ir.Rename{Src: src, Dst: dst, SrcKind: is, DstKind: ir.Absent}) {
		return ""
	}
	made := fstest.MapFS{}
	for name, f := range c.tree {
		if rest, in := strings.CutPrefix(name, from); in && (rest == "" || rest[0] == '/') {
			delete(c.tree, name)
			made[to+rest] = f
		}
	}
	maps.Copy(c.tree, made)
	if rest, in := strings.CutPrefix(c.nested, from); in && (rest == "" || rest[0] == '/') {
		c.nested = to + rest
	}
	return kind
}

// TestNamesChangeNoPolicy: whatever one tool does to the names of the workspace, no tool may do anything else afterwards, and no
// tool stops starting. Causes that it finds: patterns of extends whose first part has a wildcard protected nothing, nor did names of
// layers below the root; a symlink to nothing stopped every start; and a directory with a workspace of its own could be moved to
// where members are listed.
func TestNamesChangeNoPolicy(t *testing.T) {
	root := t.TempDir()
	seen := map[string]int{}
	irtest.Check(t, 5000, 20, func(t *rapid.T) {
		r := &repository{t: t, root: root}
		patterns := r.grow()
		before, res := r.policy()
		switch {
		case before == "":
			seen["a mistake"]++
			return
		case permitted(res):
			seen["a rule for it"]++
			return
		}
		further, started := r.further(res)
		for range 20 {
			tool, _ := res.Program.Tool(r.draw([]string{"t", "u"}, "tool"))
			facts := res.Facts(tool)
			old := maps.Clone(r.tree)
			c := &changer{repository: r, res: res, v: ir.NewView(tool, ir.Linux, facts), b: facts.Bindings}
			kind := c.change(patterns)
			if kind == "" {
				seen["refused"]++
				continue
			}
			seen[kind]++
			after, now := r.policy()
			switch {
			case after == "":
				t.Fatalf("%s: no tool starts any more: %v\nbefore %v\nafter %v", kind, now.Findings, show(old), show(r.tree))
			case after != before:
				t.Fatalf("%s: another policy\nbefore %v\nafter %v", kind, show(old), show(r.tree))
			}
			all, listed := r.further(now)
			if len(all) > len(further) || len(listed) > len(started) {
				t.Fatalf("%s: workspaces %v, tools start in %v, before %v, %v\nbefore %v\nafter %v",
					kind, all, listed, further, started, show(old), show(r.tree))
			}
			res, further, started = now, all, listed
		}
	})
	irtest.Happened(t, seen, "file", "through", "symlink", "write", "remove", "move", "hard link", "refused")
}

// show lists a tree.
func show(tree fstest.MapFS) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		switch f := tree[name]; {
		case f.Mode&fs.ModeSymlink != 0:
			b.WriteString("\n  " + name + " -> " + string(f.Data))
		case name == "accessc.toml":
			b.WriteString("\n  " + name + ":\n" + string(f.Data))
		default:
			b.WriteString("\n  " + name)
		}
	}
	return b.String()
}
