package egress

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
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
// only in memory, for one run. Clients trust a root that signed the authority's certificate and
// nothing else, since its key is dropped at once; both certificates are constrained to the hosts
// (RFC 5280, 4.2.1.10). See decision D113.
type Authority struct {
	hosts  []ir.Host
	root   []byte // DER
	signer *x509.Certificate
	key    *ecdsa.PrivateKey
	mu     sync.Mutex
	leaf   map[ir.Host]*tls.Certificate
}

// NewAuthority makes an authority for hosts, which may be patterns.
func NewAuthority(hosts []ir.Host) (*Authority, error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	anchor, middle := signing("accessc root of one run", 1), signing("accessc of one run", 0)
	constrain(anchor, hosts)
	constrain(middle, hosts)
	root, err := issue(anchor, anchor, &rootKey.PublicKey, rootKey)
	if err != nil {
		return nil, err
	}
	signer, err := issue(middle, root, &key.PublicKey, rootKey)
	if err != nil {
		return nil, err
	}
	return &Authority{hosts: slices.Clone(hosts), root: root.Raw, signer: signer, key: key,
		leaf: map[ir.Host]*tls.Certificate{}}, nil
}

// signing is the template of a certificate that signs others.
func signing(name string, below int) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		MaxPathLen: below, MaxPathLenZero: below == 0,
		KeyUsage: x509.KeyUsageCertSign, PermittedDNSDomainsCritical: true,
	}
}

// issue signs a certificate.
func issue(template, parent *x509.Certificate, to *ecdsa.PublicKey, by *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template.SerialNumber, template.NotBefore, template.NotAfter = serial, now.Add(-backward), now.Add(validity)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, to, by)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// noName is a name that no host has (RFC 6761, 6.4). The broadcast addresses serve likewise.
const noName = "invalid"

// constrain limits a signing certificate to hosts. A kind of name without a constraint is
// unlimited, so each kind gets a constraint; only "*" leaves all without. A constraint on a
// name covers the names below it, too, and a constraint on a pattern its apex: these
// certificate refuses to sign.
func constrain(c *x509.Certificate, hosts []ir.Host) {
	for _, h := range hosts {
		switch h.Kind {
		case ir.HostName, ir.HostSuffix:
			c.PermittedDNSDomains = append(c.PermittedDNSDomains, h.Name)
			if h.Name == ir.Localhost {
				c.PermittedIPRanges = append(c.PermittedIPRanges, network(net.IP{127, 0, 0, 0}, 8),
					network(net.IPv6loopback, 128))
			}
		case ir.HostAddr:
			c.PermittedIPRanges = append(c.PermittedIPRanges, network(h.Addr.AsSlice(), h.Addr.BitLen()))
		case ir.HostAny:
			c.PermittedDNSDomains, c.PermittedIPRanges = nil, nil
			return
		}
	}
	if c.PermittedDNSDomains == nil {
		c.PermittedDNSDomains = []string{noName}
	}
	// GnuTLS takes the families of addresses for two kinds of names. A family that is excluded
	// makes Java fail at addresses of the other family.
	last := bytes.Repeat([]byte{0xff}, net.IPv6len)
	for _, none := range []*net.IPNet{network(net.IPv4bcast.To4(), 32), network(last, 128)} {
		if !slices.ContainsFunc(c.PermittedIPRanges, func(n *net.IPNet) bool { return len(n.IP) == len(none.IP) }) {
			c.PermittedIPRanges = append(c.PermittedIPRanges, none)
		}
	}
}

func network(ip net.IP, bits int) *net.IPNet {
	return &net.IPNet{IP: ip, Mask: net.CIDRMask(bits, 8*len(ip))}
}

// PEM returns the certificate for trust stores.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.root})
}

// matches reports whether a pattern is about a host.
func matches(pattern, h ir.Host) bool {
	//exhaustive:ignore
	switch pattern.Kind {
	case ir.HostAny:
		return true
	case ir.HostSuffix:
		return h.Kind == ir.HostName && strings.HasSuffix(h.Name, "."+pattern.Name)
	default:
		return pattern == h || pattern.Name == ir.Localhost && h.Kind == ir.HostAddr && h.Addr.Unmap().IsLoopback()
	}
}

// maxLeaves bounds the certificates that are kept; a wildcard has as many hosts as it likes.
const maxLeaves = 4096

// certificate returns a certificate for a host that the authority is for.
func (a *Authority) certificate(h ir.Host) (*tls.Certificate, error) {
	if a == nil || !slices.ContainsFunc(a.hosts, func(p ir.Host) bool { return matches(p, h) }) {
		return nil, fmt.Errorf("no certificate for %s, which no rule inspects", h)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.leaf[h]; c != nil {
		return c, nil
	}
	c, err := a.sign(h)
	if err != nil {
		return nil, err
	}
	if len(a.leaf) >= maxLeaves {
		clear(a.leaf)
	}
	a.leaf[h] = c
	return c, nil
}

// sign makes a certificate for a host.
func (a *Authority) sign(h ir.Host) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature}
	//exhaustive:ignore
	switch h.Kind {
	case ir.HostName:
		template.DNSNames = []string{h.Name}
	case ir.HostAddr:
		template.IPAddresses = []net.IP{h.Addr.AsSlice()}
	default:
		return nil, fmt.Errorf("no certificate for the pattern %s", h)
	}
	leaf, err := issue(template, a.signer, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw, a.signer.Raw}, PrivateKey: key, Leaf: leaf}, nil
}
