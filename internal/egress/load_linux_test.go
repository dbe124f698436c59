package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/test/await"
)

// load is the size of a test: the everyday one, or that of ACCESSC_LOAD=1.
func load(everyday, whole int) int {
	if os.Getenv("ACCESSC_LOAD") != "" {
		return whole
	}
	return everyday
}

// room bounds the number of things that take some descriptors each by those that this process may open.
func room(t testing.TB, n, each int) int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const others = 64
	if most := (int(min(limit.Cur, 1<<30)) - held().descriptors - others) / each; most < n {
		t.Logf("%d instead of %d, by the limit of %d descriptors", most, n, limit.Cur)
		return most
	}
	return n
}

// resources are the descriptors, goroutines and memory of a process.
type resources struct{ descriptors, goroutines, memory int }

func held() resources {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	list, _ := os.ReadDir("/proc/self/fd")
	return resources{len(list), runtime.NumGoroutine(), int(m.HeapInuse + m.StackInuse)}
}

// settles waits until descriptors and goroutines are back at their numbers.
func settles(t testing.TB, before resources, spare int) {
	t.Helper()
	var now resources
	defer func() {
		if t.Failed() {
			t.Logf("descriptors %d, then %d; goroutines %d, then %d",
				before.descriptors, now.descriptors, before.goroutines, now.goroutines)
		}
	}()
	await.Until(t, "descriptors and goroutines are as many as before", func() bool {
		now = held()
		return now.descriptors <= before.descriptors+spare && now.goroutines <= before.goroutines+spare
	})
}

// source is an address of loopback for each connection of a crowd.
func source(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 1, byte(i / 250), byte(i%250 + 1)}), 40404)
}

// TestCrowd: the connections beyond the limit are closed, those within it are served, each with
// little memory, and nothing of them is left. ACCESSC_LOAD=1 makes them 10,000.
func TestCrowd(t *testing.T) {
	n := room(t, load(800, 10_000), 1)
	limit := n * 9 / 10
	w := newWorldOf(t, func(c *egress.Config) {
		c.Limits.Connections, c.Limits.Handshake = limit, time.Hour
		c.Dial = func(context.Context, netip.AddrPort) (net.Conn, error) {
			a, b := net.Pipe()
			go func() {
				defer b.Close()
				_, _ = io.CopyBuffer(struct{ io.Writer }{b}, struct{ io.Reader }{b}, make([]byte, 1))
			}()
			return a, nil
		}
	}, allow("tcp.example", port(9), scheme("tcp")))
	w.names["tcp.example"] = "203.0.113.1"
	before := held()
	for i := range n {
		w.proxy.Expect(source(i), egress.Origin{Host: host("tcp.example"), Port: 9})
	}
	line, end := crowd(w, n)
	during := held()
	end()
	var served, refused int
	_, _ = fmt.Sscanf(line, "%d %d", &served, &refused)
	if served != limit || refused != n-limit {
		t.Errorf("served %d and refused %d of %d, want %d: %s", served, refused, n, limit, line)
	}
	each := (during.memory - before.memory) / limit
	t.Logf("%d connections: %d bytes of heap and stacks each, %d descriptors",
		limit, each, during.descriptors-before.descriptors)
	if each > 48<<10 || during.descriptors > before.descriptors+limit+16 {
		t.Errorf("%d bytes each, %d descriptors", each, during.descriptors-before.descriptors)
	}
	settles(t, before, 4)
}

// crowd starts the client of a crowd and returns its findings.
func crowd(w *world, n int) (line string, end func()) {
	w.Helper()
	at, _ := w.proxy.Listener(false)
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrowdClient$")
	cmd.Env = append(os.Environ(), "EGRESS_CROWD="+at.String()+" "+strconv.Itoa(n))
	in, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	line, _ = bufio.NewReader(out).ReadString('\n')
	return line, func() {
		in.Close()
		_ = cmd.Wait()
	}
}

// TestCrowdClient is the client of TestCrowd, a process of its own for its descriptors.
func TestCrowdClient(t *testing.T) {
	to, count, ok := strings.Cut(os.Getenv("EGRESS_CROWD"), " ")
	if !ok {
		t.Skip("a part of TestCrowd")
	}
	n, _ := strconv.Atoi(count)
	var mu sync.Mutex
	var open []net.Conn
	var refused int
	turns, all := make(chan struct{}, 32), sync.WaitGroup{}
	for i := range n {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			c, err := (&net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(source(i))}).Dial("tcp", to)
			if err == nil {
				_ = c.SetDeadline(await.Deadline(t))
				_, _ = c.Write([]byte{1})
				_, err = c.Read(make([]byte, 1))
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused++
				return
			}
			open = append(open, c)
		})
	}
	all.Wait()
	fmt.Println(len(open), refused)
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(open)
}

// TestSlowClients: clients that never finish a message do not hold up others, and are given up.
func TestSlowClients(t *testing.T) {
	w, slow := slowClients(t, time.Hour)
	if code, body := w.get(w.client(false, ""), "http://example.com/"); code != 200 {
		t.Error("another client:", code, body)
	}
	for _, c := range slow {
		c.Close()
	}
	w.proxy.Close()
	before := held()
	w, slow = slowClients(t, 100*time.Millisecond)
	for i, c := range slow {
		_ = c.SetDeadline(await.Deadline(t))
		if _, err := io.Copy(io.Discard, c); os.IsTimeout(err) {
			t.Error("still open:", i%5)
		}
		c.Close()
	}
	w.proxy.Close()
	settles(t, before, 8)
}

// slowClients are clients of all forms that have sent a part of a message to a proxy that waits some time for the rest.
func slowClients(t *testing.T, handshake time.Duration) (w *world, slow []net.Conn) {
	w = newWorldOf(t, func(c *egress.Config) { c.Limits.Handshake = handshake }, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	hello := greeting(t, "example.com")
	for i := range room(t, load(150, 1500), 3) { // the client's, the proxy's, and one to the host
		var c net.Conn
		var text string
		switch i % 5 {
		case 0:
			c, text = w.dial(egress.Origin{}), "CONNECT exam"
		case 1:
			c, text = w.dial(egress.Origin{}), "\x05\x01\x00\x05\x01"
		case 2:
			c, text = w.dial(egress.Origin{Host: host("example.com"), Port: 443}), string(hello[:100])
		case 3:
			c, text = w.dial(egress.Origin{Host: host("example.com"), Port: 80}), "GET / HTTP/1.1\r\nHost: exa"
		case 4:
			c, text = w.dial(egress.Origin{Resolver: true}), "\x00\xff"
		}
		_, _ = io.WriteString(c, text)
		slow = append(slow, c)
	}
	return w, slow
}

// TestLarge: many bytes pass a tunnel in both directions, and take no memory. ACCESSC_LOAD=1 makes
// them 1 GB.
func TestLarge(t *testing.T) {
	size := load(64<<20, 1<<30)
	part := make([]byte, 256<<10)
	for i := range part {
		part[i] = byte(i * i >> 3)
	}
	w := newWorld(t, allow("tcp.example", port(9), scheme("tcp")), allow("example.com"))
	w.names["tcp.example"] = "203.0.113.1"
	w.listen(9, func(c net.Conn) {
		sum := crc32.NewIEEE()
		n, _ := io.Copy(sum, io.LimitReader(c, int64(size)))
		for range size / len(part) {
			_, _ = c.Write(part)
		}
		_ = binary.Write(c, binary.BigEndian, []uint64{uint64(n), uint64(sum.Sum32())})
	})
	before := held()
	c := w.dial(egress.Origin{Host: host("tcp.example"), Port: 9})
	defer c.Close()
	_ = c.SetDeadline(await.Deadline(t))
	sent, got := crc32.NewIEEE(), crc32.NewIEEE()
	for range size / len(part) {
		sent.Write(part)
		if _, err := c.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := io.Copy(got, io.LimitReader(c, int64(size))); n != int64(size) || err != nil {
		t.Fatal(n, err)
	}
	var end [2]uint64
	if err := binary.Read(c, binary.BigEndian, &end); err != nil || end[0] != uint64(size) || end[1] != uint64(sent.Sum32()) || got.Sum32() != sent.Sum32() {
		t.Error(end, err, got.Sum32(), sent.Sum32())
	}
	if grown := held().memory - before.memory; grown > 8<<20 {
		t.Errorf("%d bytes of memory for it", grown)
	}
}

// TestNoGrowth: connections that end well or badly, in every form, leave nothing behind.
func TestNoGrowth(t *testing.T) {
	w, roots := pathWorld(t)
	round := func(i int) {
		for _, f := range forms {
			c := f.open(w, "example.com", uint16([]int{80, 443}[i%2]))
			if c == nil {
				t.Fatal(f.name)
			}
			_ = c.SetDeadline(await.Deadline(t))
			served(c, i, roots)
			if i%3 == 0 {
				_ = c.(*net.TCPConn).SetLinger(0)
			}
			c.Close()
		}
		if c := forms[2].open(w, "secret.example", 443); c != nil {
			t.Fatal("granted")
		}
	}
	for i := range 12 {
		round(i)
	}
	before := held()
	for i := range load(60, 3000) {
		round(i)
	}
	after := held()
	t.Logf("%d bytes grown", after.memory-before.memory)
	if after.memory-before.memory > 8<<20 {
		t.Error("memory grows:", before.memory, after.memory)
	}
	// Connections to hosts are kept for later requests, up to 32.
	settles(t, before, 3*32)
}

// served speaks a part of a request, all of it, or none.
func served(c net.Conn, i int, roots *x509.CertPool) {
	if i%2 == 1 {
		secure := tls.Client(c, &tls.Config{RootCAs: roots, ServerName: "example.com"})
		if i%4 == 1 && secure.Handshake() != nil {
			return
		}
		c = secure
	}
	switch i % 5 {
	case 0, 1:
		_ = exchange(c, "GET /api HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
	case 2:
		_, _ = io.WriteString(c, "GET /api HTTP/1.1\r\nHo")
	case 3:
		_, _ = io.WriteString(c, "GET /api HTTP/1.1\r\nHost: example.com\r\n\r\n")
	}
}
