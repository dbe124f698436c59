package start_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
)

// TestStubbornTool: a tool that heeds no signal ends with its supervisor. The kernel has sent the deadly one by
// the time that the supervisor is waited for.
func TestStubbornTool(t *testing.T) {
	f := newFortress(t)
	pid := 0
	f.ended("exec >/dev/null 2>&1; trap '' HUP INT TERM; echo $$ >docs/number; mv docs/number docs/pid; sleep 3600", func(c *exec.Cmd) {
		await.Until(t, "the tool has written its number", func() bool {
			text, err := os.ReadFile(f.at("docs/pid"))
			if err == nil {
				pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
			}
			return err == nil
		})
		f.must(c.Process.Kill())
	})
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil && !dying(string(status)) {
		_ = unix.Kill(pid, unix.SIGKILL)
		t.Errorf("the tool goes on:\n%s", status)
	}
}

// dying reports whether a process has ended, or has a deadly signal before it (proc_pid_status(5)).
func dying(status string) bool {
	for line := range strings.Lines(status) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "State":
			if strings.HasPrefix(value, "Z") || strings.HasPrefix(value, "X") {
				return true
			}
		case "SigPnd", "ShdPnd":
			if set, err := strconv.ParseUint(value, 16, 64); err == nil && set&(1<<(unix.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}
