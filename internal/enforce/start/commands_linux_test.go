package start_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// shop is a workspace with programs, some of which a policy lists.
type shop struct {
	t     fataler
	dir   string
	root  string
	facts ir.Facts
	spec  []byte
	tool  *tool
	view  *ir.View
	// renewed are files that were made anew while the worker runs.
	renewed map[string]bool
}

// programs are the files that the tools of this test start: two images, a script, a script of a
// script, and a program of the system.
var programs = map[string]string{"a": "bin/a", "b": "bin/b", "s": "s", "n": "n", "true": "/bin/true"}

func newShop(t fataler, dir string, who identity) *shop {
	s := &shop{t: t, dir: dir, root: filepath.Join(dir, "ws")}
	for _, d := range []string{"home", "ws/bin"} {
		s.must(os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for _, name := range []string{"a", "b"} {
		s.must(copyFile("/bin/true", filepath.Join(s.root, "bin", name)))
	}
	s.must(writeProgram(filepath.Join(s.root, "s"), []byte("#!/bin/sh -e\ntrue\n")))
	s.must(writeProgram(filepath.Join(s.root, "n"), []byte("#! "+s.root+"/s\n")))
	s.must(os.Symlink("bin/a", filepath.Join(s.root, "link")))
	s.must(os.Symlink("ws", filepath.Join(dir, "link")))
	if who != nil {
		s.must(filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(p, int(who.Uid), int(who.Gid)))
		}))
	}
	own := ir.Sys(strings.TrimPrefix(binary, "/"))
	s.facts = ir.Facts{Bindings: &ir.Bindings{Workspace: s.root, Home: filepath.Join(dir, "home")}, Program: &own, Base: hostBase()}
	return s
}

func (s *shop) must(err error) {
	if err != nil {
		s.t.Fatal(err)
	}
}

// at is the place of a file.
func (s *shop) at(file string) ir.Location {
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.root, file)
	}
	canonical, err := filepath.EvalSymlinks(file)
	s.must(err)
	return s.facts.Bindings.Locate(canonical)
}

// rule lists a program.
func (s *shop) rule(program, file string) ir.CommandRule {
	at := s.at(file)
	return ir.CommandRule{Program: program, File: &at, AnyArgs: true, AllEnvs: true}
}

// open starts a worker under a policy.
func (s *shop) open(who identity, fs []ir.FSRule, rules ...ir.CommandRule) {
	tool := ir.NewTool("t")
	tool.FS, tool.Commands = fs, &ir.CommandSet{Rules: rules}
	out, err := landlock.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: s.facts})
	s.must(err)
	s.spec, s.view = out.Data, ir.NewView(tool, ir.Linux, s.facts)
	s.tool = startMode(s.t, "kernel-supervised", s.spec, s.dir, who)
}

// verdict is the policy's answer for a start by the path of a file, or by that of a descriptor,
// which is no name.
func (s *shop) verdict(file string, argv []string, descriptor bool) bool {
	at := s.at(file)
	if named := (ir.Run{Program: file, Args: argv[1:], File: &ir.Place{At: at}}); !descriptor && !s.view.Decide(named).Allowed() {
		return false
	}
	return s.view.Decide(ir.Run{Program: argv[0], Args: argv[1:], File: &ir.Place{At: at}}).Allowed()
}

func drawRules(t *rapid.T, s *shop) (out []ir.CommandRule) {
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		file := programs[name]
		if name == "a" && rapid.Bool().Draw(t, "alias") {
			// Another name of one file.
			out = append(out, drawArgs(t, s.rule("alias", file)))
		}
		if rapid.Bool().Draw(t, "listed "+name) {
			out = append(out, drawArgs(t, s.rule(name, file)))
		}
	}
	slices.SortFunc(out, func(a, b ir.CommandRule) int { return strings.Compare(a.Program, b.Program) })
	return out
}

func drawArgs(t *rapid.T, r ir.CommandRule) ir.CommandRule {
	if r.AnyArgs = rapid.Bool().Draw(t, "any"); r.AnyArgs {
		return r
	}
	for range rapid.IntRange(0, 2).Draw(t, "patterns") {
		r.Args = append(r.Args, ir.ArgPattern{Words: drawWords(t), Rest: rapid.Bool().Draw(t, "rest")})
	}
	return r
}

func drawWords(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"p", "q", ""}), 0, 2).Draw(t, "words")
}

// TestCommands asks the kernel and the policy about starts of programs: by every spelling of a
// path, over symlinks, as descriptors, under other names.
func TestCommands(t *testing.T) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	users(t, func(t *testing.T, who identity) {
		base := workspace(t)
		var runs, starts, allowed atomic.Int64
		const per = 40
		irtest.Check(t, 120, per, func(rt *rapid.T) {
			s := newShop(rt, filepath.Join(base, fmt.Sprint(runs.Add(1))), who)
			defer os.RemoveAll(s.dir)
			fs := []ir.FSRule{{Written: ".", At: ir.In(""), Caps: ir.All}}
			if rapid.IntRange(0, 3).Draw(rt, "bin") == 0 {
				fs = append(fs, ir.FSRule{Written: "bin", At: ir.In("bin"), Caps: ir.All.Without(ir.Execute)})
			}
			s.open(who, fs, drawRules(rt, s)...)
			defer s.tool.stop()
			s.renewed = map[string]bool{}
			for range per {
				starts.Add(1)
				if rapid.IntRange(0, 5).Draw(rt, "renew") == 0 {
					file := rapid.SampledFrom([]string{"bin/a", "bin/b", "s", "n"}).Draw(rt, "renewed")
					s.renew(file, filepath.Join(s.root, file), who)
					s.renewed[file] = true
				}
				if s.start(rt) {
					allowed.Add(1)
				}
			}
		})
		fmt.Printf("property %s: %d starts asked of the kernel, %d of them allowed\n", t.Name(), starts.Load(), allowed.Load())
	})
}

// renew replaces a file by a copy of another one.
func (s *shop) renew(file, from string, who identity) {
	at := filepath.Join(s.root, file)
	s.must(copyFile(from, at+".new"))
	if who != nil {
		s.must(os.Lchown(at+".new", int(who.Uid), int(who.Gid)))
	}
	s.must(os.Rename(at+".new", at))
}

// start tries one start and reports whether it is allowed.
func (s *shop) start(t *rapid.T) bool {
	file := rapid.SampledFrom([]string{"bin/a", "bin/b", "s", "n", "link", "/bin/true", "/bin/sh", "/bin/cat", binary}).Draw(t, "file")
	argv := append([]string{rapid.SampledFrom([]string{"a", "b", "alias", "./s", "/x/true", "-a", "n", "bin", "a/"}).Draw(t, "argv0")}, drawWords(t)...)
	try := attempt{Op: "start", A: file, B: strings.Join(argv, " ")}
	if !filepath.IsAbs(file) {
		try.HowA = rapid.SampledFrom(spellings).Draw(t, "spelling")
	}
	switch rapid.IntRange(0, 3).Draw(t, "way") {
	case 0:
		try.Op = "startat"
	case 1:
		try.Op = "startmemory"
	}
	want := try.Op != "startmemory" && s.verdict(file, argv, try.Op == "startat")
	if file == binary && want {
		return true // it would be another worker
	}
	e := s.tool.exchange(t, try)[0]
	if file == "n" && s.renewed["s"] && want && refused(e) {
		return want // an interpreter is the ruleset's
	}
	if e != 0 && !refused(e) || (e == 0) != want {
		t.Fatalf("%+v: the kernel says %v, the policy %v\n%s", try, e, want, s.spec)
	}
	return want
}

// everything is the filesystem of policies that are about programs.
var everything = []ir.FSRule{{Written: ".", At: ir.In(""), Caps: ir.All}}

func oneShop(t *testing.T) *shop {
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	return newShop(t, workspace(t), nil)
}

// TestArgumentsCannotBeSwapped: while one thread starts programs another one rewrites
// the path and the arguments in the memory that the kernel reads them from.
func TestArgumentsCannotBeSwapped(t *testing.T) {
	t.Parallel()
	s := oneShop(t)
	for _, name := range []string{"a", "b"} {
		s.must(copyFile("/bin/echo", filepath.Join(s.root, "bin", name)))
	}
	a, b := s.rule("a", "bin/a"), s.rule("b", "bin/b")
	a.AnyArgs, a.Args = false, []ir.ArgPattern{{Words: []string{"yes"}}}
	b.AnyArgs, b.Args = false, []ir.ArgPattern{{Words: []string{"not"}}}
	s.open(nil, everything, a, b)
	defer s.tool.stop()
	said, least := s.contest(t, "swapped", 6_000)
	onlyListed(t, said, least)
}

// TestNamesCannotBeSwapped: while one thread starts a program another one rewrites the name
// that it is given and the path that leads to it. A program may choose its behaviour by either:
// its first argument, and the path, which it finds as AT_EXECFN.
func TestNamesCannotBeSwapped(t *testing.T) {
	t.Parallel()
	s := oneShop(t)
	s.must(copyFile("/bin/sh", filepath.Join(s.root, "bin", "a")))
	s.must(os.Symlink("a", filepath.Join(s.root, "bin", "l")))
	s.open(nil, everything, s.rule("a", "bin/a"))
	defer s.tool.stop()
	lines, least := s.contest(t, "renamed", 4_000)
	called := 0
	for line, times := range lines {
		words := strings.Fields(line)
		if len(words) != 2 || words[0] != "AT_EXECFN:" && words[0] != "called" {
			continue
		}
		switch said := strings.Join(words, " "); said {
		case "AT_EXECFN: bin/a":
		case "called a":
			called += times
		default:
			t.Errorf("%q", said)
		}
	}
	if called < least {
		t.Errorf("%d were started of the %d where the other thread rests", called, least)
	}
}

// TestProgramNames: a program that is listed by one name does not start by another one, as its
// first argument or as its path.
func TestProgramNames(t *testing.T) {
	t.Parallel()
	s := oneShop(t)
	for link, target := range map[string]string{"bin/cat": "a", "bin/rm": "a", "bin/busybox": "b", "bin/list": "../n"} {
		s.must(os.RemoveAll(filepath.Join(s.root, link)))
		if link == "bin/busybox" {
			s.must(copyFile("/bin/true", filepath.Join(s.root, link)))
			continue
		}
		s.must(os.Symlink(target, filepath.Join(s.root, link)))
	}
	s.must(os.Symlink("busybox", filepath.Join(s.root, "bin/ls")))
	s.must(os.Symlink("busybox", filepath.Join(s.root, "bin/sh")))
	s.open(nil, everything, s.rule("bin/ls", "bin/ls"), s.rule("cat", "bin/cat"), s.rule("s", "s"))
	defer s.tool.stop()
	s.must(os.Symlink("../s", filepath.Join(s.root, "bin/script")))
	for _, c := range []struct {
		file, argv string
		want       bool
	}{
		{"bin/cat", "cat", true}, {"bin/cat", "/usr/bin/cat", true}, {"bin/cat", "-cat", true}, {"bin/a", "cat", true},
		{"bin/a", "a", true}, {"bin/cat", "rm", false}, {"bin/rm", "cat", false}, {"bin/rm", "rm", false}, {"bin/cat", "", false},
		{"bin/ls", "ls", true}, {"bin/ls", "sh", false}, {"bin/sh", "ls", false}, {"bin/ls", "busybox", false},
		{"bin/busybox", "ls", false}, {"bin/busybox", "busybox", false},
		{"s", "s", true}, {"s", "other", false}, {"bin/script", "s", false}, {"bin/b", "cat", false},
	} {
		e := s.tool.exchange(t, attempt{Op: "start", A: c.file, B: c.argv})[0]
		if (e == 0) != c.want || e != 0 && !refused(e) {
			t.Errorf("%s as %q: %v, want %v", c.file, c.argv, e, c.want)
		}
	}
}

// TestVariablesAreNarrowed: a program gets only the variables that its rule lists, whatever
// their number, and its stack has the usual layout.
func TestVariablesAreNarrowed(t *testing.T) {
	t.Parallel()
	s := oneShop(t)
	s.must(copyFile("/usr/bin/env", filepath.Join(s.root, "bin", "a")))
	env, a, sh := s.rule("env", "/usr/bin/env"), s.rule("a", "bin/a"), s.rule("sh", "/bin/sh")
	env.AllEnvs, env.Envs = false, []string{"A", "C", "E"}
	a.AllEnvs, a.Envs = false, env.Envs
	f := &fortress{t: t, dir: s.dir, root: s.root}
	s.open(nil, everything, a, s.rule("cp", "/bin/cp"), env, s.rule("mv", "/bin/mv"), sh)
	s.tool.stop()
	f.spec = s.spec
	for i, given := range []string{"", "A", "B", "A B", "B D", "A B C", "B C D", "B A D C F E", "B D F", "E D C B A"} {
		// Every other time the program is made anew first.
		program := "/usr/bin/env"
		anew := "true"
		if i%2 == 0 {
			program, anew = "bin/a", "cp bin/a bin/n && mv bin/n bin/a"
		}
		var set, want []string
		for _, name := range strings.Fields(given) {
			set = append(set, name+"='1 "+name+"'")
			if slices.Contains(env.Envs, name) {
				want = append(want, name+"=1 "+name)
			}
		}
		ws, out := f.ended(anew+"; unset PWD OLDPWD _ PATH TMPDIR HOME GORACE; for v in $(export -p | sed 2>&- ); do :; done; "+
			strings.Join(set, " ")+" "+program, nil)
		var got []string
		for line := range strings.Lines(out) {
			if line = strings.TrimSpace(line); line != "" && !slices.Contains(got, line) {
				got = append(got, line)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if ws.ExitStatus() != 0 || !slices.Equal(got, want) {
			t.Errorf("given %q: %v, got %q, want %q", given, ws, got, want)
		}
	}
}

// TestThreadBecomesProgram: a program that is started by another thread than the first
// of its process takes that one's number, and is judged as well.
func TestThreadBecomesProgram(t *testing.T) {
	t.Parallel()
	s := oneShop(t)
	s.open(nil, everything, s.rule("echo", "/bin/echo"))
	s.tool.stop()
	for program, want := range map[string]string{"/bin/echo": "it runs\n", "/bin/cat": "permission denied\n"} {
		x := startProgram(t, s.spec, s.dir, binary, "kernel-thread", program, "it runs")
		x.cmd.Stdin = nil
		out, err := x.cmd.Output()
		if string(out) != want {
			t.Errorf("%s: %q, %v: %s", program, out, err, x.errs)
		}
	}
}

// TestStartsAtOnce: many threads start programs at the same time while their processes
// are stopped and continued; every one ends.
func TestStartsAtOnce(t *testing.T) {
	t.Parallel()
	s := oneShop(t)
	s.open(nil, everything, s.rule("a", "bin/a"), s.rule("s", "s"), s.rule("true", "/bin/true"))
	defer s.tool.stop()
	rounds := irtest.Times(400)
	for _, file := range []string{"s", "bin/a"} {
		for _, anew := range []bool{false, true} {
			if anew {
				s.renew(file, filepath.Join(s.root, file), nil)
			}
			if e := s.tool.exchange(t, attempt{Op: "crowd", A: file, B: strconv.Itoa(rounds)})[0]; e != 0 {
				t.Errorf("a start of %s came to %v", file, e)
			}
		}
	}
}

// becomeThread is a tool that starts a program from a thread that is not its first.
func becomeThread(args []string) {
	runtime.LockOSThread()
	become := func() { fmt.Println(syscall.Exec(args[0], args, os.Environ())) }
	if unix.Gettid() != unix.Getpid() {
		become()
		return
	}
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		become()
		close(done)
	}()
	<-done
}
