package egress

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/accessc/accessc/ir"
)

// ErrInternal is the reason for refusing addresses.
var ErrInternal error = errInternal

// Made connects to an address for a name.
func (p *Proxy) Made(a netip.Addr, port uint16) (net.Conn, error) {
	to := ir.Endpoint{Scheme: schemeStream, Host: ir.Host{Kind: ir.HostName, Name: "own.example"}, Port: port}
	return p.dialer.made(context.Background(), to, netip.AddrPortFrom(a, port))
}

// text is a connection from which some bytes can be read.
type text struct{ bytes.Reader }

func (*text) Write(b []byte) (int, error)      { return len(b), nil }
func (*text) Close() error                     { return nil }
func (*text) LocalAddr() net.Addr              { return nil }
func (*text) RemoteAddr() net.Addr             { return nil }
func (*text) SetDeadline(time.Time) error      { return nil }
func (*text) SetReadDeadline(time.Time) error  { return nil }
func (*text) SetWriteDeadline(time.Time) error { return nil }

func textClient(b []byte) (*client, *text) {
	t := &text{}
	t.Reset(b)
	return &client{Conn: t}, t
}

// Hello reads a hello, and returns why it does not fit a host, empty if it does, and what would be
// sent to the server.
func Hello(b []byte, host ir.Host) (why string, sent []byte, err error) {
	c, _ := textClient(b)
	h, err := readHello(c)
	if err != nil {
		return "", nil, err
	}
	rest := make([]byte, len(b))
	n, _ := c.Conn.Read(rest)
	return mismatch(ir.Endpoint{Host: host}, h, false), append(c.seen, rest[:n]...), nil
}

// Socks reads a request of SOCKS5 and returns how many bytes are left.
func Socks(b []byte) (h ir.Host, port uint16, granted bool, left int) {
	c, t := textClient(b)
	h, port, code := socksRequest(c)
	return h, port, code == socksGranted, t.Len()
}

// Target returns where a request by a connection goes, and why it is refused, empty if it is not.
func (p *Proxy) Target(o Origin, r *http.Request) (to ir.Endpoint, why string) {
	to, _, why = p.requests.target(&client{origin: o}, r)
	if why == "" {
		_, why = p.requests.acceptable(to, r)
	}
	return to, why
}

// Route decides about a connection of the tool to an address. If the caller waits for the host,
// Route connects to it first, so that the tool learns of its errors.
func (p *Proxy) Route(want netip.AddrPort, wait bool) (Origin, syscall.Errno) {
	o, refused, e := p.route(want, wait, 0)
	if refused != nil {
		p.refused(*refused)
	}
	return o, e
}

// Expects reports whether a connection from an address is announced.
func (p *Proxy) Expects(from netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.expected[from]) > 0
}

// Answer answers a DNS message of the tool, nil if it is none.
func (p *Proxy) Answer(ctx context.Context, query []byte) []byte {
	return p.stub.answerTo(ctx, query, 0)
}

// Pool returns the addresses that stand for names.
func (p *Proxy) Pool() *Pool { return p.pool }
