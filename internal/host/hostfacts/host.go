package hostfacts

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/files/shebang"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// Platform returns the platform that this program runs on.
func Platform() ir.Platform {
	p, _ := ir.ParsePlatform(runtime.GOOS)
	return p
}

// Facts returns the facts of this host for one tool: the paths of its roots, the places where
// the host keeps the files of the base, and the file of its own program. It keeps some for the next tool,
// and is for one caller at a time.
func (r *Result) Facts(t *ir.Tool) ir.Facts {
	f := ir.Facts{Bindings: r.bindings(t), Base: r.hostBase(t.Base), Located: r.resolved}
	if c := t.Command; c != nil && !c.Shell && !strings.Contains(c.Program, "{{") {
		if abs, ok := r.Lookup(t)(c.Program); ok {
			f.Program = r.program(f.Bindings, abs)
			f.Withheld = r.withheld(t, abs, f)
		}
	}
	f.Interpreters = r.interpreters(t, f)
	f.Protected = r.Protected(t)
	f.ProtectedLinks = r.protectedLinks(t)
	if r.resolved {
		f.Closed = r.closed(&f)
	}
	return f
}

// Node returns the kind of the file at an absolute path, and the place that a symbolic link there leads to:
// the path itself where there is none. Unknown is a place that cannot be looked at.
func (r *Result) Node(place string) (kind ir.NodeKind, to string) {
	found, err := r.Resolver.Disk.Follow(place)
	if err != nil {
		return ir.Unknown, place
	}
	return found.Kind, found.Abs
}

// interpreters finds the interpreters of listed scripts and of the tool's own.
func (r *Result) interpreters(t *ir.Tool, f ir.Facts) map[ir.Location]ir.Location {
	if t.Commands == nil {
		return nil
	}
	files := []*ir.Location{f.Program}
	for i := range t.Commands.Rules {
		files = append(files, t.Commands.Rules[i].File)
	}
	out := map[ir.Location]ir.Location{}
	for _, file := range files {
		if file == nil {
			continue
		}
		abs, ok := f.Bindings.Path(*file)
		if name := r.firstLine(abs); ok && filepath.IsAbs(name) {
			if at := r.program(f.Bindings, name); at != nil {
				out[*file] = *at
			}
		}
	}
	return out
}

// firstLine returns the program that the first line of a script names; empty for a file that is
// no script or cannot be read.
func (r *Result) firstLine(file string) string {
	head, err := r.view.Head(file)
	if err != nil {
		return ""
	}
	name, _ := shebang.Parse(head)
	return name
}

// program returns the location of a program's file, nil if there is none.
func (r *Result) program(b *ir.Bindings, abs string) *ir.Location {
	found, err := r.Resolver.Disk.Follow(abs)
	if err != nil || found.Kind != ir.File {
		return nil
	}
	at := b.Locate(found.Abs)
	return &at
}

func (r *Result) bindings(t *ir.Tool) *ir.Bindings {
	b := &ir.Bindings{Workspace: r.Resolver.Root, External: r.external(t)}
	if t.Home == ir.HomePrivate && r.State != "" {
		b.Home = filepath.ToSlash(r.realState().HomeOf(t.Name, t.HomeShared))
	}
	return b
}

// realState is the directory of the state without the symlinks over which it is found: the user's home
// may be a symlink.
func (r *Result) realState() userdir.Dir {
	found, err := r.Resolver.Disk.Follow(filepath.ToSlash(string(r.State)))
	if !r.resolved || err != nil {
		return r.State
	}
	return userdir.Dir(filepath.FromSlash(found.Abs))
}

// external maps the external rules of a tool to their approved targets. A portable policy has
// none.
func (r *Result) external(t *ir.Tool) map[string]string {
	out := map[string]string{}
	for i := range t.FS {
		for _, b := range r.Bindings {
			if name := t.FS[i].At.Root.Name; t.FS[i].External && name == b.RulePath {
				out[name] = b.Target
			}
		}
	}
	return out
}

// leads maps the external rules of a tool to where their symlinks lead now, approved or not.
func (r *Result) leads(t *ir.Tool) map[string]resolve.RulePath {
	out := map[string]resolve.RulePath{}
	for i := range t.FS {
		name := t.FS[i].At.Root.Name
		if !t.FS[i].External {
			continue
		}
		if found, err := r.Resolver.Rule(name); err == nil && !found.Inside {
			out[name] = found
		}
	}
	return out
}

// hostBase returns the base at the places where this host keeps it. Places that the host lacks
// are left out, except for denials: a file that is missing today may appear tomorrow.
func (r *Result) hostBase(name ir.BaseName) []ir.FSRule {
	if rules, ok := r.base[name]; ok {
		return rules
	}
	out := r.baseOn(name, Platform())
	if name == ir.BaseSystem {
		if repo := r.Repository(); repo != nil {
			out = append(out, repo.Rules...)
		}
	}
	if r.base == nil {
		r.base = map[ir.BaseName][]ir.FSRule{}
	}
	r.base[name] = out
	return out
}

// baseOn is hostBase for a platform, by the files of this host.
func (r *Result) baseOn(name ir.BaseName, platform ir.Platform) []ir.FSRule {
	var out []ir.FSRule
	seen, followed := map[ir.Location]bool{}, map[ir.Location]bool{}
	list := ir.BaseRules(name, platform)
	if platform == ir.Darwin && name == ir.BaseSystem {
		list = append(list, r.developerTools(list)...)
	}
	for _, rule := range list {
		abs := rule.At.String()
		if platform == ir.Windows {
			abs = filepath.ToSlash(r.expandWindows(rule.At.Path))
		}
		found, err := r.Resolver.Disk.Follow(abs)
		if err != nil || found.Kind == ir.Absent && rule.Caps != 0 {
			continue
		}
		for _, at := range spellings(platform, abs, found) {
			if platform != ir.Linux || !ir.LinuxOwn(rule.At.Path) {
				rule.At = ir.Sys(strings.TrimPrefix(at, "/"))
			}
			if !seen[rule.At] {
				seen[rule.At] = true
				out = append(out, rule)
				followed[rule.At] = found.Abs != abs
			}
		}
	}
	// The file that a symlink leads to is no exception from the directory that it is in.
	all := slices.Clone(out)
	return slices.DeleteFunc(out, func(r ir.FSRule) bool {
		return followed[r.At] && r.Caps != 0 && around(all, r.At).Contains(r.Caps)
	})
}

// spellings lists the places where a rule of the base stands. On macOS a lookup asks about each
// symlink on the way, and libraries may be judged by the name that was asked for, so the rule
// stands at the links as well; /System/Cryptexes/OS is one.
// See decision D53.
func spellings(platform ir.Platform, abs string, found resolve.Found) []string {
	if platform != ir.Darwin {
		return []string{found.Abs}
	}
	return slices.Concat([]string{found.Abs, abs}, found.Links)
}

// The links that choose the developer tools, in the order in which the programs in /usr/bin read
// them, and the file by which they tell developer tools from another directory.
var chosenTools = [...]string{"/private/var/select/developer_dir", "/private/var/db/xcode_select_link",
	"/usr/share/xcode-select/xcode_dir_link"}

const toolsLibrary = "/usr/lib/libxcrun.dylib"

// developerTools returns the rule about the developer tools that xcode-select(1) chose, where no
// rule of the base is about them: the whole bundle, since the programs in /usr/bin load a
// framework of it. Only an administrator writes these links.
func (r *Result) developerTools(base []ir.FSRule) []ir.FSRule {
	for _, link := range chosenTools {
		found, err := r.Resolver.Disk.Follow(link)
		if err != nil || len(found.Links) == 0 {
			continue
		}
		if lib, err := r.Resolver.Disk.Follow(found.Abs + toolsLibrary); err != nil || lib.Kind != ir.File {
			return nil
		}
		at := found.Abs
		if bundle, ok := strings.CutSuffix(at, "/Contents/Developer"); ok && strings.HasSuffix(bundle, ".app") {
			at = bundle
		}
		rule := ir.FSRule{Written: at, At: ir.Sys(strings.TrimPrefix(at, "/")), Caps: ir.Caps(ir.Read, ir.Execute),
			Origin: base[0].Origin}
		if around(base, rule.At.Child("x")).Contains(rule.Caps) {
			return nil
		}
		return []ir.FSRule{rule}
	}
	return nil
}

// around returns the grant of the rules on the directories above a place.
func around(rules []ir.FSRule, at ir.Location) ir.CapSet {
	var above *ir.FSRule
	for i, r := range rules {
		if strings.HasPrefix(at.Path, r.At.Path+"/") && (above == nil || len(r.At.Path) > len(above.At.Path)) {
			above = &rules[i]
		}
	}
	if above == nil {
		return 0
	}
	return above.Caps
}

// expandWindows replaces the variables in which the Windows base is written.
func (r *Result) expandWindows(p string) string {
	return os.Expand(p, func(name string) string {
		value, _ := r.view.Variable(name)
		return value
	})
}

// Lookup returns the function that finds a tool's programs: a path relative to the workspace as
// it is, a bare name in the PATH that the policy forwards.
func (r *Result) Lookup(t *ir.Tool) func(string) (string, bool) {
	path := ir.ProgramPath
	view := ir.NewEnvView(t.Env, t.Home, Platform())
	if env, ok := r.view.Variable("PATH"); ok && view.Decide(ir.Forward{Name: "PATH"}).Allowed() {
		path = env
	}
	return func(name string) (string, bool) {
		if abs := filepath.ToSlash(name); filepath.IsAbs(name) || strings.Contains(abs, "/") {
			if !filepath.IsAbs(name) {
				abs = r.Resolver.Root + "/" + abs
			}
			if found, ok := r.programIn(filepath.Dir(abs), filepath.Base(abs)); ok {
				return found, true
			}
			return abs, true
		}
		for _, dir := range filepath.SplitList(path) {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(r.Resolver.Root, dir)
			}
			if abs, ok := r.programIn(dir, name); ok {
				return abs, true
			}
		}
		return "", false
	}
}

// programIn finds a program in a directory, under the names that it may have there.
func (r *Result) programIn(dir, name string) (string, bool) {
	for _, n := range Platform().ProgramNames(name) {
		abs := filepath.ToSlash(filepath.Join(dir, n))
		if mode, err := r.view.Stat(abs); err == nil && mode.IsRegular() && executable(mode) {
			return abs, true
		}
	}
	return "", false
}

func executable(m fs.FileMode) bool { return runtime.GOOS == "windows" || m&0o111 != 0 }

// locatePrograms finds the files of the listed programs on this host.
func (r *Result) locatePrograms(t *ir.Tool) diag.List {
	r.locate(t)
	bindings := r.bindings(t)
	files := map[ir.Location]*ir.CommandRule{}
	var out diag.List
	for i := range t.Commands.Rules {
		rule := &t.Commands.Rules[i]
		warn := func(code diag.Code, label string) {
			d := diag.New(code, rule.Origin.Pos, len(rule.Program))
			d.Path, d.Label = rule.Origin.Path, label
			out.Add(d)
		}
		if rule.File == nil {
			warn(diag.ProgramMissing, rule.Program+" is not in the tool's PATH")
			continue
		}
		if other := files[*rule.File]; other != nil {
			abs, _ := bindings.Path(*rule.File)
			warn(diag.SameProgram, rule.Program+" and "+other.Program+" are "+abs)
		}
		files[*rule.File] = rule
	}
	return out
}

// locate finds the files of the listed programs.
func (r *Result) locate(t *ir.Tool) {
	lookup, bindings := r.Lookup(t), r.bindings(t)
	for i := range t.Commands.Rules {
		rule := &t.Commands.Rules[i]
		if abs, ok := lookup(rule.Program); ok {
			rule.File = r.program(bindings, abs)
		}
	}
}
