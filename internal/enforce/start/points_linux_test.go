//go:build accessc_points

package start_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/internal/process/points/held"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

func init() {
	attempts["look"] = look
	attempts["status"] = status
	attempts["rewritten read"] = rewrittenFor(unix.O_RDONLY)
	attempts["rewritten both"] = rewrittenFor(unix.O_RDWR)
}

// look reads a file, and ends in EEXIST if that is a denied one.
func look(a, _ name) error {
	fd, err := unix.Openat(a.dir, a.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if denied(fd) {
		return syscall.EEXIST
	}
	return nil
}

// status starts a program, and ends in its status.
func status(a, _ name) error {
	pid, err := syscall.ForkExec(a.path, []string{a.path}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
	if err != nil {
		return err
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
		return err
	}
	return syscall.Errno(ws.ExitStatus())
}

// rewrittenFor opens a path that another thread makes another one when a byte comes through the fifo go, as the fifo did
// tells. It ends in EEXIST where it has opened a denied file.
func rewrittenFor(flags int) func(a, b name) error {
	return func(a, b name) error { return rewritten(a, b, flags) }
}

func rewritten(a, b name, flags int) error {
	path := append([]byte(a.path), 0)
	ask, err := unix.Open("docs/go", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(ask)
	tell, err := unix.Open("docs/did", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(tell)
	cwd := unix.AT_FDCWD
	go func() {
		one := make([]byte, 1)
		if n, _ := unix.Read(ask, one); n == 1 {
			copy(path, b.path)
			_, _ = unix.Write(tell, one)
		}
	}()
	fd, _, e := syscall.Syscall6(unix.SYS_OPENAT, uintptr(cwd), uintptr(unsafe.Pointer(&path[0])), uintptr(flags|unix.O_CLOEXEC), 0, 0, 0)
	if e != 0 {
		return e
	}
	defer unix.Close(int(fd))
	if denied(int(fd)) {
		return syscall.EEXIST
	}
	return nil
}

// A heldFortress is a fortress whose supervisor is held at places.
type heldFortress struct {
	*fortress
	*held.Holder
}

// newHeld makes a fortress, with the rules of another policy if there are any.
func newHeld(t *testing.T, rules ...ir.FSRule) *heldFortress {
	f := &heldFortress{layFortress(t), held.New(t)}
	if rules != nil {
		f.spec = f.compiled(rules...)
	}
	f.write("docs/b", "b")
	return f
}

// begin starts the loader.
func (f *heldFortress) begin(mode string, spec []byte) {
	f.t.Helper()
	x := startProgram(f.t, spec, f.dir)
	x.cmd.Args[1] = mode
	x.cmd.Env = append(x.cmd.Env, f.Env())
	out, err := x.cmd.StdoutPipe()
	f.must(err)
	x.out = bufio.NewScanner(out)
	f.must(x.cmd.Start())
	f.tool = x
	f.t.Cleanup(x.stop)
}

// makes has the tool make a call, and returns the function that waits for its answer.
func (f *heldFortress) makes(op, a, b string) (answer func() syscall.Errno) {
	done := make(chan syscall.Errno, 1)
	go func() { done <- f.do(op, a, b) }()
	return func() syscall.Errno {
		e, _ := await.Receive(f.t, "the answer", done)
		return e
	}
}

// rename and exchange change names as the user does.
func (f *heldFortress) rename(a, b string) { f.t.Helper(); f.must(os.Rename(f.at(a), f.at(b))) }

func (f *heldFortress) exchange(a, b string) {
	f.t.Helper()
	f.must(unix.Renameat2(unix.AT_FDCWD, f.at(a), unix.AT_FDCWD, f.at(b), unix.RENAME_EXCHANGE))
}

// become replaces a name by a symlink.
func (f *heldFortress) become(a, to string) {
	f.t.Helper()
	f.must(os.Symlink(to, f.at("next")))
	f.rename("next", a)
}

// holds checks files by their texts: empty for one that is not there.
func (f *heldFortress) holds(files map[string]string) {
	f.t.Helper()
	for p, want := range files {
		got, err := os.ReadFile(f.at(p))
		if string(got) != want || (want == "") != os.IsNotExist(err) {
			f.t.Errorf("%s: %q, %v; want %q", p, got, err, want)
		}
	}
}

// A moment is a move of the user's between two steps of the supervisor, while it answers one call.
type moment struct {
	name     string
	rules    []ir.FSRule
	at       points.Name
	op, a, b string
	move     func(*heldFortress)
	want     syscall.Errno
	// files are the texts of files afterwards.
	files map[string]string
}

// standing are rules under which names of std may be changed and none made or removed, and names of inbox made and none
// changed.
var standing = []ir.FSRule{
	rule("", ir.All), rule(".env", 0), rule("std", ir.Caps(ir.Read, ir.Update)), rule("inbox", ir.Caps(ir.Read, ir.Create)),
}

// steal puts the denied file in the place of another one.
func steal(f *heldFortress) { f.rename(".env", "docs/a") }

// ofMoves are those about calls that move and link.
func ofMoves() []moment {
	return []moment{
		{"a move of a file that is another one", nil, points.Acting, "rename", "docs/a", "docs/c", steal, syscall.EXDEV,
			map[string]string{"docs/a": secret, "docs/c": "", ".env": ""}},
		{"a move of a file that has gone", nil, points.Acting, "rename", "docs/a", "docs/c",
			func(f *heldFortress) { f.rename("docs/a", "docs/d") }, syscall.ENOENT, map[string]string{"docs/c": "", "docs/d": "a"}},
		{"a move to a name that the user takes", nil, points.Acting, "rename", "docs/a", "docs/c",
			func(f *heldFortress) { f.write("docs/c", "the user's") }, 0, map[string]string{"docs/a": "", "docs/c": "a"}},
		{"a move to a name of the user's that may not change", standing, points.Acting, "rename", "docs/a", "inbox/f",
			func(f *heldFortress) { f.write("inbox/f", "the user's") }, syscall.EACCES, map[string]string{"docs/a": "a", "inbox/f": "the user's"}},
		{"a move over a name that the user takes away", standing, points.Acting, "rename", "docs/a", "std/f",
			func(f *heldFortress) { f.rename("std/f", "docs/away") }, syscall.EACCES, map[string]string{"docs/a": "a", "std/f": "", "docs/away": "f"}},
		{"a move over a name that the user replaces", standing, points.Acting, "rename", "docs/a", "std/f",
			func(f *heldFortress) { f.rename("docs/b", "std/f") }, 0, map[string]string{"docs/a": "", "std/f": "a"}},
		{"a moved file that the user replaces", nil, points.Moved, "rename", "docs/a", "docs/c",
			func(f *heldFortress) { f.rename("docs/b", "docs/c") }, 0, map[string]string{"docs/a": "", "docs/b": "", "docs/c": "b"}},
		{"a moved file that the user moves on", nil, points.Moved, "rename", "docs/a", "docs/c",
			func(f *heldFortress) { f.rename("docs/c", "docs/d") }, 0, map[string]string{"docs/a": "", "docs/c": "", "docs/d": "a"}},
		{"a moved file that the user removes", nil, points.Moved, "rename", "docs/a", "docs/c",
			func(f *heldFortress) { f.must(os.Remove(f.at("docs/c"))) }, 0, map[string]string{"docs/a": "", "docs/c": ""}},
		{"an exchange of a file that is another one", nil, points.Acting, "exchange", "docs/a", "docs/b", steal, syscall.EXDEV,
			map[string]string{"docs/a": secret, "docs/b": "b", ".env": ""}},
		{"an exchange with a file that is another one", nil, points.Acting, "exchange", "docs/b", "docs/a", steal, syscall.EXDEV,
			map[string]string{"docs/a": secret, "docs/b": "b", ".env": ""}},
		{"an exchange with a file that has gone", nil, points.Acting, "exchange", "docs/a", "docs/b",
			func(f *heldFortress) { f.rename("docs/b", "docs/d") }, syscall.ENOENT, map[string]string{"docs/a": "a", "docs/d": "b"}},
		{"a link to a file that is replaced", nil, points.Acting, "link", "docs/a", "docs/l", steal, syscall.ENOENT,
			map[string]string{"docs/a": secret, "docs/l": ""}},
		{"a link to a name that is another file's", nil, points.Acting, "link", "docs/a", "docs/l",
			func(f *heldFortress) { f.rename("docs/a", "docs/m"); f.rename(".env", "docs/a") }, 0,
			map[string]string{"docs/a": secret, "docs/l": "a", "docs/m": "a"}},
		{"a link to a name that the user takes", nil, points.Acting, "link", "docs/a", "docs/l",
			func(f *heldFortress) { f.write("docs/l", "the user's") }, syscall.EEXIST, map[string]string{"docs/l": "the user's"}},
	}
}

// ofOpens are those about calls that act on one file.
func ofOpens() []moment {
	return []moment{
		{"an open of a name that becomes a symlink", nil, points.Acting, "look", "docs/a", "",
			func(f *heldFortress) { f.become("docs/a", "../.env") }, syscall.EACCES, nil},
		{"an open over a symlink that turns", nil, points.Found, "look", "docs/s", "",
			func(f *heldFortress) { f.become("docs/s", "../.env") }, 0, nil},
		{"an open over a symlink that turns late", nil, points.Answering, "look", "docs/s", "",
			func(f *heldFortress) { f.become("docs/s", "../.env") }, 0, nil},
		{"an open over a symlink that turned before", nil, points.Read, "look", "docs/s", "",
			func(f *heldFortress) { f.become("docs/s", "../.env") }, syscall.EACCES, nil},
		{"an open of a file that is exchanged", nil, points.Acting, "empty", "docs/a", "",
			func(f *heldFortress) { f.exchange("docs/a", "src/main.c") }, 0, map[string]string{"docs/a": "kept"}},
		{"a file that is made in a directory that is exchanged", nil, points.Acting, "create", "docs/new", "",
			func(f *heldFortress) { f.exchange("docs", "src") }, 0, map[string]string{"docs/new": "", "docs/main.c": "kept"}},
		{"a file that is removed from a directory that is exchanged", nil, points.Acting, "unlink", "docs/main.c", "",
			func(f *heldFortress) { f.exchange("docs", "src") }, 0, map[string]string{"docs/main.c": "kept", "src/main.c": ""}},
		{"a size of a file that is exchanged", nil, points.Acting, "truncate", "docs/a", "",
			func(f *heldFortress) { f.exchange("docs/a", "src/main.c") }, 0, map[string]string{"docs/a": "kept"}},
		{"a mode of a file that is exchanged", nil, points.Acting, "chmod", "docs/a", "",
			func(f *heldFortress) { f.exchange("docs/a", "src/main.c") }, 0, map[string]string{"docs/a": "kept"}},
		{"a program whose symlink turns to a denied one", nil, points.Answering, "status", "docs/program", "",
			func(f *heldFortress) { f.become("docs/program", "../sub/deep/.key") }, syscall.EACCES, nil},
	}
}

// TestHeldMoves: the user changes names just when the supervisor has looked at them and has not acted, or has acted and not
// looked again. Each call ends as if it had come before or after the change, or is refused; no file of the user's is lost.
func TestHeldMoves(t *testing.T) {
	for _, m := range append(ofMoves(), ofOpens()...) {
		t.Run(m.name, func(t *testing.T) { m.play(t) })
	}
}

// A userStep is a further move of the user's.
type userStep struct {
	at   points.Name
	move func(*heldFortress)
}

// TestHeldRetreat: the user moves once more when a move is to be taken back. What the user has put at a name stays there, as in the
// test of attacks of a rename over a name that the user takes away, where the supervisor carried the user's file to the tool.
func TestHeldRetreat(t *testing.T) {
	take := func(f *heldFortress) { f.rename("std/f", "docs/away") }
	restore := func(f *heldFortress) { f.rename("docs/away", "std/f") }
	over := func(f *heldFortress) { f.rename("docs/b", "docs/c") }
	leave := func(f *heldFortress) { f.rename("docs/c", "docs/d") }
	for _, m := range []struct {
		moment
		userStep
	}{
		{moment{"a file that is back", standing, points.Acting, "rename", "docs/a", "std/f", take, syscall.ENOENT,
			map[string]string{"docs/a": "", "std/f": "f", "docs/away": ""}}, userStep{points.Moved, restore}},
		{moment{"a file that is back late", standing, points.Acting, "rename", "docs/a", "std/f", take, syscall.ENOENT,
			map[string]string{"docs/a": "", "std/f": "f", "docs/away": ""}}, userStep{points.Retreating, restore}},
		{moment{"another file that is replaced", nil, points.Acting, "rename", "docs/a", "docs/c", steal, syscall.EXDEV,
			map[string]string{"docs/a": "", "docs/b": "", "docs/c": "b", ".env": ""}}, userStep{points.Retreating, over}},
		{moment{"another file that is moved on", nil, points.Acting, "rename", "docs/a", "docs/c", steal, syscall.EXDEV,
			map[string]string{"docs/a": "", "docs/c": "", "docs/d": secret}}, userStep{points.Retreating, leave}},
	} {
		t.Run(m.name, func(t *testing.T) { m.play(t, m.userStep) })
	}
}

// play has the tool make its call, and the user the moves.
func (m moment) play(t *testing.T, next ...userStep) {
	f := newHeld(t, m.rules...)
	f.must(os.MkdirAll(f.at("std"), 0o755))
	f.must(os.MkdirAll(f.at("inbox"), 0o755))
	f.write("std/f", "f")
	f.write("docs/main.c", "mine")
	f.must(os.Symlink("a", f.at("docs/s")))
	f.must(os.Symlink("/bin/true", f.at("docs/program")))
	f.must(copyFile("/bin/false", f.at("sub/deep/.key")))
	f.begin("kernel-supervised", f.spec)
	f.do("none", "x", "") // it is at work
	steps := append([]userStep{{m.at, m.move}}, next...)
	stops := make([]*held.Stop, len(steps))
	for i, s := range steps {
		stops[i] = f.Once(s.at)
	}
	answer := f.makes(m.op, m.a, m.b)
	for i, s := range steps {
		stops[i].Reached(t)
		s.move(f)
		stops[i].Open()
	}
	if e := answer(); e != m.want {
		t.Errorf("%s %s %s came to %v, want %v", m.op, m.a, m.b, e, m.want)
	}
	f.holds(m.files)
	if info, err := os.Stat(f.at("docs/a")); m.op == "chmod" && (err != nil || info.Mode() != 0o644) {
		t.Errorf("the mode of another file: %v, %v", info, err)
	}
}

// TestHeldMemory: the tool writes another path into its memory while its call is answered. The path counts that the supervisor has
// read: before the worker takes note of the call for an open that only reads, and after that for others.
func TestHeldMemory(t *testing.T) {
	const open, closed = "./docs/a", ".///.env"
	results := map[string]syscall.Errno{open: 0, closed: syscall.EACCES}
	for op, first := range map[string]map[points.Name]bool{
		"rewritten read": {points.Read: true, points.Answering: true}, "rewritten both": {points.Read: false, points.Answering: true},
	} {
		for at, first := range first {
			for path, other := range map[string]string{open: closed, closed: open} {
				counts := other
				if first {
					counts = path
				}
				t.Run(op+" "+string(at)+" "+filepath.Base(path), func(t *testing.T) {
					if e := newHeld(t).rewrites(op, path, other, at); e != results[counts] {
						t.Errorf("%s, and then %s, came to %v", path, other, e)
					}
				})
			}
		}
	}
}

// rewrites has the tool open a path, and write another one over it when the supervisor is at a place.
func (f *heldFortress) rewrites(op, path, other string, at points.Name) syscall.Errno {
	f.begin("kernel-supervised", f.spec)
	f.do("none", "x", "") // it is at work
	ends := map[string]int{}
	for _, name := range []string{"docs/go", "docs/did"} {
		f.must(unix.Mkfifo(f.at(name), 0o600))
		fd, err := unix.Open(f.at(name), unix.O_RDWR|unix.O_CLOEXEC, 0)
		f.must(err)
		defer unix.Close(fd)
		ends[name] = fd
	}
	stop := f.At(at)
	answer := f.makes(op, path, other)
	for range 2 {
		stop.Reached(f.t).Release() // the opens of the fifos
	}
	stop.Reached(f.t)
	_, err := unix.Write(ends["docs/go"], []byte{1})
	f.must(err)
	_, err = unix.Read(ends["docs/did"], make([]byte, 1))
	f.must(err)
	stop.Open()
	return answer()
}

// TestHeldRule: the directory of a rule is replaced once the loader has opened it. The rule is about the directory that was there:
// the tool reads nothing of the other.
func TestHeldRule(t *testing.T) {
	for name, replace := range map[string]func(*heldFortress){
		"a directory": func(f *heldFortress) { f.must(os.Rename(f.dir+"/outside", f.root)) },
		"a symlink":   func(f *heldFortress) { f.must(os.Symlink("outside", f.root)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newHeld(t)
			f.must(os.Mkdir(f.dir+"/outside", 0o755))
			f.must(os.WriteFile(f.dir+"/outside/private", []byte(secret), 0o644))
			stop := f.Of(points.Opened, f.root)
			f.begin("kernel-worker-loader", f.readOnly())
			stop.Reached(t)
			f.must(os.Rename(f.root, f.root+".old"))
			replace(f)
			stop.Open()
			if e := f.do("look", "private", ""); e != syscall.EACCES {
				t.Errorf("the file of the other directory: %v", e)
			}
		})
	}
}

// TestHeldProgram: the tool's program is replaced when all is prepared. What has taken its place does not start.
func TestHeldProgram(t *testing.T) {
	for mode, spec := range map[string]func(*heldFortress) []byte{
		"kernel-supervised":    func(f *heldFortress) []byte { return f.spec },
		"kernel-worker-loader": func(f *heldFortress) []byte { return f.readOnly() },
	} {
		t.Run(mode, func(t *testing.T) {
			f := newHeld(t)
			stop := f.Once(points.Becoming)
			f.begin(mode, spec(f))
			stop.Reached(t)
			f.must(os.Rename(binary, binary+".old"))
			t.Cleanup(func() { f.must(os.Rename(binary+".old", binary)) })
			f.must(copyFile("/bin/false", binary))
			stop.Open()
			_ = f.in.Close()
			_ = f.cmd.Wait()
			if f.cmd.ProcessState.ExitCode() != start.CodeFailed || !strings.Contains(f.errs.String(), "does not let it") {
				t.Errorf("%v: %s", f.cmd.ProcessState, f.errs)
			}
		})
	}
}

// TestHeldWrapped: a place is exchanged when its file is open and bubblewrap has not mounted it. A start that would show another file
// does not take place. A bubblewrap that takes descriptors shows the one that was opened; at a symlink it would mount elsewhere.
func TestHeldWrapped(t *testing.T) {
	help, _ := exec.Command("bwrap", "--help").Output()
	descriptors := strings.Contains(string(help), " --ro-bind-fd ")
	for name, other := range map[string]string{"a symlink": "link", "a directory": "empty", "nothing else": "docs"} {
		t.Run(name, func(t *testing.T) {
			c := newCastle(t, nil)
			c.attack(false, "read docs/page")
			names := []string{c.root + "/docs", c.root + "/" + other}
			if err := errors.Join(os.Symlink("../outside", c.root+"/link"), os.Mkdir(c.root+"/empty", 0o755)); err != nil {
				t.Fatal(err)
			}
			h, dir := held.New(t), filepath.Dir(c.root)
			stop := h.Once(points.Becoming)
			cmd, out := exec.Command(binary, modeWrapped, filepath.Join(dir, "spec.json")), &strings.Builder{}
			cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, h.Env()}
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(`[{"Op":"read","A":"docs/secret"},{"Op":"read","A":"docs/page"}]`+"\n"), out, out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stop.Reached(t)
			if err := unix.Renameat2(unix.AT_FDCWD, names[0], unix.AT_FDCWD, names[1], unix.RENAME_EXCHANGE); err != nil && other != "docs" {
				t.Fatal(err)
			}
			stop.Open()
			err := cmd.Wait()
			shows := other == "docs" || other == "empty" && descriptors
			if started := strings.HasPrefix(out.String(), "[2,0]"); started != shows || started != (err == nil) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
