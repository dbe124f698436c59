package start_test

import (
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestDatagramsRefused: data for a host is refused by every call that sends it, and a question to a name server is
// sent. The kernel ignores addresses at a stand-in, so that sendmsg(2) seemed to send, and nothing said otherwise.
func TestDatagramsRefused(t *testing.T) {
	t.Parallel()
	x := passing(t, nil)
	defer x.stop()
	for _, how := range []string{"sendto", "sendmsg", "sendmmsg", "second"} {
		if e := x.exchange(t, attempt{Op: "datagram", A: how, B: "9"})[0]; e != unix.EACCES {
			t.Errorf("%s: %v", how, e)
		}
		if e := x.exchange(t, attempt{Op: "datagram", A: how, B: "53"})[0]; e != 0 {
			t.Errorf("%s to a name server: %v", how, e)
		}
	}
	for _, how := range []string{"nowhere", "nowheres"} {
		if e := x.exchange(t, attempt{Op: "datagram", A: how})[0]; e != unix.EDESTADDRREQ {
			t.Errorf("%s: %v", how, e)
		}
	}
	if e := x.exchange(t, attempt{Op: "datagram", A: "many"})[0]; e != unix.EMFILE {
		t.Errorf("too many sockets: %v", e)
	}
}

// sendDatagram sends by a system call to a port of a host.
func sendDatagram(how string, port uint16) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	at := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: port<<8 | port>>8, Addr: [4]byte{192, 0, 2, 1}}
	text := [4]byte{'t', 'e', 'x', 't'}
	part := unix.Iovec{Base: &text[0], Len: uint64(len(text))}
	server := at
	server.Port = 53 << 8
	var e syscall.Errno
	type message struct {
		unix.Msghdr
		_ uint64
	}
	to := func(a *unix.RawSockaddrInet4) message {
		m := message{Msghdr: unix.Msghdr{Iov: &part, Iovlen: 1}}
		if a != nil {
			m.Name, m.Namelen = (*byte)(unsafe.Pointer(a)), unix.SizeofSockaddrInet4
		}
		return m
	}
	messages := [2]message{to(&at), to(&at)}
	switch how {
	case "sendto":
		_, _, e = unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&text)), 4, 0,
			uintptr(unsafe.Pointer(&at)), unix.SizeofSockaddrInet4)
		return fault(e)
	case "sendmmsg":
	case "second":
		messages[0] = to(&server)
	case "nowheres":
		messages = [2]message{to(nil), to(nil)}
	case "nowhere":
		messages[0] = to(nil)
		fallthrough
	default:
		_, _, e = unix.Syscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&messages)), unix.MSG_NOSIGNAL)
		return fault(e)
	}
	_, _, e = unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&messages)), 2,
		unix.MSG_NOSIGNAL, 0, 0)
	return fault(e)
}

func fault(e syscall.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}

func init() {
	attempts["datagram"] = func(a, b name) error {
		if a.path != "many" {
			port := uint16(9)
			if b.path == "53" {
				port = 53
			}
			return sendDatagram(a.path, port)
		}
		var open []int
		defer func() {
			for _, fd := range open {
				_ = unix.Close(fd)
			}
		}()
		for range 300 {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			open = append(open, fd)
		}
		return nil
	}
}
