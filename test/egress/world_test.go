//go:build linux

// Package egress_test runs real clients under host rules in a network of its own, and looks
// which of them reach which host. It knows accessc by its command line alone.
package egress_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// inside is the variable that is set in the process that has the network.
const inside = "ACCESSC_EGRESS_WORLD"

// the is the world that the tests of this process share; missing says why there is none.
var (
	the     *world
	missing string
)

// TestMain starts this binary again in namespaces of its own, where it is root: it needs the
// network to itself, and names that lead where it wants. The tests run there. See decision D170.
func TestMain(m *testing.M) {
	if os.Getenv(inside) == "" {
		if code, ok := again(); ok {
			os.Exit(code)
		}
		os.Exit(m.Run())
	}
	var err error
	switch the, err = newWorld(); {
	case errors.Is(err, fs.ErrPermission):
		missing = fmt.Sprintf("this host gives a user namespace no rights: %v", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if the != nil {
		the.close()
	}
	os.Exit(code)
}

// again runs this binary in new namespaces, false if the host refuses them.
func again() (code int, ok bool) {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	if err := cmd.Start(); err != nil {
		missing = fmt.Sprintf("this host refuses user namespaces: %v", err)
		return 0, false
	}
	_ = cmd.Wait()
	return max(cmd.ProcessState.ExitCode(), 0), cmd.ProcessState.Exited()
}

// need returns the world, or skips the test where the host has none to give.
func need(t testing.TB) *world {
	t.Helper()
	if the == nil {
		t.Skip(missing)
	}
	return the
}
