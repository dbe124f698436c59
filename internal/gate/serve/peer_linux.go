package serve

import "golang.org/x/sys/unix"

// user is the user at the other end of a socket (SO_PEERCRED, unix(7)).
func user(fd int) (uid int, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// cloexec has descriptors closed at the next exec as they are received.
const cloexec = unix.MSG_CMSG_CLOEXEC
