package userdir

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Session names the session of this process, as started by setsid(2); a login and a terminal's
// window each start a session. A number is used again after a session's end, so its leader's
// start is part of the name.
func Session() string {
	sid, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	name := strconv.Itoa(sid)
	if leader, err := unix.SysctlKinfoProc("kern.proc.pid", sid); err == nil {
		name += "/" + strconv.FormatInt(leader.Proc.P_starttime.Sec, 10)
	}
	return name
}
