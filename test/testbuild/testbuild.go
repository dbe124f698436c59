// Package testbuild makes the programs of this module that tests start.
package testbuild

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Program puts a program of this module into a file that every user may start. Flags are those of go run. The go
// command keeps the programs that it runs (go help run), so the packages of a gate, and the next gate, share one:
// go build links a large program anew for each file.
func Program(file, pkg string, flags ...string) error {
	args := append([]string{"run", "-exec", "cp"}, flags...)
	cmd := exec.Command("go", append(args, "github.com/accessc/accessc/"+pkg, file)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s is not made: %w: %s", pkg, err, out)
	}
	return os.Chmod(file, 0o755) // whatever the mask is
}

// WriteFile is os.WriteFile for a file that is started afterwards. A process that is made meanwhile would have the file open for
// writing until its own program starts, and the kernel starts no file that somebody writes to (execve(2), ETXTBSY).
func WriteFile(name string, data []byte, perm os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, data, perm)
}

// Written waits until no process holds what was open here when it was made: files that were written otherwise can be started.
func Written() {
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
}
