//go:build linux

package containers_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// gaps are those of the policy in a container without accessc.
var gaps = []string{"commands.args", "commands.program", "fs.create", "fs.default", "fs.execute", "fs.late", "fs.protected", "fs.replaced", "fs.revoke", "fs.write"}

// accepting are the arguments of oci for a container without accessc.
func accepting() []string {
	args := []string{"--mounts", "t"}
	for _, gap := range gaps {
		args = append(args, "--accept", gap)
	}
	return args
}

// bound has the programs of this host in the image, by a mount that cannot be written to.
func bound(more func(*specs.Spec)) func(*specs.Spec) {
	return func(c *specs.Spec) {
		for i := range c.Mounts {
			if c.Mounts[i].Destination == "/usr" {
				c.Mounts[i].Options = []string{"bind", "ro"}
			}
		}
		if more != nil {
			more(c)
		}
	}
}

// TestMountsHold: without accessc inside, make works, and the tool gets the access that, by the ledger, mounts
// cannot keep from it, and no more.
func TestMountsHold(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project(`
try build test -s built
try make-new sh -c 'echo x > a/new && mv a/new a/newer && rm a/newer'
try drop sh -c ': > drop/new'
show read cat a/b/secret
try write sh -c 'echo x > a/b/secret'
try append sh -c 'echo x >> a/b/secret'
try execute a/b/secret
try remove rm -f a/b/secret
try move mv a/b/secret a/c
try move-parent mv a/b a/d
try move-grandparent mv a e
try replace sh -c 'echo x > a/x && mv a/x a/b/secret'
show link sh -c 'ln a/b/secret f && cat f'
show symlink sh -c 'ln -s a/b/secret g && cat g'
show list-private sh -c 'ls private | grep .'
show read-private cat private/key
try make-private touch private/new
try write-fixed sh -c 'echo x > fixed/f'
try append-fixed sh -c 'echo x >> fixed/f'
try make-fixed touch fixed/new
try remove-fixed rm -f fixed/f
try metadata-fixed chmod 0600 fixed/f
try read-fixed cat fixed/f
try start-fixed fixed/f
try write-root touch /new
try write-usr touch /usr/new
try write-etc sh -c 'echo x > /etc/passwd'
try write-dev touch /dev/new
try remount mount -o remount,bind,rw /usr
try unmount umount "$PWD/a/b/secret"
try mount mount -t tmpfs none a
try namespace unshare -Ur umount "$PWD/a/b/secret"
try device mknod whiteout c 0 0
try fifo mkfifo pipe
try set-id sh -c 'cp /bin/true own && chmod 4755 own'
try kernel-memory dd if=/proc/kcore of=/dev/null count=1
try setting sh -c 'echo x > /proc/sys/kernel/hostname'
try trigger sh -c 'echo s > /proc/sysrq-trigger'
try devices test -e /sys/class
try socket perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 1'
try network perl -MSocket -e 'socket(S, AF_INET, SOCK_STREAM, 0) or exit 1'
try type-ahead perl -e '$x = "x"; ioctl(STDIN, 0x5412, $x); exit !!$!{ENOSYS}'
try lease perl -e 'open(F, ">", "leased"); close F; open(F, "<", "leased"); fcntl(F, 1024, 0) or exit 1'
try outside cat "$OUTSIDE"/secret
try shared sh -c 'echo x > /dev/shm/x && cat /dev/shm/x'
try tmp sh -c 'echo x > "$TMPDIR/x"'
try home sh -c 'echo x > "$HOME/x"'
try unlisted ls
try over-drop sh -c 'echo y > drop/old'
try image-file cat /etc/shadow
try machine cat /proc/version
true
`)
		p.write(p.ws+"/private/key", secret+"\n")
		p.write(p.ws+"/fixed/f", "#!/bin/sh\necho fixed\n")
		p.write(p.ws+"/drop/old", "old\n")
		p.write(p.rootfs+"/etc/shadow", "x\n")
		p.write(p.dir+"/outside/secret", secret)
		p.write(p.ws+"/accessc.toml", policy+`
[[tools.t.access.fs]]
path = "private"
[[tools.t.access.fs]]
path = "fixed"
read = true
[[tools.t.access.fs]]
path = "drop"
read = true
create = true
[tools.t.access.commands]
make = {}
sh = {}
`)
		p.configure(bound(func(c *specs.Spec) { c.Process.Env = append(c.Process.Env, "OUTSIDE="+p.dir+"/outside", "TOKEN=LEAK") }))
		if out, err := p.describe("--mounts", "t"); err == nil || !strings.Contains(out, "--accept") || !strings.Contains(out, "commands.program") {
			t.Errorf("without the gaps: %v %s", err, out)
		}
		leaks := []string{"unlisted", "over-drop", "image-file", "machine"} // commands.program, fs.write, fs.default, fs.default
		works := []string{"build", "fifo", "make-new", "drop", "read-fixed", "shared", "tmp", "home"}
		want := map[string]string{}
		for line := range strings.Lines(readFile(t, p.ws+"/attempts")) {
			words := strings.Fields(line)
			if len(words) < 3 || words[0] != "try" && words[0] != "show" {
				continue
			}
			want[words[1]] = "refused"
			if slices.Contains(leaks, words[1]) || slices.Contains(works, words[1]) {
				want[words[1]] = "did"
			}
		}
		p.run(want, accepting()...)
		for name, text := range map[string]string{"a/b/secret": secret + "\n", "private/key": secret + "\n", "fixed/f": "#!/bin/sh\necho fixed\n"} {
			if readFile(t, p.ws+"/"+name) != text {
				t.Errorf("%s was changed", name)
			}
		}
		if _, err := exec.LookPath("perl"); err != nil {
			t.Error("there is no perl, without which sockets are not tried")
		}
		if _, err := os.Stat(filepath.Join(p.bundle, "accessc")); err == nil {
			t.Error("the bundle has accessc in it")
		}
		p.stated(leaks)
	})
}

// stated looks for the leaks in the ledger of the artifact that build writes.
func (p *place) stated(leaks []string) {
	p.t.Helper()
	out, err := p.command(p.t.Context(), p.ws, accessc(p.t), "build", "--resolve", "--no-prompt", "--target", "oci-mounts", "--out", p.dir+"/home/out", "t").CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	var doc struct {
		Ledger []struct {
			Is     string   `json:"is"`
			Gap    string   `json:"gap"`
			Rules  []string `json:"rules"`
			Causes []string `json:"causes"`
		} `json:"ledger"`
	}
	if err := json.Unmarshal([]byte(readFile(p.t, p.dir+"/home/out/t/oci-mounts.json")), &doc); err != nil {
		p.t.Fatal(err)
	}
	of := map[string]string{"unlisted": "commands.program", "over-drop": "fs.write", "image-file": "fs.default", "machine": "fs.default"}
	for _, leak := range leaks {
		found := false
		for _, row := range doc.Ledger {
			found = found || row.Is == "weaker" && row.Gap == of[leak]
		}
		if !found {
			p.t.Errorf("no row of the ledger states %s", leak)
		}
	}
}

// TestMountsRefused: a volume that can be written to is refused without accessc inside.
func TestMountsRefused(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("echo LEAK\n")
		p.configure(bound(func(c *specs.Spec) {
			c.Mounts = append(c.Mounts, specs.Mount{Destination: "/data", Type: "bind", Source: "/var", Options: []string{"rbind", "rw"}})
		}))
		if out, err := p.describe(accepting()...); err == nil || !strings.Contains(out, "/data can be written to") {
			t.Errorf("%v %s", err, out)
		}
	})
}
