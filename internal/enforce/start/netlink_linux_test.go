package start_test

import (
	order "encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// interfaces are the name and addresses of the host's loopback interface; others come and go.
func interfaces() (string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return "", err
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 {
			continue
		}
		addresses, err := i.Addrs()
		return fmt.Sprint(i.Index, i.Name, addresses), err
	}
	return "", unix.ENODEV
}

// TestInterfaces: a supervised tool lists the interfaces of the host by netlink, changes nothing by it, and hears and
// reaches nothing else. Cause: programs that list them (ZeroMQ, os.networkInterfaces of Node) ended where they were
// refused it.
func TestInterfaces(t *testing.T) {
	t.Parallel()
	host, err := interfaces()
	if err != nil {
		t.Skip("no interfaces: ", err)
	}
	x := passing(t, nil)
	defer x.stop()
	for how, want := range map[string]syscall.Errno{
		"list": 0, "sendmsg": 0, "name": 0, "signal": unix.EINTR, "empty": 0,
		"change": unix.EPERM, "one": unix.EOPNOTSUPP, "neighbours": unix.EPERM, "groups": unix.EPERM, "short": unix.EINVAL,
		"events": unix.EACCES, "generic": unix.EACCES, "stream": unix.EACCES, "open": unix.EACCES,
	} {
		if e := x.exchange(t, attempt{Op: "netlink", A: how, B: strings.ReplaceAll(host, "/", "|")})[0]; e != want {
			t.Errorf("%s: %v, want %v", how, e, want)
		}
	}
	// Last, since the supervisor learns of closed sockets in its own time.
	if e := x.exchange(t, attempt{Op: "netlink", A: "many"})[0]; e != unix.EMFILE {
		t.Errorf("too many sockets: %v", e)
	}
}

func init() {
	attempts["netlink"] = func(a, b name) error { return byNetlink(a.path, strings.ReplaceAll(b.path, "|", "/")) }
}

func byNetlink(how, host string) error {
	protocol := map[string]int{"events": unix.NETLINK_KOBJECT_UEVENT, "generic": unix.NETLINK_GENERIC}[how]
	kind := unix.SOCK_RAW | unix.SOCK_CLOEXEC
	switch how {
	case "stream":
		kind = unix.SOCK_STREAM
	case "open":
		kind &^= unix.SOCK_CLOEXEC
	}
	fd, err := unix.Socket(unix.AF_NETLINK, kind, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ask := func(kind, flags uint16, by func(request []byte) error) error {
		request := order.NativeEndian.AppendUint32(nil, 32)
		request = order.NativeEndian.AppendUint16(request, kind)
		request = order.NativeEndian.AppendUint16(request, flags)
		request = order.NativeEndian.AppendUint64(request, 1) // sequence 1
		if err := by(append(request, make([]byte, 16)...)); err != nil {
			return err
		}
		return answered(fd)
	}
	send := func(request []byte) error {
		return unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	}
	const list = unix.NLM_F_REQUEST | unix.NLM_F_DUMP
	switch how {
	case "list":
		if here, err := interfaces(); err != nil || here != host {
			return unix.EBADMSG
		}
		return nil
	case "name":
		at, err := unix.Getsockname(fd)
		if n, ok := at.(*unix.SockaddrNetlink); err != nil || !ok || n.Pid == 0 || n.Groups != 0 {
			return unix.EBADMSG
		}
		return nil
	case "sendmsg":
		return ask(unix.RTM_GETROUTE, list, func(r []byte) error {
			return unix.Sendmsg(fd, r, nil, &unix.SockaddrNetlink{}, 0)
		})
	case "empty":
		return ask(unix.RTM_GETROUTE, list, func(r []byte) error { return errors.Join(send(nil), send(r)) })
	case "change":
		return ask(unix.RTM_NEWLINK, unix.NLM_F_REQUEST|unix.NLM_F_ACK, send)
	case "neighbours":
		return ask(unix.RTM_GETNEIGH, list, send)
	case "one":
		return ask(unix.RTM_GETLINK, unix.NLM_F_REQUEST, send)
	case "groups":
		return unix.Bind(fd, &unix.SockaddrNetlink{Groups: 1})
	case "short":
		_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&[4]byte{unix.AF_NETLINK})), 4)
		return fault(e)
	case "signal":
		return signalled(fd)
	case "many":
		return tooMany()
	}
	return nil
}

// answered reads messages until the last, and returns its error. All are from the kernel, by their address.
func answered(fd int) error {
	buf := make([]byte, 1<<16)
	for {
		n, _, _, from, err := unix.Recvmsg(fd, buf, nil, 0)
		if err != nil {
			return err
		}
		if at, ok := from.(*unix.SockaddrNetlink); !ok || at.Pid != 0 {
			return unix.EBADMSG
		}
		all, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return err
		}
		for _, m := range all {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR:
				return syscall.Errno(-int32(order.NativeEndian.Uint32(m.Data)))
			}
		}
	}
}

// signalled waits for a message that does not come, while signals do.
func signalled(fd int) error {
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}); err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tid, over := unix.Gettid(), make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			default:
				_ = unix.Tgkill(unix.Getpid(), tid, unix.SIGURG) // which Go handles
				runtime.Gosched()
			}
		}
	}()
	defer close(over)
	_, _, err := unix.Recvfrom(fd, make([]byte, 16), 0)
	return err
}

// tooMany makes sockets until it gets no more.
func tooMany() error {
	var all []int
	defer func() {
		for _, fd := range all {
			_ = unix.Close(fd)
		}
	}()
	for range 400 {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		all = append(all, fd)
	}
	return nil
}

// TestPairs: a supervised tool has pairs of unix datagram sockets, which keep messages apart, and no message of them
// reaches a socket of the host by its address.
func TestPairs(t *testing.T) {
	t.Parallel()
	host, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(host)
	dir, err := os.MkdirTemp("/tmp", "accessc-") // a name of a socket has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := dir + "/host"
	if err := unix.Bind(host, &unix.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	x := passing(t, nil)
	defer x.stop()
	for how, want := range map[string]syscall.Errno{
		"": 0, "far": unix.EACCES, "raw": unix.EACCES, "protocol": unix.EPROTONOSUPPORT, "nowhere": unix.EFAULT,
	} {
		if e := x.exchange(t, attempt{Op: "pair", A: how, B: path})[0]; e != want {
			t.Errorf("%s: %v, want %v", how, e, want)
		}
	}
	if n, _, err := unix.Recvfrom(host, make([]byte, 16), unix.MSG_DONTWAIT); err != unix.EAGAIN {
		t.Errorf("the host got a message: %d, %v", n, err)
	}
}

func init() {
	attempts["pair"] = func(a, b name) error {
		family, kind, protocol := uintptr(unix.AF_UNIX), uintptr(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC), uintptr(0)
		var pair [2]int32
		at := uintptr(unsafe.Pointer(&pair))
		switch a.path {
		case "far":
			family = unix.AF_INET
		case "raw":
			kind = unix.SOCK_RAW
		case "protocol":
			protocol = 7
		case "nowhere":
			at = 8
		}
		if _, _, e := unix.Syscall6(unix.SYS_SOCKETPAIR, family, kind, protocol, at, 0, 0); e != 0 {
			return e
		}
		defer unix.Close(int(pair[0]))
		defer unix.Close(int(pair[1]))
		for _, text := range []string{"one", "three"} {
			if _, err := unix.Write(int(pair[0]), []byte(text)); err != nil {
				return err
			}
		}
		to := &unix.SockaddrUnix{Name: b.path}
		e := unix.Sendto(int(pair[0]), []byte("away"), 0, to)
		if _, e2 := unix.SendmsgN(int(pair[0]), []byte("away"), nil, to, 0); e != unix.EACCES || e2 != unix.EACCES {
			return unix.EBADMSG
		}
		buf := make([]byte, 16)
		for _, text := range []string{"one", "three"} {
			if n, err := unix.Read(int(pair[1]), buf); err != nil || string(buf[:n]) != text {
				return unix.EBADMSG
			}
		}
		return nil
	}
}
