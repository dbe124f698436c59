package firejail_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/firejail"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/mnt"
	"github.com/accessc/accessc/test/testbuild"
)

// castle is a workspace with something of each kind, under a profile.
type castle struct {
	*mnt.Foretold
	t       *testing.T
	dir, ws string
	who     *syscall.Credential
	// home is the home of the other user in the database of users; / without an entry.
	home string
	// temp is the directory for temporary files; without such a directory it is beside the workspace.
	temp string
	// without are places that the base is to lack.
	without []string
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

// fataler is a test, or one case of a property.
type fataler interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// newCastle lays the fixed workspace out and compiles the fixed policy.
func newCastle(t *testing.T, who *syscall.Credential) *castle {
	tool := ir.NewTool("t")
	tool.Protects = false
	tool.FS = []ir.FSRule{
		rule("", ir.All), rule(".env", 0), rule("keys", 0), rule("docs", ir.Caps(ir.Read)), rule("docs/out", ir.Caps(ir.Read, ir.Update)), rule("sub/secret", 0), rule("it's $HOME (a)", 0), rule(" a~b", 0),
	}
	c := &castle{t: t, dir: directory(t), who: who}
	c.lay(t, world)
	if refused := c.compile(t, tool, world, world); refused != "" {
		t.Fatal(refused)
	}
	return c
}

// directory returns a new directory that every user may pass. The test is skipped where there is no firejail.
func directory(t *testing.T) string {
	if _, err := exec.LookPath("firejail"); err != nil {
		t.Skip("firejail is not installed")
	}
	base, err := os.MkdirTemp("", "accessc-firejail-")
	if err == nil {
		err = os.Chmod(base, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	return base
}

// make makes a file or directory of the castle's user.
func (c *castle) make(t fataler, place string, kind ir.NodeKind) {
	var err error
	if kind == ir.Dir {
		err = os.MkdirAll(place, 0o755)
	} else {
		err = testbuild.WriteFile(place, []byte("#!/bin/sh\n"), 0o755)
	}
	if err == nil && c.who != nil {
		err = os.Lchown(place, int(c.who.Uid), int(c.who.Gid))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lay makes the workspace as it is in a world, with the directories beside it.
func (c *castle) lay(t fataler, w irtest.World) {
	c.ws = c.dir + "/ws"
	for _, d := range []string{"", "/home", "/tmp", "/outside"} {
		c.make(t, c.dir+d, ir.Dir)
	}
	c.make(t, c.dir+"/outside/secret", ir.File)
	for _, p := range slices.Sorted(maps.Keys(w)) {
		c.make(t, strings.Replace(p, "${workspace}", c.ws, 1), w[p])
	}
}

// compile compiles a policy for the tree, which is as in the world start and goes on as now, and replaces the symbol of
// the temporary directory.
func (c *castle) compile(t fataler, tool *ir.Tool, start, now irtest.World) (refused string) {
	facts := ir.Facts{Bindings: &ir.Bindings{Workspace: c.ws, Home: c.dir + "/home"}, Base: []ir.FSRule{}}
	for _, r := range ir.BaseRules(ir.BaseSystem, ir.Linux) {
		if p, err := filepath.EvalSymlinks(r.At.String()); err == nil && !ir.LinuxOwn(r.At.Path) && !slices.Contains(c.without, p) {
			r.At = ir.Sys(strings.TrimPrefix(p, "/"))
			facts.Base = append(facts.Base, r)
		}
	}
	target := backends.Target{Form: backends.Resolved, Facts: facts, Node: onDisk}
	out, err := firejail.Backend{}.Compile(tool, target)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Refusals) > 0 {
		return out.Refusals[0].Why
	}
	comment, lines, err := firejail.Parse(out.Data)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := backends.Ledger(comment.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	entries := mnt.Firejail(lines)
	for i := range entries {
		entries[i].Place = strings.Replace(entries[i].Place, c.ws, "${workspace}", 1)
	}
	c.Foretold = &mnt.Foretold{View: ir.NewView(tool, ir.Linux, facts), Ledger: ledger, Table: mnt.NewTable(entries, start, now), Loose: true}
	text := strings.ReplaceAll(string(out.Data), "${tmp}", cmp.Or(c.temp, c.dir+"/tmp"))
	if err := os.WriteFile(c.dir+"/p.profile", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	users, err := os.ReadFile("/etc/passwd")
	if err == nil {
		err = os.WriteFile(c.dir+"/passwd", append(users, "accessc-test:x:12345:12345::"+cmp.Or(c.home, "/")+":/bin/sh\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
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

// start is a start of a shell's command under the profile. Root has the other user made for it, in a mount namespace,
// since firejail starts for no user without an entry of its own (firejail-users(5)); before is done there.
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
	_, ok := c.run(c.t, command)
	return ok
}

// run runs a shell's command under the profile, and returns its output and whether it succeeded.
func (c *castle) run(t fataler, command string) (string, bool) {
	out, err := c.start("", "echo started; "+command).CombinedOutput()
	for range 5 {
		if !strings.Contains(string(out), "disable_file: No such file") {
			break
		}
		// A name in /run has gone while firejail covered them.
		out, err = c.start("", "echo started; "+command).CombinedOutput()
	}
	if strings.Contains(string(out), "the user is not allowed to use Firejail") {
		c.t.Skip("the administrator of this host lets only listed users use firejail (firejail-users(5))")
	}
	_, said, started := strings.Cut(string(out), "started\n")
	var exit *exec.ExitError
	if !started || err != nil && !errors.As(err, &exit) {
		profile, _ := os.ReadFile(c.dir + "/p.profile")
		t.Fatalf("%s: %v\n%s\n%s", command, err, out, profile)
	}
	return said, err == nil
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
	kernel, policy := c.try(command), c.View.Decide(ir.Access{Cap: capability, On: ir.Direct(at)})
	if foreseen := c.Table.Access(capability, at.String()); kernel != foreseen {
		c.t.Errorf("%s: the kernel says %v, and the profile %v", command, kernel, foreseen)
	}
	c.judge(c.t, command, kernel, policy, at, capability)
	if (path == "new" || path == "docs/out/new") && kernel {
		_ = os.Remove(c.ws + "/" + path)
	}
}

// judge compares an answer of the kernel with the policy and the ledger, and returns the row that speaks of a
// difference.
func (c *castle) judge(t fataler, what string, kernel bool, v ir.Verdict, at ir.Location, capability ir.Capability) (row ir.Row) {
	switch {
	case kernel && !v.Allowed():
		return c.Leak(t, what, mnt.Refused{Verdict: v})
	case !kernel && v.Allowed():
		if row = c.Cell(at, ir.AspectOf(capability)); row.Is == ir.Exact || row.Is == ir.Assumed {
			t.Fatalf("%s: the kernel refuses it, the policy does not, and the ledger says %+v", what, row)
		}
	}
	return row
}

// uses are the operations on one place that do not change what the others find, as commands of a shell, by the kind of
// node that is there.
var uses = map[ir.NodeKind]map[ir.Capability]string{
	ir.File:   {ir.Read: "grep -q sh P", ir.Update: "test -f P && : >>P", ir.Execute: "P"},
	ir.Absent: {ir.Create: "(set -C; : >P) && { true; }"},
}

// TestKernelRandom asks the real firejail under random policies.
func TestKernelRandom(t *testing.T) {
	for name, who := range map[string]*syscall.Credential{"own": nil, "unprivileged": {Uid: 12345, Gid: 12345}} {
		t.Run(name, func(t *testing.T) {
			if who != nil && os.Geteuid() != 0 {
				t.Skip("runs as an unprivileged user already")
			}
			base, n, seen := directory(t), 0, map[string]int{}
			irtest.Check(t, 300, 20, func(rt *rapid.T) {
				n++
				tool := irtest.ToolByName(rt, irtest.Plain, 5)
				tool.FS = slices.DeleteFunc(tool.FS, func(r ir.FSRule) bool { return r.External })
				w := irtest.DrawWorld(rt, 10)
				c := &castle{t: t, dir: fmt.Sprintf("%s/%d", base, n), who: who}
				c.lay(rt, w)
				if c.compile(rt, tool, w, w) != "" {
					seen["refused"]++
					return
				}
				c.random(rt, w, seen)
			})
			fmt.Printf("property %s: %v\n", t.Name(), seen)
			irtest.Happened(t, seen, "alike", "mounts.whole", "mounts.starts", "mounts.tree")
		})
	}
}

// random asks about all uses of all places of a world in one run.
func (c *castle) random(t *rapid.T, w irtest.World, seen map[string]int) {
	type question struct {
		at ir.Location
		c  ir.Capability
	}
	var asked []question
	var script strings.Builder
	for _, at := range w.Places() {
		parent, _ := at.Parent()
		kind := w.Kind(at.String())
		if w.Kind(parent.String()) != ir.Dir {
			continue
		}
		for _, capability := range slices.Sorted(maps.Keys(uses[kind])) {
			command := strings.ReplaceAll(uses[kind][capability], "P", "'"+c.ws+"/"+at.Path+"'")
			asked = append(asked, question{at, capability})
			fmt.Fprintf(&script, "if (%s) >/dev/null 2>&1; then echo 1; else echo 0; fi\n", command)
		}
	}
	said, _ := c.run(t, script.String())
	answers := strings.Fields(said)
	if len(answers) != len(asked) {
		t.Fatalf("%d answers to %d questions: %s", len(answers), len(asked), said)
	}
	for i, q := range asked {
		what, kernel := q.c.String()+" "+q.at.String(), answers[i] == "1"
		foreseen := c.Table.Access(q.c, q.at.String())
		if kernel && !foreseen && q.c == ir.Create && c.Leads(q.at) {
			// A directory of firejail's own, which leads to a granted place.
			if _, err := os.Lstat(c.ws + "/" + q.at.Path); !os.IsNotExist(err) {
				t.Fatalf("%s is on the disk: %v", q.at, err)
			}
			foreseen = true
		}
		if kernel != foreseen {
			profile, _ := os.ReadFile(c.dir + "/p.profile")
			t.Fatalf("%s: the kernel says %v, and the profile %v\n%s", what, kernel, foreseen, profile)
		}
		row := c.judge(t, what, kernel, c.View.Decide(ir.Access{Cap: q.c, On: ir.Direct(q.at)}), q.at, q.c)
		if len(row.Causes) == 0 {
			seen["alike"]++
		}
		for _, cause := range row.Causes {
			seen[string(cause.ID)]++
		}
	}
}
