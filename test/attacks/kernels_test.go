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
	"github.com/accessc/accessc/test/irtest"
)

// showsKernel has the user mount what the kernel shows below the workspace, one file system more while the tool runs.
const showsKernel = `
for f in proc sysfs cgroup2 devtmpfs devpts mqueue tracefs debugfs configfs securityfs bpf pstore; do
	mkdir k/$f && mount -t $f $f k/$f 2>/dev/null || rmdir k/$f
done
mkdir k/bound && mount --bind /proc/sys k/bound && [ -d k/proc/self ] || exit 77
# A kernel may lack overlays.
mkdir k/over && mount -t overlay over -o lowerdir=$PWD/src:/sys k/over 2>/dev/null || rmdir k/over
mount -t tmpfs files k/sysfs/kernel && echo TOP-SECRET > k/sysfs/kernel/note && chmod 755 k/sysfs/kernel || exit 77
for f in k/proc/version k/sysfs/kernel/note k/bound/kernel/hostname; do
	$AS can -C . t read $f | grep -q '^no ' || echo LEAK can says yes to $f
done
"$@" & tool=$!
if [ "$LATE" ]; then
	read -r ready < src/ready
	mount -t proc proc k/late
	echo x > src/gone
fi
wait $tool
`

// TestKernelBelow: a proc file system below the workspace had the memory and the variables of all of the user's processes, and for root the
// settings of the kernel; others below it were as open.
func TestKernelBelow(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	const all = "{ path = \".\", read = true, write = true, execute = true },\n"
	scenes := map[string]scene{
		"judged": {tool: "kernels", args: []string{"late"}, toml: "access.fs = [\n" + all + "{ path = \".env\" },\n]"},
		"whole":  {tool: "kernels", args: []string{"late"}, toml: "access.fs = [\n" + all + "]"},
		"itself": {tool: "kernels", args: []string{"late"}, toml: "access.fs = [\n" + all + "{ path = \"k/proc\", read = true },\n{ path = \"k/late/1\", read = true },\n]"},
		"alone": {
			tool: "kernels", toml: "access.accept = [\"fs.metadata\", \"fs.protected\", \"fs.move\", \"fs.revoke\", \"fs.create\"]\naccess.fs = [\n" + all + "]",
		},
		"reading": {tool: "kernels", toml: "access.fs = [\n{ path = \".\", read = true, execute = true },\n]"},
	}
	bin := build(t, []scene{{tool: "kernels"}})
	for name, s := range scenes {
		for user, uid := range players(true) {
			// In the gate each policy meets one of them: settings are root's, other processes the user's.
			if root := name == "judged" || name == "alone"; !irtest.Full() && root != (uid == 0) {
				continue
			}
			t.Run(user+"/"+name, func(t *testing.T) {
				t.Parallel()
				showKernel(t, s, bin, uid)
			})
		}
	}
}

// showKernel plays a scene with a tool of a user.
func showKernel(t *testing.T, s scene, bin string, uid int) {
	p := newPlace(t, s, bin, uid)
	p.mkdir("k")
	p.mkdir("k/late")
	p.write("src/a", "fine")
	p.fifo("src/ready")
	p.fifo("src/gone")
	cmd := p.command(await.Context(t), append([]string{"exec", "-C", p.ws, "--no-prompt", "t"}, s.args...)...)
	id := strconv.Itoa(uid)
	as := []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--", cmd.Path}
	cmd.Env = append(cmd.Env, "AS="+strings.Join(as, " "), "LATE="+strings.Join(s.args, ""))
	cmd.Path, cmd.Args = "/bin/sh", append(append([]string{"sh", "-c", showsKernel, "sh"}, as...), cmd.Args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	data, err := cmd.CombinedOutput()
	out := string(data)
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 77 {
		t.Skip(out)
	}
	if !strings.Contains(out, "GOOD read beside it") {
		t.Error("the tool cannot read beside it")
	}
	if err != nil || strings.Contains(out, "LEAK") || strings.Contains(out, secret) {
		t.Errorf("%v\n%s", err, out)
	}
}
