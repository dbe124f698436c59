//go:build unix

package plugin

import (
	"os/exec"
	"syscall"
)

// grouped gives a command a process group of its own, and returns what ends the group.
func grouped(cmd *exec.Cmd) (end func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end = func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
	cmd.Cancel = func() error { end(); return nil }
	return end
}
