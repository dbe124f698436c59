package start_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// The parts of a process that is started in a supervised tool: a loader of the next
// specification of a list, and workers that restrict themselves.
const (
	modeNested   = "kernel-nested"
	modeBound    = "kernel-bound"
	modeConfined = "kernel-confined"
	modeApart    = "kernel-apart"
	modeSwapping = "kernel-swapping"
	// modeUnmarkable precedes another part.
	modeUnmarkable = "kernel-unmarkable"
)

// nest starts the rest of a list of specifications and parts, unsupervised.
func nest(args []string) {
	data, err := os.ReadFile(args[0])
	if err == nil {
		var spec *landlock.Spec
		if spec, err = landlock.Parse(data); err == nil {
			accept := everyGap(spec, start.Host{ABI: start.ABI()})
			err = start.Start(start.Request{
				Spec: spec, Program: os.Args[0], Args: args[1:], Environ: os.Environ(), Messages: io.Discard, Accept: accept,
			})
		}
	}
	fmt.Fprintln(stderr, err)
	os.Exit(start.CodeFailed)
}

// TestBoundBySelf: a tool that has restricted itself by a ruleset that denies nothing can do
// what the policy grants, no less and no more.
func TestBoundBySelf(t *testing.T) {
	t.Parallel()
	asUsers(t, modeBound, 400, 1)
}

// TestNestedKernel: a policy that is put in force in a supervised tool has the same effect as
// outside. That tool may do everything, but for one path that makes the supervisor judge every
// call.
func TestNestedKernel(t *testing.T) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	per := 10 // most operations have two tools start anew
	if irtest.Full() {
		per = 30
	}
	users(t, func(t *testing.T, who identity) {
		testKernel(t, who, 50, per, func(o *oracle) {
			tool := ir.NewTool("outer")
			tool.FS = []ir.FSRule{rule("", ir.All), rule("no/such/path", 0)}
			facts := o.target.Facts
			facts.Bindings = &ir.Bindings{Workspace: o.dir, Home: filepath.Join(o.dir, "outer")}
			out, err := landlock.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: facts})
			if err != nil {
				o.t.Fatal(err)
			}
			o.outer = out.Data
		})
	})
}

// startNested starts the loader of a specification in a supervised tool.
func startNested(t fataler, outer, spec []byte, dir string, who identity) *tool {
	args := []string{"kernel-supervised", filepath.Join(dir, "outer.json"), binary, modeNested, filepath.Join(dir, "spec.json"), "kernel-tool"}
	for file, data := range map[string][]byte{args[1]: outer, args[4]: spec} {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return startPart(t, dir, who, nil, args...)
}

// inside starts a further tool of a fortress, one of the parts of this binary.
func (f *fortress) inside(args ...string) *fortress {
	return f.running(append([]string{binary}, args...)...)
}

func (f *fortress) running(program ...string) *fortress {
	f.t.Helper()
	in := *f
	in.tool = startPart(f.t, f.dir, nil, nil, append([]string{"kernel-supervised", f.dir + "/spec.json"}, program...)...)
	f.t.Cleanup(in.tool.stop)
	return &in
}

// policy writes a policy where the tools of the fortress read it.
func (f *fortress) policy(name string, rules ...ir.FSRule) string {
	file := f.at(name)
	f.must(os.WriteFile(file, f.compiled(rules...), 0o644))
	return file
}

// TestNested: an operation that one of two policies denies is denied, also where the outer one
// alone would have had the supervisor do it.
func TestNested(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	policy := f.policy("docs/policy", rule("", ir.Caps(ir.Read)), rule("docs", ir.All), rule("src", ir.All))
	in := f.inside(modeNested, policy, "kernel-worker")
	in.allows("none", "", "")
	f.write("top", "later")
	in.narrow()
	in.refuses("dial", "top", "")
	// The outer policy lets it be started, the inner one does not.
	f.must(writeProgram(f.at("run"), []byte(script)))
	in.refuses("execute", "run", "")
	// Three deep: the third may read src, and change docs/deep.
	f.must(os.Mkdir(f.at("docs/deep"), 0o755))
	third := f.policy("docs/third", rule("src", ir.Caps(ir.Read)), rule("docs/deep", ir.All))
	in = f.inside(modeNested, policy, modeNested, third, "kernel-worker")
	in.allows("read", "src/main.c", "")
	in.allows("create", "docs/deep/x", "")
	in.allows("chmod", "docs/deep/x", "")
	for _, p := range []string{"top", "docs/a", ".env", "docs/deep/../a"} {
		in.refuses("read", p, "")
		in.refuses("write", p, "")
		in.refuses("unlink", p, "")
	}
	in.refuses("rename", "docs/deep/x", "docs/x")
	f.intact()
}

// narrow checks the intersection of two policies: all but .env may be read, docs may be
// changed, and so may the part of src that both grant.
func (f *fortress) narrow() {
	f.t.Helper()
	f.must(os.WriteFile(f.at("docs/a"), nil, 0o644))
	for _, how := range []string{"", "absolute", "cwd", "root", "descriptor", "magic", "thread"} {
		try := func(op, a, b string) syscall.Errno {
			return f.tool.exchange(f.t, attempt{Op: op, A: a, B: b, HowA: how, HowB: how})[0]
		}
		for _, q := range [][3]string{
			{"read", "top"}, {"read", "src/main.c"}, {"list", "."}, {"write", "docs/a"}, {"create", "docs/b"}, {"rename", "docs/b", "docs/c"},
			{"link", "docs/c", "docs/b"}, {"unlink", "docs/b"}, {"unlink", "docs/c"}, {"mkdir", "docs/d"}, {"rmdir", "docs/d"},
			{"chmod", "docs/a"}, {"tmpfile", "docs"}, {"create2", "src/generated/x"}, {"unlink", "src/generated/x"},
		} {
			if e := try(q[0], q[1], q[2]); e != 0 {
				f.t.Errorf("%v (%s): %v", q, how, e)
			}
		}
		for _, q := range [][3]string{
			{"write", "top"}, {"both", "top"}, {"append", "top"}, {"empty", "top"}, {"emptyread", "top"}, {"rewrite", "top"}, {"truncate", "top"},
			{"create", "new"}, {"create2", "new"}, {"creat", "new"}, {"mkdir", "new"}, {"symlink", "new"}, {"fifo", "new"}, {"file", "new"},
			{"tmpfile", "."}, {"unlink", "top"}, {"rename", "docs/a", "new"}, {"rename", "top", "docs/top"}, {"rename", "docs/a", "top"},
			{"exchange", "docs/a", "top"}, {"link", "top", "docs/l"}, {"link", "docs/a", "new"}, {"bind", "new"},
			{"write", "src/main.c"}, {"read", ".env"}, {"write", ".env"}, {"chmod", "src/main.c"},
		} {
			if e := try(q[0], q[1], q[2]); !refused(e) {
				f.t.Errorf("%v (%s): %v, want a refusal", q, how, e)
			}
		}
	}
	f.intact()
	if text, err := os.ReadFile(f.at("top")); err != nil || string(text) != "later" {
		f.t.Errorf("top: %q, %v", text, err)
	}
}

// TestOwnRuleset is about a tool that restricts itself and attacks its own restriction.
func TestOwnRuleset(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.allows("none", "", "")
	// Its parent is a process of the sandbox as well.
	in := f.running("sh", "-c", binary+" "+modeConfined+"; true")
	in.allows("none", "", "")
	f.write("top", "later")
	in.narrow()
	// The filter does not refuse sockets here.
	in.allows("bind", "docs/socket", "")
	in.allows("dial", "docs/socket", "")
	in.refuses("bind", "new", "")
	// A ruleset in force can be neither widened nor shaken off.
	in.refuses("widen", "", "")
	in.refuses("unmark", "", "")
	in.refuses("child", "top", "")
	in.allows("child", "docs/a", "")
	in.refuses("parent", "docs/a", "")
	in.narrow()
	in.allows("again", "docs/deeper", "")
	in.refuses("write", "docs/a", "")
	in.allows("create", "docs/deeper/x", "")
	// A process with a mark that was not given may do nothing any more.
	in.allows("lower", "", "")
	in.refuses("create", "docs/deeper/y", "")
	f.intact()
	// Other processes are unaffected.
	f.allows("create", "docs/deeper/y", "")
	f.allows("both", "top", "")
	free := f.inside("kernel-worker")
	free.allows("both", "top", "")
	free.allows("lower", "", "")
	free.allows("unlink", "docs/deeper/y", "")
}

// TestOwnRulesetRaces: neither a path that is rewritten while a call waits nor a descriptor of
// another ruleset gets around the tool's own ruleset.
func TestOwnRulesetRaces(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.stop()
	f.spec = f.compiled(rule("", ir.All), rule("src", ir.Caps(ir.Read)), rule("none", 0))
	f.must(os.WriteFile(f.dir+"/spec.json", f.spec, 0o644))
	for _, part := range []string{modeApart, modeSwapping} {
		f.inside(part).race("path", 30_000)
	}
}

// TestUnmarkable: where processes cannot be marked a tool learns that there is no Landlock, as
// soon as it asks.
func TestUnmarkable(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.tool = startPart(t, f.dir, nil, nil, modeUnmarkable, "kernel-supervised", f.dir+"/spec.json", binary, "kernel-worker")
	t.Cleanup(f.tool.stop)
	if e := f.do("ruleset", "docs", ""); e != unix.EOPNOTSUPP {
		t.Errorf("got %v", e)
	}
}

// unmarkable lowers a limit that carries marks, which root itself may not be able to
// raise again, and goes on as another part.
func unmarkable(args []string) {
	err := unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 1000, Max: 1000})
	if err == nil {
		err = syscall.Exec(os.Args[0], append(os.Args[:1:1], args...), os.Environ())
	}
	fmt.Fprintln(stderr, err)
	os.Exit(1)
}
