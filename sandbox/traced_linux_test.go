package sandbox_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/sandbox"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/testbuild"
)

// tracedTool has this test's program be a tool whose first thread, or another one, has the host trace it.
const tracedTool = "traced-tool"

// Packages are initialised on the first thread.
func init() {
	if len(os.Args) != 3 || os.Args[1] != tracedTool {
		return
	}
	trace := func() {
		runtime.LockOSThread()
		if _, _, e := unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0); e != 0 {
			fmt.Println(e)
			os.Exit(1)
		}
		fmt.Println("traced")
	}
	if os.Args[2] == "first" {
		trace()
		_ = unix.Tgkill(os.Getpid(), os.Getpid(), unix.SIGUSR1)
	}
	go trace()
	for {
		_ = unix.Pause()
	}
}

// TestTraced: a tool that has the host trace it has not ended when it stops, and ends when it is killed, also if
// another thread than its first one is traced.
func TestTraced(t *testing.T) {
	h, ws := openWith(t, "[tools.t]\nsource = \"local\"\ncommand = \"./tool\"\naccess.fs = [{ path = \".\", read = true, execute = true }]\n")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err == nil {
		err = testbuild.WriteFile(filepath.Join(ws, "tool"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range []string{"first", "other"} {
		out, said, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.Start(t.Context(), sandbox.Request{Tool: "t", Args: []string{tracedTool, thread}, Stdout: said})
		_ = said.Close()
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "traced\n" {
			t.Fatalf("%s thread: %q %v", thread, line, err)
		}
		if thread == "first" {
			eventually(t, "the tool stops", func() bool {
				stat, _ := os.ReadFile("/proc/" + strconv.Itoa(p.Pid()) + "/stat")
				return strings.Contains(string(stat), ") t ")
			})
		}
		// Of a tool that the host took for ended, the kill would be an error, or its end another one.
		if err := p.Kill(); err != nil {
			t.Errorf("%s thread: %v", thread, err)
		}
		await.Receive(t, "the end of the killed tool", p.Done())
		if state, err := p.Wait(); err != nil || state.Signal != unix.SIGKILL {
			t.Errorf("%s thread: %v %v", thread, state, err)
		}
		_ = out.Close()
	}
}
