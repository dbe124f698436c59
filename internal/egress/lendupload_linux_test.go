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
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// upload sends a request with a body to a host until the host, which reads nothing, and all that lies in between take no more.
func upload(t *testing.T, c net.Conn, target, host string) {
	if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n", target, host); err != nil {
		t.Fatal(err)
	}
	chunk := "8000\r\n" + strings.Repeat("x", 0x8000) + "\r\n"
	for {
		_ = c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		switch _, err := io.WriteString(c, chunk); {
		case os.IsTimeout(err):
			return
		case err != nil:
			t.Fatal(err)
		}
	}
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
			host, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close()
			l.ports[8080] = host.Addr().String()
			l.answers(l.grants(1))
			c := l.to("a.example.com", 8080)
			upload(t, c, "/more", "a.example.com:8080")
			at, err := host.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer at.Close()
			l.revokesAll(t, at)
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
	_ = at.SetReadDeadline(time.Now().Add(5 * time.Second))
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
			upload(t, l.to("a.example.com", 8080), "/more", "a.example.com:8080")
			at := <-ready
			l.revokesAll(t, at)
		})
	}
}
