package supervisor

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// TestForeignTerminal: /dev/tty is the controlling terminal of the caller, and is opened if that is the one of the
// run or was made by the tool. A terminal of another session is neither.
func TestForeignTerminal(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	defer slave.Close()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", "read x")
	cmd.Stdin, cmd.ExtraFiles = in, []*os.File{slave}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	t.Cleanup(func() { _ = out.Close(); _ = cmd.Wait() })
	own := controlling(cmd.Process.Pid)
	if _, pseudo := terminalNumber(own); !pseudo {
		t.Fatalf("the terminal of the process is %x", own)
	}
	c := calling(t, t.TempDir(), "/dev")
	c.tid = cmd.Process.Pid
	if a := (opens{c}).openTerminal(opening{OpenHow: unix.OpenHow{Flags: unix.O_RDWR}}); a.errno != unix.EACCES {
		t.Errorf("a terminal of another session: %v", a.errno)
	}
	pin, err := unix.Open(slave.Name(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pin)
	c.box.terminal = terminal{dev: own, path: slave.Name(), pin: pin}
	a := (opens{c}).openTerminal(opening{OpenHow: unix.OpenHow{Flags: unix.O_RDONLY}})
	if a.errno != 0 || !a.hand || where(a.fd) != slave.Name() {
		t.Errorf("the terminal of the run: %v, %s", a.errno, where(a.fd))
	}
}

// TestNameOfMemory: only a file of memory is the tool's own. One that was removed and whose name begins like that of
// such a file has the place of its name.
func TestNameOfMemory(t *testing.T) {
	const name = "/memfd:accessc-test"
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Skipf("only root makes a file in /: %v", err)
	}
	defer f.Close()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if got := where(int(f.Fd())); got != name {
		t.Errorf("it is at %q", got)
	}
}
