package egress_test

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
)

// TestBundle: files of certificates become one set, whatever else is in them or instead of them.
func TestBundle(t *testing.T) {
	a, err := egress.NewAuthority([]ir.Host{host("example.com")})
	if err != nil {
		t.Fatal(err)
	}
	b, err := egress.NewAuthority([]ir.Host{host("other.example")})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})
	file := filepath.Join(dir, "extra.pem")
	if err := os.WriteFile(file, bytes.Join([][]byte{[]byte("# comment\n"), a.PEM(), key, a.PEM()}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	host := egress.HostBundle([]string{dir, filepath.Join(dir, "none")})
	set := egress.HostBundle([]string{file})
	if !set.Add(b.PEM()) || set.Add([]byte("no certificate")) {
		t.Error("Add takes one text for the other")
	}
	want := bytes.Join([][]byte{host.PEM(), a.PEM(), b.PEM()}, nil)
	if !bytes.Equal(set.PEM(), want) {
		t.Errorf("have %d bytes, want %d", len(set.PEM()), len(want))
	}
	store, err := set.PKCS12()
	if err != nil {
		t.Fatal(err)
	}
	certs, err := pkcs12.DecodeTrustStore(store, "")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(want, []byte("BEGIN")); len(certs) != n {
		t.Errorf("the store has %d certificates, want %d", len(certs), n)
	}
}
