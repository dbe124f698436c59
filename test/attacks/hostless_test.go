//go:build linux

package attacks_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// hostScene is a supervised tool that reads.
var hostScene = scene{
	tool: "#!/bin/sh\nread -r a < src/a && echo GOOD $a\necho x > src/b && echo GOOD wrote\n",
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

// through opens a door as the user behind words of root's, and expects a refusal that says something.
func (p *place) through(ctx context.Context, before, door, says string) {
	cmd := p.command(ctx, "version")
	id := strconv.Itoa(p.uid)
	cmd.Env = append(cmd.Env, "WS="+p.ws, "DOOR="+doors[door])
	script := before + "exec setpriv --reuid " + id + " --regid " + id + ` --clear-groups -- sh -c "$DOOR" "$0"`
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", strings.Replace(script, "fork exec", "fork", 1), cmd.Path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	status, known := map[string]int{"exec": 125, "run": 125, "can": 2}[door] // of serve the answer says it
	if ctx.Err() != nil || strings.Contains(string(out), "GOOD") || !strings.Contains(string(out), says) {
		p.t.Errorf("%v, and no refusal that says %q:\n%s", err, says, out)
	}
	if got := cmd.ProcessState.ExitCode(); known && got != status {
		p.t.Errorf("status %d, not %d", got, status)
	}
}

// TestHostNotKnown: a start where the host does not say what a policy needs was let through: an unreadable list of mounts counted as none of the
// kernel's, and with the /proc of another process namespace programs were killed or did not end.
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
				p.through(await.Context(t), c.before, door, c.says)
			})
		}
	}
}

// TestSharedWorkspace: a supervised tool has memory of its own run below /dev/shm, so that it had nothing of a workspace there, and can said yes.
func TestSharedWorkspace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the doors are opened by root")
	}
	bin := build(t, []scene{hostScene})
	t.Setenv("TMPDIR", "/dev/shm")
	p := newPlace(t, hostScene, bin, nobody)
	p.write("src/a", "fine")
	for door := range doors {
		p.through(await.Context(t), "", door, "lies in /dev/shm, where")
	}
}
