//go:build linux

package attacks_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// takesAway has the user mount a file system where the policy denies everything, and take it away while the tool holds a directory on it.
const takesAway = `
mount -t tmpfs disk disk || exit 77
for f in usr/share/k ./memfd:k ".$PWD/src/a" usr/share/program; do mkdir -p "disk/${f%/*}" 2>/dev/null; echo TOP-SECRET > "disk/$f"; done
cp /bin/true disk/usr/share/program
chown -R --reference=. disk
"$@" & tool=$!
read -r ready < src/ready
rm disk/memfd:k
exec 9<disk
umount -l disk
echo x > src/gone
wait $tool || exit
read -r text < "/proc/self/fd/9$PWD/src/a" && [ "$text" = TOP-SECRET ] && [ "$(ls "/proc/self/fd/9$PWD/src")" = a ] || echo LEAK changed
`

// TestMountTakenAway: the kernel names a file of a mount that was taken away (MNT_DETACH) by its path in that mount alone, and the supervisor judged
// it by that name: a file at usr/share of a denied disk could be read, as those of /usr/share can.
func TestMountTakenAway(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	for user, uid := range players(false) {
		t.Run(user, func(t *testing.T) { takeAway(t, uid) })
	}
}

// takeAway plays the scene with a tool of a user.
func takeAway(t *testing.T, uid int) {
	s := scene{tool: "detached", toml: "access.fs = [\n{ path = \".\", read = true, write = true, execute = true },\n{ path = \"disk\" },\n]"}
	p := newPlace(t, s, build(t, []scene{s}), uid)
	p.mkdir("disk")
	p.write("src/a", "fine")
	p.fifo("src/ready")
	p.fifo("src/gone")
	cmd := p.command(await.Context(t), "exec", "-C", p.ws, "--no-prompt", "t")
	id := strconv.Itoa(uid)
	as := []string{"sh", "-c", takesAway, "sh", "setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--", cmd.Path}
	cmd.Path, cmd.Args = "/bin/sh", append(as, cmd.Args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	data, err := cmd.CombinedOutput()
	out := string(data)
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 77 {
		t.Skip(out)
	}
	for _, want := range []string{"GOOD a file of memory", "GOOD read beside it"} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q", want)
		}
	}
	if err != nil || strings.Contains(out, "LEAK") || strings.Contains(out, secret) {
		t.Errorf("%v\n%s", err, out)
	}
}
