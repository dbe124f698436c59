package start

import (
	"os"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends/landlock"
)

// TestShownKernel: no ruleset opens a file system of the kernel, neither as a whole nor as the entry of a directory, whatever the
// specification was compiled for. The one of every host is sysfs.
func TestShownKernel(t *testing.T) {
	if list, err := os.ReadFile("/proc/self/mountinfo"); err != nil || !strings.Contains(string(list), " /sys ") {
		t.Skip("no sysfs is mounted")
	}
	entries := func(except ...string) *landlock.Entries { return &landlock.Entries{Except: except} }
	for _, c := range []struct {
		path landlock.Path
		open bool
	}{
		{landlock.Path{Path: "/"}, true},
		{landlock.Path{Path: "/sys"}, true},
		{landlock.Path{Path: "/sys/kernel"}, true},
		{landlock.Path{Path: "/", Entries: entries("proc", "usr")}, true},
		{landlock.Path{Path: "/", Entries: entries("dev", "proc", "run", "sys")}, false},
		{landlock.Path{Path: "/usr"}, false},
		{landlock.Path{Path: "/proc/self"}, false},
		{landlock.Path{Path: "/dev/null"}, false},
	} {
		err := closesKernels(&landlock.Spec{}, []landlock.Path{{Path: "/etc"}, c.path})
		if opens := err != nil && strings.Contains(err.Error(), "build again"); opens != c.open {
			t.Errorf("%s, %v: %v", c.path.Path, c.path.Entries, err)
		}
	}
}
