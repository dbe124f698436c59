//go:build linux

package egress_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// An arrival is a request or connection that reached a server.
type arrival struct {
	server string         // the protocol
	to     netip.AddrPort // the address that was connected to
	sni    string         // the name that the TLS client said
	host   string         // and the one in the request
	method string
	path   string
}

// world is a network with name server, servers and a record of all that reach them.
type world struct {
	dir   string // certificates, programs, repositories; gone at the end
	names nameServer
	wire  *listening
	ca    *authority
	mu    sync.Mutex
	came  []arrival
	open  []io.Closer
	// serving is the number of open connections to servers that speak neither HTTP nor TLS.
	serving atomic.Int32
}

func newWorld() (*world, error) {
	dir, err := os.MkdirTemp("", "egress-world-")
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, names: nameServer{asked: map[string]int{}}}
	if err := w.begin(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) begin() error {
	if err := os.Chmod(w.dir, 0o755); err != nil {
		return err
	}
	if err := enterNetwork(); err != nil {
		return err
	}
	var err error
	if w.ca, err = newAuthority(); err != nil {
		return err
	}
	files := map[string]string{
		"/etc/resolv.conf":                   "nameserver 203.0.113.53\noptions timeout:2 attempts:2\n",
		"/etc/hosts":                         "127.0.0.1 localhost\n::1 localhost\n",
		"/etc/nsswitch.conf":                 "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n",
		"/etc/ssl/certs/ca-certificates.crt": string(w.ca.pem),
	}
	for at := range files {
		if _, err := os.Stat(at); err != nil {
			delete(files, at) // clients that need it have it
		}
	}
	if err := enterFiles(w.dir, files); err != nil {
		return err
	}
	if err := os.WriteFile(w.file("ca.pem"), w.ca.pem, 0o644); err != nil {
		return err
	}
	if w.wire, err = listen(); err != nil {
		return err
	}
	return w.serve()
}

// file is a name in the world's directory.
func (w *world) file(name string) string { return filepath.Join(w.dir, name) }

func (w *world) close() {
	for _, c := range w.open {
		_ = c.Close()
	}
	_ = os.RemoveAll(w.dir)
}

// arrive remembers an arrival.
func (w *world) arrive(a arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.came = append(w.came, a)
}

// arrivals returns those since the first n.
func (w *world) arrivals(n int) []arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]arrival{}, w.came[n:]...)
}

// ports of the servers. Each listens at every address of the world.
const (
	portEcho     = 7
	portSource   = 19
	portSSH      = 22
	portSMTP     = 25
	portDNS      = 53
	portHTTP     = 80
	portHTTPS    = 443
	portPostgres = 5432
	portOther    = 8080
)

func (w *world) serve() error {
	datagrams, err := net.ListenPacket("udp", "203.0.113.53:53")
	if err != nil {
		return err
	}
	w.open = append(w.open, datagrams)
	go w.names.serveDatagrams(datagrams)
	keys, err := hostKey()
	if err != nil {
		return err
	}
	for port, handle := range map[int]func(net.Conn){
		portEcho: w.echo, portSMTP: w.greeting, portSSH: func(c net.Conn) { w.shell(c, keys) }, portPostgres: w.postgres, portSource: w.source,
	} {
		if err := w.stream(fmt.Sprintf("[::]:%d", port), handle); err != nil {
			return err
		}
	}
	if err := w.stream("203.0.113.53:53", w.names.serveStream); err != nil {
		return err
	}
	h, err := w.sites()
	if err != nil {
		return err
	}
	for _, port := range []int{portHTTP, portOther, portHTTPS} {
		l, err := net.Listen("tcp", fmt.Sprintf("[::]:%d", port))
		if err != nil {
			return err
		}
		if port == portHTTPS {
			l = tls.NewListener(l, &tls.Config{GetConfigForClient: w.hello, NextProtos: []string{"h2", "http/1.1"}})
		}
		s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), ConnContext: localAddress}
		w.open = append(w.open, s)
		go func() { _ = s.Serve(l) }()
	}
	return nil
}

// stream serves connections to one port.
func (w *world) stream(at string, handle func(net.Conn)) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	w.open = append(w.open, l)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				w.serving.Add(1)
				defer w.serving.Add(-1)
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return nil
}

// local is the address that a connection was made to.
func local(c net.Conn) netip.AddrPort {
	a, ok := c.LocalAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.AddrPort().Addr().Unmap(), a.AddrPort().Port())
}

type localKey struct{}

func localAddress(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, localKey{}, local(c))
}

// echo returns each line.
func (w *world) echo(c net.Conn) {
	w.arrive(arrival{server: "echo", to: local(c)})
	for lines := bufio.NewScanner(c); lines.Scan(); {
		if _, err := fmt.Fprintf(c, "echo %s\n", lines.Text()); err != nil {
			return
		}
	}
}

// greeting speaks first, as mail servers do.
func (w *world) greeting(c net.Conn) {
	w.arrive(arrival{server: "greeting", to: local(c)})
	_, _ = io.WriteString(c, "220 greeting of the server\r\n")
	_, _ = io.Copy(io.Discard, c)
}

// hello chooses the certificate of the name that a client asks for.
func (w *world) hello(h *tls.ClientHelloInfo) (*tls.Config, error) {
	to := local(h.Conn)
	w.arrive(arrival{server: "tls", to: to, sni: h.ServerName})
	name := h.ServerName
	if name == "" {
		name = to.Addr().String()
	}
	cert, err := w.ca.certificate(name)
	return &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}, err
}

// authority signs certificates for names.
type authority struct {
	key   *ecdsa.PrivateKey
	cert  *x509.Certificate
	pem   []byte
	mu    sync.Mutex
	certs map[string]tls.Certificate
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &authority{key: key, certs: map[string]tls.Certificate{}}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the test world"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// certificate returns that of a name or address.
func (a *authority) certificate(name string) (tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.certs[name]; ok {
		return c, nil
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(a.certs)) + 2), Subject: pkix.Name{CommonName: strings.ToLower(name)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	c := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}
	a.certs[name] = c
	return c, nil
}
