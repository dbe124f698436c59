package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irtest"
	"github.com/accessc/accessc/sandbox"
)

// loadSupervised starts the worker, or a program, with nothing accepted but what no
// supervisor holds.
func loadSupervised(file, report string, trace bool, program ...string) {
	if len(program) == 0 {
		program = []string{os.Args[0], "kernel-worker"}
	}
	data, err := os.ReadFile(file)
	if err == nil {
		var spec *landlock.Spec
		if spec, err = landlock.Parse(data); err == nil {
			var accept []string
			for _, n := range sandbox.Unmet(spec, sandbox.ThisHost()) {
				accept = append(accept, n.Cell)
			}
			var view *ir.View
			if trace {
				view, _ = traceView(spec)
			}
			err = sandbox.Start(sandbox.Request{
				Spec: spec, Trace: view, Program: program[0], Args: program[1:], Environ: os.Environ(), Messages: io.Discard, Accept: accept,
				Report: report,
			})
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(sandbox.CodeFailed)
}

// port is where nobody listens on the loopback address; the policies of the test allow
// it or not.
const port = 9

// supervised is an oracle whose worker runs as exec would run it.
type supervised struct {
	*oracle
	spec *landlock.Spec
	// kinds counts the operations that were tried, by their name.
	kinds map[string]int
	// judged is true where every open and every change of a name is trapped, so that
	// what is made anew is no other than what was there; renewed are such places. Only
	// programs are still the floor's, which knows files by inode.
	judged  bool
	renewed map[ir.Location]bool
	// mode is how the loader is started; answered, where not nil, looks at every answer.
	mode     string
	answered func(q asking, e syscall.Errno)
	// begun, where not nil, is called whenever a worker has started.
	begun func()
}

func (o *supervised) held(at ir.Location, a ir.Aspect) ir.Enforcement {
	if a == ir.AspectExecute && o.renewed[at] {
		return ir.Stricter
	}
	return o.oracle.held(at, a)
}

// renew makes a file or directory anew, nil where that takes a new start.
func (o *supervised) renew(at ir.Location) func() error {
	if !o.judged {
		return nil
	}
	return func() error {
		o.renewed[at] = true
		return o.grown(at.String(), o.now.Kind(at.String()))
	}
}

func (o *supervised) lay() {
	if o.tool != nil {
		o.tool.stop()
	}
	if err := os.RemoveAll(o.root); err != nil {
		o.t.Fatal(err)
	}
	o.renewed = map[ir.Location]bool{}
	o.grow(o.start)
	o.tool = startMode(o.t, o.mode, o.oracle.spec, o.dir, o.who)
	o.attempt(attempt{Op: "none"})
	if o.begun != nil {
		o.begun()
	}
	o.grow(o.now)
	o.fresh = true
}

func (o *supervised) attempt(q attempt) syscall.Errno { return o.exchange(o.t, q) }

// exchange hands an operation to the worker and returns its answer.
func (o *oracle) exchange(t fataler, q attempt) syscall.Errno {
	data, _ := json.Marshal(q)
	if _, err := o.tool.in.Write(append(data, '\n')); err != nil || !o.tool.out.Scan() {
		o.tool.stop()
		t.Fatalf("the worker is gone: %v; %v\n%s", err, o.tool.cmd.ProcessState, o.tool.errs)
	}
	var n int
	if err := json.Unmarshal(o.tool.out.Bytes(), &n); err != nil {
		t.Fatalf("the worker says %q", o.tool.out.Text())
	}
	return syscall.Errno(n)
}

// question is what the policy is asked beside the kernel.
type asking struct {
	op   string
	a, b ir.Location
	// verdict is the policy's answer, held how the ledger says that it is held.
	verdict bool
	held    []ir.Enforcement
	// because is the denial that the verdict is, where one was decided.
	because ir.Verdict
	// undo makes the tree what it was after a success; nil where that takes a new one,
	// the zero function where nothing has changed.
	undo func() error
}

func nothing() error { return nil }

// ask tries an operation and holds the kernel's answer against the policy's.
func (o *supervised) ask(q asking) {
	if !o.fresh {
		o.lay()
	}
	try := attempt{Op: q.op, A: q.a.Path, B: q.b.Path, HowA: o.spelling(), HowB: o.spelling()}
	e := o.attempt(try)
	if o.answered != nil {
		o.answered(q, e)
	}
	if e == errUnread {
		return
	}
	asked.Add(1)
	o.kinds[q.op]++
	what := fmt.Sprintf("%+v held %v: the kernel says %v, the policy %v\n%s", try, q.held, e, q.verdict, o.oracle.spec)
	switch e {
	case syscall.ENOENT, syscall.ENOSYS, syscall.ENOTDIR, syscall.EBADF, syscall.ELOOP, syscall.EAGAIN, 255:
		o.t.Fatalf("not as it should be: %s", what)
	}
	allowed := !refused(e)
	if allowed && !q.verdict {
		o.t.Fatalf("a hole: %s", what)
	}
	// Truncation while reading is refused below ABI 3, which the ledger says beside "broker".
	old := q.op == "emptyread" && sandbox.ABI() < 3
	if !allowed && q.verdict && !old && !slices.Contains(q.held, ir.Stricter) {
		o.t.Fatalf("too strict: %s", what)
	}
	if e != 0 {
		// The kernel may have made the file before it refused to open it.
		if o.now.Kind(q.a.String()) == ir.Absent && q.undo != nil {
			_ = os.Remove(o.on(q.a))
		}
		return
	}
	if q.undo == nil {
		o.fresh = false
	} else if err := q.undo(); err != nil {
		o.t.Fatalf("%v after %s", err, what)
	}
}

func (o *supervised) spelling() string { return rapid.SampledFrom(spellings).Draw(o.t, "spelling") }

func (o *supervised) may(at ir.Location, caps ...ir.Capability) bool {
	return o.first(at, caps...).Allowed()
}

// first is the first verdict that denies, or the last.
func (o *supervised) first(at ir.Location, caps ...ir.Capability) ir.Verdict {
	var v ir.Verdict
	for _, c := range caps {
		if v = o.view.Decide(ir.Access{Cap: c, On: ir.Direct(at)}); !v.Allowed() {
			break
		}
	}
	return v
}

// decided is the verdict of an asking.
func (q *asking) decided(v ir.Verdict) { q.verdict, q.because = v.Allowed(), v }

func (o *supervised) on(at ir.Location) string { return o.path(at.String()) }

// one asks about an operation on one place that needs capabilities.
func (o *supervised) one(op string, at ir.Location, undo func() error, caps ...ir.Capability) {
	q := asking{op: op, a: at, undo: undo}
	q.decided(o.first(at, caps...))
	for _, c := range caps {
		q.held = append(q.held, o.held(at, ir.AspectOf(c)))
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

// place asks about one place, whatever is there.
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
		q.decided(o.first(at, ir.Create))
		if o.spec.Supervision == nil {
			q.held = []ir.Enforcement{ir.Stricter}
		}
		o.ask(q)
	default:
		o.one(op, at, o.remove(at), ir.Create)
	}
}

func (o *supervised) existing(op string, at ir.Location) {
	switch op {
	case "read", "list", "openat2", "reopen":
		o.one(op, at, nothing, ir.Read)
	case "write", "empty", "append", "rewrite", "truncate":
		o.one(op, at, o.script(at), ir.Update)
	case "both", "emptyread":
		o.one(op, at, o.script(at), ir.Read, ir.Update)
	case "unlink", "rmdir":
		o.one(op, at, o.renew(at), ir.Delete)
	case "execute":
		o.one(op, at, nothing, ir.Execute)
	case "tmpfile":
		// It has no name, so that either right to write lets it be made.
		inside := at.Child("x")
		o.ask(asking{
			op: op, a: at, undo: nothing, verdict: o.may(inside, ir.Create) || o.may(inside, ir.Update), held: []ir.Enforcement{ir.Stricter},
		})
	case "dial":
		q := asking{op: op, a: at, undo: nothing}
		q.decided(o.view.Decide(ir.Dial{On: ir.Direct(at)}))
		if o.spec.Supervision == nil {
			q.held = []ir.Enforcement{ir.Stricter}
		}
		o.ask(q)
	default:
		q := asking{op: op, a: at, undo: nothing, held: []ir.Enforcement{o.held(at, ir.AspectMetadata)}}
		q.decided(o.first(at, ir.Update))
		o.ask(q)
	}
}

// both does one after the other, nil if one of them cannot be done.
func both(a, b func() error) func() error {
	if a == nil || b == nil {
		return nil
	}
	return func() error { return errors.Join(a(), b()) }
}

// script writes what a file held before.
func (o *supervised) script(at ir.Location) func() error {
	return func() error {
		f, err := os.OpenFile(o.on(at), os.O_WRONLY|os.O_TRUNC, 0)
		if err == nil {
			_, err = f.WriteString(script)
			_ = f.Close()
		}
		return err
	}
}

// names asks about a move or a link.
func (o *supervised) names(src, dst ir.Location) {
	sk, dk := o.now.Kind(src.String()), o.now.Kind(dst.String())
	if !o.now.Movable(src.String(), dst.String()) {
		return
	}
	q := asking{op: rapid.SampledFrom(onNames).Draw(o.t, "op"), a: src, b: dst, held: []ir.Enforcement{
		o.held(src, ir.AspectMove), o.held(dst, ir.AspectMove), o.held(src, ir.AspectDelete), o.held(dst, ir.AspectCreate),
		o.held(dst, ir.AspectUpdate), o.held(dst, ir.AspectDelete),
	}}
	s, d := ir.Direct(src), ir.Direct(dst)
	switch {
	case q.op == "link" && (sk != ir.File || dk != ir.Absent), q.op == "exchange" && dk == ir.Absent, q.op == "noreplace" && dk != ir.Absent:
		return
	case q.op == "link":
		q.undo = o.remove(dst)
		q.decided(o.view.Decide(ir.Link{Src: s, Dst: d}))
	case q.op == "exchange":
		q.held = append(q.held, o.held(dst, ir.AspectDelete), o.held(src, ir.AspectCreate), o.held(src, ir.AspectUpdate))
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
func (o *supervised) network() {
	op := rapid.SampledFrom(onNobody).Draw(o.t, "op")
	to := ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("127.0.0.1")}, Port: port}
	q := asking{op: op, a: ir.In(fmt.Sprint(port + rapid.IntRange(0, 1).Draw(o.t, "port"))), undo: nothing}
	tcp := op == "tcp" || op == "mapped"
	q.verdict = tcp && q.a.Path == fmt.Sprint(port) && o.view.Decide(ir.Connect{To: to}).Allowed()
	o.ask(q)
}

// TestSupervised holds what exec does with random policies against Decide, as the user
// of the test and as one without any privilege.
func TestSupervised(t *testing.T) {
	if !sandbox.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	t.Run("user", func(t *testing.T) { testSupervised(t, nil, "kernel-supervised") })
	t.Run("nobody", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("runs as an unprivileged user already")
		}
		testSupervised(t, &syscall.Credential{Uid: 65534, Gid: 65534}, "kernel-supervised")
	})
}

func testSupervised(t *testing.T, who identity, mode string) {
	base := workspace(t)
	asked.Store(0)
	kinds := map[string]int{}
	var runs atomic.Int64
	const per = 250
	irtest.Check(t, 800, per, func(rt *rapid.T) {
		dir := filepath.Join(base, fmt.Sprint(runs.Add(1)))
		o := newSupervised(rt, dir, who, kinds)
		o.mode = mode
		o.run(per)
	})
	fmt.Printf("property %s: %d operations of %d kinds in %d spellings asked of the kernel\n", t.Name(), asked.Load(), len(kinds), len(spellings))
}

// run asks n random questions and removes what was made for them.
func (o *supervised) run(n int) {
	defer func() {
		if o.tool != nil {
			o.tool.stop()
		}
		_ = os.RemoveAll(o.dir)
	}()
	places := o.now.Places()
	if len(places) == 0 {
		return
	}
	draw := func(what string) ir.Location { return rapid.SampledFrom(places).Draw(o.t, what) }
	for range n / 2 {
		o.place(draw("place"))
		o.names(draw("src"), draw("dst"))
		if rapid.IntRange(0, 9).Draw(o.t, "network") == 0 {
			o.network()
		}
	}
}

// workspace makes the directory of a test, with the binary that every user may start.
func workspace(t *testing.T) string {
	base, err := os.MkdirTemp("", "accessc-kernel-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(base, "tool.test")
	if err := copyFile(os.Args[0], binary); err != nil {
		t.Fatal(err)
	}
	return base
}

func newSupervised(t *rapid.T, dir string, who identity, kinds map[string]int) *supervised {
	tool := irtest.Tool(t, irtest.Plain, 5)
	if rapid.IntRange(0, 2).Draw(t, "address") == 0 {
		tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("127.0.0.1")}, Port: port, Allow: true}}
		tool.Declared.Net = true
	}
	o := &supervised{oracle: newOracle(t, dir, who, tool), kinds: kinds, mode: "kernel-supervised"}
	var err error
	if o.spec, err = landlock.Parse(o.oracle.spec); err != nil {
		t.Fatal(err)
	}
	if s := o.spec.Supervision; s != nil {
		opens := slices.IndexFunc(s.Traps, func(t landlock.Trap) bool { return t.Syscalls[0] == "openat" && len(t.When) == 1 })
		names := slices.IndexFunc(s.Traps, func(t landlock.Trap) bool { return t.Group == "names" })
		o.judged = opens >= 0 && names >= 0
	}
	if err := os.Symlink(o.root, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return o
}
