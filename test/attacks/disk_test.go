//go:build linux

package attacks_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/test/testbuild"

	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// A disk has the directories of one scene for one user.
type disk struct {
	t    *testing.T
	bin  string // contains accessc and the hostile programs
	uid  int
	dir  string // contains the others
	ws   string // the workspace
	home string // the user's home
	tool string // the command of the tool t, from the workspace
	tmp  string // where accessc makes temporary directories
	seen *notes
}

// notes are the lines about leaks that the tool does not print itself.
type notes struct {
	sync.Mutex
	text string
}

// breach notes a leak.
func (d *disk) breach(format string, args ...any) {
	d.seen.Lock()
	defer d.seen.Unlock()
	d.seen.text += fmt.Sprintf("LEAK "+format+"\n", args...)
}

// told is the output of the tool, with the leaks that were noted. A % stands for the directory of the disk.
func (d *disk) told(out string) string {
	d.seen.Lock()
	defer d.seen.Unlock()
	return strings.ReplaceAll(out, d.dir, "%") + d.seen.text
}

// newDisk makes the directories, which every user may pass.
func newDisk(t *testing.T, bin, tool string, uid int) disk {
	dir, err := os.MkdirTemp("", "accessc-attack-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d := disk{t: t, bin: bin, uid: uid, dir: dir, ws: dir + "/ws", home: dir + "/home", tool: tool, tmp: "/tmp", seen: &notes{}}
	d.make(d.ws)
	d.make(d.home)
	return d
}

// make makes a directory that is the user's, with those above it.
func (d *disk) make(name string) {
	if _, err := os.Lstat(name); err == nil {
		return
	}
	d.make(filepath.Dir(name))
	if err := os.Mkdir(name, 0o755); err == nil {
		os.Lchown(name, d.uid, d.uid)
	}
}

// command is a start of accessc as the user of the disk.
func (d *disk) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(d.bin, "accessc"), args...)
	cmd.Dir = d.ws
	cmd.WaitDelay = time.Until(await.Deadline(d.t)) // for a process that keeps the output of an ended one
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + d.home, "TMPDIR=" + d.tmp, "LANG=C",
		"XDG_CONFIG_HOME=" + d.home + "/.config", "XDG_STATE_HOME=" + d.home + "/.state"}
	return d.as(cmd)
}

// busy lists the processes that run a program of the workspace, or have something of the disk among their words.
func (d *disk) busy() (out []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		exe, err := os.Readlink("/proc/" + e.Name() + "/exe")
		if err != nil { // it is none, or has ended
			continue
		}
		words, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if strings.HasPrefix(exe, d.ws+"/") || strings.Contains(string(words), d.dir+"/") {
			out = append(out, e.Name())
		}
	}
	return out
}

// as makes a command one of the user of the disk.
func (d *disk) as(cmd *exec.Cmd) *exec.Cmd {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if d.uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(d.uid), Gid: uint32(d.uid)}
	}
	return cmd
}

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

// accessc builds the program under test once and returns its directory. Every user can enter
// it.
func accessc(t *testing.T) string {
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "accessc-attacks-"); built.err != nil {
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
	return built.dir
}

// compile makes the tool of a source below testdata once.
func compile(t *testing.T, dir, source string, flags ...string) {
	bin := filepath.Join(dir, source)
	if _, err := os.Stat(bin); err == nil {
		return
	}
	scale := 1
	if irtest.Full() {
		scale = 20
	}
	args := append([]string{"-O1", "-w", "-pthread", fmt.Sprint("-DSCALE=", scale), "-o", bin + ".tmp", "testdata/" + source + ".c"}, flags...)
	out, err := exec.Command("cc", args...).CombinedOutput()
	if err == nil {
		err = os.Rename(bin+".tmp", bin)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
}

// hostile makes the tools of sources and returns their directory, with accessc.
func hostile(t *testing.T, sources ...string) string {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("the hostile tools are written in C, and there is no cc")
	}
	bin := accessc(t)
	for _, s := range sources {
		compile(t, bin, s)
	}
	return bin
}
