package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A flow is a pair of connections whose bytes are moved in both directions. It ends when both
// directions have ended, or when nothing moves in either for some time.
type flow struct {
	one, other net.Conn
	idle       time.Duration
	moved      atomic.Int64 // when bytes last moved, in nanoseconds
	watch      *time.Timer
}

// copyBoth moves bytes in both directions until both have ended or nothing moves. Where they rest on a grant, it also
// waits until the host has taken them: they would go on after a revocation.
// See decision D335.
func (t *tunnels) copyBoth(ctx context.Context, c *client, upstream net.Conn, lent bool) {
	_ = c.SetDeadline(time.Time{})
	f := &flow{one: c.Conn, other: upstream, idle: t.config.Limits.Idle}
	f.moved.Store(time.Now().UnixNano())
	f.watch = time.AfterFunc(f.idle, f.check)
	both := make(chan struct{})
	go func() {
		f.copy(upstream, c.Conn, c.seen)
		close(both)
	}()
	f.copy(c.Conn, upstream, nil)
	<-both
	if lent {
		f.settle(ctx)
	}
	f.watch.Stop()
	_ = upstream.Close()
}

// Times between two looks at bytes that a host has not taken.
const (
	firstLook = time.Millisecond
	lastLook  = time.Second
)

// settle waits until the host has taken all bytes, until the flow ends because nothing moves, or until the grant is
// revoked.
func (f *flow) settle(ctx context.Context) {
	look := firstLook
	for left := 0; ; look = min(2*look, lastLook) {
		now := unsent(carrying(f.other))
		if now == 0 {
			return
		}
		if now != left {
			left = now
			f.moved.Store(time.Now().UnixNano())
		}
		select {
		case <-ctx.Done():
			reset(f.other)
			return
		case <-time.After(look):
		}
	}
}

// check ends a flow in which nothing moves, also a flow that waits for an end that takes no
// bytes.
func (f *flow) check() {
	if left := f.idle - time.Since(time.Unix(0, f.moved.Load())); left > 0 {
		f.watch.Reset(left)
		return
	}
	reset(f.one)
	reset(f.other)
}

// A direction without many bytes is read into a small buffer. The kernel splices a direction with
// many (splice(2)) for as long as they come: splicing holds two descriptors of a pipe, too many
// for connections that wait.
const (
	smallPart = 2 << 10
	largePart = 1 << 20
	pause     = 50 * time.Millisecond
)

// copy moves bytes in one direction. An end is passed on; an error resets both connections.
func (f *flow) copy(dst, src net.Conn, seen []byte) {
	var err error
	if len(seen) > 0 {
		_, err = dst.Write(seen)
	}
	buf := make([]byte, smallPart)
	for err == nil {
		var n int
		if n, err = src.Read(buf); n > 0 {
			f.moved.Store(time.Now().UnixNano())
			if _, failed := dst.Write(buf[:n]); failed != nil {
				err = failed
			}
		}
		if n == len(buf) && err == nil {
			err = f.splice(dst, src)
		}
	}
	if w, ok := dst.(interface{ CloseWrite() error }); ok && err == io.EOF {
		_ = w.CloseWrite()
		return
	}
	reset(dst)
	reset(src)
}

// splice moves bytes for as long as they come without a pause.
func (f *flow) splice(dst, src net.Conn) error {
	for {
		_ = src.SetReadDeadline(time.Now().Add(pause))
		n, err := io.CopyN(dst, src, largePart)
		if n > 0 {
			f.moved.Store(time.Now().UnixNano())
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return src.SetReadDeadline(time.Time{})
		}
		if err != nil {
			return err
		}
	}
}

// timed is a connection to a host that ends when nothing moves.
type timed struct {
	net.Conn
	idle time.Duration
	set  atomic.Int64
	// end is called when the connection ends.
	end func()
	// lent is set where all that the tool sends rests on a grant.
	lent  bool
	once  sync.Once
	mu    sync.Mutex
	ended bool
}

// start begins with a connection, unless its grant was revoked meanwhile.
func (t *timed) start(conn net.Conn) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		_ = conn.Close()
		t.end()
		return errRevoked
	}
	t.Conn = conn
	return nil
}

// cut ends the connection, or has it not begin.
func (t *timed) cut() {
	t.mu.Lock()
	t.ended = true
	begun := t.Conn != nil
	t.mu.Unlock()
	if begun {
		_ = t.Close()
	}
}

// Close implements net.Conn, and returns when the connection has ended, also where another call ends it. Bytes that the
// host has not taken yet do not go to it if they needed a grant, which may be revoked while they wait.
func (t *timed) Close() (err error) {
	t.once.Do(func() {
		defer t.end()
		if t.lent {
			reset(t.Conn)
			return
		}
		err = t.Conn.Close()
	})
	return err
}

// extend moves the end into the future, not for every packet.
func (t *timed) extend() {
	now := time.Now()
	if last := t.set.Load(); now.UnixNano()-last > int64(t.idle/16) && t.set.CompareAndSwap(last, now.UnixNano()) {
		_ = t.SetDeadline(now.Add(t.idle))
	}
}

// Read implements net.Conn.
func (t *timed) Read(b []byte) (int, error) {
	t.extend()
	return t.Conn.Read(b)
}

// Write implements net.Conn.
func (t *timed) Write(b []byte) (int, error) {
	t.extend()
	return t.Conn.Write(b)
}
