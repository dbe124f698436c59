//go:build linux

package containers_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// TestSupervisedRules: rules that only a supervisor holds do so inside: which programs start, with which
// arguments, and names that a tool may make and not fill.
func TestSupervisedRules(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project(`
try listed cat a/b/open
show other-arguments cat a/b/secret
try unlisted ls
try by-loader /lib64/ld-linux-x86-64.so.2 /bin/ls
try copied sh -c 'cp /bin/ls mine && ./mine'
try make-drop sh -c ': > drop/new'
try fill-drop sh -c 'echo x > drop/full'
try over-open sh -c ': > a/b/open'
true
`)
		p.write(p.ws+"/drop/old", "old\n")
		p.write(p.ws+"/accessc.toml", policy+`
[[tools.t.access.fs]]
path = "drop"
read = true
create = true
[tools.t.access.commands]
make = {}
sh = {}
cp = {}
cat = { args = [["a/b/open"]] }
`)
		p.configure(nil)
		p.run(map[string]string{
			"listed": "did", "other-arguments": "refused", "unlisted": "refused", "by-loader": "refused", "copied": "refused",
			"make-drop": "did", "fill-drop": "did", "over-open": "did",
		}, "t")
		if got := readFile(t, p.ws+"/drop/old"); got != "old\n" {
			t.Errorf("drop/old has %q", got)
		}
	})
}

// TestHostileImage: an image that brings a program and a specification of its own in the place of accessc, a
// shell in the place of others and variables that steer the start gets the tool no further.
func TestHostileImage(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("show read cat a/b/secret\ntry write-root touch /new\ntrue\n")
		p.write(p.rootfs+"/.accessc-start/accessc", "#!/bin/sh\necho LEAK\ncat "+p.ws+"/a/b/secret\n")
		p.write(p.rootfs+"/.accessc-start/landlock.json", "{}")
		p.write(p.rootfs+"/.accessc/config.toml", policy)
		p.write(p.rootfs+"/accessc.toml", strings.ReplaceAll(policy, "secret", "other"))
		p.configure(func(c *specs.Spec) {
			c.Root.Readonly = false
			c.Process.Env = append(c.Process.Env,
				"GODEBUG=execerrdot=0,inittrace=1", "GOTRACEBACK=crash", "GOMAXPROCS=1", "GOMEMLIMIT=1", "TMPDIR="+p.ws+"/a", "XDG_STATE_HOME="+p.ws+"/state",
				"LD_PRELOAD="+p.ws+"/evil.so", "ACCESSC_CONTEXT=/x", "HOME="+p.ws, "XDG_CONFIG_HOME="+p.ws,
			)
		})
		out := p.run(map[string]string{"read": "refused", "write-root": "refused"}, "t")
		if strings.Contains(out, "init accessc") || strings.Contains(out, "LD_PRELOAD") {
			t.Errorf("the image's variables reach accessc or the tool:\n%s", out)
		}
		if _, err := os.Stat(p.ws + "/state"); err == nil {
			t.Error("accessc keeps its state where the image says")
		}
	})
}

// TestMountsInTheWay: mounts of the bundle that would show the tool other files in the places of the policy
// are refused, and those elsewhere open nothing.
func TestMountsInTheWay(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("show read cat /data/secret\nshow read-program cat /also/accessc\ntry write-program sh -c 'echo x >> /also/accessc'\ntrue\n")
		p.write(p.dir+"/data/secret", secret)
		bind := func(source, at string) func(*specs.Spec) {
			return func(c *specs.Spec) {
				c.Mounts = append(c.Mounts, specs.Mount{Destination: at, Type: "bind", Source: source, Options: []string{"rbind", "rw"}})
			}
		}
		for _, at := range []string{"/.accessc-start/landlock.json", p.ws + "/a", "/proc/self/root"} {
			p.configure(bind(p.dir+"/data", at))
			if out, err := p.describe("t"); err == nil || !strings.Contains(out, "in the way of") {
				t.Errorf("a mount at %s: %v %s", at, err, out)
			}
		}
		if err := os.MkdirAll(p.bundle+"/accessc", 0o755); err != nil {
			t.Fatal(err)
		}
		p.configure(func(c *specs.Spec) {
			bind(p.dir+"/data", "/data")(c)
			bind(p.bundle+"/accessc", "/also")(c)
		})
		before := readFile(t, accessc(t))
		p.run(map[string]string{"read": "refused", "read-program": "refused", "write-program": "refused"}, "t")
		if readFile(t, p.bundle+"/accessc/accessc") != before {
			t.Error("the tool has changed the program")
		}
	})
}

// TestSymlinksOfTheImage: an image that leads a place of the policy elsewhere is refused, and one that
// does so after that has its container end before the tool starts.
func TestSymlinksOfTheImage(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("echo LEAK\n")
		link := p.rootfs + "/.accessc-start"
		if err := os.Symlink("usr", link); err != nil {
			t.Fatal(err)
		}
		p.configure(nil)
		if out, err := p.describe("t"); err == nil || !strings.Contains(out, "the image has a symlink at") {
			t.Errorf("%v %s", err, out)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		if out, err := p.describe("t"); err != nil {
			t.Fatal(err, out)
		}
		// The workspace is mounted in etc then, and its own path leads there.
		parent := p.rootfs + p.dir
		if err := os.MkdirAll(parent, 0o755); err != nil {
			t.Fatal(err)
		}
		p.own()
		if err := os.Symlink("/etc", parent+"/ws"); err != nil {
			t.Fatal(err)
		}
		config := readFile(t, p.bundle+"/config.json")
		p.write(p.bundle+"/config.json", strings.Replace(config, `"destination": "/tmp"`, `"destination": "/other"`, 1))
		if out, err := p.start(); err == nil || strings.Contains(out, "LEAK") {
			t.Errorf("%v %s", err, out)
		}
	})
}

// TestUsers: the container's user may be another one than root, and gets a private home of its own.
func TestUsers(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		if p.uid != 0 {
			t.Skip("a user without privileges has no other one to give")
		}
		p.project("show read cat a/b/secret\ntry home sh -c 'echo x > ~/x'\nid -u\ntrue\n")
		p.configure(func(c *specs.Spec) { c.Process.User = specs.User{UID: 12345, GID: 54321} })
		p.uid = 12345
		p.own()
		p.uid = 0
		if out := p.run(map[string]string{"read": "refused", "home": "did"}, "t"); !strings.Contains(out, "12345") {
			t.Errorf("the tool is another user:\n%s", out)
		}
	})
}

// TestAgain: the command of the bundle can be started under the policy, and a bundle described again begins
// from its own configuration.
func TestAgain(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("echo LEAK\n")
		p.configure(func(c *specs.Spec) {
			c.Process.Args = []string{"sh", "-c", "cat a/b/open; cat a/b/secret; echo ended $HOME"}
		})
		original := readFile(t, p.bundle+"/config.json")
		for range 2 {
			if out, err := p.describe("--command", "t"); err != nil {
				t.Fatal(err, out)
			}
			out, err := p.start()
			if err != nil || !strings.Contains(out, "open\n") || !strings.Contains(out, "Permission denied") || !strings.Contains(out, "ended "+p.dir+"/state") ||
				strings.Contains(out, secret) || strings.Contains(out, "LEAK") {
				t.Errorf("%v\n%s", err, out)
			}
		}
		if readFile(t, p.bundle+"/config.json.orig") != original {
			t.Error("the bundle's own configuration is not kept")
		}
	})
}

// TestChangedSpecification: the container starts nothing from another specification than the one that the bundle
// was written with.
func TestChangedSpecification(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("echo LEAK\n")
		p.configure(nil)
		if out, err := p.describe("t"); err != nil {
			t.Fatal(err, out)
		}
		file := p.bundle + "/accessc/landlock.json"
		p.write(file, strings.Replace(readFile(t, file), `"a/b/secret"`, `"a/b/secreT"`, 1)+" ")
		if out, err := p.start(); err == nil || !strings.Contains(out, "has the hash") || strings.Contains(out, "LEAK") {
			t.Errorf("%v %s", err, out)
		}
	})
}

// TestGroupLimits: the container's control group holds the limits of memory and processes, and where there is
// none the container does not start.
func TestGroupLimits(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do sleep 1 & done; wait; echo all\n")
		p.write(p.ws+"/accessc.toml", policy+"\n[tools.t.access.limits]\nprocesses = 35\n")
		p.configure(nil)
		if out, err := p.describe("t"); err != nil {
			t.Fatal(err, out)
		}
		out, err := p.start()
		if p.uid != 0 && p.runtime == "crun" {
			t.Skip("crun was told to do without a control group, since this user has none to make")
		}
		if p.uid == 0 && !strings.Contains(strings.ToLower(out), "fork") || strings.Contains(out, "all\n") || err == nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// TestOtherFilter: the bundle's own filter stays, beside the one that accessc puts inside.
func TestOtherFilter(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("show read cat a/b/secret\ntry make-link ln -s x a/new\ntry build test -s built\ntrue\n")
		p.configure(func(c *specs.Spec) {
			c.Linux.Seccomp = &specs.LinuxSeccomp{DefaultAction: specs.ActAllow, Syscalls: []specs.LinuxSyscall{{Names: []string{"symlink", "symlinkat"}, Action: specs.ActErrno}}}
		})
		// The supervisor makes links in the tool's place, and is under the filter too.
		p.run(map[string]string{"read": "refused", "make-link": "refused", "build": "did"}, "t")
		p.configure(func(c *specs.Spec) {
			c.Linux.Seccomp = &specs.LinuxSeccomp{DefaultAction: specs.ActAllow, Syscalls: []specs.LinuxSyscall{{Names: []string{"pidfd_getfd"}, Action: specs.ActErrno}}}
		})
		if out, err := p.describe("t"); err == nil || !strings.Contains(out, "linux.seccomp does not allow pidfd_getfd") {
			t.Errorf("%v %s", err, out)
		}
	})
}

// TestReadOnly: a policy that grants no writing in the workspace has it mounted read-only.
func TestReadOnly(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project("try read cat a/b/open\ntry write touch a/new\ntry tmp sh -c ': > $TMPDIR/x'\ngrep \" $PWD \" /proc/self/mounts\ntrue\n")
		p.write(p.ws+"/built", "x")
		p.write(p.ws+"/accessc.toml", strings.Replace(policy, "write = true\n", "", 1))
		p.configure(nil)
		out := p.run(map[string]string{"read": "did", "write": "refused", "tmp": "did"}, "t")
		i := strings.Index(out, " "+p.ws+" ")
		if i < 0 || !slices.Contains(strings.Split(strings.Fields(out[i:])[2], ","), "ro") {
			t.Errorf("the workspace is not read-only:\n%s", out)
		}
	})
}
