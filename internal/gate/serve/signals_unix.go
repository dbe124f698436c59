//go:build unix

package serve

import "syscall"

// terminate is the first signal to a tool whose client is gone.
const terminate = syscall.SIGTERM

// signals are those that reach a tool, supervised or not.
var signals = map[string]syscall.Signal{
	"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT,
	"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "WINCH": syscall.SIGWINCH,
}
