package egress

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"sync"
	"time"

	"github.com/accessc/accessc/ir"
)

// validity is how long a run's certificates hold, backward for clocks that differ.
const (
	validity = 30 * 24 * time.Hour
	backward = time.Hour
)

// An Authority signs certificates for the hosts whose connections are inspected. Its key exists
// in memory alone, for one run, and its certificate is constrained to those hosts (RFC 5280,
// 4.2.1.10).
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	mu   sync.Mutex
	leaf map[ir.Host]*tls.Certificate
}

// NewAuthority makes an authority for hosts, which may be patterns.
func NewAuthority(hosts []ir.Host) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "accessc, of one run"},
		NotBefore: now.Add(-backward), NotAfter: now.Add(validity), IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, PermittedDNSDomainsCritical: true,
	}
	for _, h := range hosts {
		switch h.Kind {
		case ir.HostName, ir.HostSuffix:
			template.PermittedDNSDomains = append(template.PermittedDNSDomains, h.Name)
		case ir.HostAddr:
			template.PermittedIPRanges = append(template.PermittedIPRanges, &net.IPNet{
				IP: h.Addr.AsSlice(), Mask: net.CIDRMask(h.Addr.BitLen(), h.Addr.BitLen()),
			})
		case ir.HostAny:
			template.PermittedDNSDomains, template.PermittedIPRanges = nil, nil
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cert: cert, key: key, leaf: map[ir.Host]*tls.Certificate{}}, err
}

// PEM returns the authority's certificate for trust stores.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// maxLeaves bounds the certificates that are kept; a wildcard has as many hosts as it likes.
const maxLeaves = 4096

// certificate returns a certificate for a host.
func (a *Authority) certificate(h ir.Host) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.leaf[h]; c != nil {
		return c, nil
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, NotBefore: now.Add(-backward), NotAfter: now.Add(validity),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	switch h.Kind {
	case ir.HostName:
		template.DNSNames = []string{h.Name}
	case ir.HostAddr:
		template.IPAddresses = []net.IP{h.Addr.AsSlice()}
	default:
		return nil, errors.New("no certificate for a pattern")
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	if len(a.leaf) >= maxLeaves {
		clear(a.leaf)
	}
	c := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	a.leaf[h] = c
	return c, nil
}

// terminate serves a connection whose requests are judged one by one.
func (p *Proxy) terminate(c *client, to ir.Endpoint) {
	cert, err := p.config.Authority.certificate(to.Host)
	if err != nil {
		p.refused(Refusal{Op: ir.Connect{To: to}, Why: err.Error()})
		return
	}
	config := &tls.Config{Certificates: []tls.Certificate{*cert}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
	p.hand(c, tls.Server(c, config))
}
