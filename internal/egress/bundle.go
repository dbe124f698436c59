package egress

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/accessc/accessc/internal/egress/clients"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/wholefile"
)

// rootFiles are the places where systems keep the authorities that they trust, as one file
// (crypto/x509, root_linux.go). The last place is also the place of macOS, without what users
// added to their keychains.
var rootFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
	"/etc/pki/tls/certs/ca-bundle.crt",                  // older releases
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/ssl/cert.pem",                                 // Alpine
}

// maxRoots is the size in bytes up to which a file of authorities is read. The files of systems
// have a fifth of a megabyte.
const maxRoots = 8 << 20

// A Bundle is a set of authorities that clients trust.
type Bundle struct {
	certs []*x509.Certificate
	has   map[string]bool
}

// HostBundle is the set that this host trusts, and the caller's files beside it. A file that is
// not readable, or no regular file, adds nothing, as in the clients that know the file.
func HostBundle(files []string) *Bundle {
	b := &Bundle{has: map[string]bool{}}
	for _, name := range rootFiles {
		if b.Add(regular(name)) {
			break
		}
	}
	for _, name := range files {
		b.Add(regular(name))
	}
	return b
}

func regular(name string) []byte {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := wholefile.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := bounded.Read(f, maxRoots)
	if err != nil {
		return nil
	}
	return text
}

// Add adds the certificates of a PEM file, whatever else is in it. Certificates that this
// program cannot read are left out. It reports whether there were any.
func (b *Bundle) Add(text []byte) (found bool) {
	for len(text) > 0 {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if block.Type != "CERTIFICATE" || err != nil {
			continue
		}
		found = true
		if !b.has[string(c.Raw)] {
			b.has[string(c.Raw)] = true
			b.certs = append(b.certs, c)
		}
	}
	return found
}

// Pool is the set for this program's own connections.
func (b *Bundle) Pool() *x509.CertPool {
	out := x509.NewCertPool()
	for _, c := range b.certs {
		out.AddCert(c)
	}
	return out
}

// PEM writes the set as most clients read it.
func (b *Bundle) PEM() []byte {
	var out bytes.Buffer
	for _, c := range b.certs {
		_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	return out.Bytes()
}

// PKCS12 writes the set as a trust store of Java, which reads it without a password since
// nothing in it is encrypted. See decision D113.
func (b *Bundle) PKCS12() ([]byte, error) {
	var entries []pkcs12.TrustStoreEntry
	for i, c := range b.certs {
		// Java takes two entries of the same name for one entry.
		entries = append(entries, pkcs12.TrustStoreEntry{Cert: c, FriendlyName: fmt.Sprintf("%d", i)})
	}
	return pkcs12.Passwordless.EncodeTrustStoreEntries(entries, "")
}

// Write writes the set into a directory of the run, as the files that package clients names.
func (b *Bundle) Write(dir string) error {
	store, err := b.PKCS12()
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{clients.PEMFile: b.PEM(), clients.PKCS12File: store} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}
