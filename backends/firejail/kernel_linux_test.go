package firejail_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/firejail"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/mnt"
)

// castle is a workspace with something of each kind, under a profile.
type castle struct {
	t       *testing.T
	dir, ws string
	view    *ir.View
	table   *mnt.Table
	ledger  ir.Ledger
	ids     map[ir.Rule]ir.RuleID
	who     *syscall.Credential
}

func rule(path string, caps ir.CapSet) ir.FSRule {
	return ir.FSRule{Written: path, At: ir.In(path), Caps: caps}
}

var world = irtest.World{
	"${workspace}": ir.Dir, "${workspace}/.env": ir.File, "${workspace}/free": ir.File, "${workspace}/keys": ir.Dir, "${workspace}/keys/key": ir.File,
	"${workspace}/docs": ir.Dir, "${workspace}/docs/page": ir.File, "${workspace}/docs/out": ir.Dir, "${workspace}/docs/out/file": ir.File,
	"${workspace}/sub": ir.Dir, "${workspace}/sub/secret": ir.File,
	"${workspace}/it's $HOME (a)": ir.File, "${workspace}/ a~b": ir.File,
}

// newCastle lays the workspace out, compiles and replaces the symbol of the temporary directory.
func newCastle(t *testing.T, who *syscall.Credential) *castle {
	if _, err := exec.LookPath("firejail"); err != nil {
		t.Skip("firejail is not installed")
	}
	base, err := os.MkdirTemp("", "accessc-firejail-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	c := &castle{t: t, dir: base, ws: base + "/ws", ids: map[ir.Rule]ir.RuleID{}, who: who}
	own := func(p string, err error) {
		if err == nil && who != nil {
			err = os.Lchown(p, int(who.Uid), int(who.Gid))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	own(base, os.Chmod(base, 0o755))
	for _, d := range []string{"/home", "/tmp", "/outside", "/ws", "/ws/keys", "/ws/docs", "/ws/docs/out", "/ws/sub"} {
		own(base+d, os.MkdirAll(base+d, 0o755))
	}
	for _, f := range []string{"/outside/secret", "/ws/.env", "/ws/free", "/ws/keys/key", "/ws/docs/page", "/ws/docs/out/file", "/ws/sub/secret", "/ws/it's $HOME (a)", "/ws/ a~b"} {
		own(base+f, os.WriteFile(base+f, []byte("#!/bin/sh\n"), 0o755))
	}
	tool := ir.NewTool("t")
	tool.Protects = false
	tool.FS = []ir.FSRule{
		rule("", ir.All), rule(".env", 0), rule("keys", 0), rule("docs", ir.Caps(ir.Read)), rule("docs/out", ir.Caps(ir.Read, ir.Update)), rule("sub/secret", 0), rule("it's $HOME (a)", 0), rule(" a~b", 0),
	}
	facts := ir.Facts{Bindings: &ir.Bindings{Workspace: c.ws, Home: base + "/home"}, Base: []ir.FSRule{}}
	for _, r := range ir.BaseRules(ir.BaseSystem, ir.Linux) {
		if p, err := filepath.EvalSymlinks(r.At.String()); err == nil && !ir.LinuxOwn(r.At.Path) {
			r.At = ir.Sys(strings.TrimPrefix(p, "/"))
			facts.Base = append(facts.Base, r)
		}
	}
	target := backends.Target{Form: backends.Resolved, Facts: facts, Node: onDisk}
	out, err := firejail.Backend{}.Compile(tool, target)
	if err != nil {
		t.Fatal(err)
	}
	comment, lines, err := firejail.Parse(out.Data)
	if err == nil {
		c.ledger, err = backends.Ledger(comment.Ledger)
	}
	if err != nil {
		t.Fatal(err)
	}
	entries := mnt.Firejail(lines)
	for i := range entries {
		entries[i].Place = strings.Replace(entries[i].Place, c.ws, "${workspace}", 1)
	}
	c.table, c.view = mnt.NewTable(entries, world, world), ir.NewView(tool, ir.Linux, facts)
	for _, e := range c.view.Entries() {
		c.ids[e.Rule] = e.ID.Stated()
	}
	users, err := os.ReadFile("/etc/passwd")
	own(base+"/passwd", errors.Join(err, os.WriteFile(base+"/passwd", append(users, "accessc-test:x:12345:12345::/:/bin/sh\n"...), 0o644)))
	text := strings.ReplaceAll(string(out.Data), "${tmp}", base+"/tmp")
	own(base+"/p.profile", os.WriteFile(base+"/p.profile", []byte(text), 0o644))
	return c
}

func onDisk(place string) (ir.NodeKind, string) {
	to, err := filepath.EvalSymlinks(place)
	if err != nil {
		return ir.Absent, place
	}
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return ir.File, to
	}
	return ir.Dir, to
}

// A covered file is, for root, an empty one of firejail's, so reading asks for the contents.

// start is a start of a shell's command under the profile. Root has the other user made for it, in a mount namespace, since
// firejail starts for no user without an entry of its own (firejail-users(5)); before is done there.
func (c *castle) start(before, command string) *exec.Cmd {
	words := []string{"firejail", "--profile=" + c.dir + "/p.profile", "--", "/bin/sh", "-c", command}
	if c.who != nil {
		id := strconv.Itoa(int(c.who.Uid))
		before += `mount --bind "$0/passwd" /etc/passwd && `
		words = append([]string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"}, words...)
	}
	if before != "" {
		words = append([]string{"unshare", "--mount", "/bin/sh", "-c", before + `exec "$@"`, c.dir}, words...)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env, cmd.Dir = []string{"PATH=/usr/bin:/bin", "HOME=" + c.dir + "/home"}, c.ws
	return cmd
}

// try runs a shell's command under the profile, and reports whether it succeeded.
func (c *castle) try(command string) bool {
	out, err := c.start("", "echo started; "+command).CombinedOutput()
	if strings.Contains(string(out), "the user is not allowed to use Firejail") {
		c.t.Skip("the administrator of this host lets only listed users use firejail (firejail-users(5))")
	}
	var exit *exec.ExitError
	if !strings.Contains(string(out), "started") || err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return err == nil
}

func (c *castle) cell(path string, a ir.Aspect) ir.Row {
	id := ir.DefaultRule
	if r := c.view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(ir.In(path))}).Rule; r != nil {
		id = c.ids[r]
	}
	row, _ := c.ledger.Cell(ir.FS, id, a, 0, 0)
	return row
}

// TestKernel: the real firejail permits exactly the operations that the profile leads to expect, and each that is not
// the policy's is in the ledger.
func TestKernel(t *testing.T) {
	for name, who := range map[string]*syscall.Credential{"own": nil, "unprivileged": {Uid: 12345, Gid: 12345}} {
		t.Run(name, func(t *testing.T) {
			if who != nil && os.Geteuid() != 0 {
				t.Skip("runs as an unprivileged user already")
			}
			c := newCastle(t, who)
			for path, uses := range map[string]map[ir.Capability]string{
				".env": {ir.Read: "grep -q sh .env", ir.Update: ": >>.env"}, "free": {ir.Read: "grep -q sh free", ir.Update: ": >>free"},
				"keys/key": {ir.Read: "grep -q sh keys/key"}, "docs/page": {ir.Read: "grep -q sh docs/page", ir.Update: ": >>docs/page", ir.Execute: "docs/page", ir.Delete: "rm -f docs/page"},
				"docs/out/file": {ir.Update: ": >>docs/out/file", ir.Read: "grep -q sh docs/out/file"}, "docs/out/new": {ir.Create: ": >docs/out/new"},
				"docs/new": {ir.Create: ": >docs/new"}, "sub/secret": {ir.Read: "grep -q sh sub/secret", ir.Delete: "rm -f sub/secret"}, "new": {ir.Create: ": >new"},
				"it's $HOME (a)": {ir.Read: `grep -q sh "it's "*`}, " a~b": {ir.Read: `grep -q sh " a~b"`},
			} {
				for capability, command := range uses {
					c.compare(path, capability, command)
				}
			}
			for _, command := range []string{
				"cat ../outside/secret", "ls ../outside", "cat /etc/shadow", "ls /root/.ssh", "ls /sys/kernel", "ls /var/lib", "unshare -U true", "cat /proc/1/root" + c.dir + "/outside/secret",
				": 3<>/proc/sys/kernel/core_pattern", "mv sub/secret other", "mount -t tmpfs none docs",
			} {
				if c.try(command) {
					t.Errorf("%s is permitted", command)
				}
			}
		})
	}
}

// compare tries one operation and compares it with the mounts, with the policy and with the ledger.
func (c *castle) compare(path string, capability ir.Capability, command string) {
	c.t.Helper()
	at := ir.In(path)
	kernel, policy := c.try(command), c.view.Decide(ir.Access{Cap: capability, On: ir.Direct(at)}).Allowed()
	if foreseen := c.table.Access(capability, at.String()); kernel != foreseen {
		c.t.Errorf("%s: the kernel says %v, and the profile %v", command, kernel, foreseen)
	}
	row := c.cell(path, ir.AspectOf(capability))
	if kernel && !policy && row.Is.Held() || !kernel && policy && row.Is == ir.Exact {
		c.t.Errorf("%s: the kernel says %v, the policy %v, and the ledger %+v", command, kernel, policy, row)
	}
	if (path == "new" || path == "docs/out/new") && kernel {
		_ = os.Remove(c.ws + "/" + path)
	}
}
