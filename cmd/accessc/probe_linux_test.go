package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe is a tool that tries the operations in its arguments and prints the kernel's answers,
// which curl, touch and others would get as well.
func probe() {
	for _, what := range os.Args[1:] {
		name, arg, _ := strings.Cut(what, "=")
		if name == "race" {
			files, _ := strconv.Atoi(arg)
			racer(files)
			continue
		}
		switch name {
		case "hostrace":
			hostRacer(arg)
			continue
		case "who":
			fmt.Println("who", who(arg))
			continue
		case "serve":
			serveHosts(arg)
		}
		fmt.Printf("%s %v\n", name, attempt(name, arg))
	}
	// Unlike os.Exit it writes no counters under go test -cover, and has no word about them.
	syscall.Exit(0)
}

func attempt(name, arg string) error {
	dial := func(domain, kind, proto int, to unix.Sockaddr) error {
		fd, err := unix.Socket(domain, kind|unix.SOCK_NONBLOCK, proto)
		if err == nil {
			err = unix.Connect(fd, to)
		}
		return err
	}
	any4 := &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}}
	switch name {
	case "tcp":
		return dial(unix.AF_INET, unix.SOCK_STREAM, 0, any4)
	case "udp":
		return dial(unix.AF_INET, unix.SOCK_DGRAM, 0, any4)
	case "mptcp":
		return dial(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, any4)
	case "raw":
		return dial(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP, any4)
	case "netlink":
		return dial(unix.AF_NETLINK, unix.SOCK_RAW, 0, &unix.SockaddrNetlink{})
	case "packet":
		return dial(unix.AF_PACKET, unix.SOCK_RAW, 0, &unix.SockaddrLinklayer{})
	case "vsock":
		return dial(unix.AF_VSOCK, unix.SOCK_STREAM, 0, &unix.SockaddrVM{CID: 2, Port: 1})
	case "unix":
		return dial(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: arg})
	case "io_uring":
		_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		return e
	case "socketpair":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	case "read":
		_, err := os.ReadFile(arg)
		return err
	case "write":
		return os.WriteFile(arg, []byte("x"), 0o644)
	case "chmod":
		return unix.Chmod(arg, 0o755)
	case "keyctl":
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	case "unshare":
		return unix.Unshare(unix.CLONE_NEWUSER)
	case "mount":
		return unix.Mount("none", arg, "tmpfs", 0, "")
	case "kill":
		return unix.Kill(1, 0)
	case "nnp":
		v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		if err == nil && v != 1 {
			return fmt.Errorf("no_new_privs is %d", v)
		}
		return err
	case "caps":
		hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&hdr, &data[0]); err != nil {
			return err
		}
		if data[0].Effective|data[0].Permitted|data[1].Effective|data[1].Permitted != 0 {
			return fmt.Errorf("capabilities %x", data)
		}
		return nil
	case "hello":
		return stranger(arg)
	case "env":
		if v, ok := os.LookupEnv(arg); ok {
			return fmt.Errorf("%s=%s", arg, v)
		}
		return nil
	default:
		return typing(name, arg)
	}
}

// typing are the attempts to answer the user's questions.
func typing(name, arg string) error {
	switch name {
	case "dial":
		c, err := net.Dial("tcp", arg)
		if err == nil {
			err = c.Close()
		}
		return err
	case "type":
		// Types into the controlling terminal, as an answer to the question there.
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer tty.Close()
		for i := range arg {
			if _, _, e := unix.Syscall(unix.SYS_IOCTL, tty.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&[]byte(arg)[i]))); e != 0 {
				return e
			}
		}
		return nil
	case "answer":
		// Types and writes answers into the terminal while the user is asked about reading: from when the script opens a
		// FIFO, which it does when the question is there, until it is closed here.
		typed := make(chan error)
		go func() {
			asked, err := os.Open("asked")
			if err != nil {
				typed <- err
				return
			}
			for range 20 {
				_ = os.WriteFile("/dev/tty", []byte("run 1234\n"), 0)
			}
			err = attempt("type", "run 1234\n")
			_ = asked.Close()
			typed <- err
		}()
		_, err := os.ReadFile(arg)
		return fmt.Errorf("typing: %w, reading: %w", <-typed, err)
	default:
		return fmt.Errorf("unknown attempt")
	}
}
