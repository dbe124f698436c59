package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/test/testbuild"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/userdir"
)

const config = `
[tools.files]
source = "local"
command = "BIN/files"

[tools.files.access]
fs = [
	{ path = ".", read = true },
	{ path = "src", read = true, write = true },
	{ path = "src/generated", read = true },
	{ path = "secret" },
	{ path = ".env" },
	{ path = "drop", create = true },
	{ path = "log", update = true },
	{ path = "bin", read = true, execute = true },
	{ path = "trash", read = true, delete = true },
	{ path = "fork", external = true, read = true, create = true, update = true },
]
net = [{ host = "127.0.0.1", port = 9, allow = true }, { host = "127.0.0.1", port = 10 }]
env = [{ name = "PATH", read = true }, { name = "FILES_*", read = true }, { name = "FILES_SECRET" }]

[tools.direct]
source = "local"
command = "BIN/files -direct"
`

// build compiles the command and the tool once.
func build(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "accessc-files-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for name, pkg := range map[string]string{"accessc": "cmd/accessc", "files": "examples/files"} {
		if err := testbuild.Program(filepath.Join(dir, name), pkg); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lay makes a workspace and the files beside it, for a user.
func lay(t *testing.T, bin, dir string, user int) {
	files := map[string]string{
		"ws/README": "readme", "ws/.env": "secret", "ws/src/a": "a", "ws/src/sub/deep": "deep", "ws/src/generated/g": "g",
		"ws/secret/key": "key", "ws/drop/full": "full", "ws/log/l": "l", "ws/trash/t": "t", "ws/trash/d/x": "x", "fork/lib": "lib", "outside/o": "o",
	}
	copied, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	files["ws/bin/ok"], files["ws/src/prog"] = string(copied), string(copied)
	files["ws/accessc.toml"] = strings.ReplaceAll(config, "BIN", bin)
	// Both tools have one policy.
	_, access, _ := strings.Cut(files["ws/accessc.toml"], "[tools.files.access]")
	access, _, _ = strings.Cut(access, "[tools.direct]")
	files["ws/accessc.toml"] += "[tools.direct.access]" + access
	for name, text := range files {
		p := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(p), 0o755))
		check(t, testbuild.WriteFile(p, []byte(text), 0o755))
	}
	for name, to := range map[string]string{
		"fork": "../fork", "out": "../outside", "alias": "secret", "code": "src", "key": "secret/key", "dangling": "src/linked",
		"danglingout": "../outside/new", "loop": "loop", "system": "/usr/bin", "../fork/nested": "../outside", "src/link": "../secret/key",
	} {
		check(t, os.Symlink(to, filepath.Join(dir, "ws", name)))
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	st, err := userdir.For(filepath.Join(dir, "ws"))
	check(t, err)
	check(t, os.MkdirAll(string(st), 0o700))
	approval := fmt.Sprintf(`{"mounts":[{"rule_path":"fork","canonical_target":%q,"approved_at":"2026-01-01T00:00:00Z"}]}`, filepath.Join(dir, "fork"))
	check(t, os.WriteFile(st.Approvals(), []byte(approval), 0o600))
	check(t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(p, user, user)
		}
		return err
	}))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// running is the tool under accessc exec.
type running struct {
	in   *json.Encoder
	out  *json.Decoder
	errs strings.Builder
}

func begin(t *testing.T, bin, dir string, user int, words ...string) *running {
	cmd := exec.Command(filepath.Join(bin, "accessc"), words...)
	cmd.Dir = filepath.Join(dir, "ws")
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "NO_COLOR=1",
		"FILES_TOKEN=token", "FILES_SECRET=secret", "OTHER=other", "LD_BIND_NOW=1",
	}
	if user != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
	}
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	r := &running{in: json.NewEncoder(in), out: json.NewDecoder(out)}
	cmd.Stderr, cmd.WaitDelay = &r.errs, 10*time.Second
	check(t, cmd.Start())
	t.Cleanup(func() {
		check(t, in.Close())
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v\n%s", words, err, r.errs.String())
		}
	})
	return r
}

func (r *running) ask(t *testing.T, q request) answer {
	var a answer
	r.exchange(t, q, &a)
	return a
}

func (r *running) exchange(t *testing.T, q, a any) {
	if err := errors.Join(r.in.Encode(q), r.out.Decode(a)); err != nil {
		t.Fatalf("%+v: it is gone: %v\n%s", q, err, r.errs.String())
	}
}

// verbs are the operations that are one question to accessc can.
var verbs = map[string]string{"read": "read", "list": "read", "append": "update", "remove": "delete", "env": "env", "connect": "connect"}

// can asks accessc can the tool's question.
func (r *running) can(t *testing.T, op, path string) (verdict string) {
	var a struct{ Verdict, Error string }
	r.exchange(t, map[string]string{"operation": verbs[op], "target": path}, &a)
	return a.Verdict + a.Error
}

var (
	paths = []string{
		"README", ".", "src", "src/a", "src/new", "src/sub/deep", "src/generated", "src/generated/g", "src/generated/new", "src/link", "src/prog",
		"secret", "secret/key", "secret/new", ".env", "drop", "drop/full", "drop/new", "log", "log/l", "log/new", "bin", "bin/ok", "bin/new",
		"trash", "trash/t", "trash/new", "trash/d", "trash/d/x", "fork", "fork/lib", "fork/new", "fork/new/x", "fork/nested", "fork/nested/o",
		"code", "code/a", "code/generated/g", "alias", "alias/key", "key", "dangling", "danglingout", "out", "out/o", "out/new", "missing",
		"missing/x", "src/a/x", "loop", "system/env", "src/../README", "src/../.env", "./src//sub/deep", "new", "accessc.toml",
	}
	onPaths  = []string{"read", "list", "append", "write", "create", "mkdir", "read", "remove", "create", "write", "read", "list"}
	programs = []string{"bin/ok", "src/prog", "secret/key", "missing", "alias/key", "true", "no-such-program"}
	names    = []string{"PATH", "FILES_TOKEN", "FILES_SECRET", "OTHER", "LD_BIND_NOW", "HOME", "TMPDIR", "ACCESSC_CONTEXT"}
	urls     = []string{"http://127.0.0.1:9/", "http://127.0.0.1:10/", "http://127.0.0.1/", "http://127.0.0.2:9/", "http://10.1.2.3:9/"}
)

// narrower are the questions that the library denies although the kernel lets a program do it
// by itself: a model may name paths of the workspace, not of the system's base.
var narrower = map[string]bool{"read system/env": true}

// stricter are the questions that the library grants and the kernel refuses, as the ledger
// says: a directory that contains an exception is opened by calls that pass O_DIRECTORY alone.
var stricter = map[string]bool{"read .": true}

// TestAgainstKernel runs the tool under accessc exec twice, with and without asking its
// Context, and compares the library's answer with the kernel's for each operation.
func TestAgainstKernel(t *testing.T) {
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	bin := build(t)
	users := map[string]int{"this user": os.Getuid()}
	if os.Getuid() == 0 {
		users["nobody"] = 65534
	}
	for name, user := range users {
		t.Run(name, func(t *testing.T) { compare(t, bin, user) })
	}
}

func compare(t *testing.T, bin string, user int) {
	top, err := os.MkdirTemp("/tmp", "accessc-files-")
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	check(t, os.Chmod(top, 0o755))
	var asks [2]*running
	var dirs [2]string
	for i, tool := range []string{"files", "direct"} {
		dirs[i] = filepath.Join(top, tool)
		lay(t, bin, dirs[i], user)
		asks[i] = begin(t, bin, dirs[i], user, "exec", tool)
	}
	can := begin(t, bin, dirs[0], user, "can", "--stdin", "files")
	n, granted, refused := 0, 0, 0
	ask := func(op, path string) {
		q := request{Op: op, Path: path, Text: op + " " + path}
		verdict := ""
		if verbs[op] != "" {
			verdict = can.can(t, op, path)
		}
		library, kernel := asks[0].ask(t, q), asks[1].ask(t, q)
		n++
		what := fmt.Sprintf("%s %s\n library %+v\n kernel  %+v", op, path, library, kernel)
		// A loop is an error of the disk to the library, as it is to the kernel.
		no := library.Refused == "policy" || strings.Contains(library.Error, "loop")
		if want := map[bool]string{true: "deny", false: "allow"}[no]; verdict != "" && verdict != want {
			t.Errorf("accessc can says %s: %s", verdict, what)
		}
		switch {
		case library.Refused == "policy":
			refused++
			if (kernel.Error == "") != narrower[op+" "+path] {
				t.Errorf("the kernel permits what the library refuses: %s", what)
			}
		case library.Refused == "system" && kernel.Refused == "system" && stricter[op+" "+path]:
		case library.Refused == "system", library.Error != "" && kernel.Refused != "":
			t.Errorf("the library permits what the kernel refuses: %s", what)
		case (library.Error == "") != (kernel.Error == ""):
			t.Errorf("done by one: %s", what)
		case library.Error == "":
			granted++
			if d := cmp.Diff(kernel, library); d != "" && op != "env" {
				t.Errorf("%s %s: %s", op, path, d)
			}
		}
	}
	for _, op := range onPaths {
		for _, p := range paths {
			ask(op, p)
		}
	}
	for _, p := range programs {
		ask("run", p)
	}
	for _, p := range names {
		ask("env", p)
	}
	for _, u := range urls {
		ask("connect", u)
	}
	// A link that leads to another place than the one approved when the tools started.
	for _, dir := range dirs {
		link := filepath.Join(dir, "ws", "fork")
		check(t, errors.Join(os.Remove(link), os.Symlink("../outside", link)))
	}
	for _, op := range onPaths {
		ask(op, "fork/o")
		ask(op, "fork/new")
	}
	fmt.Printf("%s: %d operations, %d granted and done, %d refused by the library and the kernel\n", t.Name(), n, granted, refused)
	if granted < 50 || refused < 50 {
		t.Error("too little was granted or refused to compare anything")
	}
	if d := cmp.Diff(tree(t, dirs[1]), tree(t, dirs[0])); d != "" {
		t.Errorf("what they left differs: %s", d)
	}
}

// tree lists the files in the workspace and beside it.
func tree(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	for _, top := range []string{"ws", "fork", "outside"} {
		check(t, filepath.WalkDir(filepath.Join(dir, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(dir, p)
			out[rel] = d.Type().String()
			if d.Type().IsRegular() {
				data, err := os.ReadFile(p)
				out[rel] = string(data)
				return err
			}
			return nil
		}))
	}
	return out
}
