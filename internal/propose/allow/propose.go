package allow

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
)

// Proposal is an addition that would permit some refused operations, or the reason why there is none.
type Proposal struct {
	// Denials are the indices of the operations.
	Denials []int
	// Permitted is true where the present policy permits all of them.
	Permitted bool
	// Command is the command that adds the rules, Plan their text; Plan is nil for a mount.
	Command string
	Plan    *Plan
	// WhyNot is the reason why no addition is proposed.
	WhyNot string
}

// Propose finds additions for the refusals of a run: one for each, and one for a directory for
// which several speak.
// See decision D177.
func (p *Planner) Propose(entries []denial.Entry) []Proposal {
	var out []Proposal
	for _, g := range p.groups(entries) {
		out = append(out, p.propose(g))
	}
	return out
}

// group is the refusals that one addition is for.
type group struct {
	denials []int
	asks    []Ask
	// dir is the directory that the rule is on, nil for the places themselves.
	dir *ir.Location
	// broken is why the operations cannot be asked about.
	broken string
	// parts are the groups that were put together in this one.
	parts []group
}

// few is how many files of a directory speak for it.
const few = 3

// groups puts the refusals of files in one directory together if that was listed, if it holds
// several of them, or if a program chose the names itself.
func (p *Planner) groups(entries []denial.Entry) []group {
	var out []group
	by := map[ir.Location][]int{} // groups by directory
	speaks := map[ir.Location]bool{}
	for i, e := range entries {
		if e.Probe != "" {
			out = append(out, group{}) // programs do without
			continue
		}
		g := p.single(i, e)
		out = append(out, g)
		at, ok := g.file()
		if !ok {
			continue
		}
		abs, _ := p.asker.Bindings.Path(at)
		if _, ok := repository(at, abs); !ok && directory(abs) && g.asks[0].Operation.(ir.Access).Cap == ir.Read {
			speaks[at] = true
			by[at] = append(by[at], i)
		} else if repo, ok := repository(at, abs); ok && p.general(repo) {
			speaks[repo] = true
			by[repo] = append(by[repo], i)
		} else if dir, ok := at.Parent(); ok {
			by[dir] = append(by[dir], i)
			// A rule on the path of a symbolic link would not permit the link.
			speaks[dir] = speaks[dir] || temporary(at.Base()) && !exists(abs) || g.asks[0].Operation.(ir.Access).Name == ir.NameLink
		}
	}
	for dir, members := range by {
		if len(members) < 2 && !speaks[dir] || len(p.files(out, members)) < few && !speaks[dir] || !p.general(dir) {
			continue
		}
		p.join(out, dir, members)
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.denials) == 0 })
}

// repository is the work tree of git outside of the workspace that a place lies in: git reads its
// files one by one, and needs all of them.
func repository(at ir.Location, abs string) (ir.Location, bool) {
	for at.Root.Kind == ir.System && at.Path != "" {
		if exists(path.Join(abs, ".git")) {
			return at, true
		}
		at, _ = at.Parent()
		abs = path.Dir(abs)
	}
	return ir.Location{}, false
}

// single is the group of one refusal.
func (p *Planner) single(i int, e denial.Entry) group {
	g := group{denials: []int{i}}
	if e.Question == nil {
		g.broken = "no rule permits it"
		return g
	}
	for _, word := range e.Question {
		if g.broken = unsayable(word); g.broken != "" {
			return g
		}
	}
	a, err := p.Question(e.Question)
	if err != nil {
		g.broken = err.Error()
		return g
	}
	a.entry = i
	for _, n := range e.Needs {
		if c, ok := ir.ParseCapability(n); ok {
			a.Needs = a.Needs.With(c)
		}
	}
	if op, ok := a.Operation.(ir.Access); ok {
		a.Needs = a.Needs.With(op.Cap)
		if a.own = a.Needs; op.Cap == ir.Create && (op.Name == ir.NameDir || temporary(op.On.At.Base())) {
			// A program fills a directory that it makes, and renames or removes a file whose name it makes up.
			a.Needs |= ir.Write.With(ir.Read)
		}
	}
	g.asks = []Ask{a}
	return g
}

// file is the place of a group that is about one, if a directory can speak for it.
func (g group) file() (ir.Location, bool) {
	if len(g.asks) != 1 || g.asks[0].Operation == nil {
		return ir.Location{}, false
	}
	op, ok := g.asks[0].Operation.(ir.Access)
	return op.On.At, ok && op.On.Fault == 0 && (op.On.At.Root.Kind == ir.Workspace || op.On.At.Root.Kind == ir.System)
}

// files are the different places of some groups.
func (p *Planner) files(all []group, members []int) []ir.Location {
	var out []ir.Location
	for _, i := range members {
		if at, ok := all[i].file(); ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// join puts groups together in the first of them, on their directory.
func (p *Planner) join(all []group, dir ir.Location, members []int) {
	var joined []int
	var asks []Ask
	var parts []group
	for _, i := range members {
		if at, ok := all[i].file(); ok && at != dir && dir.Root.Kind == ir.Workspace && p.guard(at) != nil {
			continue // it stays alone, with its reason
		}
		asks = append(asks, all[i].asks...)
		joined = append(joined, i)
		parts = append(parts, all[i])
	}
	if len(joined) == 0 {
		return
	}
	var caps ir.CapSet
	for _, a := range asks {
		caps |= a.Needs
	}
	for i := range asks {
		asks[i].At, asks[i].Needs = &dir, caps
	}
	for _, i := range joined {
		all[i] = group{}
	}
	all[joined[0]] = group{denials: joined, asks: asks, dir: &dir, parts: parts}
}

// temporary reports whether a program has probably made up a name.
func temporary(name string) bool {
	if madeUp.Get().MatchString(name) || fixed.Get().MatchString(name) {
		return true
	}
	if varying.Get().MatchString(name) {
		return true
	}
	const made = 6 // as mkstemp(3) makes them
	i := strings.LastIndexAny(name, "._-")
	return i >= 0 && len(name)-i > made && random.Get().MatchString(name[i+1:]) && strings.ContainsAny(name[i+1:], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

var random = expression.Once{Text: `^[A-Za-z0-9]+$`}

// madeUp are names as mkstemp(3) makes them, fixed those that editors and databases derive from another file's.
var (
	madeUp = expression.Once{Text: `^(sed|tmp|\.tmp)[A-Za-z0-9_]{6,8}$`}
	fixed  = expression.Once{Text: `^4913$|~$|^\.?#|\.sw[a-px]$|-(journal|wal|shm)$|\.(tmp|lock)$`}
)

// varying are names with the number of a process, a hash or a version.
var varying = expression.Once{Text: `[._-](pid)?[0-9]{3,10}(\.[a-z]+)?$|(^|[._-])([0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}([._-]|$)|[-_@]v?[0-9]+\.[0-9]+(\.[0-9]+)?([.-]|$)`}

// general reports whether a rule may be on a whole directory. None is proposed for the root of
// anything.
func (p *Planner) general(dir ir.Location) bool {
	if dir.Root.Kind == ir.Workspace {
		return dir.Path != "" && p.guard(dir) == nil
	}
	return p.outside("/"+dir.Path, true) == ""
}

func (p *Planner) propose(g group) Proposal {
	out := Proposal{Denials: g.denials, WhyNot: g.broken}
	if g.broken != "" {
		return out
	}
	if out.Permitted = !slices.ContainsFunc(g.asks, func(a Ask) bool { return !p.asked(a).Allowed(p.View) }); out.Permitted {
		return out
	}
	if out.WhyNot = p.leadsOut(g); out.WhyNot != "" {
		return out
	}
	if p.isOutside(g.asks[0]) {
		place, why := p.outer(g)
		if why != "" || !p.names(place) {
			out.Command, out.WhyNot = p.mount(g)
			return out
		}
		for i := range g.asks {
			g.asks[i].external = place
		}
	}
	plan, err := p.Plan(g.asks...)
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		out.WhyNot = refused.Why
	case err != nil:
		out.WhyNot = "no single rule permits it: " + err.Error()
	default:
		out.Plan = plan
		out.Command = p.command(g)
	}
	return out
}

// asked is the operation as the run needed it, without the capabilities for its directory.
func (p *Planner) asked(a Ask) Ask {
	if op, ok := a.Operation.(ir.Access); ok {
		return Ask{Operation: op, Needs: a.own}
	}
	return a
}

func (p *Planner) isRun(g group) bool {
	_, ok := g.asks[0].Operation.(ir.Run)
	return ok
}

// command is the command line that plans the same.
func (p *Planner) command(g group) string {
	words := []string{"accessc", "allow", p.Tool.Name}
	if p.req.Layer != ir.LayerLocal {
		words = []string{"accessc", "allow", "--layer", p.req.Layer.String(), p.Tool.Name}
	}
	add := func(op ...string) {
		if word := shellword.Quote(strings.Join(op, " ")); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, a := range g.asks {
		about := ir.Describe(a.Operation)
		switch op := a.Operation.(type) {
		case ir.Access:
			at := op.On.At
			if a.At != nil {
				at = *a.At
			}
			for _, c := range a.Needs.List() {
				add(c.String(), a.word(at))
			}
		case ir.Run:
			line := []string{"run", shellword.Quote(op.Program)}
			for _, arg := range op.Args {
				line = append(line, shellword.Quote(arg))
			}
			add(line...)
		case ir.Connect, ir.Listen, ir.Forward:
			add(about.Verb, about.Subject)
		default:
			line := []string{about.Verb}
			for _, place := range about.Places {
				line = append(line, a.word(place.At))
			}
			add(line...)
		}
	}
	return strings.Join(words, " ")
}

// word is a place as a word of an operation, in which "~" is not quoted.
func (a Ask) word(at ir.Location) string {
	if a.external == nil {
		return shellword.Quote(at.Short())
	}
	if rest, ok := strings.CutPrefix(a.external.name, "~/"); ok {
		return "~/" + shellword.Quote(rest)
	}
	return shellword.Quote(a.external.name)
}

// free is a name for the mount of a place that nothing in the workspace has, nor a mount that was proposed before.
func (p *Planner) free(abs string) string {
	name := path.Base(abs)
	for p.guard(ir.In(name)) != nil || strings.HasPrefix(name, ".") || exists(path.Join(p.Now.Resolver.Root, name)) {
		name = "ext-" + strings.TrimLeft(name, ".")
	}
	if p.mounts == nil {
		p.mounts = map[string]string{}
	}
	for n, first := 2, name; ; n++ {
		other, given := p.mounts[strings.ToLower(name)]
		if !exists(path.Join(p.Now.Resolver.Root, name)) && (!given || other == abs) {
			p.mounts[strings.ToLower(name)] = abs
			return name
		}
		name = first + "-" + strconv.Itoa(n)
	}
}

// outside is why nothing is proposed for a place outside of the workspace, empty where something
// is.
func (p *Planner) outside(abs string, dir bool) string {
	if _, _, deeper := strings.Cut(strings.TrimPrefix(abs, "/"), "/"); !deeper {
		return ofSystem
	}
	return p.placed(abs, dir)
}

const ofSystem = "it belongs to the system, of which the base grants what tools need"

// placed is outside for a place that a person or a file has named.
func (p *Planner) placed(abs string, dir bool) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(abs, "/"), "/")
	switch home := filepath.ToSlash(p.req.Compile.Layers.Home); {
	case slices.Contains(denial.SystemDirectories(), first) || first == "":
		return ofSystem
	case dir && slices.Contains(roots(home), abs):
		return "a rule on all of " + abs + " is yours to write"
	case ir.Within(p.Now.Resolver.Root, abs):
		return "the workspace lies in it"
	case p.Now.Own(abs) != "":
		return "accessc trusts what lies there"
	case p.sensitiveAt(abs, home):
		return "it is sensitive or holds something that is; if it is meant, mount it yourself"
	}
	return ""
}

// roots are directories that hold everything of a user or of the system.
func roots(home string) []string {
	out := []string{"/home", "/root", "/Users", "/opt", "/srv", "/mnt", "/media", "/tmp", "/var", "/var/tmp", "/var/lib", "/var/cache", home}
	for _, below := range []string{".config", ".local", ".local/share", ".local/state", ".local/bin", ".cache", "Library"} {
		out = append(out, path.Join(home, below))
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		if dir := os.Getenv(name); dir != "" {
			out = append(out, path.Clean(filepath.ToSlash(dir)))
		}
	}
	return out
}

// sensitiveAt reports whether a place outside of the workspace is sensitive, holds something that
// is, or is too large to be looked through.
func (p *Planner) sensitiveAt(abs, home string) bool {
	for _, s := range credentials {
		if place := path.Join(home, s); home != "" && (ir.Within(abs, place) || ir.Within(place, abs) && exists(place)) {
			return true
		}
	}
	for _, s := range p.Tool.Sensitive {
		if rest, ok := strings.CutPrefix(s.Pattern, "~/"); ok && home != "" {
			place := path.Join(home, strings.TrimSuffix(rest, "/"))
			if ir.Within(abs, place) || ir.Within(place, abs) {
				return true
			}
		}
	}
	const most = 10_000
	seen, found := 0, false
	_ = filepath.WalkDir(filepath.FromSlash(abs), func(name string, _ os.DirEntry, _ error) error {
		seen++
		rel := strings.TrimPrefix(filepath.ToSlash(name), "/")
		found = seen > most || slices.ContainsFunc(p.Tool.Sensitive, func(s ir.SensitivePattern) bool { return s.Covers(rel) })
		if found {
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

func exists(abs string) bool {
	_, err := os.Lstat(filepath.FromSlash(abs))
	return err == nil
}

func directory(abs string) bool {
	info, err := os.Stat(filepath.FromSlash(abs))
	return err == nil && info.IsDir()
}

func special(abs string) bool {
	info, err := os.Stat(filepath.FromSlash(abs))
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}
