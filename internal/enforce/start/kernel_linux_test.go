package start_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/lsm"
)

// everyGap lists the gaps of a host under a specification, to be accepted. A specification with
// a row that cannot be read is refused by the start itself.
func everyGap(spec *landlock.Spec, h start.Host) []string {
	var out []string
	gaps, _ := start.Unmet(spec, h)
	for _, g := range gaps {
		out = append(out, string(g.Name))
	}
	return out
}

func load(file, part string) {
	data, err := os.ReadFile(file)
	if err == nil {
		var spec *landlock.Spec
		if spec, err = landlock.Parse(data); err == nil {
			accept := everyGap(spec, start.Host{ABI: start.ABI()})
			err = start.Start(start.Request{
				Spec: spec, Program: os.Args[0], Args: []string{part}, Environ: os.Environ(), Messages: io.Discard, Accept: accept,
			})
		}
	}
	fmt.Fprintln(stderr, err)
	os.Exit(start.CodeFailed)
}

// question is one operation for the tool to try.
type question struct{ Op, A, B string }

// serve is the tool: it tries the operations that it reads and answers with the error number.
func serve(in io.Reader, out io.Writer) {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q question
		if dec.Decode(&q) != nil {
			return
		}
		_ = enc.Encode(int(try(q)))
	}
}

func try(q question) syscall.Errno {
	var err error
	switch q.Op {
	case "read", "list":
		err = opened(q.A, unix.O_RDONLY, 0)
	case "update":
		err = opened(q.A, unix.O_WRONLY|unix.O_TRUNC, 0)
	case "append":
		err = opened(q.A, unix.O_WRONLY|unix.O_APPEND, 0)
	case "truncate":
		err = unix.Truncate(q.A, 0)
	case "create":
		err = opened(q.A, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644)
	case "mkdir":
		err = unix.Mkdir(q.A, 0o755)
	case "symlink":
		err = unix.Symlink("/nowhere", q.A)
	case "fifo":
		err = unix.Mkfifo(q.A, 0o644)
	case "device":
		err = unix.Mknod(q.A, unix.S_IFCHR|0o666, 1<<8|3)
	case "unlink":
		err = unix.Unlink(q.A)
	case "rmdir":
		err = unix.Rmdir(q.A)
	case "rename":
		err = unix.Rename(q.A, q.B)
	case "exchange":
		err = unix.Renameat2(unix.AT_FDCWD, q.A, unix.AT_FDCWD, q.B, unix.RENAME_EXCHANGE)
	case "whiteout":
		err = unix.Renameat2(unix.AT_FDCWD, q.A, unix.AT_FDCWD, q.B, unix.RENAME_WHITEOUT)
	case "link":
		err = unix.Link(q.A, q.B)
	case "chmod":
		err = unix.Chmod(q.A, 0o755)
	case "utimes":
		err = unix.UtimesNano(q.A, []unix.Timespec{{Sec: 1}, {Sec: 1}})
	case "execute":
		err = run(q.A)
	case "descriptor":
		var st unix.Stat_t
		n, _ := strconv.Atoi(q.A)
		err = unix.Fstat(n, &st)
	default:
		return syscall.ENOSYS
	}
	errno, _ := err.(syscall.Errno)
	return errno
}

func opened(path string, flags int, mode uint32) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, mode)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// run starts a file and waits for it.
func run(path string) error {
	pid, err := syscall.ForkExec(path, []string{path}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
	if err != nil {
		return err
	}
	_, err = syscall.Wait4(pid, nil, 0, nil)
	return err
}

// refused reports whether an error number is the sandbox's.
func refused(e syscall.Errno) bool {
	return e == syscall.EACCES || e == syscall.EPERM || e == syscall.EXDEV
}

// tool is a running tool under a policy.
type tool struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	pipe *os.File // of out
	errs *strings.Builder
}

func startTool(t fataler, spec []byte, dir string, who identity, files ...*os.File) *tool {
	return startMode(t, "kernel-loader", spec, dir, who, files...)
}

// startMode starts the loader in one of the ways that TestMain knows.
func startMode(t fataler, mode string, spec []byte, dir string, who identity, files ...*os.File) *tool {
	return startPart(t, dir, who, files, mode, written(t, spec, dir))
}

// written writes a specification whole: a start that was begun before may still read the file.
func written(t fataler, spec []byte, dir string) string {
	file := filepath.Join(dir, "spec.json")
	err := os.WriteFile(file+".new", spec, 0o644)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// startPart starts one of the parts that TestMain knows.
func startPart(t fataler, dir string, who identity, files []*os.File, args ...string) *tool {
	x := &tool{cmd: exec.Command(binary, args...), errs: &strings.Builder{}}
	x.cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "GORACE=atexit_sleep_ms=0"}
	x.cmd.Stderr = x.errs
	x.cmd.ExtraFiles = files
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	if startIn != nil {
		x.cmd.SysProcAttr.UseCgroupFD, x.cmd.SysProcAttr.CgroupFD = true, int(startIn.Fd())
	}
	x.in, _ = x.cmd.StdinPipe()
	out, _ := x.cmd.StdoutPipe()
	x.out = bufio.NewScanner(out)
	x.pipe, _ = out.(*os.File)
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *tool) stop() {
	_ = x.in.Close()
	_ = x.cmd.Wait()
}

func (x *tool) ask(t fataler, q question) syscall.Errno {
	data, _ := json.Marshal(q)
	if _, err := x.in.Write(append(data, '\n')); err != nil || !x.out.Scan() {
		x.stop()
		t.Fatalf("the tool is gone: %v\n%s", err, x.errs)
	}
	var n int
	if err := json.Unmarshal(x.out.Bytes(), &n); err != nil {
		t.Fatalf("the tool says %q", x.out.Text())
	}
	return syscall.Errno(n)
}

type fataler interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// oracle is one policy, its specification for this host, and the tree that the tool
// works on.
type oracle struct {
	t      *rapid.T
	who    identity
	dir    string
	root   string
	view   *ir.View
	target backends.Target
	spec   []byte
	model  *lsm.Model
	ledger ir.Ledger
	ids    map[ir.Rule]ir.RuleID
	start  irtest.World
	now    irtest.World
	tool   *tool
	// outer, if not nil, is the specification of a supervised tool that the loader is started
	// in.
	outer []byte
	// fresh is true while the tree is as the tool expects it.
	fresh bool
	// asked counts the operations that were tried for real.
	asked int
}

const script = "#!/bin/true\n"

// lay makes the tree of the start, starts the tool, and then makes the later files.
func (o *oracle) lay() {
	if o.tool != nil {
		o.tool.stop()
	}
	o.clear()
	o.grow(o.start)
	if o.outer != nil {
		o.tool = startNested(o.t, o.outer, o.spec, o.dir, o.who)
	} else {
		o.tool = startTool(o.t, o.spec, o.dir, o.who)
	}
	o.tool.ask(o.t, question{Op: "none"})
	o.grow(o.now)
	o.fresh = true
}

func (o *oracle) path(symbol string) string {
	return strings.NewReplacer("${workspace}", o.root, irtest.Elsewhere.String(), o.elsewhere()).Replace(symbol)
}

// clear removes the files that the tool works on.
func (o *oracle) clear() {
	if err := errors.Join(os.RemoveAll(o.root), os.RemoveAll(o.elsewhere())); err != nil {
		o.t.Fatal(err)
	}
}

// elsewhere is the directory that rules name by themselves.
func (o *oracle) elsewhere() string { return filepath.Join(o.dir, "elsewhere") }

func (o *oracle) grow(w irtest.World) {
	for _, p := range slices.Sorted(maps.Keys(w)) {
		if err := o.grown(p, w[p]); err != nil {
			o.t.Fatal(err)
		}
	}
}

// grown makes one path exist.
func (o *oracle) grown(p string, kind ir.NodeKind) error {
	at := o.path(p)
	var err error
	switch {
	case kind == ir.Dir:
		err = os.MkdirAll(at, 0o755)
	default:
		if _, there := os.Lstat(at); there != nil {
			err = writeProgram(at, []byte(script))
		}
	}
	if err == nil && o.who != nil {
		err = os.Lchown(at, int(o.who.Uid), int(o.who.Gid))
	}
	return err
}

// try asks the kernel; a call that changed the tree makes it stale.
func (o *oracle) try(op, a, b string) bool {
	if !o.fresh {
		o.lay()
	}
	o.asked++
	e := o.tool.ask(o.t, question{op, o.path(a), o.path(b)})
	harmless := []string{"read", "list", "append", "update", "truncate", "execute", "chmod", "utimes"}
	// The kernel asks for the right to make a file, makes it, and then asks for the
	// right to fill it: a refused open may leave an empty file behind.
	if !slices.Contains(harmless, op) && (e == 0 || op == "create") {
		o.fresh = false
	}
	if e == syscall.ENOENT || e == syscall.ENOSYS || e == syscall.ENOTDIR {
		o.t.Fatalf("%s %s %s: %v; the tree is not what it should be", op, a, b, e)
	}
	return !refused(e)
}

func (o *oracle) enforced(at ir.Location, a ir.Aspect) ir.Enforcement {
	id, path := ir.DefaultRule, "${workspace}"
	if r := o.view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}).Rule; r != nil {
		id, path = o.ids[r], r.(*ir.FSRule).At.String()
	}
	row, ok := o.ledger.Cell(ir.FS, id, a, ir.Linux, min(start.ABI(), landlock.MaxABI))
	if !ok {
		o.t.Fatalf("the ledger says nothing of %s of %s", a, id)
	}
	if row.Is == ir.Exact && o.start.Kind(path) == ir.Absent {
		return ir.Stricter
	}
	return row.Is
}

// check compares kernel, model and policy on one operation. The model is of the kernel and must
// agree with it always; the policy as far as the ledger goes.
func (o *oracle) check(what string, kernel, model, policy bool, held ...ir.Enforcement) {
	if kernel != model {
		o.t.Fatalf("%s: the kernel says %v, the model of it %v\n%s", what, kernel, model, o.spec)
	}
	for _, h := range held {
		if h == ir.Supervised || h == ir.Weaker {
			return
		}
	}
	if strict := slices.Contains(held, ir.Stricter); kernel && !policy || !strict && policy && !kernel {
		o.t.Fatalf("%s (%v): the kernel says %v, the policy %v", what, held, kernel, policy)
	}
}

func (o *oracle) access(at ir.Location) {
	p := at.String()
	kind := o.now.Kind(p)
	decide := func(c ir.Capability) bool { return o.view.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed() }
	check := func(op string, c ir.Capability, model bool) {
		o.check(op+" "+p, o.try(op, p, ""), model, decide(c), o.enforced(at, ir.AspectOf(c)))
	}
	switch {
	case kind == ir.Absent:
		switch rapid.IntRange(0, 4).Draw(o.t, "how") {
		case 0:
			check("mkdir", ir.Create, o.model.Create(p, ir.Dir))
		case 1:
			o.check("symlink "+p, o.try("symlink", p, ""), o.model.Make(p, landlock.MakeSym), decide(ir.Create), o.enforced(at, ir.AspectCreate))
		case 2:
			o.check("fifo "+p, o.try("fifo", p, ""), o.model.Make(p, landlock.MakeFifo), decide(ir.Create), o.enforced(at, ir.AspectCreate))
		case 3:
			if o.try("device", p, "") {
				o.t.Fatalf("a device could be made at %s", p)
			}
		default:
			check("create", ir.Create, o.model.Create(p, ir.File))
		}
	case kind == ir.Dir:
		if rapid.Bool().Draw(o.t, "list") {
			check("list", ir.Read, o.model.Read(p, kind))
			return
		}
		check("rmdir", ir.Delete, o.model.Delete(p, kind))
	default:
		switch rapid.IntRange(0, 6).Draw(o.t, "how") {
		case 0:
			check("read", ir.Read, o.model.Read(p, kind))
		case 1:
			check("update", ir.Update, o.model.Update(p))
		case 2:
			check("append", ir.Update, o.model.Update(p))
		case 3:
			// Before ABI 3 Landlock has no right for truncate(2), so the filter refuses it.
			check("truncate", ir.Update, o.model.Update(p) && !o.model.Refuses("truncate"))
		case 4:
			check("execute", ir.Execute, o.model.Execute(p))
		case 5:
			o.metadata(at)
		default:
			check("unlink", ir.Delete, o.model.Delete(p, kind))
		}
	}
}

// metadata is refused everywhere or nowhere, by the filter.
func (o *oracle) metadata(at ir.Location) {
	for _, op := range []string{"chmod", "utimes"} {
		policy := o.view.Decide(ir.Access{Cap: ir.Update, On: ir.Direct(at)}).Allowed()
		o.check(op+" "+at.String(), o.try(op, at.String(), ""), !o.model.Refuses("chmod"), policy, o.enforced(at, ir.AspectMetadata))
	}
}

func (o *oracle) move(src, dst ir.Location) {
	s, d := src.String(), dst.String()
	sk, dk := o.now.Kind(s), o.now.Kind(d)
	if !o.now.Movable(s, d) {
		return
	}
	held := []ir.Enforcement{
		o.enforced(src, ir.AspectMove), o.enforced(dst, ir.AspectMove), o.enforced(src, ir.AspectDelete), o.enforced(dst, ir.AspectCreate),
		o.enforced(dst, ir.AspectUpdate), o.enforced(dst, ir.AspectDelete),
	}
	switch {
	case sk == ir.File && dk == ir.Absent && rapid.Bool().Draw(o.t, "link"):
		op := ir.Link{Src: ir.Direct(src), Dst: ir.Direct(dst)}
		o.check("link "+s+" "+d, o.try("link", s, d), o.model.Link(s, d), o.view.Decide(op).Allowed(), held...)
	case rapid.IntRange(0, 9).Draw(o.t, "whiteout") == 0:
		if o.try("whiteout", s, d) && dk == ir.Absent {
			// EINVAL is neither a refusal by rights nor success; any other answer is a hole.
			if !o.fresh {
				o.t.Fatalf("a whiteout was left at %s", s)
			}
		}
	default:
		op := ir.Rename{Src: ir.Direct(src), Dst: ir.Direct(dst), SrcKind: sk, DstKind: dk}
		o.check("rename "+s+" "+d, o.try("rename", s, d), o.model.Rename(s, d, sk, dk), o.view.Decide(op).Allowed(), held...)
	}
}

// testKernel puts random policies under the running kernel.
func testKernel(t *testing.T, who identity, policies, per int, prepare func(*oracle)) {
	if start.ABI() < 1 {
		t.Fatal("this kernel has no Landlock")
	}
	base := workspace(t)
	n, asked := 0, 0
	irtest.Check(t, policies, per, func(rt *rapid.T) {
		n++
		o := newOracle(rt, filepath.Join(base, fmt.Sprint(n)), who, irtest.ToolByName(rt, irtest.Plain, 5))
		o.foresee()
		prepare(o)
		defer func() {
			asked += o.asked
			if o.tool != nil {
				o.tool.stop()
			}
		}()
		places := o.now.Places()
		if len(places) == 0 {
			return
		}
		for range per / 2 {
			o.access(rapid.SampledFrom(places).Draw(rt, "place"))
			o.move(rapid.SampledFrom(places).Draw(rt, "src"), rapid.SampledFrom(places).Draw(rt, "dst"))
		}
	})
	fmt.Printf("property %s: %d operations asked of the kernel\n", t.Name(), asked)
}

func newOracle(t *rapid.T, dir string, who identity, tool *ir.Tool) *oracle {
	o := &oracle{t: t, who: who, dir: dir, root: filepath.Join(dir, "ws"), ids: map[ir.Rule]ir.RuleID{}}
	home := filepath.Join(dir, "home")
	for _, d := range []string{dir, home, o.elsewhere()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if who != nil {
			if err := os.Chown(d, int(who.Uid), int(who.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	self := ir.Sys(strings.TrimPrefix(binary, "/"))
	facts := ir.Facts{Bindings: &ir.Bindings{Workspace: o.root, Home: home}, Program: &self, Base: hostBase()}
	// The model takes symbols, which do not tell that one root lies in another.
	tool.FS = slices.DeleteFunc(tool.FS, func(r ir.FSRule) bool { return r.External && r.At.Root != irtest.Elsewhere })
	irtest.Bind(facts.Bindings, tool, o.elsewhere())
	o.target = backends.Target{Form: backends.Resolved, Facts: facts}
	out, err := landlock.Backend{}.Compile(tool, o.target)
	if err != nil {
		t.Fatal(err)
	}
	o.spec, o.ledger, o.view = out.Data, out.Ledger, ir.NewView(tool, ir.Linux, facts)
	for _, e := range o.view.Entries() {
		o.ids[e.Rule] = e.ID
	}
	o.start = irtest.DrawWorld(t, 10, irtest.Elsewhere.String())
	o.now = o.start.Later(t)
	return o
}

// foresee makes a model of the kernel's expected answers. The model takes symbols, so it gets
// the portable text of the same policy.
func (o *oracle) foresee() {
	portable, err := landlock.Backend{}.Compile(o.view.Tool, backends.Target{Form: backends.Portable})
	if err != nil {
		o.t.Fatal(err)
	}
	spec, err := landlock.Parse(portable.Data)
	if err != nil {
		o.t.Fatal(err)
	}
	o.model = lsm.NewModel(spec, min(start.ABI(), landlock.MaxABI), func(p string) ir.NodeKind {
		if strings.HasPrefix(p, "${workspace}") || strings.HasPrefix(p, irtest.Elsewhere.String()) {
			return o.start.Kind(p)
		}
		return ir.Dir
	})
}

// hostBase is the base at its canonical places here.
func hostBase() []ir.FSRule {
	var out []ir.FSRule
	for _, r := range ir.BaseRules(ir.BaseSystem, ir.Linux) {
		p, err := filepath.EvalSymlinks(r.At.String())
		if ir.LinuxOwn(r.At.Path) {
			p, err = r.At.String(), nil // of this process it would lead elsewhere
		}
		if err == nil {
			r.At = ir.Sys(strings.TrimPrefix(p, "/"))
			out = append(out, r)
		}
	}
	return out
}

// TestDescriptorsAreClosed: descriptors that the loader was started with do not reach the tool.
func TestDescriptorsAreClosed(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	self := ir.Sys(strings.TrimPrefix(binary, "/"))
	facts := ir.Facts{Bindings: &ir.Bindings{Workspace: filepath.Join(dir, "ws"), Home: filepath.Join(dir, "home")}, Program: &self}
	if err := os.MkdirAll(facts.Bindings.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	facts.Base = hostBase()
	out, err := landlock.Backend{}.Compile(ir.NewTool("t"), backends.Target{Form: backends.Resolved, Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	x := startTool(t, out.Data, dir, nil, slices.Repeat([]*os.File{secret}, 40)...)
	defer x.stop()
	for fd := range 3 {
		if e := x.ask(t, question{Op: "descriptor", A: strconv.Itoa(fd)}); e != 0 {
			t.Errorf("descriptor %d: %v", fd, e)
		}
	}
	if e := x.ask(t, question{Op: "descriptor", A: "42"}); e != syscall.EBADF {
		t.Errorf("an inherited descriptor: got %v, want EBADF", e)
	}
}

// TestKernel asks the running kernel as the user of the test.
func TestKernel(t *testing.T) {
	t.Parallel()
	testKernel(t, nil, 300, 30, func(*oracle) {})
}

// TestKernelUnprivileged asks it as a user without any privilege.
func TestKernelUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("runs as an unprivileged user already")
	}
	t.Parallel()
	testKernel(t, nobody, 300, 30, func(*oracle) {})
}
