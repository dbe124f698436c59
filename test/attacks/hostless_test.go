//go:build linux

package attacks_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// hostScene is a supervised tool that reads.
var hostScene = scene{
	tool: "#!/bin/sh\nread -r a < src/a; [ \"$a\" ] && echo GOOD $a\necho x > src/b && echo GOOD wrote\n",
	toml: "access.fs = [\n{ path = \".\", read = true, write = true, execute = true },\n{ path = \".env\" },\n]",
}

// doors are the ways to start a tool, and to ask about it, as words of a shell that becomes accessc.
var doors = map[string]string{
	"exec": `exec "$0" exec -C "$WS" --no-prompt t`,
	"run":  `exec "$0" run -C "$WS" --no-prompt --deny .env bin/tool`,
	"serve": `exec "$0" serve -C "$WS" --stdio <<E
{"id":1,"method":"hello","params":{"versions":[7,1]}}
{"id":2,"method":"start","params":{"tool":"t"}}
E`,
	"can": `exec "$0" can -C "$WS" t read src/a`,
}

// enter opens a door as the user behind words of root's.
func (p *place) enter(before, door string) (out string, status int) {
	ctx := await.Context(p.t)
	cmd := p.command(ctx, "version")
	id := strconv.Itoa(p.uid)
	cmd.Env = append(cmd.Env, "WS="+p.ws, "DOOR="+doors[door])
	script := before + "exec setpriv --reuid " + id + " --regid " + id + ` --clear-groups -- sh -c "$DOOR" "$0"`
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", strings.Replace(script, "fork exec", "fork", 1), cmd.Path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	text, _ := cmd.CombinedOutput()
	if ctx.Err() != nil {
		p.t.Errorf("%s does not end", door)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// refused opens a door, and expects a refusal that says something.
func (p *place) refused(before, door, says string) {
	out, got := p.enter(before, door)
	status, known := map[string]int{"exec": 125, "run": 125, "can": 2}[door] // of serve the answer says it
	if strings.Contains(out, "GOOD") || !strings.Contains(out, says) || known && got != status {
		p.t.Errorf("status %d, and no refusal that says %q:\n%s", got, says, out)
	}
}

// TestHostNotKnown: a start where the host does not say what a policy needs was let through: an unreadable list of
// mounts counted as none of the kernel's, and with the /proc of another process namespace programs were killed or did
// not end.
func TestHostNotKnown(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	bin := build(t, []scene{hostScene})
	for _, c := range []struct {
		name, before, says string
		doors              []string
	}{
		{
			"list of mounts", `mkdir none && mount --bind none /proc/$$/task && `, "mounts of this host are not known",
			[]string{"exec", "run", "serve", "can"},
		},
		{
			"processes of another namespace", "exec unshare --pid --fork ", "/proc is of another process namespace",
			[]string{"exec", "run", "serve"},
		},
	} {
		for _, door := range c.doors {
			t.Run(c.name+"/"+door, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, hostScene, bin, nobody)
				p.write("src/a", "fine")
				p.refused(c.before, door, c.says)
			})
		}
	}
}

// TestSharedWorkspace: a supervised tool has memory of its own run below /dev/shm, so that it had nothing of a
// workspace there, and can said yes.
func TestSharedWorkspace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the doors are opened by root")
	}
	bin := build(t, []scene{hostScene})
	t.Setenv("TMPDIR", "/dev/shm")
	p := newPlace(t, hostScene, bin, nobody)
	p.write("src/a", "fine")
	for door := range doors {
		p.refused("", door, "lies in /dev/shm, where")
	}
}

// TestMountNotText: a mount of the kernel's whose name is not UTF-8 stops the starts alone that grant what is around
// it, and says why: the advice to build again led nowhere.
func TestMountNotText(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	bin := build(t, []scene{hostScene})
	const mounts = `d=$(printf 'src/d/bad\377') && mkdir "$d" && mount -t proc proc "$d" && `
	for rules, stops := range map[string]bool{
		"{ path = \".\", read = true, execute = true },":                                                     true,
		"{ path = \"bin\", read = true, execute = true },\n{ path = \"src/a\", read = true },":               false,
		"{ path = \".\", read = true, write = true, execute = true },\n{ path = \"src/d\" },":                false,
		"{ path = \"bin\", read = true, execute = true },\n{ path = \"src\", read = true, write = true },":   false,
		"{ path = \"bin\", read = true, execute = true },\n{ path = \"src\", read = true, execute = true },": true,
	} {
		p := newPlace(t, scene{tool: hostScene.tool, toml: "access.fs = [\n" + rules + "\n]"}, bin, nobody)
		p.write("src/a", "fine")
		p.mkdir("src/d")
		if stops {
			p.refused(mounts, "exec", "a name that is not UTF-8")
		} else if out, _ := p.enter(mounts, "exec"); !strings.Contains(out, "GOOD fine") {
			t.Errorf("%s\n%s", rules, out)
		}
	}
}
