package start_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
)

// newWorkshop is a workspace with everything granted but a denied file, and a directory where
// nothing starts: the ruleset has no rule for files made there later.
func newWorkshop(t *testing.T, who identity) *fortress {
	t.Helper()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	f := &fortress{t: t, dir: workspace(t)}
	f.root = filepath.Join(f.dir, "ws")
	for _, d := range []string{"home", "ws/plain"} {
		f.must(os.MkdirAll(filepath.Join(f.dir, d), 0o755))
	}
	f.write(".env", secret)
	f.must(copyFile("/bin/echo", f.at("plain/e")))
	f.must(copyFile("/bin/echo", f.at("old")))
	if who != nil {
		f.must(filepath.WalkDir(f.dir, func(p string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(p, int(who.Uid), int(who.Gid)))
		}))
	}
	f.spec = f.compiled(rule("", ir.All), rule(".env", 0), rule("plain", ir.All.Without(ir.Execute)))
	return f
}

// shell runs a command as a user and returns its status and output.
func (f *fortress) shell(who identity, command string) (int, string) {
	f.t.Helper()
	x := startProgram(f.t, f.spec, f.dir, "sh", "-c", command)
	var out bytes.Buffer
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = nil, &out, &out
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	_ = x.cmd.Run()
	return x.cmd.ProcessState.ExitCode(), strings.TrimSpace(out.String())
}

// TestNewPrograms: a program that is made beside an exception starts in the same run, as it
// would anywhere, and a program that the policy denies does not.
func TestNewPrograms(t *testing.T) {
	t.Parallel()
	const script = `printf '#!/bin/sh -e\necho "$0 $*"\n' > s && chmod +x s; `
	const chain = `cp /bin/echo e; printf '#!./e\n' > s1; for i in 1 2 3 4 5; do printf "#!./s$i\n" > s$((i+1)); done; chmod +x s?; `
	cases := []struct {
		name, command string
		status        int
		out           string
	}{
		{"dynamic", `cp /bin/echo e && ./e one`, 0, "one"},
		{"static", `cp $BIN b && ./b kernel-told x`, 0, "name b args kernel-told x descriptors 0 1 2 blocked 0"},
		{"renamed", `cp /bin/echo e && mv e f && ./f two`, 0, "two"},
		{"replaced", `cp $BIN n && mv n old && ./old kernel-told`, 0, "name old args kernel-told descriptors 0 1 2 blocked 0"},
		{"new directory", `mkdir -p target/debug && cp /bin/echo target/debug/x && cd target && ./debug/x three`, 0, "three"},
		{"hard link", `cp /bin/echo e && ln e g && ./g four`, 0, "four"},
		{"symlink", `cp /bin/echo e && ln -s e l && ./l five`, 0, "five"},
		{"script", script + `./s a "b c" ""`, 0, "./s a b c"},
		{"script by env", script + `env ./s d`, 0, "./s d"},
		{"script in path", script + `PATH=.:$PATH; s e`, 0, "./s e"},
		{"nested script", script + `printf '#!./s\n' > n && chmod +x n && ./n f`, 0, "./s ./n f"},
		{"script of a new program", `cp /bin/echo e; printf '#!./e the words \n' > n && chmod +x n && ./n g`, 0, "the words ./n g"},
		{"name of a script", `cp $BIN b; printf '#!./b kernel-told\n' > n && chmod +x n && ./n`, 0,
			"name n args kernel-told ./n descriptors 0 1 2 blocked 0"},
		{"old script, new interpreter", `cp /bin/echo old; rm old; cp /bin/echo old; printf '#!./old\n' > n; chmod +x n; ./n`, 0, "./n"},
		{"no header", `echo 'echo plain $0' > p && chmod +x p && ./p`, 0, "plain ./p"},
		{"no interpreter", `printf '#!./nowhere\n' > n && chmod +x n && ./n`, 127, "sh: 1: ./n: not found"},
		{"no format", `printf '\177ELF garbage' > n && chmod +x n && ./n`, 126, "sh: 1: ./n: Exec format error"},
		{"itself", `printf '#!./n\n' > n && chmod +x n && ./n`, 127, "sh: 1: ./n: Too many levels of symbolic links"},
		{"no permission", `cp /bin/echo e && chmod -x e && ./e`, 126, "sh: 1: ./e: Permission denied"},
		{"neither", `echo true > p && ./p`, 126, "sh: 1: ./p: Permission denied"},
		{"denied", `plain/e`, 126, "sh: 1: plain/e: Permission denied"},
		{"denied and new", `cp plain/e plain/n && plain/n`, 126, "sh: 1: plain/n: Permission denied"},
		{"denied interpreter", `printf '#!plain/e\n' > n && chmod +x n && ./n`, 126, "sh: 1: ./n: Permission denied"},
		{"denied file", `chmod +x .env; ./.env`, 126, "sh: 1: ./.env: Permission denied"},
		// The kernel takes five scripts before an image; one fewer was started.
		{"five scripts", chain + `./s5 f`, 0, "./s1 ./s2 ./s3 ./s4 ./s5 f"},
		{"six scripts", chain + `./s6 f`, 127, "sh: 1: ./s6: Too many levels of symbolic links"},
		// A start from a copy passed unknown flags over.
		{"unknown flags", `cp /bin/echo e && $BIN kernel-flagged ./e`, 0, "invalid argument"},
		{"many", `cp /bin/true t; i=0; while [ $i -lt 50 ]; do ./t & i=$((i+1)); done; wait; echo all`, 0, "all"},
		{"again", `cp $BIN b; ./b kernel-again`, 0, "name exe args kernel-told again descriptors 0 1 2 blocked 0"},
	}
	users(t, func(t *testing.T, who identity) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				f := newWorkshop(t, who)
				if status, out := f.shell(who, "BIN="+binary+"; "+c.command); status != c.status || !strings.HasSuffix(out, c.out) {
					t.Errorf("%d: %s", status, out)
				}
			})
		}
	})
}

// TestNewProgramsByAnyName: every spelling of a path and every kind of descriptor leads
// to a program that was made later, in a process that makes it itself.
func TestNewProgramsByAnyName(t *testing.T) {
	t.Parallel()
	f := newWorkshop(t, nil)
	f.tool = startMode(t, "kernel-supervised", f.spec, f.dir, nil)
	t.Cleanup(f.stop)
	f.do("none", "", "")
	f.must(copyFile("/bin/true", f.at("new")))
	f.must(writeProgram(f.at("script"), []byte("#!/bin/sh\ntrue\n")))
	f.must(os.Symlink("ws", filepath.Join(f.dir, "link")))
	for _, file := range []string{"new", "script", "plain/e"} {
		for _, how := range spellings {
			for _, op := range []string{"start", "startat"} {
				e := f.exchange(t, attempt{Op: op, A: file, HowA: how, B: "x y"})[0]
				if want := file != "plain/e"; (e == 0) != want || e != 0 && !refused(e) {
					t.Errorf("%s %s by %s: %v", op, file, how, e)
				}
			}
		}
	}
}

// TestFailedStarts: a process whose start fails goes on as it was: the error is the kernel's,
// its descriptors and signals are unchanged.
func TestFailedStarts(t *testing.T) {
	t.Parallel()
	f := newWorkshop(t, nil)
	f.tool = startMode(t, "kernel-supervised", f.spec, f.dir, nil)
	t.Cleanup(f.stop)
	f.do("none", "", "")
	f.must(writeProgram(f.at("garbage"), []byte("\x7fELF garbage")))
	f.must(writeProgram(f.at("orphan"), []byte("#!./nowhere\n")))
	for file, want := range map[string]syscall.Errno{"garbage": syscall.ENOEXEC, "orphan": syscall.ENOENT, "plain/e": syscall.EACCES} {
		if e := f.do("failing", file, "100"); e != want {
			t.Errorf("%s: %v, want %v", file, e, want)
		}
	}
}

// TestNothingElseStarts: while programs that were made later start, another thread
// rewrites path and arguments, or puts a program that is not listed in the place of every
// free descriptor.
func TestNothingElseStarts(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"swapped", "stolen"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			s := oneShop(t)
			a, b := s.rule("a", "bin/a"), s.rule("b", "bin/b")
			a.AnyArgs, a.Args = false, []ir.ArgPattern{{Words: []string{"yes"}}}
			b.AnyArgs, b.Args = false, []ir.ArgPattern{{Words: []string{"not"}}}
			s.open(nil, everything, a, b)
			defer s.tool.stop()
			s.tool.exchange(t, attempt{Op: "none"})
			for _, name := range []string{"a", "b"} {
				s.renew(filepath.Join("bin", name), "/bin/echo", nil)
			}
			said, least := s.contest(t, op, 6_000)
			onlyListed(t, said, least)
		})
	}
}

// asksAhead reports whether this kernel can tell the result of a start without starting.
func asksAhead() bool {
	const check = 0x10000 // AT_EXECVE_CHECK
	path, _ := unix.BytePtrFromString("/bin/true")
	at := unix.AT_FDCWD
	_, _, e := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(at), uintptr(unsafe.Pointer(path)), 0, 0, check, 0)
	return e == 0
}

// told says how a program was started.
func told(args []string) {
	open := strings.Join(descriptors(), " ")
	name := make([]byte, 16)
	_ = unix.Prctl(unix.PR_GET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
	fmt.Println("name", unix.ByteSliceToString(name), "args", strings.Join(args, " "), "descriptors", open,
		"blocked", blocked())
}

// flagged asks for a start with a flag that execveat(2) does not have, and prints the error.
func flagged(program string) {
	path, _ := unix.BytePtrFromString(program)
	argv := []*byte{path, nil}
	at, unknown := unix.AT_FDCWD, uintptr(2)
	_, _, e := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(at), uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), 0, unknown, 0)
	fmt.Println(e)
}

// descriptors are the open ones up to a number that is above all that the test makes.
func descriptors() (out []string) {
	const most = 64
	for fd := range most {
		if _, _, e := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); e == 0 {
			out = append(out, strconv.Itoa(fd))
		}
	}
	return slices.Clip(out)
}
