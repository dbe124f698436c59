package sandbox_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/sandbox"
)

// TestAttested: a host starts tools by attestations where the user requires them, and nothing else.
func TestAttested(t *testing.T) {
	h, ws := open(t)
	config := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "accessc")
	if err := os.MkdirAll(config, 0o755); err != nil {
		t.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, _ := x509.MarshalPKCS8PrivateKey(private)
	key, err := attest.ParsePrivate(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	der, _ = x509.MarshalPKIXPublicKey(public)
	for name, text := range map[string]string{
		"a.pub":            string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"attestation.toml": "require = true\n[[signers]]\nname = \"a\"\nkey = \"a.pub\"\n",
	} {
		if err := os.WriteFile(filepath.Join(config, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start := func(r sandbox.Request, want string) {
		t.Helper()
		p, err := h.Start(context.Background(), r)
		if err == nil {
			_, err = p.Wait()
		}
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("got %v, expected %q", err, want)
		}
	}
	run := sandbox.Request{Tool: "alone", Args: []string{"-c", "exit 0"}}
	start(run, "there is none for this start") // the policies were compiled before the file was there
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	start(run, "there is no attestation")
	res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: ws, Apart: true}, Untested: true})
	if err != nil {
		t.Fatal(err)
	}
	req := build.Request{Program: res.Program, Backends: registry.All, Form: backends.Portable, Attest: func(said *attest.Statement, _ []byte) ([]byte, error) {
		said.Build.Serial = 1
		return attest.Sign(said, key)
	}}
	if _, found, err := build.Write(req, filepath.Join(ws, "access")); err != nil || len(found) > 0 {
		t.Fatal(err, found)
	}
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	start(run, "")
	run.Program = "/bin/sh"
	start(run, "there is none for this start")
}
