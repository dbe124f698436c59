package start_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// loadSupervised starts the worker, or a program, with only those requirements accepted that no
// supervisor meets.
func loadSupervised(file, report string, trace bool, program ...string) {
	if len(program) == 0 {
		program = []string{os.Args[0], "kernel-worker"}
	}
	data, err := os.ReadFile(file)
	if err == nil {
		var spec *landlock.Spec
		if spec, err = landlock.Parse(data); err == nil {
			accept := everyGap(spec, start.ThisHost())
			err = start.Start(start.Request{
				Spec: spec, Trace: trace, Program: program[0], Args: program[1:], Environ: os.Environ(), Messages: io.Discard, Accept: accept,
				Report: report,
			})
		}
	}
	fmt.Fprintln(stderr, err)
	os.Exit(start.CodeFailed)
}

// supervised is an oracle whose worker runs as exec would run it.
type supervised struct {
	*oracle
	spec *landlock.Spec
	// tally counts the operations that are tried.
	tally *tally
	// judged is true where every open and every change of a name is trapped, and every start
	// that the ruleset may not know, so that a file made anew is treated like the file before.
	judged bool
	// named are the places of rules.
	named map[ir.Location]bool
	// plan are the operations to be tried next, tried those that were or will be tried on this
	// tree, trees the ones that this worker was given.
	plan  []asking
	tried map[attempt]bool
	trees map[string]bool
	// mode is how the loader is started; answered, if not nil, looks at every answer.
	mode     string
	answered func(q asking, e syscall.Errno)
	// begun, if not nil, is called whenever a worker has started.
	begun func()
}

func newSupervised(t *rapid.T, dir string, who identity, counts *tally) *supervised {
	tool := irtest.ToolByName(t, irtest.Plain, 5)
	if rapid.IntRange(0, 2).Draw(t, "address") == 0 {
		tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("127.0.0.1")}, Port: port, Allow: true}}
		tool.Declared.Net = true
	}
	o := &supervised{oracle: newOracle(t, dir, who, tool), tally: counts, trees: map[string]bool{}, mode: "kernel-supervised"}
	o.named = map[ir.Location]bool{}
	for _, r := range tool.FS {
		o.named[r.At] = true
	}
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

// run asks n questions about each of a number of trees, which differ in the files made after
// the start, and removes those files.
func (o *supervised) run(trees, n int) {
	defer func() {
		if o.tool != nil {
			o.tool.stop()
		}
		_ = os.RemoveAll(o.dir)
	}()
	for range trees {
		if !o.another() {
			return
		}
		o.questions(n)
		o.perform()
		o.intact()
	}
}

// another replaces the files made after the start by others that this worker has not seen.
func (o *supervised) another() bool {
	const tries = 10
	now := o.now
	for range tries {
		if key := fmt.Sprint(now); !o.trees[key] {
			o.trees[key] = true
			o.tried = map[attempt]bool{}
			o.become(now)
			o.tally.begin(o)
			return true
		}
		now = o.start.Later(o.t)
	}
	return false
}

// become changes the tree below a running worker.
func (o *supervised) become(now irtest.World) {
	before := slices.Sorted(maps.Keys(o.now))
	o.now = now
	if !o.fresh {
		return
	}
	for _, p := range slices.Backward(before) {
		if o.start.Kind(p) == ir.Absent {
			if err := os.Remove(o.path(p)); err != nil {
				o.t.Fatal(err)
			}
		}
	}
	o.grow(now)
}

// questions draws about n of them.
func (o *supervised) questions(n int) {
	places := o.now.Places()
	o.every(places)
	draw := func(what string) ir.Location { return rapid.SampledFrom(places).Draw(o.t, what) }
	for range 2 * n {
		if len(o.plan) >= n {
			return
		}
		o.place(draw("place"))
		o.names(draw("src"), draw("dst"))
		if rapid.IntRange(0, 9).Draw(o.t, "network") == 0 {
			o.network()
		}
	}
}

// perform has the plan tried, in batches as large as leave the tree unchanged: waking the
// worker costs as much as most of the operations.
func (o *supervised) perform() {
	for len(o.plan) > 0 {
		if !o.fresh {
			o.lay()
		}
		batch := o.batch()
		tries := make([]attempt, len(batch))
		for i, q := range batch {
			tries[i] = q.try
		}
		for i, e := range o.tool.exchange(o.t, tries...) {
			o.judge(batch[i], e)
		}
		o.plan = o.plan[len(batch):]
	}
}

// batch is the plan up to and including the first operation that may change the tree.
func (o *supervised) batch() []asking {
	const most = 64
	if o.answered != nil {
		return o.plan[:1]
	}
	n := slices.IndexFunc(o.plan, func(q asking) bool { return q.alone }) + 1
	if n == 0 {
		n = len(o.plan)
	}
	return o.plan[:min(n, most)]
}

// judge compares the kernel's answer with the policy's and undoes the operation.
func (o *supervised) judge(q asking, e syscall.Errno) {
	if o.answered != nil {
		o.answered(q, e)
	}
	if e == errUnread {
		o.tally.unread++
		return
	}
	wrong := func(what string) {
		o.t.Fatalf("%s: %+v enforced %v: the kernel says %v, the policy %v\n%v\n%s", what, q.try, q.enforced, e, q.verdict, o.now, o.oracle.spec)
	}
	switch e {
	case syscall.ENOENT, syscall.ENOSYS, syscall.ENOTDIR, syscall.EBADF, syscall.ELOOP, syscall.EAGAIN, 255:
		wrong("not as it should be")
	}
	allowed := !refused(e)
	o.tally.add(q, allowed)
	if allowed && !q.verdict {
		wrong("a hole")
	}
	// Truncation while reading is refused below ABI 3, which the ledger says beside "supervised".
	old := q.op == "emptyread" && start.ABI() < 3
	// For a process with rulesets of its own the supervisor asks the kernel by them, which it
	// can since Linux 6.14.
	program := q.op == "execute" && o.mode == modeBound && !asksAhead()
	if !allowed && q.verdict && !old && !program && !slices.Contains(q.enforced, ir.Stricter) {
		wrong("too strict")
	}
	if !q.alone {
		return
	}
	if e != 0 {
		if o.now.Kind(q.a.String()) == ir.Absent {
			_ = os.Remove(o.on(q.a))
		}
		return
	}
	if err := q.undo(); err != nil {
		wrong(err.Error())
	}
}

// intact compares the tree with the expected one: refused operations have left nothing.
func (o *supervised) intact() {
	if !o.fresh {
		return
	}
	found := irtest.World{}
	see := func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		kind := ir.Dir
		if !d.IsDir() {
			kind = ir.File
			data, err := os.ReadFile(p)
			if err != nil || string(data) != script {
				return errors.Join(err, fmt.Errorf("%s holds %q", p, data))
			}
		}
		symbols := strings.NewReplacer(o.root, "${workspace}", o.elsewhere(), irtest.Elsewhere.String())
		found[symbols.Replace(p)] = kind
		return nil
	}
	err := errors.Join(filepath.WalkDir(o.root, see), filepath.WalkDir(o.elsewhere(), see))
	if err != nil || !maps.Equal(found, o.now) {
		o.t.Fatalf("the tree is %v, %v; it should be %v\n%s", found, err, o.now, o.oracle.spec)
	}
}

// anew has the next operation wait for a new start.
func (o *supervised) anew() error {
	o.fresh = false
	return nil
}

// renew makes a file or directory anew. Where nothing traps and a rule names the place, the
// worker's ruleset has no rule for the new one, which takes a new start; a place that no rule
// names is as any that came to be later.
func (o *supervised) renew(at ir.Location) func() error {
	if !o.judged && o.named[at] {
		return o.anew
	}
	return func() error { return o.grown(at.String(), o.now.Kind(at.String())) }
}

// lay makes the tree of the start, starts the worker, and then makes the later files.
func (o *supervised) lay() {
	if o.tool != nil {
		o.tool.stop()
	}
	o.clear()
	o.grow(o.start)
	o.tool = startMode(o.t, o.mode, o.oracle.spec, o.dir, o.who)
	o.tool.exchange(o.t, attempt{Op: "none"})
	if o.begun != nil {
		o.begun()
	}
	o.grow(o.now)
	o.fresh = true
}
