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

	"golang.org/x/crypto/cryptobyte"
)

// recordHandshake is the first byte of a TLS connection (RFC 8446, 5.1). The others are of an
// alert that refuses a connection (RFC 8446, 6).
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
func (t *tunnels) hello(c *client) (hello, error) {
	late := time.NewTimer(t.config.Limits.Handshake)
	defer late.Stop()
	select {
	case t.hellos <- struct{}{}:
		defer func() { <-t.hellos }()
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
		ech := slices.ContainsFunc(info.Extensions, func(e uint16) bool { return slices.Contains(hidden, e) })
		out = hello{name: info.ServerName, ech: ech}
		got = true
		return nil, errHello
	}}
	err := tls.Server(probe, config).Handshake()
	c.seen = append(probe.heard.Bytes(), c.seen...)
	if !got {
		return hello{}, err
	}
	if !oneName(probe.heard.Bytes()) {
		return hello{}, errSeveral
	}
	return out, nil
}

// errSeveral is the error about a hello whose list of names has an entry besides the host. crypto/tls
// passes over entries of types that it does not know (RFC 6066, 3), and a server may read them.
var errSeveral = errors.New("a hello with more than one name")

// extensionServerName is the extension with the names that a client asks for (RFC 6066, 3).
const extensionServerName = 0

// oneName reports whether the list of names in a hello, if it has a list, has no more than one
// entry. crypto/tls could read the hello.
func oneName(records []byte) bool {
	var list, body, skipped, extensions cryptobyte.String
	message := cryptobyte.String(handshake(records))
	if !message.Skip(1) || !message.ReadUint24LengthPrefixed(&body) || !body.Skip(2+32) ||
		!body.ReadUint8LengthPrefixed(&skipped) || !body.ReadUint16LengthPrefixed(&skipped) ||
		!body.ReadUint8LengthPrefixed(&skipped) {
		return false
	}
	if body.Empty() {
		return true // SSL 3 and TLS 1.0 have hellos without extensions
	}
	if !body.ReadUint16LengthPrefixed(&extensions) {
		return false
	}
	for !extensions.Empty() {
		var kind uint16
		var data cryptobyte.String
		if !extensions.ReadUint16(&kind) || !extensions.ReadUint16LengthPrefixed(&data) {
			return false
		}
		if kind == extensionServerName &&
			(!data.ReadUint16LengthPrefixed(&list) || !list.Skip(1) ||
				!list.ReadUint16LengthPrefixed(&skipped) || !list.Empty()) {
			return false
		}
	}
	return true
}

// handshake joins the parts of a message that are in consecutive records (RFC 8446, 5.1).
func handshake(records []byte) (message []byte) {
	rest := cryptobyte.String(records)
	for {
		var kind uint8
		var part cryptobyte.String
		if !rest.ReadUint8(&kind) || kind != recordHandshake || !rest.Skip(2) || !rest.ReadUint16LengthPrefixed(&part) {
			return message
		}
		message = append(message, part...)
	}
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
