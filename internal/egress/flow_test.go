package egress

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestIdleMoves: bytes of one direction keep both connections open beyond the limit, and both end when no byte has
// moved for so long.
func TestIdleMoves(t *testing.T) {
	client, one := net.Pipe()
	other, host := net.Pipe()
	f := &flow{one: one, other: other, idle: time.Minute, watch: time.NewTimer(time.Hour)}
	defer f.watch.Stop()
	long := time.Now().Add(-2 * f.idle).UnixNano()
	go f.copy(one, other, nil)
	go f.copy(other, one, nil)
	for _, to := range [][2]net.Conn{{client, host}, {host, client}} {
		for range 3 {
			f.moved.Store(long)
			if _, err := to[0].Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(to[1], make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			f.check()
		}
	}
	f.moved.Store(long)
	f.check()
	for _, c := range []net.Conn{client, host} {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("open although nothing moved")
		}
	}
}
