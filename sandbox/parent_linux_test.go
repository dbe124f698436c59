package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/testbuild"
)

// siblingTool has this test's program be a tool that makes a child of its parent.
const siblingTool = "sibling-tool"

func init() {
	if len(os.Args) != 2 || os.Args[1] != siblingTool {
		return
	}
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e == 0 && pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	fmt.Println(e == unix.EPERM, e)
	os.Exit(0)
}

// TestNoSibling: a tool makes no child of its host, which would not know of it and leave it dead for as long as it lives.
func TestNoSibling(t *testing.T) {
	const tool = "[tools.%s]\nsource = \"local\"\ncommand = \"./tool\"\naccess.fs = [{ path = \".\", read = true, execute = true }%s]\n"
	h, ws := openWith(t, fmt.Sprintf(tool, "alone", "")+fmt.Sprintf(tool, "supervised", ", { path = \"secret\" }"))
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
	for _, name := range []string{"alone", "supervised"} {
		out, err := h.Command(name, siblingTool).Output()
		if err != nil || !strings.HasPrefix(string(out), "true ") {
			t.Errorf("%s: %s%v", name, out, err)
		}
	}
}
