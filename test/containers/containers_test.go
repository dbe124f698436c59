//go:build linux

// Package containers_test starts tools in real containers, from bundles that accessc oci has changed,
// and looks whether the policy holds there. It knows accessc by its command line alone.
package containers_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/testbuild"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/test/await"
)

// secret is in the file that the tools must not read.
const secret = "TOP-SECRET"

var built struct {
	sync.Once
	dir string
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// accessc builds the program under test once. Every user can start it.
func accessc(t *testing.T) string {
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "accessc-containers-"); built.err != nil {
			return
		}
		if built.err = os.Chmod(built.dir, 0o755); built.err != nil {
			return
		}
		built.err = testbuild.Program(filepath.Join(built.dir, "accessc"), "cmd/accessc")
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "accessc")
}

// A place is the disk of one container.
type place struct {
	t       *testing.T
	runtime string
	uid     int
	dir     string // contains the others
	ws      string
	bundle  string
	rootfs  string
	stdin   *os.File // of the runtime, nil for none
}

// each runs a test under every runtime, as this user and, where that is root, without privileges as well.
func each(t *testing.T, test func(*testing.T, *place)) {
	users := map[string]int{"user": os.Getuid()}
	if os.Getuid() == 0 {
		users = map[string]int{"root": 0, "rootless": 65534}
	}
	for _, runtime := range []string{"runc", "crun"} {
		for name, uid := range users {
			t.Run(runtime+"/"+name, func(t *testing.T) {
				if _, err := exec.LookPath(runtime); err != nil {
					t.Skipf("there is no %s", runtime)
				}
				test(t, newPlace(t, runtime, uid))
			})
		}
	}
}

func newPlace(t *testing.T, runtime string, uid int) *place {
	dir, err := os.MkdirTemp("", "accessc-container-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &place{t: t, runtime: runtime, uid: uid, dir: dir, ws: dir + "/ws", bundle: dir + "/bundle", rootfs: dir + "/bundle/rootfs"}
	for _, d := range []string{p.ws, p.rootfs + "/usr", p.rootfs + "/etc", dir + "/state", dir + "/home", dir + "/run"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The image has the programs of this host, by a mount, and nothing else.
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+name, filepath.Join(p.rootfs, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.write(p.rootfs+"/etc/passwd", "root:x:0:0::/:/bin/sh\n")
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = testbuild.WriteFile(name, []byte(text), 0o755)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// own gives everything to the user of the place.
func (p *place) own() {
	err := filepath.WalkDir(p.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || p.uid == os.Getuid() {
			return err
		}
		return os.Lchown(path, p.uid, p.uid)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// command is a program as the user of the place.
func (p *place) command(ctx context.Context, dir string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir + "/home", "XDG_STATE_HOME=" + p.dir + "/state", "XDG_RUNTIME_DIR=" + p.dir + "/run",
	}
	if p.uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}}
	}
	return cmd
}

// configure writes the configuration of the bundle as the runtime does, with the programs of this host.
func (p *place) configure(change func(*specs.Spec)) {
	p.t.Helper()
	p.own()
	file := p.bundle + "/config.json"
	if err := os.RemoveAll(file); err != nil {
		p.t.Fatal(err)
	}
	words := []string{p.runtime, "spec"}
	if p.uid != 0 {
		words = append(words, "--rootless")
	}
	if out, err := p.command(context.Background(), p.bundle, words...).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %v\n%s", words, err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	var c specs.Spec
	if err := json.Unmarshal(text, &c); err != nil {
		p.t.Fatal(err)
	}
	c.Process.Terminal = false
	c.Mounts = append(c.Mounts, specs.Mount{Destination: "/usr", Type: "bind", Source: "/usr", Options: []string{"rbind", "ro"}})
	if change != nil {
		change(&c)
	}
	if text, err = json.Marshal(c); err != nil {
		p.t.Fatal(err)
	}
	p.write(file, string(text))
}

// describe has accessc change the bundle.
func (p *place) describe(args ...string) (string, error) {
	words := append([]string{accessc(p.t), "oci", "--no-prompt", "--bundle", p.bundle}, args...)
	out, err := p.command(context.Background(), p.ws, words...).CombinedOutput()
	return string(out), err
}

// start runs the container and returns its output.
func (p *place) start() (string, error) {
	p.t.Helper()
	ctx := await.Context(p.t)
	// Names are the machine's for root.
	name := "accessc-" + strings.ToLower(rand.Text())
	words := []string{p.runtime, "--root", p.dir + "/run/" + p.runtime, "run", "--bundle", p.bundle, name}
	if p.runtime == "crun" && p.uid != 0 {
		words = slices.Insert(words, 1, "--cgroup-manager=disabled")
	}
	cmd := p.command(ctx, p.bundle, words...)
	if hybrid := "/sys/fs/cgroup/unified"; p.runtime == "crun" && controllers(hybrid) {
		// crun starts nothing on a machine with both versions of cgroups. It gets a view of one.
		if os.Getuid() != 0 {
			p.t.Skip("crun does not start where the second version of cgroups has controllers beside the first")
		}
		user := strconv.Itoa(p.uid)
		cmd = exec.CommandContext(ctx, "unshare", append([]string{
			"--mount", "sh", "-c", "umount " + hybrid + ` && exec setpriv --reuid "$@"`, "sh", user, "--regid", user, "--clear-groups", "--",
		}, words...)...)
		if p.uid == 0 {
			cmd = exec.CommandContext(ctx, "unshare", append([]string{"--mount", "sh", "-c", "umount " + hybrid + ` && exec "$@"`, "sh"}, words...)...)
		}
		cmd.Dir, cmd.Env = p.bundle, p.command(ctx, p.bundle, "sh").Env
	}
	if p.stdin != nil {
		cmd.Stdin = p.stdin
	}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		p.t.Errorf("the container hangs")
	}
	return string(out), err
}

// controllers reports whether a hierarchy of cgroups has any.
func controllers(dir string) bool {
	text, err := os.ReadFile(dir + "/cgroup.controllers")
	return err == nil && len(bytes.TrimSpace(text)) > 0
}

// run describes and starts a container, and looks at the lines that its tool prints about its attempts: every attempt
// is expected by name, "did" or "refused".
func (p *place) run(want map[string]string, args ...string) string {
	p.t.Helper()
	if out, err := p.describe(args...); err != nil {
		p.t.Fatalf("accessc oci: %v\n%s", err, out)
	}
	out, err := p.start()
	if err != nil {
		p.t.Errorf("the container: %v", err)
	}
	if strings.Contains(out, secret) || strings.Contains(out, "LEAK") {
		p.t.Errorf("the tool got what it must not")
	}
	got := map[string]string{}
	for line := range strings.Lines(out) {
		if verb, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && (verb == "did" || verb == "refused") {
			got[name] = verb
		}
	}
	for name, verb := range want {
		if got[name] != verb {
			p.t.Errorf("%s: %q, want %q", name, got[name], verb)
		}
	}
	if p.t.Failed() {
		p.t.Log(out)
	}
	return out
}

// try has the shell functions by which tools report their attempts.
const try = `#!/bin/sh
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "did $name"; else echo "refused $name"; fi; }
show() { name=$1; shift; if "$@" 2>&1; then echo "did $name"; else echo "refused $name"; fi; }
`

// policy grants the workspace but for one file, to a tool that make starts.
const policy = `
[tools.t]
source = "local"
command = "make -s"
[[tools.t.access.fs]]
path = "."
read = true
write = true
execute = true
[[tools.t.access.fs]]
path = "a/b/secret"
`

// project fills the workspace: make runs the script.
func (p *place) project(script string) {
	p.write(p.ws+"/accessc.toml", policy)
	p.write(p.ws+"/a/b/secret", secret+"\n")
	p.write(p.ws+"/a/b/open", "open\n")
	p.write(p.ws+"/Makefile", "all: built\n\t@sh ./attempts\nbuilt: a/b/open\n\tcp a/b/open built\n")
	p.write(p.ws+"/attempts", try+script)
}

// TestPolicyHolds: make works, a denied file stays denied whatever the tool does with its name and its parents',
// and the files that the container starts from can be neither changed nor replaced.
func TestPolicyHolds(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project(`
try build test -s built
try make-new sh -c 'echo x > a/new && mv a/new a/b/new2 && rm a/b/new2'
show read cat a/b/secret
try open-names sh -c 'ls a/b | grep -q secret'
show move mv a/b/secret a/c
show cat-moved cat a/c
show move-parent mv a/b a/d
show cat-parent cat a/d/secret
show move-grandparent mv a e
show cat-grandparent cat e/b/secret
show link ln a/b/secret f
show cat-link cat f
show symlink sh -c 'ln -s a/b/secret g && cat g'
show by-cwd cat /proc/self/cwd/a/b/secret
show by-root cat /proc/self/root$PWD/a/b/secret
show by-supervisor cat /proc/1/cwd/a/b/secret
show copy cp -r a copied
try write-program sh -c 'echo x > /.accessc-start/accessc'
try append-program sh -c 'echo x >> /.accessc-start/accessc'
try write-exe sh -c 'echo x >> /proc/1/exe'
try write-own-exe sh -c 'exec 3>>/proc/self/exe'
try write-specification sh -c 'echo x > /.accessc-start/landlock.json'
try replace-program mv attempts /.accessc-start/accessc
try remove-program rm -f /.accessc-start/accessc
try move-directory mv /.accessc-start /x
try make-beside touch /.accessc-start/new
try remount mount -o remount,bind,rw /.accessc-start
try unmount umount /.accessc-start
try mount mount -t tmpfs none a
try namespace unshare -U true
try kill-supervisor kill -9 1
try read-passwd cat /etc/shadow
try write-root touch /new
true
`)
		p.write(p.rootfs+"/etc/shadow", "x\n")
		p.configure(nil)
		want := map[string]string{"build": "did", "make-new": "did", "open-names": "did"}
		for line := range strings.Lines(readFile(t, p.ws+"/attempts")) {
			if words := strings.Fields(line); len(words) > 2 && (words[0] == "try" || words[0] == "show") && want[words[1]] == "" {
				want[words[1]] = "refused"
			}
		}
		before := readFile(t, accessc(t))
		p.run(want, "t")
		if readFile(t, p.bundle+"/accessc/accessc") != before || readFile(t, p.ws+"/a/b/secret") != secret+"\n" {
			t.Error("the tool has changed the program or the secret")
		}
	})
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
