package egress

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"time"
)

// recordHandshake is the first byte of a TLS connection (RFC 8446, 5.1). The others are of an
// alert that refuses one (RFC 8446, 6).
const (
	recordHandshake = 22
	recordAlert     = 21
	alertFatal      = 2
	alertDenied     = 49
)

// hidden are the extensions that hide the name that a client asks for: ECH (RFC 9849), its drafts, and
// ESNI before them.
var hidden = []uint16{0xfe0d, 0xfe08, 0xfe09, 0xfe0a, 0xfe0b, 0xfe0c, 0xffce}

// A hello is the first message of a TLS client.
type hello struct {
	name string
	ech  bool
}

// errHello stops the handshake once the hello has been read.
var errHello = errors.New("hello read")

// maxHellos bounds the connections whose hello is read at once, and with it the memory for them.
const maxHellos = 1024

// hello reads a TLS ClientHello when its turn comes, within the time of the handshake.
func (p *Proxy) hello(c *client) (hello, error) {
	late := time.NewTimer(p.config.Limits.Handshake)
	defer late.Stop()
	select {
	case p.hellos <- struct{}{}:
		defer func() { <-p.hellos }()
		return readHello(c)
	case <-late.C:
		return hello{}, os.ErrDeadlineExceeded
	}
}

// readHello reads a TLS ClientHello. Its bytes stay to be read again.
func readHello(c *client) (hello, error) {
	var out hello
	got := false
	probe := &listening{client: c}
	config := &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		out = hello{name: info.ServerName, ech: slices.ContainsFunc(info.Extensions, func(e uint16) bool { return slices.Contains(hidden, e) })}
		got = true
		return nil, errHello
	}}
	err := tls.Server(probe, config).Handshake()
	c.seen = append(probe.heard.Bytes(), c.seen...)
	if got {
		return out, nil
	}
	return hello{}, err
}

// maxHello bounds the bytes that are read for a ClientHello.
const maxHello = 128 << 10

// listening reads from a client, remembers the bytes, and says nothing.
type listening struct {
	*client
	heard bytes.Buffer
}

func (l *listening) Read(b []byte) (int, error) {
	if l.heard.Len() >= maxHello {
		return 0, errors.New("a hello that is too long")
	}
	n, err := l.client.Read(b)
	l.heard.Write(b[:n])
	return n, err
}

func (l *listening) Write([]byte) (int, error)        { return 0, io.ErrClosedPipe }
func (l *listening) Close() error                     { return nil }
func (l *listening) SetDeadline(time.Time) error      { return nil }
func (l *listening) SetReadDeadline(time.Time) error  { return nil }
func (l *listening) SetWriteDeadline(time.Time) error { return nil }

var _ net.Conn = (*listening)(nil)
