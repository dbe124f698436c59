package serve

import "golang.org/x/sys/unix"

// user is the user at the other end of a socket (LOCAL_PEERCRED, unix(4)).
func user(fd int) (uid int, err error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// cloexec is a flag of other systems.
const cloexec = 0
