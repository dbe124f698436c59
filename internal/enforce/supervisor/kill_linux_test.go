package supervisor

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// successor ends a process and starts another one that gets its number (ns_last_pid in proc_sys_kernel(5)), if nothing else gets that first.
func successor(cmd *exec.Cmd) (*exec.Cmd, error) {
	_, _ = cmd.Process.Kill(), cmd.Wait()
	if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(cmd.Process.Pid-1)), 0); err != nil {
		return nil, err
	}
	next := staying(cmd.Stdin.(*os.File))
	return next, next.Start()
}

// staying is a process that runs until the other end of its input is closed.
func staying(in *os.File) *exec.Cmd {
	cmd := exec.Command("cat")
	cmd.Stdin = in
	return cmd
}

// TestKillIf: a process that gets the number of one that was asked about before the signal goes on. The signal went to the process that had the number then.
func TestKillIf(t *testing.T) {
	const tries = 20
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer hold.Close()
	for range tries {
		cmd := staying(in)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var next *exec.Cmd
		asked := 0
		KillIf(cmd.Process.Pid, func() bool {
			if asked++; asked == 2 {
				var err error
				if next, err = successor(cmd); err != nil {
					t.Skipf("numbers cannot be chosen here: %v", err)
				}
			}
			return true
		})
		_ = next.Process.Signal(unix.SIGTERM)
		_ = next.Wait()
		if next.Process.Pid != cmd.Process.Pid {
			continue
		}
		if by := next.ProcessState.Sys().(syscall.WaitStatus).Signal(); by != unix.SIGTERM {
			t.Errorf("the process that has the number now ended by %v", by)
		}
		return
	}
	t.Skipf("another process got the number in each of %d tries", tries)
}
