package firejail_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/testbuild"
)

// TestDevices: the private /dev that firejail makes has none of the host's cameras, microphones, keyboards, disks and
// printers, and not the socket of its log. The host's are made for the test, in a mount namespace.
func TestDevices(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make devices")
	}
	c := newCastle(t, nil)
	const names = "dri/card0 dvb/adapter0 hidraw0 input/event0 nvidia0 snd/controlC0 sr0 usb/lp0 video0 log"
	before := `mkdir "$0/dev" && mount -t tmpfs none "$0/dev" && cd "$0/dev" && mkdir dri dvb input pts shm snd usb &&
for d in 'null 3' 'zero 5' 'full 7' 'random 8' 'urandom 9'; do mknod -m 666 ${d% *} c 1 ${d#* } || exit 9; done
mknod -m 666 tty c 5 0 && for d in ` + names + `; do mknod -m 666 $d c 1 5 || exit 9; done
mount --bind /dev/pts pts && mount --rbind . /dev && cd "$0/ws" && head -c 1 /dev/video0 >/dev/null && `
	out, err := c.start(before, "head -c 1 /dev/zero >/dev/null && echo started; for d in "+names+"; do [ \"$(head -c 1 /dev/$d | od -An -tx1)\" ] && echo LEAK $d; done 2>/dev/null; true").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "started") || strings.Contains(string(out), "LEAK") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTreeOfRoot: / is the host's, and stays as it is when root's tool makes or changes names there.
func TestTreeOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("another user may not write there")
	}
	c := newCastle(t, nil)
	t.Cleanup(func() {
		for _, pattern := range []string{"/accessc-tree-*", "/run/accessc-tree-*", "/run/firejail/accessc-tree-*", "/run/firejail/profile/accessc-tree-*"} {
			left, _ := filepath.Glob(pattern)
			for _, f := range left {
				_ = os.Remove(f)
			}
		}
	})
	for _, command := range []string{
		"mktemp /accessc-tree-XXXXXX", "mktemp /run/accessc-tree-XXXXXX", "mktemp /run/firejail/accessc-tree-XXXXXX", "mktemp /run/firejail/profile/accessc-tree-XXXXXX",
		"touch /", "touch /run", ": >>/run/firejail/firejail-run.lock", "mktemp /usr/accessc-tree-XXXXXX",
	} {
		if c.try(command) {
			t.Errorf("%s is permitted", command)
		}
	}
	// Where /run is a file system of its own it cannot be kept, as the ledger says.
	if err := c.start("mount -t tmpfs none /run && ", "mktemp /run/accessc-tree-XXXXXX").Run(); err != nil {
		t.Errorf("the ledger states more than there is: %v", err)
	}
	if !c.try(": >>free") {
		t.Error("the workspace cannot be written to")
	}
}

// TestTemporary: files can be made in the directory for temporary files beside the workspace. Cause: all that lay
// around the workspace was covered.
func TestTemporary(t *testing.T) {
	if c := newCastle(t, nil); !c.try("mktemp -p " + c.dir + "/tmp") {
		t.Error("it is covered")
	}
}

// TestTyping: a tool that starts in a session of its own, as the documentation says, types nothing into the terminal
// from which it was started.
func TestTyping(t *testing.T) {
	for _, program := range []string{"script", "setsid", "perl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no " + program)
		}
	}
	c := newCastle(t, nil)
	typing := `perl -e 'open(T, "+<", "/dev/tty") or open(T, "+<&", 0); my $c = "#"; print ioctl(T, 0x5412, $c) ? "LEAK\n" : "started: $!\n"'`
	if err := testbuild.WriteFile(c.dir+"/typing", []byte(typing), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(c.dir+"/typing", c.ws+"/typing"); err != nil {
		t.Fatal(err)
	}
	run := func(start string) string {
		cmd := exec.Command("script", "-qec", start+"firejail --profile="+c.dir+"/p.profile -- /bin/sh ./typing", "/dev/null")
		cmd.Env, cmd.Dir = c.start("", "").Env, c.ws
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := run("setsid -w "); !strings.Contains(out, "started") || strings.Contains(out, "LEAK") {
		t.Errorf("with a session of its own: %s", out)
	}
	// The ledger assumes one of both, and not for nothing.
	if kernel, _ := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti"); string(kernel) == "1\n" && !strings.Contains(run(""), "LEAK") {
		t.Error("without a session of its own the tool types nothing, so the ledger assumes too much")
	}
}

// TestOwnDirectories: the tool has shared memory and a temporary directory of its own, as the base grants them. Where
// /run/shm is a link to /dev/shm, firejail followed it and covered both; and an unprivileged user's TMPDIR does not get
// through to a program that is set-user-id.
func TestOwnDirectories(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make the link")
	}
	for name, who := range map[string]*syscall.Credential{"own": nil, "unprivileged": {Uid: 12345, Gid: 12345}} {
		t.Run(name, func(t *testing.T) {
			c := newCastle(t, who)
			link := "mount -t tmpfs none /run && ln -s /dev/shm /run/shm && "
			out, err := c.start(link, `: >/dev/shm/accessc-own && : >"$TMPDIR/own" && echo did`).CombinedOutput()
			if err != nil || string(out) != "did\n" {
				t.Errorf("%v\n%s", err, out)
			}
			if _, err := os.Lstat("/dev/shm/accessc-own"); err == nil {
				_ = os.Remove("/dev/shm/accessc-own")
				t.Error("shared memory is the host's")
			}
			if _, err := os.Lstat(c.dir + "/tmp/own"); err != nil {
				t.Errorf("the temporary directory: %v", err)
			}
		})
	}
}

// TestAroundShown: of a directory around granted places nothing else is shown. Cause: firejail replaces the home that
// the database of users names and not the directory of / around it, and in /usr each directory and not /usr: whatever
// lay beside was shown.
func TestAroundShown(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has another user's home elsewhere")
	}
	user := &syscall.Credential{Uid: 12345, Gid: 12345}
	c := &castle{t: t, dir: directory(t), who: user}
	c.home = c.dir + "/people/u"
	c.lay(t, world)
	for _, d := range []string{"/people", "/people/u", "/people/u/tmp", "/people/other"} {
		c.make(t, c.dir+d, ir.Dir)
	}
	secrets := []string{"/outside/secret", "/.hidden", "/people/other/secret", "/people/.hidden", "/people/u/secret"}
	for _, f := range secrets {
		c.make(t, c.dir+f, ir.File)
	}
	tool := ir.NewTool("t")
	tool.Protects = false
	c.ws, c.temp = c.home+"/ws", c.home+"/tmp"
	c.make(t, c.ws, ir.Dir)
	if refused := c.compile(t, tool, world, world); refused != "" {
		t.Fatal(refused)
	}
	for _, f := range secrets {
		if c.try("cat " + c.dir + f) {
			t.Errorf("%s is shown", f)
		}
	}
	if !c.try("echo x >new && cat new && mktemp -p " + c.dir + "/people/u/tmp") {
		t.Error("the workspace, or the directory for temporary files beside it, cannot be used")
	}
}

// TestPartOfUsr: a policy with some directories of /usr shows no other.
func TestPartOfUsr(t *testing.T) {
	c := &castle{t: t, dir: directory(t)}
	c.lay(t, world)
	tool := ir.NewTool("t")
	tool.Protects = false
	c.without = []string{"/usr", "/usr/sbin"} // but /bin and /lib lead there
	if refused := c.compile(t, tool, world, world); refused != "" {
		t.Fatal(refused)
	}
	for _, dir := range []string{"/usr/include", "/usr/local", "/usr/share/man", "/usr/sbin"} {
		if out, _ := c.run(t, "ls "+dir+"/ 2>/dev/null"); out != "" { // root lists a cover, in which is nothing
			t.Errorf("%s is shown: %s", dir, out)
		}
	}
	for _, dir := range []string{"/usr/bin", "/usr/share/zoneinfo/Etc"} {
		if !c.try("ls " + dir + "/") {
			t.Errorf("%s is not shown", dir)
		}
	}
}

// TestSetID: the ledger assumes that no other user starts files of the tool, and not for nothing.
func TestSetID(t *testing.T) {
	c := newCastle(t, nil)
	out, _ := c.run(t, "cp /bin/true made && chmod 4755 made && echo made")
	info, err := os.Stat(c.ws + "/made")
	if err != nil || info.Mode()&os.ModeSetuid == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	has := func(path string) bool {
		row := c.Cell(ir.In(path), ir.AspectMetadata)
		return row.Is == ir.Assumed && slices.ContainsFunc(row.Causes, func(x ir.Cause) bool { return x.ID == "mounts.set-id" })
	}
	if !has("free") || has("docs/page") || has(".env") {
		t.Errorf("the ledger says %v of what may be written, %v and %v of the rest", has("free"), has("docs/page"), has(".env"))
	}
}
