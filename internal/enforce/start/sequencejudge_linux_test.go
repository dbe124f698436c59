package start_test

import (
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// step is one operation of a sequence: the tool's, or, where Host is set, another process's
// on paths relative to the top of the tree.
type step struct {
	Op   string
	A    spot
	B    spot   `json:",omitzero"`
	Text string `json:",omitempty"`
	Host bool   `json:",omitempty"`
	// Done is set where the step is expected to succeed.
	Done bool `json:",omitempty"`
}

// need is an aspect of a place that a step depends on.
type need struct {
	at     spoken
	e      *entry
	aspect ir.Aspect
}

// outcome is the verdict of policy and tree on a step.
type outcome struct {
	// denied is set where the policy refuses the step, fault where it fails under any policy.
	denied bool
	fault  syscall.Errno
	needs  []need
	// loose is set where a step that could be done may also fail, since nothing says that it
	// must not.
	loose bool
	// known is set where a refusal is documented that the ledger does not list.
	known bool
	// apply makes the change, nil for none.
	apply func()
}

func (o *outcome) done() bool { return !o.denied && o.fault == 0 }

func faulty(e syscall.Errno) outcome { return outcome{fault: e} }

// require asks for capabilities on an entry, or on a possible one.
func (o *outcome) require(t *text, e *entry, at spoken, caps ...ir.Capability) {
	for _, c := range caps {
		o.needs = append(o.needs, need{at, e, ir.AspectOf(c)})
		o.denied = o.denied || !t.may(at, c)
	}
}

func where(e *entry) spoken { return placeOf(e.path()) }

// at is the place of a name in a directory.
func at(dir *entry, name string) spoken { return where(&entry{up: dir, name: name}) }

// Ways to open: the flags, by operation.
var openings = map[string]int{
	"read": unix.O_RDONLY, "list": unix.O_RDONLY | unix.O_DIRECTORY, "write": unix.O_WRONLY, "both": unix.O_RDWR,
	"append": unix.O_WRONLY | unix.O_APPEND, "empty": unix.O_WRONLY | unix.O_TRUNC, "emptyread": unix.O_RDONLY | unix.O_TRUNC,
	"create": unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL, "createread": unix.O_RDONLY | unix.O_CREAT,
	"createboth": unix.O_RDWR | unix.O_CREAT, "creat": unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC,
	"nofollow": unix.O_RDONLY | unix.O_NOFOLLOW, "reopen": unix.O_RDONLY, "rewrite": unix.O_WRONLY, "holdread": unix.O_RDONLY,
	"openat2": unix.O_RDONLY, "openat2write": unix.O_WRONLY, "openat2create": unix.O_WRONLY | unix.O_CREAT,
	"beneath": unix.O_RDONLY, "inroot": unix.O_RDWR, "nolinks": unix.O_RDONLY, "nomagic": unix.O_WRONLY,
}

// restricted are the flags of openat2(2) that restrict how a path is resolved.
var restricted = map[string]uint64{
	"beneath": unix.RESOLVE_BENEATH, "inroot": unix.RESOLVE_IN_ROOT, "nolinks": unix.RESOLVE_NO_SYMLINKS,
	"nomagic": unix.RESOLVE_NO_MAGICLINKS,
}

// judge returns the expected result of a step of the tool on a tree.
func (t *tree) judge(by *text, q step) outcome {
	if flags, ok := openings[q.Op]; ok {
		return t.opens(by, q, flags)
	}
	switch q.Op {
	case "hold", "holdlink", "stat", "lstat", "chdir", "close":
		return t.looks(q)
	case "truncate", "chmod", "chown", "utimes", "lutimes", "setxattr", "removexattr", "fchmod", "futimens", "fsetxattr":
		return t.alters(by, q)
	case "mkdir", "file", "fifo", "symlink":
		return t.makes(by, q)
	case "unlink", "rmdir":
		return t.removes(by, q)
	case "rename", "noreplace", "exchange":
		return t.renames(by, q)
	case "link", "linkfollow", "linkempty":
		return t.linked(by, q)
	case "start", "startat":
		return t.started(by, q)
	}
	panic("no such operation: " + q.Op)
}

func (t *tree) opens(by *text, q step, flags int) outcome {
	end := isFollowed
	if flags&unix.O_NOFOLLOW != 0 || flags&unix.O_EXCL != 0 {
		end = isKept
	}
	f := t.resolve(q.A, end)
	if q.Op == "inroot" {
		f = t.resolveIn(q.A, end)
	}
	o := outcome{}
	creates := flags&unix.O_CREAT != 0
	switch {
	case creates && f.tail:
		return faulty(syscall.EISDIR)
	case f.e != 0:
		return faulty(f.e)
	case f.at == nil && !creates:
		return faulty(syscall.ENOENT)
	case f.at == nil:
		return t.creates(by, q, f, flags)
	case flags&unix.O_EXCL != 0:
		return faulty(syscall.EEXIST)
	}
	if flags&unix.O_ACCMODE != unix.O_WRONLY {
		o.require(by, f.at, where(f.at), ir.Read)
	}
	file := f.at.file
	if flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0 && file.kind != unix.S_IFIFO {
		o.require(by, f.at, where(f.at), ir.Update)
	}
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY
	switch {
	case file.kind == unix.S_IFLNK:
		o.fault = syscall.ELOOP
	case file.kind == unix.S_IFDIR && (writes || creates || flags&unix.O_TRUNC != 0):
		o.fault = syscall.EISDIR
	case file.kind != unix.S_IFDIR && flags&unix.O_DIRECTORY != 0:
		o.fault = syscall.ENOTDIR
	case file.kind == unix.S_IFIFO && flags&unix.O_ACCMODE == unix.O_WRONLY:
		o.fault, o.loose = syscall.ENXIO, true // unless it is open for reading
	}
	resolve, limited := restricted[q.Op]
	magic := (q.A.How == "magic" || q.A.How == "process" || fromProc(q.A)) && resolve != 0
	o.loose = o.loose || limited && (f.links > 0 || f.dots || magic || q.A.How != "descriptor")
	o.apply = func() {
		if file.kind == unix.S_IFREG && flags&unix.O_TRUNC != 0 {
			file.holds = ""
		}
		if file.kind == unix.S_IFREG && writes && creates && file.holds == "" {
			file.holds = q.Text
		}
		if q.Op == "holdread" {
			t.slots[q.B.Slot] = slot{f.at, false}
		}
	}
	return o
}

func fromProc(s spot) bool { return slices.Contains([]string{"cwd", "thread", "root"}, s.How) }

func (t *tree) creates(by *text, q step, f found, flags int) outcome {
	place := at(f.dir, f.name)
	o := outcome{needs: []need{{place, f.dir, ir.AspectCreate}}, denied: !by.makes(ir.Create, place, ir.NameFile)}
	if flags&unix.O_ACCMODE != unix.O_WRONLY {
		o.require(by, f.dir, place, ir.Read)
	}
	if f.dir.gone {
		o.fault = syscall.ENOENT
	}
	o.apply = func() {
		made := &inode{kind: unix.S_IFREG}
		if flags&unix.O_ACCMODE != unix.O_RDONLY {
			made.holds = q.Text
		}
		t.put(f.dir, f.name, made)
	}
	return o
}

// looks judges calls that no rule speaks of.
func (t *tree) looks(q step) outcome {
	end := isFollowed
	if q.Op == "holdlink" || q.Op == "lstat" {
		end = isKept
	}
	if q.Op == "close" {
		return outcome{apply: func() { t.slots[q.A.Slot] = slot{} }}
	}
	f := t.resolve(q.A, end)
	switch {
	case f.e != 0:
		return faulty(f.e)
	case f.at == nil:
		return faulty(syscall.ENOENT)
	case q.Op == "chdir" && !f.at.dir():
		return faulty(syscall.ENOTDIR)
	}
	return outcome{apply: func() {
		switch q.Op {
		case "hold", "holdlink":
			t.slots[q.B.Slot] = slot{f.at, true}
		case "chdir":
			t.cwd = f.at
		}
	}}
}

// alters judges changes of contents and metadata.
func (t *tree) alters(by *text, q step) outcome {
	end := isFollowed
	if q.Op == "lutimes" {
		end = isKept
	}
	f := t.resolve(q.A, end)
	o := outcome{}
	switch {
	case f.e != 0:
		return faulty(f.e)
	case f.at == nil:
		return faulty(syscall.ENOENT)
	case (q.Op == "fchmod" || q.Op == "futimens" || q.Op == "fsetxattr") && t.slots[q.A.Slot].path:
		// A descriptor without a mode: the kernel would not (EBADF), the supervisor may.
		o.loose = true
	}
	o.needs = []need{{where(f.at), f.at, ir.AspectMetadata}}
	if q.Op == "truncate" {
		o.needs[0].aspect = ir.AspectUpdate
	}
	o.denied = !by.may(where(f.at), ir.Update)
	kind := f.at.file.kind
	switch {
	case q.Op == "truncate" && kind == unix.S_IFDIR:
		o.fault = syscall.EISDIR
	case q.Op == "truncate" && kind != unix.S_IFREG:
		o.fault = syscall.EINVAL
	case q.Op == "truncate":
		o.apply = func() { f.at.file.holds = "" }
	case q.Op == "removexattr":
		o.fault = syscall.ENODATA
	case kind == unix.S_IFLNK || (q.Op == "setxattr" || q.Op == "fsetxattr") && kind == unix.S_IFIFO:
		o.loose = true
	}
	return o
}

func (t *tree) makes(by *text, q step) outcome {
	f := t.resolve(q.A, isNamed)
	kind := map[string]ir.NameKind{"mkdir": ir.NameDir, "symlink": ir.NameLink}[q.Op]
	if kind == ir.NameAny {
		kind = ir.NameFile
	}
	switch {
	case f.e != 0:
		return faulty(f.e)
	case f.dir == nil || f.at != nil:
		return faulty(syscall.EEXIST)
	case f.tail && q.Op != "mkdir" || f.dir.gone:
		return faulty(syscall.ENOENT)
	}
	place := at(f.dir, f.name)
	return outcome{
		needs: []need{{place, f.dir, ir.AspectCreate}}, denied: !by.makes(ir.Create, place, kind),
		apply: func() {
			made := &inode{kind: map[string]uint32{"mkdir": unix.S_IFDIR, "symlink": unix.S_IFLNK, "fifo": unix.S_IFIFO, "file": unix.S_IFREG}[q.Op]}
			if q.Op == "symlink" {
				made.target = q.Text
			}
			t.put(f.dir, f.name, made)
		},
	}
}

func (t *tree) removes(by *text, q step) outcome {
	f := t.resolve(q.A, isNamed)
	switch {
	case f.e != 0:
		return faulty(f.e)
	case f.dir == nil:
		return faulty(syscall.EISDIR)
	case f.at == nil:
		return faulty(syscall.ENOENT)
	}
	kind := ir.NameFile
	switch {
	case f.at.dir():
		kind = ir.NameDir
	case f.at.symlink():
		kind = ir.NameLink
	}
	o := outcome{needs: []need{{where(f.at), f.at, ir.AspectDelete}}, denied: !by.makes(ir.Delete, where(f.at), kind), apply: func() { t.drop(f.at) }}
	switch {
	case q.Op == "unlink" && f.at.dir():
		o.fault = syscall.EISDIR
	case !f.at.dir() && (q.Op == "rmdir" || f.tail):
		o.fault = syscall.ENOTDIR
	case len(f.at.kids) > 0:
		o.fault = syscall.ENOTEMPTY
	}
	return o
}

func (t *tree) renames(by *text, q step) outcome {
	a, b := t.resolve(q.A, isNamed), t.resolve(q.B, isNamed)
	exchange := q.Op == "exchange"
	switch {
	case a.e != 0:
		return faulty(a.e)
	case b.e != 0:
		return faulty(b.e)
	case a.dir == nil || b.dir == nil:
		return faulty(syscall.EBUSY)
	case a.at == nil || b.at == nil && exchange || b.dir.gone:
		return faulty(syscall.ENOENT)
	}
	from, to := where(a.at), at(b.dir, b.name)
	o := outcome{denied: !by.moves(from, a.at, to, b.at)}
	if exchange {
		o.denied = o.denied || !by.moves(to, b.at, from, a.at)
	}
	for _, p := range []need{{at: from, e: a.at}, {at: to, e: b.dir}} {
		for _, c := range []ir.Aspect{ir.AspectMove, ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete} {
			o.needs = append(o.needs, need{p.at, p.e, c})
		}
	}
	same := b.at != nil && a.at.file == b.at.file
	o.apply = func() {
		switch {
		case exchange:
			t.exchange(a.at, b.at)
		case !same:
			t.move(a.at, b.dir, b.name)
		}
	}
	o.fault = renameFault(q.Op, a, b, same)
	return o
}

// renameFault is the error with which a rename fails under any policy (rename(2)).
func renameFault(op string, a, b found, same bool) syscall.Errno {
	exchange := op == "exchange"
	switch {
	case b.dir.under(a.at):
		return syscall.EINVAL
	case b.at != nil && a.dir.under(b.at):
		return syscall.ENOTEMPTY
	case op == "noreplace" && b.at != nil:
		return syscall.EEXIST
	case a.tail && !a.at.dir(), b.tail && (b.at == nil || exchange) && (b.at == nil && !a.at.dir() || b.at != nil && !b.at.dir()):
		return syscall.ENOTDIR
	case b.tail && !exchange && !a.at.dir():
		return syscall.ENOTDIR
	case exchange || b.at == nil || same:
		return 0
	case a.at.dir() && !b.at.dir():
		return syscall.ENOTDIR
	case !a.at.dir() && b.at.dir():
		return syscall.EISDIR
	case len(b.at.kids) > 0:
		return syscall.ENOTEMPTY
	}
	return 0
}

func (t *tree) linked(by *text, q step) outcome {
	end := isKept
	if q.Op == "linkfollow" {
		end = isFollowed
	}
	a, b := t.resolve(q.A, end), t.resolve(q.B, isNamed)
	switch {
	case a.e != 0:
		return faulty(a.e)
	case b.e != 0:
		return faulty(b.e)
	case a.at == nil:
		return faulty(syscall.ENOENT)
	case b.dir == nil || b.at != nil:
		return faulty(syscall.EEXIST)
	case b.tail || b.dir.gone:
		return faulty(syscall.ENOENT)
	case a.at.dir():
		return faulty(syscall.EPERM)
	}
	from, to := where(a.at), at(b.dir, b.name)
	o := outcome{denied: !by.links(from, to), apply: func() { t.put(b.dir, b.name, a.at.file) }}
	o.needs = []need{{from, a.at, ir.AspectMove}, {to, b.dir, ir.AspectMove}, {to, b.dir, ir.AspectCreate}}
	if a.at.gone {
		// The file may have another name, which this does not look for.
		o.fault, o.loose = syscall.ENOENT, t.names(a.at.file) > 0
	}
	if q.Op == "linkempty" {
		o.fault, o.loose = syscall.ENOENT, true // without a capability; see linkat(2)
	}
	return o
}

// names is how many names a file has.
func (t *tree) names(f *inode) int {
	n := 0
	for _, e := range t.top.all() {
		if e.file == f {
			n++
		}
	}
	return n
}

func (t *tree) started(by *text, q step) outcome {
	f := t.resolve(q.A, isFollowed)
	switch {
	case f.e != 0:
		return faulty(f.e)
	case f.at == nil:
		return faulty(syscall.ENOENT)
	}
	o := outcome{needs: []need{{where(f.at), f.at, ir.AspectExecute}}, denied: !by.starts(where(f.at), argv(q))}
	if by.listed && q.A.Rest != "" {
		// The path is a name of the program as well: AT_EXECFN, and the first argument of a script.
		called := slices.Concat([]string{path.Base(q.A.Rest)}, argv(q)[1:])
		o.denied = o.denied || !by.starts(where(f.at), called)
	}
	file := f.at.file
	byDescriptor := q.A.How == "descriptor" || q.A.How == emptyPath || q.A.How == "opened"
	switch {
	case file.kind == unix.S_IFLNK:
		o.fault = syscall.ELOOP
	case file.kind != unix.S_IFREG:
		o.fault = syscall.EACCES
	case file.holds == holdsScript && !by.listed:
		o.require(by, f.at, where(f.at), ir.Read)
	case !strings.HasPrefix(file.holds, holdsImage) && file.holds != holdsScript:
		o.fault = syscall.ENOEXEC
	}
	// Where programs are listed, interpreters start that the ruleset was told of at the start.
	// And a removed file starts where the ruleset still has a rule on it.
	o.known = by.listed && file.holds == holdsScript || f.at.gone
	if file.holds == holdsScript && q.Op == "startat" && byDescriptor {
		o.fault = syscall.ENOENT // the interpreter could not open it
	}
	return o
}
