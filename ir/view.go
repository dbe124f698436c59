package ir

import (
	"slices"
	"strings"
)

// View is a tool's policy prepared for questions on a platform: the region
// tree of its filesystem rules, base and private directories included, and
// indexes of the rest. It is immutable and safe for concurrent use.
type View struct {
	Tool     *Tool    // its policy
	Platform Platform // that it is prepared for

	// bind are the host's bindings, nil in a portable view.
	bind      *Bindings
	protected []ProtectedPath
	// names are the patterns of protected paths in effect.
	names []namePattern
	// beside are further views by whose rules no move may gain either.
	beside []*View

	rules    []Entry
	refs     []ruleRef
	arena    arena             // of the trees, until they are grown
	zones    [External]*region // by RootKind; external trees are apart
	external map[string]*region
	net      *netIndex
	env      envIndex
	commands commandIndex
}

// Entry is a filesystem rule of a view. ID is "fs[2]" for the third declared rule,
// "base[0]", "home", "tmp" or "program" for rules in no file, and "protected" for the rules
// of protected paths, which are told apart only by their paths.
type Entry struct {
	ID   RuleID  // of the rule
	Rule *FSRule // the rule
}

// Facts are the properties of a host that a view depends on. The zero value describes none:
// the base as it is listed, nothing bound.
type Facts struct {
	// Bindings are the absolute paths of the roots, nil in a portable policy.
	Bindings *Bindings
	// Base replaces the listed base by the same rules at the places where this
	// host keeps them; nil means the list itself.
	Base []FSRule
	// Program is the tool's own executable. Outside of all places that have rules of
	// their own it may be read and started; everywhere it may be started, by its name and
	// with any arguments, although no commands table lists it (View.Programs).
	Program *Location
	// Withheld is true where a policy, not the user's PATH, says that the program lies outside: a rule has to grant it.
	Withheld bool
	// Located is true where the files of listed programs are known: a rule without a file is then about a program that
	// is not there.
	Located bool
	// Interpreters are the programs that listed scripts, and the tool's own, name in
	// their first line, by script.
	Interpreters map[Location]Location
	// Protected are the protected paths that only this host's workspace has: where the listed paths lead over symlinks,
	// its layers, and the files of its repository elsewhere. A directory comes before places in it.
	Protected []ProtectedPath
	// ProtectedLinks are the protected paths that are symlinks on this host, the listed paths included: there is
	// nothing below them that a system could be told of.
	ProtectedLinks []Location
	// Closed are the places of this host at which nothing is granted, whatever rules say.
	Closed []Closed
}

// NewView prepares t for questions on platform p.
func NewView(t *Tool, p Platform, f Facts) *View {
	v := &View{Tool: t, Platform: p, bind: f.Bindings}
	v.collect(f)
	v.grow()
	v.protect(f.Protected, f.ProtectedLinks)
	v.pinPrograms()
	v.close(f.Closed)
	if f.Bindings != nil {
		v.anchor(f.Bindings)
	}
	for _, z := range v.zones {
		if z != nil {
			v.settle(z, "", nil)
		}
	}
	for _, z := range v.external {
		v.settle(z, "", nil)
	}
	v.arena = arena{}
	v.net = indexNet(t.Net)
	v.env = indexEnv(t.Env, t.Home == HomePrivate, p)
	v.commands = indexCommands(t, f)
	return v
}

// collect lists the rules in the order in which ties are decided: implied rules first, the declared rules after them.
func (v *View) collect(f Facts) {
	v.rules = make([]Entry, 0, len(f.Base)+len(v.Tool.FS)+len(protected)+maxImplied)
	if f.Base == nil {
		v.rules = append(v.rules, listedBase(v.Tool.Base, v.Platform)...)
	} else {
		v.rules = append(v.rules, baseEntries(f.Base)...)
	}
	if f.Program != nil && f.Program.Root.Kind == System && !f.Withheld {
		v.add(OwnProgram, &FSRule{
			Written: "${program}", At: *f.Program, Caps: readExecute, Origin: programOrigin(v.Tool),
		})
	}
	for _, r := range ImpliedRules(v.Tool) {
		v.add(RuleID(r.At.Root.Kind.word()), &r)
	}
	for i := range v.Tool.FS {
		v.add(FSRuleID(i), &v.Tool.FS[i])
	}
}

// maxImplied is how many rules at most follow from the tool itself: its program, its home and its
// temporary directory.
const maxImplied = 3

func (v *View) add(id RuleID, r *FSRule) {
	v.rules = append(v.rules, Entry{id, r})
}

func programOrigin(t *Tool) Origin {
	o := Origin{Layer: LayerImplied, Label: "own program"}
	if t.Command != nil {
		o.Pos = t.Command.Origin.Pos
	}
	return o
}

// ImpliedRules returns the grants that follow from the tool itself: its private home and its
// temporary directory. Programs install further programs into the home and run them, and build
// drivers run their fresh output in the temporary directory, so both grant all capabilities.
// See decision D7.
func ImpliedRules(t *Tool) []FSRule {
	origin := func(label string) Origin { return Origin{Layer: LayerImplied, Label: label} }
	tmp := FSRule{Written: "${tmp}", At: Location{Root: Root{Kind: Temp}}, Caps: All, Origin: origin("private tmp")}
	if t.Home != HomePrivate {
		return []FSRule{tmp}
	}
	home := FSRule{
		Written: "${home}", At: Location{Root: Root{Kind: Home}}, Caps: All, Origin: origin("private home"),
	}
	if t.HomeShared {
		home.Origin = origin("shared home")
	}
	return []FSRule{home, tmp}
}

// word names the kind in rule identifiers.
func (k RootKind) word() string {
	switch k {
	case Home:
		return "home"
	case Temp:
		return "tmp"
	case Workspace, System, External:
		return "fs"
	default:
		return "fs"
	}
}

// grow plants every rule in the tree of its root. The symlink of an external rule appears in
// the workspace's tree as well, as a name that does not move; its target has a tree of its own.
func (v *View) grow() {
	v.refs = make([]ruleRef, 0, cap(v.rules))
	for i, e := range v.rules {
		r := e.Rule
		if r.ByName() {
			v.growNames(i, r)
			continue
		}
		// A target is a root, which does not move, also where it is seen by its name.
		v.plant(r.At, ruleRef{entry: i, caps: r.Caps, pin: r.External && r.At.Path != ""})
		if r.External && !r.At.Root.Direct() {
			v.plant(In(r.At.Root.Name), ruleRef{entry: i, caps: r.Caps, pin: true})
		}
		for _, link := range r.Links {
			n := v.zone(link.Root).make(link.Path, &v.arena)
			n.anchor, n.link = true, true
		}
	}
}

func (v *View) plant(at Location, ref ruleRef) {
	v.refs = append(v.refs, ref)
	v.zone(at.Root).make(at.Path, &v.arena).rule = len(v.refs) - 1
}

func (v *View) zone(r Root) *region {
	if r.Kind == External {
		if v.external == nil {
			v.external = make(map[string]*region)
		}
		z, ok := v.external[r.Name]
		if !ok {
			z = v.arena.region()
			v.external[r.Name] = z
		}
		return z
	}
	if v.zones[r.Kind] == nil {
		v.zones[r.Kind] = v.arena.region()
	}
	return v.zones[r.Kind]
}

// anchor pins the names of roots that are bound inside other roots, such as a
// private home below a workspace that is the user's whole home directory.
func (v *View) anchor(b *Bindings) {
	for _, at := range b.inner() {
		n := v.zone(at.Root).make(at.Path, &v.arena)
		n.anchor, n.program = true, false
	}
}

// inner lists the places of roots that are bound inside other roots.
func (b *Bindings) inner() (out []Location) {
	for _, r := range b.Roots() {
		if at := b.Outer(r); at.Root.Kind != System && at.Path != "" {
			out = append(out, at)
		}
	}
	return out
}

// InTemp returns the view for a run with a temporary directory of its own, which shares all rules with this view, and
// false where they depend on the directory: it is in another root, or another root is in it.
// See decision D330.
func (v *View) InTemp(dir string) (*View, bool) {
	b := *v.bind
	b.Temp = dir
	if !slices.Equal(v.bind.inner(), b.inner()) {
		return nil, false
	}
	out := *v
	out.bind = &b
	return &out, true
}

// pinPrograms pins the files of listed programs: a file moved to such a path could be started.
func (v *View) pinPrograms() {
	if v.Tool.Commands == nil {
		return
	}
	for i := range v.Tool.Commands.Rules {
		if f := v.Tool.Commands.Rules[i].File; f != nil && f.Path != "" && f.Root.Kind != System {
			n := v.zone(f.Root).make(f.Path, &v.arena)
			n.program = !n.anchor
			n.anchor = true
		}
	}
}

// Roots lists the bound roots in canonical order, System excepted.
func (b *Bindings) Roots() []Root {
	var out []Root
	for _, k := range [...]RootKind{Workspace, Home, Temp} {
		if _, ok := b.root(Root{Kind: k}); ok {
			out = append(out, Root{Kind: k})
		}
	}
	names := make([]string, 0, len(b.External))
	for n := range b.External {
		names = append(names, n)
	}
	slices.SortFunc(names, strings.Compare)
	for _, n := range names {
		out = append(out, Root{External, n})
	}
	return out
}

// Outer returns the place of a bound root's directory in the root around it, which is System
// when there is no other. Paths below that place belong to r: the rules of the root around it
// do not reach into it. The place of the root directory has no path.
func (b *Bindings) Outer(r Root) Location {
	abs, bound := b.Path(Location{Root: r})
	if !bound || abs == "/" {
		return Sys("")
	}
	// The directory above is in the root around r, in r itself it is not.
	i := strings.LastIndexByte(abs, '/')
	return b.Locate(abs[:max(i, 0)]).Child(abs[i+1:])
}

// Entries returns the filesystem rules of the view, least specific origin first.
func (v *View) Entries() []Entry { return v.rules }

// Stated returns the entries that a ledger covers: all but the entries of the base, with the entries of protected paths
// merged into one that has all the capabilities that any of them grants, and the first entry of closed places, which
// are alike.
func (v *View) Stated() []Entry {
	var out []Entry
	protected, closed := -1, false
	for _, e := range v.rules {
		switch {
		case e.Rule.Origin.Layer == LayerBase:
		case e.ID == ClosedRule && closed:
		case e.ID == ClosedRule:
			out, closed = append(out, e), true
		case e.ID != protectedID:
			out = append(out, e)
		case protected < 0:
			protected = len(out)
			all := *e.Rule
			out = append(out, Entry{e.ID, &all})
		default:
			out[protected].Rule.Caps |= e.Rule.Caps
		}
	}
	return out
}

// HasBase reports whether the view has rules of the base.
func (v *View) HasBase() bool {
	return slices.ContainsFunc(v.rules, func(e Entry) bool { return e.Rule.Origin.Layer == LayerBase })
}
