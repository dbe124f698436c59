package start_test

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// draws makes random policies, trees and steps.
type draws struct {
	*rand.Rand
	// names are the components of paths.
	names []string
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// oneIn is true in one of n cases.
func (d *draws) oneIn(n int) bool { return d.IntN(n) == 0 }

func (d *draws) path(depth int) string {
	parts := make([]string, d.IntN(depth+1))
	for i := range parts {
		parts[i] = pick(d.Rand, d.names)
	}
	return strings.Join(parts, "/")
}

// usual are capability sets that policies often have.
var usual = []ir.CapSet{
	0, ir.All, ir.All, ir.Caps(ir.Read), ir.Caps(ir.Read, ir.Execute), ir.Write.With(ir.Read), ir.All.Without(ir.Execute),
	ir.Caps(ir.Create), ir.Caps(ir.Read, ir.Update), ir.Caps(ir.Read, ir.Execute, ir.Create), ir.Write, ir.All.Without(ir.Delete),
}

func (d *draws) caps() ir.CapSet {
	if !d.oneIn(5) {
		return pick(d.Rand, usual)
	}
	return ir.CapSet(d.IntN(1<<8)) & ir.All
}

// tool draws a policy: rules with exceptions inside, protected paths or none, programs that
// are listed or any.
func (d *draws) tool() *ir.Tool {
	tool := ir.NewTool("t")
	tool.Declared.FS = true
	tool.Protects = d.oneIn(4)
	tool.LateOpen = d.oneIn(4)
	d.names = []string{"a", "b", "ab"}
	if tool.Protects {
		d.names = []string{"a", "b", ".git", "hooks", ".envrc"}
		if d.oneIn(2) {
			tool.Protected = []ir.ProtectedPath{{Path: "a/b", Why: "test"}}
		}
	}
	for i := range 1 + d.IntN(5) {
		p := d.path(3)
		if i == 0 && !d.oneIn(3) {
			p = ""
		}
		tool.FS = append(tool.FS, rule(p, d.caps()))
	}
	if d.oneIn(3) {
		for range 1 + d.IntN(2) {
			r := rule(d.path(1), d.caps())
			r.Names = []string{pick(d.Rand, []string{"a", "b", "ab", "a*", "?b", "[ab]", ".*", "*"})}
			tool.FS = slices.Insert(tool.FS, d.IntN(len(tool.FS)+1), r)
		}
	}
	if d.oneIn(6) {
		tool.Commands = d.commands()
	}
	return tool
}

// commands lists programs of the workspace, each once.
func (d *draws) commands() *ir.CommandSet {
	set := &ir.CommandSet{}
	for range 1 + d.IntN(3) {
		p := d.path(2)
		if p == "" || slices.ContainsFunc(set.Rules, func(r ir.CommandRule) bool { return r.Program == "./"+p }) {
			continue
		}
		at := ir.In(p)
		r := ir.CommandRule{Program: "./" + p, File: &at, AllEnvs: true, AnyArgs: d.oneIn(2)}
		if !r.AnyArgs {
			r.Args = []ir.ArgPattern{{Words: []string{"x"}, Rest: d.oneIn(2)}}
		}
		set.Rules = append(set.Rules, r)
	}
	return set
}

// grow puts up to n files at random places of a tree.
func (d *draws) grow(t *tree, n int) {
	for range n {
		dir := t.top.kid(inWorkspace)
		if d.oneIn(8) {
			dir = t.top.kid(inOutside)
		}
		for name := range strings.SplitSeq(d.path(3), "/") {
			k := dir.kid(name)
			if name == "" || k != nil && !k.dir() {
				break
			}
			if k == nil {
				k = t.put(dir, name, &inode{kind: unix.S_IFDIR})
			}
			dir = k
		}
		if name := pick(d.Rand, d.names); dir.kid(name) == nil {
			t.put(dir, name, d.file(t))
		}
	}
}

// file draws something other than a directory.
func (d *draws) file(t *tree) *inode {
	switch d.IntN(8) {
	case 0:
		return &inode{kind: unix.S_IFLNK, target: d.target(t)}
	case 1:
		return &inode{kind: unix.S_IFIFO}
	case 2:
		return &inode{kind: unix.S_IFREG}
	case 3, 4, 5:
		return &inode{kind: unix.S_IFREG, holds: d.image()}
	default:
		return &inode{kind: unix.S_IFREG, holds: holdsScript}
	}
}

// image draws the contents of a program of another process, which ends with a number.
func (d *draws) image() string { return imageOf(1 + d.IntN(250)) }

// target draws the text of a symlink.
func (d *draws) target(t *tree) string {
	p := d.path(3)
	switch d.IntN(6) {
	case 0:
		return "/nowhere"
	case 1:
		return t.dir + "/" + inWorkspace + "/" + p
	case 2:
		return t.dir + "/" + inOutside + "/" + p
	case 3:
		return "../" + p
	}
	if p == "" {
		return "."
	}
	return p
}

// entries are the live ones, the two roots among them where roots is set.
func (d *draws) entries(t *tree, want func(*entry) bool) []*entry {
	var out []*entry
	for _, e := range t.top.all()[1:] {
		if want(e) {
			out = append(out, e)
		}
	}
	return out
}

func isDir(e *entry) bool { return e.dir() }

// anyDir is a directory, mostly of the workspace.
func (d *draws) anyDir(t *tree) *entry {
	for range 4 {
		if e := pick(d.Rand, d.entries(t, isDir)); d.oneIn(6) || e.under(t.top.kid(inWorkspace)) {
			return e
		}
	}
	return t.top.kid(inWorkspace)
}

// relative is a path from one entry to another.
func relative(from, to *entry) string {
	var up []string
	for ; !to.under(from); from = from.up {
		up = append(up, "..")
	}
	var down []string
	for ; to != from; to = to.up {
		down = append(down, to.name)
	}
	slices.Reverse(down)
	return strings.Join(append(up, down...), "/")
}

// spell draws a way to name something in a directory, or, without a name, the directory. exact
// names it by itself alone, so that no slash stands behind it.
func (d *draws) spell(t *tree, dir *entry, name string) spot {
	s := spot{How: pick(d.Rand, ways), Slot: d.IntN(nslots)}
	if s.How == emptyPath {
		s.How = "absolute"
	}
	ws := t.top.kid(inWorkspace)
	from := ws
	switch {
	case slices.Contains(fromCwd, s.How):
		from = t.cwd
	case slices.Contains(fromSlot, s.How):
		if from = t.slots[s.Slot].at; from == nil || !from.dir() {
			s.How, from = "absolute", ws
		}
	}
	if ws == nil || from == nil {
		s.How, from = "relative", t.cwd
	}
	if d.oneIn(6) {
		s.Rest = d.wild()
	} else {
		s.Rest = d.detour(t, from, dir, name)
	}
	if s.How == "tail" {
		s.Rest += "/"
	}
	return s
}

// wild is a path that need not lead anywhere.
func (d *draws) wild() string {
	parts := make([]string, 1+d.IntN(3))
	for i := range parts {
		parts[i] = pick(d.Rand, d.names)
		if d.oneIn(5) {
			parts[i] = ".."
		}
	}
	if last := len(parts) - 1; parts[last] == ".." {
		parts[last] = d.names[0]
	}
	return strings.Join(parts, "/")
}

// detour is a path from an entry to a name, sometimes over a symlink, another directory or
// more slashes.
func (d *draws) detour(t *tree, from, dir *entry, name string) string {
	to := relative(from, dir)
	if d.oneIn(8) {
		links := d.entries(t, func(e *entry) bool { return e.symlink() && e.under(from) })
		if len(links) > 0 {
			l := pick(d.Rand, links)
			w := &pathWalk{t: t}
			if f := w.walk(l.up, l.name, isFollowed); f.e == 0 && f.at != nil && f.at.dir() {
				to = relative(from, l) + "/" + relative(f.at, dir)
			}
		}
	}
	if d.oneIn(8) && !from.gone {
		if subs := d.entries(t, func(e *entry) bool { return e.dir() && e.up == from }); len(subs) > 0 {
			to = pick(d.Rand, subs).name + "/../" + to
		}
	}
	p := strings.TrimPrefix(to+"/"+name, "/")
	switch d.IntN(16) {
	case 0:
		p = strings.ReplaceAll(p, "/", "//")
	case 1:
		p = strings.ReplaceAll(p, "/", "/./")
	}
	return p
}

// itself names the file of a kept descriptor; ok is false where none is kept.
func (d *draws) itself(t *tree, ways []string, want func(*entry) bool) (spot, bool) {
	start := d.IntN(nslots)
	for i := range nslots {
		n := (start + i) % nslots
		if e := t.slots[n].at; e != nil && want(e) {
			return spot{How: pick(d.Rand, ways), Slot: n}, true
		}
	}
	return spot{}, false
}

// The operations by subject, each as often as it is to come.
var (
	opsOfFile = []string{
		"read", "read", "write", "both", "append", "empty", "emptyread", "nofollow", "openat2", "openat2write", "beneath", "inroot",
		"nolinks", "nomagic", "truncate", "creat", "createread", "createboth",
	}
	opsOfDir  = []string{"list", "list", "read", "nofollow", "beneath", "openat2"}
	opsOfKept = []string{"reopen", "reopen", "rewrite", "both", "empty", "linkfollow", "linkempty", "setxattr", "utimes", "chown", "chmod", "stat", "fchmod", "futimens", "fsetxattr"}
	opsOfMeta = []string{"stat", "lstat", "chmod", "chown", "utimes", "lutimes", "setxattr", "removexattr"}
	opsToMake = []string{"create", "create", "createread", "createboth", "creat", "openat2create", "mkdir", "mkdir", "file", "fifo", "symlink"}
	opsToMove = []string{"rename", "rename", "rename", "noreplace", "exchange", "link", "linkfollow"}
	opsToKeep = []string{"hold", "hold", "hold", "holdlink", "holdread", "holdread", "chdir", "close"}
	opsStarts = []string{"start", "startat"}
	opsRemove = []string{"unlink", "unlink", "rmdir"}
)

// step draws one of the tool's.
func (d *draws) step(t *tree) step {
	for {
		if q, ok := d.tryStep(t); ok {
			return q
		}
	}
}

// toolSteps are the kinds of the tool's steps.
var toolSteps = sync.OnceValue(func() []string {
	return slices.DeleteFunc(allSteps(), func(op string) bool {
		return slices.Contains(opsOfHost, op) || slices.Contains(opsOfRace, op)
	})
})

// given draws a step of the kind whose turn it is, or is another step where the tree has none of that kind.
func (d *draws) given(t *tree, turn int, other step) step {
	const tries = 1000
	kind := toolSteps()[turn%len(toolSteps())]
	for range tries {
		if q, ok := d.tryStep(t); ok && q.Op == kind {
			return q
		}
	}
	return other
}

func (d *draws) tryStep(t *tree) (step, bool) {
	all := d.entries(t, func(e *entry) bool { return true })
	if len(all) == 0 {
		return step{}, false
	}
	e := pick(d.Rand, all)
	there := func(op string) (step, bool) {
		q := step{Op: op, A: d.spell(t, e.up, e.name), Text: d.filling(op)}
		return q, op != "inroot" || q.A.How == "relative" || q.A.How == "here" || q.A.How == "descriptor" && q.A.Rest != ""
	}
	switch n := d.IntN(100); {
	case n < 26:
		if e.dir() {
			return there(pick(d.Rand, opsOfDir))
		}
		return there(pick(d.Rand, opsOfFile))
	case n < 38:
		return d.kept(t)
	case n < 48:
		return there(pick(d.Rand, opsOfMeta))
	case n < 66:
		op := pick(d.Rand, opsToMake)
		q := step{Op: op, A: d.spell(t, d.anyDir(t), pick(d.Rand, d.names)), Text: d.filling(op)}
		if op == "symlink" {
			q.Text = d.target(t)
		}
		return q, true
	case n < 82:
		dir := d.anyDir(t)
		if dir.depth() > 5 || e.up == t.top {
			return step{}, false
		}
		return step{Op: pick(d.Rand, opsToMove), A: d.spell(t, e.up, e.name), B: d.spell(t, dir, pick(d.Rand, d.names))}, true
	case n < 90:
		op := pick(d.Rand, opsToKeep)
		q, _ := there(op)
		q.B = spot{How: "absolute", Slot: d.IntN(nslots)}
		if op == "close" {
			q.A, q.B.How = spot{How: "absolute", Slot: q.B.Slot}, ""
		}
		return q, true
	case n < 98:
		return there(pick(d.Rand, opsRemove))
	}
	return d.start(t)
}

func (e *entry) depth() int { return components(e.path()) }

// filling draws the contents of a file that an operation makes.
func (d *draws) filling(op string) string {
	if !slices.Contains([]string{"create", "createboth", "creat", "openat2create"}, op) {
		return ""
	}
	return pick(d.Rand, []string{holdsImage, holdsImage, holdsScript, ""})
}

// kept draws an operation on a descriptor that the tool keeps, or on a name in it.
func (d *draws) kept(t *tree) (step, bool) {
	op := pick(d.Rand, opsOfKept)
	how := []string{"magic", "process", "descriptor"}
	if slices.Contains([]string{"utimes", "chown", "chmod", "stat", "linkempty"}, op) {
		how = append(how, emptyPath, emptyPath)
	}
	if op == "linkempty" {
		how = how[3:]
	}
	s, ok := d.itself(t, how, func(e *entry) bool { return e.file.kind != unix.S_IFLNK || op == "linkfollow" || op == "stat" })
	q := step{Op: op, A: s}
	if strings.HasPrefix(op, "link") {
		q.B = d.spell(t, d.anyDir(t), pick(d.Rand, d.names))
	}
	return q, ok
}

func (d *draws) start(t *tree) (step, bool) {
	q := step{Op: pick(d.Rand, opsStarts)}
	if d.oneIn(3) {
		how := []string{"magic", "process"}
		if q.Op == "startat" {
			how = append(how, emptyPath, emptyPath)
		}
		s, ok := d.itself(t, how, func(e *entry) bool { return e.file.kind == unix.S_IFREG })
		if !ok {
			return q, false
		}
		q.A = s
		q.Text = t.slots[s.Slot].at.name
	} else {
		files := d.entries(t, func(e *entry) bool { return e.file.kind == unix.S_IFREG || e.symlink() })
		if len(files) == 0 {
			return q, false
		}
		e := pick(d.Rand, files)
		q.A, q.Text = d.spell(t, e.up, e.name), e.name
	}
	if f := t.resolve(q.A, isFollowed); f.at != nil && f.at.name != "" {
		q.Text = path.Base(f.at.name)
	}
	q.Text += pick(d.Rand, []string{"", " x", " x y"})
	return q, true
}
