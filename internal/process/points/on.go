//go:build accessc_points

package points

import (
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

// variable has the address of the test's socket.
const variable = "ACCESSC_POINTS"

// link is the connection with the test, nil where this process belongs to none.
var link *connection

func init() {
	if at := address(); at != "" {
		Connect(at)
	}
}

// address is the address of the test's socket. An egress proxy gets few variables, and asks the process
// that has started it.
func address() string {
	if at := os.Getenv(variable); at != "" || len(os.Args) != 2 || os.Args[1] != "__egress" {
		return at
	}
	environ, _ := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/environ")
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if at, ok := bytes.CutPrefix(v, []byte(variable+"=")); ok {
			return string(at)
		}
	}
	return ""
}

// Connect makes this process a process of the test at an address. It ends the process where that is not
// possible: the test would wait for what it does not hear of.
func Connect(at string) {
	conn, err := net.Dial("unixpacket", at)
	if err != nil {
		_, _ = os.Stderr.WriteString("points: " + err.Error() + "\n")
		os.Exit(125)
	}
	c := &connection{conn: conn, waiting: map[uint64]chan struct{}{}}
	link = c
	go c.listen()
}

// A connection tells the test of the places that this process reaches.
type connection struct {
	conn    net.Conn
	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan struct{}
	over    bool
}

// listen lets the calls go on that the test names, and all when the test has ended.
func (c *connection) listen() {
	var number [8]byte
	for {
		n, err := c.conn.Read(number[:])
		c.mu.Lock()
		if err != nil || n != len(number) {
			c.over = true
			for _, w := range c.waiting {
				close(w)
			}
			clear(c.waiting)
			c.mu.Unlock()
			return
		}
		id := binary.LittleEndian.Uint64(number[:])
		if w := c.waiting[id]; w != nil {
			close(w)
			delete(c.waiting, id)
		}
		c.mu.Unlock()
	}
}

// Reach tells the test that a place is reached, and waits until the test lets it go on.
func Reach(name Name) { ReachOf(name, "") }

// ReachOf is Reach where a place is reached once for each of several things.
func ReachOf(name Name, what string) {
	c := link
	if c == nil {
		return
	}
	w := make(chan struct{})
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.last++
	c.waiting[c.last] = w
	text := strings.Join([]string{strconv.FormatUint(c.last, 10), string(name), what}, " ")
	_, err := c.conn.Write([]byte(text))
	c.mu.Unlock()
	if err == nil {
		<-w
	}
}
