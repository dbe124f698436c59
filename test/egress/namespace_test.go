//go:build linux

package egress_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// wholeInternet is routed to this machine: each address can be reached although no interface
// lists it, so that a connection to a wrong address arrives and is seen.
var wholeInternet = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// enterNetwork brings the loopback interface up and routes every address to it.
func enterNetwork() error {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	defer unix.Close(s)
	const loopback = 1 // the index of lo in a new namespace
	up := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(up[4:], loopback)
	binary.NativeEndian.PutUint32(up[8:], unix.IFF_UP)
	binary.NativeEndian.PutUint32(up[12:], unix.IFF_UP)
	if err := netlink(s, unix.RTM_NEWLINK, 0, up); err != nil {
		return fmt.Errorf("lo up: %w", err)
	}
	for _, p := range wholeInternet {
		if err := netlink(s, unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL, route(p, loopback)); err != nil {
			return fmt.Errorf("route %s: %w", p, err)
		}
	}
	return nil
}

// route is the message for a route of type local (rtnetlink(7)).
func route(p netip.Prefix, iface uint32) []byte {
	family := byte(unix.AF_INET)
	if p.Addr().Is6() {
		family = unix.AF_INET6
	}
	b := []byte{family, byte(p.Bits()), 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_BOOT, unix.RT_SCOPE_HOST, unix.RTN_LOCAL, 0, 0, 0, 0}
	if p.Addr().Is6() {
		b[6] = unix.RT_SCOPE_UNIVERSE
	}
	b = attribute(b, unix.RTA_DST, p.Addr().AsSlice())
	if p.Addr().Is4() {
		// Else connections come from the address that they go to, as those of a host to itself.
		b = attribute(b, unix.RTA_PREFSRC, []byte{127, 0, 0, 1})
	}
	return attribute(b, unix.RTA_OIF, binary.NativeEndian.AppendUint32(nil, iface))
}

func attribute(b []byte, kind uint16, value []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(4+len(value)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	return append(b, value...) // the values here are multiples of four bytes
}

// netlink sends one request and waits for its acknowledgement.
func netlink(s int, kind, flags uint16, body []byte) error {
	b := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+len(body))
	binary.NativeEndian.PutUint32(b, uint32(cap(b)))
	binary.NativeEndian.PutUint16(b[4:], kind)
	binary.NativeEndian.PutUint16(b[6:], flags|unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	if err := unix.Sendto(s, append(b, body...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(s, answer, 0)
	if err != nil || n < unix.SizeofNlMsghdr+4 {
		return fmt.Errorf("answer of %d bytes: %w", n, err)
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// enterFiles puts the world's files over those of the host, for this mount namespace.
func enterFiles(dir string, files map[string]string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	for at, content := range files {
		from := filepath.Join(dir, "etc", filepath.Base(at))
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(from, []byte(content), 0o644); err != nil {
			return err
		}
		to, err := filepath.EvalSymlinks(at)
		if err != nil {
			return err
		}
		if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount over %s: %w", to, err)
		}
	}
	return nil
}
