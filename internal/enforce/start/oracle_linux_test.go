package start_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// port is one without a listener on the loopback address; the policies of the test allow it or
// not.
const port = 9

// asking is a question for the policy beside the kernel.
type asking struct {
	op   string
	a, b ir.Location
	try  attempt
	// apart is set for a question about no place, which has no spellings.
	apart bool
	// verdict is the policy's answer, enforced the ledger's word for its enforcement.
	verdict  bool
	enforced []ir.Enforcement
	// because is the denial behind the verdict, where one was decided.
	because ir.Verdict
	// undo restores the tree after a success, nil where nothing has changed.
	undo func() error
	// alone is set where the tree may have to be restored before the next one.
	alone bool
}

// fromWorkspace is the path of a place from the workspace.
func fromWorkspace(at ir.Location) string {
	if at.Root == irtest.Elsewhere {
		return "../elsewhere/" + at.Path
	}
	return at.Path
}

// ask adds an operation to the plan, unless it is among it already.
func (o *supervised) ask(q asking) {
	spelling := func() string { return rapid.SampledFrom(spellings).Draw(o.t, "spelling") }
	q.try = attempt{Op: q.op, A: fromWorkspace(q.a), B: fromWorkspace(q.b)}
	if !q.apart {
		q.try.HowA = spelling()
	}
	if q.b.Path != "" {
		q.try.HowB = spelling()
	}
	if o.tried[q.try] {
		return
	}
	o.tried[q.try] = true
	// Where a file may be made, the kernel may have made it before it refuses to open it.
	makes := o.now.Kind(q.a.String()) == ir.Absent && o.may(q.a, ir.Create)
	q.alone = q.undo != nil && (q.verdict || makes)
	o.plan = append(o.plan, q)
}

func (o *supervised) may(at ir.Location, caps ...ir.Capability) bool {
	return o.first(at, caps...).Allowed()
}

// first is the first verdict that denies, or the last.
func (o *supervised) first(at ir.Location, caps ...ir.Capability) ir.Verdict {
	return o.firstOf("", at, caps...)
}

// firstOf is the same for an operation that may make or remove a name.
func (o *supervised) firstOf(op string, at ir.Location, caps ...ir.Capability) ir.Verdict {
	var v ir.Verdict
	for _, c := range caps {
		if v = o.view.Decide(ir.Access{Cap: c, On: ir.Direct(at), Name: nameOf(op)}); !v.Allowed() {
			break
		}
	}
	return v
}

// nameOf is the kind of name that an operation makes or removes.
func nameOf(op string) ir.NameKind {
	switch op {
	case "mkdir", "rmdir":
		return ir.NameDir
	case "symlink":
		return ir.NameLink
	default:
		return ir.NameFile
	}
}

// decided is the verdict of an asking.
func (q *asking) decided(v ir.Verdict) { q.verdict, q.because = v.Allowed(), v }

func (o *supervised) on(at ir.Location) string { return o.path(at.String()) }

// one asks about an operation on one place that needs capabilities.
func (o *supervised) one(op string, at ir.Location, undo func() error, caps ...ir.Capability) {
	q := asking{op: op, a: at, undo: undo}
	q.decided(o.firstOf(op, at, caps...))
	for _, c := range caps {
		q.enforced = append(q.enforced, o.enforced(at, ir.AspectOf(c)))
	}
	o.ask(q)
}

func (o *supervised) remove(at ir.Location) func() error {
	return func() error { return os.Remove(o.on(at)) }
}

var (
	onAbsent = []string{"create", "createboth", "createread", "creat", "create2", "append", "mkdir", "symlink", "fifo", "file", "device", "bind"}
	onFile   = []string{
		"read", "openat2", "reopen", "write", "both", "empty", "emptyread", "append", "rewrite", "truncate", "unlink", "execute",
		"dial", "chmod", "chown", "utimes", "setxattr", "removexattr", "fchmod", "futimens", "fsetxattr", "flags",
	}
	onDir    = []string{"list", "openat2", "reopen", "rmdir", "tmpfile", "chmod", "chown", "utimes", "setxattr", "fchmod", "futimens"}
	onNames  = []string{"rename", "rename", "noreplace", "exchange", "link", "link", "whiteout"}
	onNobody = []string{"tcp", "mapped", "mptcp", "udp", "abstract"}
)

// place asks about one place, for any kind of file there.
func (o *supervised) place(at ir.Location) {
	draw := func(ops []string) string { return rapid.SampledFrom(ops).Draw(o.t, "op") }
	switch o.now.Kind(at.String()) {
	case ir.Absent:
		o.absent(draw(onAbsent), at)
	case ir.Dir:
		o.existing(draw(onDir), at)
	case ir.File, ir.Unknown:
		o.existing(draw(onFile), at)
	}
}

func (o *supervised) absent(op string, at ir.Location) {
	switch op {
	case "createboth", "createread":
		o.one(op, at, o.remove(at), ir.Create, ir.Read)
	case "device":
		o.ask(asking{op: op, a: at, undo: o.remove(at)})
	case "bind":
		q := asking{op: op, a: at, undo: o.remove(at)}
		q.decided(o.firstOf(op, at, ir.Create))
		if o.spec.Supervision == nil {
			q.enforced = []ir.Enforcement{ir.Stricter}
		}
		o.ask(q)
	default:
		o.one(op, at, o.remove(at), ir.Create)
	}
}

func (o *supervised) existing(op string, at ir.Location) {
	switch op {
	case "read", "list", "openat2", "reopen":
		o.one(op, at, nil, ir.Read)
	case "write", "empty", "append", "rewrite", "truncate":
		o.one(op, at, o.script(at), ir.Update)
	case "both", "emptyread":
		o.one(op, at, o.script(at), ir.Read, ir.Update)
	case "unlink", "rmdir":
		o.one(op, at, o.renew(at), ir.Delete)
	case "execute":
		o.one(op, at, nil, ir.Execute)
	case "tmpfile":
		// The file has no name, so either right to write permits it.
		inside := at.Child("x")
		o.ask(asking{
			op: op, a: at, verdict: o.may(inside, ir.Create) || o.may(inside, ir.Update), enforced: []ir.Enforcement{ir.Stricter},
		})
	case "dial":
		q := asking{op: op, a: at}
		q.decided(o.view.Decide(ir.Dial{On: ir.Direct(at)}))
		if o.spec.Supervision == nil {
			q.enforced = []ir.Enforcement{ir.Stricter}
		}
		o.ask(q)
	default:
		q := asking{op: op, a: at, enforced: []ir.Enforcement{o.enforced(at, ir.AspectMetadata)}}
		q.decided(o.first(at, ir.Update))
		o.ask(q)
	}
}

// both does one after the other.
func both(a, b func() error) func() error {
	return func() error { return errors.Join(a(), b()) }
}

// script restores the contents of a file.
func (o *supervised) script(at ir.Location) func() error {
	return func() error { return fillProgram(o.on(at), os.O_TRUNC, []byte(script)) }
}

// every asks about each kind of operation once, at a place that it can be tried on.
func (o *supervised) every(places []ir.Location) {
	on := map[ir.NodeKind][]ir.Location{}
	for _, at := range places {
		kind := o.now.Kind(at.String())
		on[kind] = append(on[kind], at)
	}
	ask := func(kind ir.NodeKind, ops []string, ask func(string, ir.Location)) {
		for _, op := range ops {
			if len(on[kind]) > 0 {
				ask(op, rapid.SampledFrom(on[kind]).Draw(o.t, "place"))
			}
		}
	}
	ask(ir.Absent, onAbsent, o.absent)
	ask(ir.File, onFile, o.existing)
	ask(ir.Dir, onDir, o.existing)
	for _, op := range onNames {
		o.namesBy(op, rapid.SampledFrom(places).Draw(o.t, "src"), rapid.SampledFrom(places).Draw(o.t, "dst"))
	}
	for _, op := range onNobody {
		o.networkBy(op)
	}
}

// names asks about a move or a link.
func (o *supervised) names(src, dst ir.Location) {
	if o.now.Movable(src.String(), dst.String()) {
		o.namesBy(rapid.SampledFrom(onNames).Draw(o.t, "op"), src, dst)
	}
}

func (o *supervised) namesBy(op string, src, dst ir.Location) {
	sk, dk := o.now.Kind(src.String()), o.now.Kind(dst.String())
	if !o.now.Movable(src.String(), dst.String()) {
		return
	}
	q := asking{op: op, a: src, b: dst, enforced: []ir.Enforcement{
		o.enforced(src, ir.AspectMove), o.enforced(dst, ir.AspectMove), o.enforced(src, ir.AspectDelete), o.enforced(dst, ir.AspectCreate),
		o.enforced(dst, ir.AspectUpdate), o.enforced(dst, ir.AspectDelete),
	}}
	s, d := ir.Direct(src), ir.Direct(dst)
	switch {
	case q.op == "link" && (sk != ir.File || dk != ir.Absent), q.op == "exchange" && dk == ir.Absent, q.op == "noreplace" && dk != ir.Absent:
		return
	case q.op == "link":
		q.undo = o.remove(dst)
		q.decided(o.view.Decide(ir.Link{Src: s, Dst: d}))
	case q.op == "exchange":
		q.undo = func() error {
			return unix.Renameat2(unix.AT_FDCWD, o.on(dst), unix.AT_FDCWD, o.on(src), unix.RENAME_EXCHANGE)
		}
		q.enforced = append(q.enforced, o.enforced(dst, ir.AspectDelete), o.enforced(src, ir.AspectCreate), o.enforced(src, ir.AspectUpdate))
		q.decided(o.view.Decide(ir.Exchange{A: s, B: d, AKind: sk, BKind: dk}))
	default:
		q.decided(o.view.Decide(ir.Rename{Src: s, Dst: d, SrcKind: sk, DstKind: dk}))
		q.undo = func() error { return os.Rename(o.on(dst), o.on(src)) }
		if dk != ir.Absent {
			q.undo = both(q.undo, o.renew(dst))
		}
	}
	if q.op == "whiteout" {
		// EINVAL, which says nothing about rights.
		q.verdict = true
	}
	o.ask(q)
}

// network asks about sockets.
func (o *supervised) network() { o.networkBy(rapid.SampledFrom(onNobody).Draw(o.t, "op")) }

func (o *supervised) networkBy(op string) {
	q := asking{op: op, apart: true}
	if q.op != "abstract" {
		q.a = ir.In(fmt.Sprint(port + rapid.IntRange(0, 1).Draw(o.t, "port")))
	}
	to := ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("127.0.0.1")}, Port: port}
	tcp := q.op == "tcp" || q.op == "mapped"
	q.verdict = tcp && q.a.Path == fmt.Sprint(port) && o.view.Decide(ir.Connect{To: to}).Allowed()
	o.ask(q)
}
