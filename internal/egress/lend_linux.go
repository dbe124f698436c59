package egress

import (
	"context"
	"net"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// ask has the user decide, by way of the supervisor.
func (s *service) ask(ctx context.Context, r Refusal) Answer {
	in := make(chan wire.Packet, 1)
	s.mu.Lock()
	s.last++
	number := s.last
	s.asked[number] = in
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asked, number)
	}()
	p := r.packet(wire.Ask)
	p.Errno = number
	if s.send(&p) != nil {
		return Answer{}
	}
	select {
	case <-ctx.Done():
	case <-s.proxy.ctx.Done():
	case got := <-in:
		return answerOf(got)
	}
	_ = s.send(&wire.Packet{Kind: wire.Withdraw, Errno: number})
	return Answer{}
}

// answerOf reads the user's answer; any other is a refusal.
func answerOf(p wire.Packet) Answer {
	switch {
	case p.Errno == wire.Again:
		return Answer{Again: true}
	case p.Errno == wire.Once && len(p.Text) == 1:
		id, _ := strconv.Atoi(p.Text[0])
		return Answer{Once: id}
	}
	return Answer{}
}

// permit hands an answer over to the question that waits for it.
func (s *service) permit(p wire.Packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.asked[uint32(p.ID)]; in != nil {
		delete(s.asked, uint32(p.ID))
		in <- p
	}
}

// lend puts a grant in force, or takes it back. A proxy that cannot end the connections of a revoked grant ends.
func (s *service) lend(p wire.Packet) {
	number := int(p.Errno)
	if p.Kind == wire.Revoke {
		if s.proxy.Revoke(number) != nil {
			s.once.Do(func() { close(s.uncut) })
			return
		}
	} else if len(p.Text) == 3 {
		if h, err := resolve.Host(p.Text[1]); err == nil {
			s.proxy.Grant(number, ir.Endpoint{Scheme: p.Text[0], Host: h, Port: p.Want.Port()}, p.Text[2] == wire.Whole)
		}
	}
	points.Reach(points.Ended)
	_ = s.send(&wire.Packet{Kind: wire.Answer, ID: p.ID})
}

// used tells the supervisor of a use of a grant.
func (s *service) used(id int, op ir.Connect, by uint64) {
	p := Refusal{Op: op, By: by}.packet(wire.Used)
	p.Errno = uint32(id)
	_ = s.send(&p)
}

// ended reports whether the other end of a connection sends nothing any more.
func ended(conn net.Conn) bool {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	over := false
	err = raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(fds, 0)
		over = err == nil && n > 0
	})
	return over || err != nil
}

// unsent is the number of bytes that the other end of a connection has not taken, plus 1 for the end itself (tcp(7),
// SIOCOUTQ). It is 0 for a connection that is over: the kernel keeps the number of a connection that was reset.
func unsent(conn net.Conn) (n int) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.SOL_TCP, unix.TCP_INFO)
		if err == nil && info.State != unix.BPF_TCP_CLOSE {
			n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
		}
	})
	return n
}

// distance is how far the other end of a connection is: the time after which a packet counts as lost, and the time
// of a round trip (tcp(7), TCP_INFO).
func distance(conn net.Conn) (lost, trip time.Duration, ok bool) {
	c, is := conn.(syscall.Conn)
	if !is {
		return 0, 0, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.SOL_TCP, unix.TCP_INFO)
		if ok = err == nil; ok {
			lost, trip = time.Duration(info.Rto)*time.Microsecond, time.Duration(info.Rtt)*time.Microsecond
		}
	})
	return lost, trip, ok
}
