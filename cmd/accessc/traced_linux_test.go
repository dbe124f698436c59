package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTracedFromOutside: a process has one tracer, so under one from outside, as strace around accessc is, the supervisor
// cannot look at the program that starts, nor have the process start one that the ruleset does not know. It refuses the
// start, and says so: nothing did.
func TestTracedFromOutside(t *testing.T) {
	t.Run("known", func(t *testing.T) {
		tracedFromOutside(t, "echo $$; read go; exec /bin/true", "a debugger from outside")
	})
	t.Run("later", func(t *testing.T) {
		tracedFromOutside(t, "cp /bin/true x; echo $$; read go; exec ./x", "a debugger keeps the supervisor")
	})
}

func tracedFromOutside(t *testing.T, script, why string) {
	t.Helper()
	for _, k := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(k, t.TempDir())
	}
	ws := t.TempDir()
	config := `[tools.t]
source = "local"
command = "/bin/sh"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".env" }]
`
	if err := os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := accesscCommand(t, "exec", "-C", ws, "--no-prompt", "t", "--", "-c", script)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n') // an empty line is no number
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(line, said.String(), cmd.Wait())
	}
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0); e != 0 {
		t.Fatal("PTRACE_SEIZE:", e)
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	// A tracer learns of the end before the parent does.
	if _, err := unix.Wait4(pid, nil, unix.WALL, nil); err != nil {
		t.Fatal(err)
	}
	const denied = 126
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != denied || !strings.Contains(said.String(), "refused") {
		t.Errorf("the tool ended with %v, and accessc says %q", cmd.ProcessState, said.String())
	}
	if text, err := accesscCommand(t, "denials", "-C", ws, "t").CombinedOutput(); !strings.Contains(string(text), why) {
		t.Errorf("denials says %q, %v", text, err)
	}
}
