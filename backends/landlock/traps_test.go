package landlock_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestEveryCallOfAClassIsTrapped: under a supervisor that judges all classes it sees every call that opens, makes,
// moves or removes a file; a call that it does not see would be left to a ruleset that grants none of that.
func TestEveryCallOfAClassIsTrapped(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In(".env")}}
	spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{
		"open", "openat", "openat2", "creat", "truncate", "mkdir", "mkdirat", "mknod", "mknodat", "symlink",
		"symlinkat", "unlink",
		"unlinkat", "rmdir", "rename", "renameat", "renameat2", "link", "linkat", "execve", "execveat",
		"inotify_add_watch", "chmod",
		"fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat",
		"futimesat", "setxattr",
		"lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "ioctl", "prlimit64",
		"setpriority", "ioprio_set",
		"landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "bind", "connect",
	} {
		if !slices.ContainsFunc(spec.Supervision.Traps,
			func(tr landlock.Trap) bool { return slices.Contains(tr.Syscalls, call) }) {
			t.Errorf("%s is not trapped", call)
		}
	}
}
