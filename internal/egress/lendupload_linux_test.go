package egress_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// upload sends a request with an endless body to a host that reads nothing, and returns when all that lies in between takes no more.
// accepted is the host's end of the connection.
func upload(t *testing.T, c net.Conn, target, host string, accepted func() net.Conn) net.Conn {
	t.Helper()
	if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n", target, host); err != nil {
		t.Fatal(err)
	}
	chunk := "8000\r\n" + strings.Repeat("x", 0x8000) + "\r\n"
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for err := error(nil); err == nil; {
			_, err = io.WriteString(c, chunk)
		}
	}()
	t.Cleanup(func() {
		_ = c.Close()
		<-ended
	})
	at := accepted()
	await.Until(t, "the bytes wait on the whole way", func() bool {
		client, ok := flowOf(t, c.LocalAddr(), c.RemoteAddr())
		proxy, known := flowOf(t, at.RemoteAddr(), at.LocalAddr())
		return ok && known && client.unsent > 0 && proxy.unsent > 0
	})
	return at
}

// arrived is the number of bytes that a connection has and that were not read.
func arrived(t *testing.T, c net.Conn) (n int) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if failed := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	return n
}

// TestLentUpload: bytes that wait in the kernel for a host that reads slowly do not go there after the revocation.
func TestLentUpload(t *testing.T) {
	may := allow("a.example.com", func(r *ir.NetRule) { r.Port = 8080 })
	own := allow("a.example.com", func(r *ir.NetRule) { r.Scheme, r.Port, r.Path = "http", 8080, []string{"own"} })
	stream := allow("a.example.com", func(r *ir.NetRule) { r.Scheme, r.Port = "tcp", 8080 })
	for name, scene := range map[string]struct{ may, rules []ir.NetRule }{
		"alone": {[]ir.NetRule{may}, nil}, "beside a rule": {[]ir.NetRule{may}, []ir.NetRule{own}}, "stream": {[]ir.NetRule{stream}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := lend(t, scene.may, nil, scene.rules...)
			host := hosts(t, l)
			l.answers(l.grants(1))
			c := l.to("a.example.com", 8080)
			l.revokesAll(t, upload(t, c, "/more", "a.example.com:8080", func() net.Conn {
				at, err := host.Accept()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = at.Close() })
				return at
			}))
		})
	}
}

// revokesAll revokes the first grant. No byte may reach the host after that, beyond those that had arrived.
func (l *lender) revokesAll(t *testing.T, at net.Conn) {
	t.Helper()
	if err := l.proxy.Revoke(1); err != nil {
		t.Fatal(err)
	}
	before := arrived(t, at)
	_ = at.SetReadDeadline(await.Deadline(t))
	if after, err := io.Copy(io.Discard, at); int(after) != before || os.IsTimeout(err) {
		t.Errorf("%d bytes had arrived at the revocation, and then %d (%v)", before, after, err)
	}
}

// TestLentUploadByProxy: the same of bytes that wait for the caller's own proxy. Those on a connection by TLS, and on one
// whose host had spoken behind the proxy's answer, went on after the revocation.
func TestLentUploadByProxy(t *testing.T) {
	stream := allow("a.example.com", func(r *ir.NetRule) { r.Scheme, r.Port = "tcp", 8080 })
	for scheme, said := range map[string]string{"http": "", "http ": "220 hello\r\n", "https": "", "https ": "220 hello\r\n"} {
		t.Run(scheme, func(t *testing.T) {
			scheme := strings.TrimSpace(scheme)
			l := lend(t, []ir.NetRule{stream}, behind(map[string]string{"HTTPS_PROXY": scheme + "://127.0.0.1:3128"}))
			ready := make(chan net.Conn, 1)
			l.listen(callersPort, func(at net.Conn) {
				c := at
				if scheme == "https" {
					c = tls.Server(at, &tls.Config{Certificates: l.tls.TLS.Certificates})
				}
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"+said)
				}
				ready <- at
				<-t.Context().Done()
			})
			l.answers(l.grants(1))
			l.revokesAll(t, upload(t, l.to("a.example.com", 8080), "/more", "a.example.com:8080", func() net.Conn {
				at, _ := await.Receive(t, "the connection at the caller's proxy", ready)
				return at
			}))
		})
	}
}
