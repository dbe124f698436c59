package start_test

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// Faults that the sequences have found, each by itself.

// TestDescriptorsByLinks: /dev/fd is a symlink to /proc/self/fd, which the supervisor took for
// its own, where the tool's descriptor is not open.
func TestDescriptorsByLinks(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.must(os.Symlink("/proc/self/fd", f.at("docs/link")))
	links := []string{f.at("docs/link")}
	if _, err := os.Lstat("/dev/fd"); err == nil {
		links = append(links, "/dev/fd") // a small system has none
	}
	for _, l := range links {
		f.allows("throughlink", "docs/a", l)
		f.refuses("throughlink", ".env", l)
	}
}

// TestProgramsThatAreNone: a listed program that is a directory, or below a file, kept the tool
// from starting, and for one that is a fifo the start waited for ever.
func TestProgramsThatAreNone(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.must(unix.Mkfifo(f.at("docs/fifo"), 0o755))
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{rule("", ir.All)}
	tool.Commands = &ir.CommandSet{}
	for _, p := range []string{"docs/fifo", "docs", "docs/a/b", "docs/none"} {
		at := ir.In(p)
		tool.Commands.Rules = append(tool.Commands.Rules, ir.CommandRule{Program: "./" + p, File: &at, AnyArgs: true, AllEnvs: true})
	}
	own := ir.Sys(binary[1:])
	facts := ir.Facts{Bindings: &ir.Bindings{Workspace: f.root, Home: f.dir + "/home"}, Program: &own, Base: hostBase()}
	out, err := landlock.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: facts})
	f.must(err)
	x := startMode(t, "kernel-supervised", out.Data, f.dir, nil)
	t.Cleanup(x.stop)
	if e := x.exchange(t, attempt{Op: "read", A: "docs/a"})[0]; e != 0 {
		t.Errorf("the tool started and read nothing: %v", e)
	}
}

// TestSlashBehindALink: a slash behind the name of a symlink had the supervisor remove, move
// and make the target of the symlink; the kernel keeps to the name.
func TestSlashBehindALink(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.must(os.Mkdir(f.at("docs/empty"), 0o755))
	f.must(os.Symlink("empty", f.at("docs/link")))
	f.must(os.Symlink("none", f.at("docs/dangling")))
	for _, c := range []struct {
		op, a, b string
		want     syscall.Errno
	}{
		{"rmdir", "docs/link/", "", unix.ENOTDIR}, {"unlink", "docs/link/", "", unix.ENOTDIR}, {"rename", "docs/link/", "docs/x", unix.ENOTDIR},
		{"rename", "docs/empty", "docs/link/", unix.ENOTDIR}, {"mkdir", "docs/dangling/", "", unix.EEXIST}, {"list", "docs/link/", "", 0},
	} {
		if e := f.do(c.op, c.a, c.b); e != c.want {
			t.Errorf("%s %s %s: %v, want %v", c.op, c.a, c.b, e, c.want)
		}
	}
}

// replayed makes steps under a policy, on a tree of files and, where a path ends in a slash,
// directories.
func replayed(t *testing.T, rules []ir.FSRule, paths []string, steps ...step) {
	t.Helper()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	s := &sequence{dir: workspace(t) + "/t", policy: ir.NewTool("t"), counts: newSequenceTally()}
	s.policy.FS, s.policy.Protects = rules, false
	s.by, s.laid = newText(s.policy), newTree(s.dir)
	for _, p := range paths {
		name, dir := strings.CutSuffix(p, "/")
		kind := holdsImage
		if dir {
			kind = "/"
		}
		up, last, _ := s.laid.lookup(inWorkspace + "/" + name)
		s.laid.put(up, last, made(kind))
	}
	err := s.compile()
	if err == nil {
		err = s.begin(t)
	}
	defer s.end()
	if err == nil {
		err = s.replay(steps)
	}
	if err != nil {
		t.Error(err)
	}
}

func byHost(op, a, b string) step {
	return step{Op: "host " + op, Host: true, A: spot{Rest: a}, B: spot{Rest: b}, Text: holdsImage}
}

func byTool(op, a string) step { return step{Op: op, A: spot{How: "absolute", Rest: a}} }

// TestRemovedFile: a file that has lost its name is judged by its last place. The ruleset has
// no rule for files made later, and the supervisor left the file to it as soon as the path of
// the rule was free again.
func TestRemovedFile(t *testing.T) {
	t.Parallel()
	replayed(t, []ir.FSRule{rule("", ir.Caps(ir.Create, ir.Update)), rule("a/a", ir.Caps(ir.Read, ir.Create))}, nil,
		step{Op: "host make", Host: true, A: spot{Rest: "ws/a"}, Text: "/"}, byHost("make", "ws/a/a", ""),
		byTool("hold", "a/a"), byHost("remove", "ws/a/a", ""), step{Op: "reopen", A: spot{How: "magic"}})
}

// TestMovedMeanwhile: another process puts a directory in the place of a file while the tool
// moves that. For a directory the move would be an escalation: names could be made in it at its
// new place.
func TestMovedMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	f.must(errors.Join(os.Mkdir(f.at("from"), 0o755), os.Mkdir(f.at("to"), 0o755), os.Mkdir(f.dir+"/apart", 0o755)))
	x := startMode(t, "kernel-supervised", f.compiled(rule("from", ir.All.Without(ir.Create)), rule("to", ir.All)), f.dir, nil)
	t.Cleanup(x.stop)
	x.exchange(t, attempt{Op: "none"})
	rounds := irtest.Times(3_000)
	met := rounds / 2
	if irtest.Full() {
		met = rounds
	}
	irtest.Race(t, met, rounds, func(int) bool { return f.movedMeanwhile(x) })
}

// movedMeanwhile has a tool move a file while that is exchanged with a directory, and reports whether the move was
// refused or taken back.
func (f *fortress) movedMeanwhile(x *tool) bool {
	f.write("from/x", "x")
	var stop atomic.Bool
	ended := make(chan bool)
	go func() {
		for !stop.Load() {
			_ = unix.Renameat2(unix.AT_FDCWD, f.at("from/x"), unix.AT_FDCWD, f.dir+"/apart", unix.RENAME_EXCHANGE)
		}
		close(ended)
	}()
	e := x.exchange(f.t, attempt{Op: "rename", A: "from/x", B: "to/y"})[0]
	stop.Store(true)
	<-ended
	var st unix.Stat_t
	switch err := unix.Lstat(f.at("to/y"), &st); {
	case (err == nil) != (e == 0):
		f.t.Fatalf("the tool is told %v, and at the new name: %v", e, err)
	case e != 0 && e != unix.EXDEV:
		f.t.Fatalf("the move came to %v", e)
	case e == 0 && st.Mode&unix.S_IFMT == unix.S_IFDIR:
		f.t.Fatal("a directory was moved to where more is granted")
	}
	for _, p := range []string{f.at("from/x"), f.at("to/y"), f.dir + "/apart"} {
		f.must(os.RemoveAll(p))
	}
	f.must(os.Mkdir(f.dir+"/apart", 0o755))
	return e == unix.EXDEV
}

// TestLongSocketPaths: in a directory with a long name the oracle asks about sockets all the
// same; the address was too long for the kernel to check any right, and a denial seemed to be
// missing, in one of some fifteen runs.
func TestLongSocketPaths(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	long := "docs/" + strings.Repeat("long/", 20)
	f.must(os.MkdirAll(f.at(long), 0o755))
	f.must(os.MkdirAll(f.at("src/"+strings.Repeat("long/", 20)), 0o755))
	for _, how := range []string{"absolute", "dots", "slashes", "relative"} {
		e := f.exchange(t, attempt{Op: "bind", A: long + how, HowA: how}, attempt{Op: "dial", A: long + how, HowA: how},
			attempt{Op: "bind", A: "src/" + strings.Repeat("long/", 20) + how, HowA: how})
		if e[0] != 0 || e[1] != 0 || !refused(e[2]) {
			t.Errorf("%s: %v", how, e)
		}
	}
}
