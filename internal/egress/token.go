package egress

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/textproto"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
)

// RunByToken is the proxy process of a run on macOS, where no supervisor announces connections.
func RunByToken(control io.ReadWriter, setup io.Reader) error {
	var s wire.Setup
	err := json.NewDecoder(setup).Decode(&s)
	if err == nil {
		var config Config
		if config, err = NewConfig(&s, ir.Darwin); err == nil {
			err = ServeByToken(control, config)
		}
	}
	if err != nil {
		_ = json.NewEncoder(control).Encode(wire.Greeting{Error: err.Error()})
	}
	return err
}

// ServeByToken runs a proxy until the other end of the control socket closes. Every process of the
// machine can connect to its port, so a connection shows a random token first.
// See RATIONALE D117.
func ServeByToken(control io.ReadWriter, config Config) error {
	p, err := Start(config)
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	token := rand.Text()
	p.running.Add(1)
	go p.acceptByToken(l, token)
	if err := json.NewEncoder(control).Encode(wire.Greeting{Port: addrPort(l.Addr()).Port(), Token: token}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, control)
	return err
}

// acceptByToken takes connections that show the token.
func (p *Proxy) acceptByToken(l net.Listener, token string) {
	defer p.running.Done()
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(10 * time.Millisecond) // no descriptors are left: wait for some
			continue
		}
		if !p.admit(conn) {
			_ = conn.Close()
			continue
		}
		go func() {
			defer p.running.Done()
			c := &client{Conn: conn, proxy: p, end: make(chan struct{})}
			if p.shows(c, token) {
				p.serve(c)
			}
			_ = c.Close()
		}()
	}
}

const unauthorized = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"accessc\"\r\n" +
	"Content-Length: 0\r\nConnection: close\r\n\r\n"

// shows reads the header of a client's first request, which is read again if it has the token
// (RFC 9110, 11.7.2). Later requests of the connection are the same client's. SOCKS has no header,
// and its passwords are asked for by few clients.
func (p *Proxy) shows(c *client, token string) bool {
	_ = c.SetDeadline(time.Now().Add(p.config.Limits.Handshake))
	var head []byte
	for part := make([]byte, 2048); !bytes.Contains(head, []byte("\r\n\r\n")); {
		n, err := c.Conn.Read(part)
		head = append(head, part[:n]...)
		if err != nil || len(head) > p.config.Limits.Header || head[0] == socksVersion {
			return false
		}
	}
	c.seen = head
	r := textproto.NewReader(bufio.NewReader(bytes.NewReader(head)))
	_, err := r.ReadLine()
	if err != nil {
		return false
	}
	fields, err := r.ReadMIMEHeader()
	if values := fields.Values("Proxy-Authorization"); err == nil && len(values) == 1 {
		scheme, secret, _ := strings.Cut(values[0], " ")
		want := base64.StdEncoding.EncodeToString([]byte(wire.User + ":" + token))
		if strings.EqualFold(scheme, "basic") && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(secret)), []byte(want)) == 1 {
			return true
		}
	}
	_, _ = io.WriteString(c.Conn, unauthorized)
	return false
}
