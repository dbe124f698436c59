package relay

import (
	"os/exec"
	"syscall"
)

// tie has a program die with this process.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
