package userdir

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Session names the session of this process, as started by setsid(2); a login, a terminal's
// window and a container each start a session. A number is used again after a session's end, so
// its leader's start and the boot are part of the name.
func Session() string {
	sid, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot)) + "/" + strconv.Itoa(sid) + "/" + started(sid)
}

// started returns when a process began, in clock ticks since the boot: the 22nd field
// of its stat (proc(5)). A leader that has ended has none.
func started(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The second field is a name in parentheses, which may contain blanks and parentheses.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
