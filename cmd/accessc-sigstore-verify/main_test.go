package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/testing/data"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/host/hostfacts"
)

// A bundle of the public instance about a package of npm, with its trusted root: the library's own test data.
const (
	realBundle = "sigstore.js@2.0.0-provenance.sigstore.json"
	realDigest = "46d4e2f74c4877316640000a6fdf8a8b59f1e0847667973e9859f774dd31b8f1e0937813b777fb66a2ac67d50540fe34640966eee9fc2ccca387082b4c85cd3c"
	identity   = "https://github.com/sigstore/sigstore-js/.github/workflows/release.yml@refs/heads/main"
	issuer     = "https://token.actions.githubusercontent.com"
)

// TestPublic: a bundle of the public instance holds offline, with all that is required, and does not for another artifact,
// identity, issuer or root.
func TestPublic(t *testing.T) {
	digest := func(text string) verify.ArtifactPolicyOption {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return verify.WithArtifactDigest("sha512", raw)
	}
	public, other := data.TrustedRoot(t, "public-good.json"), data.TrustedRoot(t, "scaffolding.json")
	for name, c := range map[string]struct {
		trusted          root.TrustedMaterial
		identity, issuer string
		about            verify.ArtifactPolicyOption
		holds            bool
	}{
		"as it is":                    {public, identity, issuer, digest(realDigest), true},
		"another artifact":            {public, identity, issuer, digest("00" + realDigest[2:]), false},
		"another branch":              {public, identity + "2", issuer, digest(realDigest), false},
		"a beginning of the identity": {public, identity[:len(identity)-1], issuer, digest(realDigest), false},
		"a pattern":                   {public, ".*", issuer, digest(realDigest), false},
		"another issuer":              {public, identity, "https://accounts.example.com", digest(realDigest), false},
		"another root":                {other, identity, issuer, digest(realDigest), false},
	} {
		t.Run(name, func(t *testing.T) {
			when, err := verified(data.Bundle(t, realBundle), c.trusted, c.identity, c.issuer, c.about, required()...)
			if (err == nil) != c.holds {
				t.Errorf("got %v", err)
			}
			if c.holds && when.Year() != 2023 || !c.holds && !when.IsZero() {
				t.Errorf("signed at %v", when)
			}
		})
	}
}

// TestManifest: a signature of a manifest holds for that manifest alone, by an instance of the test's own, which logs no
// certificates.
func TestManifest(t *testing.T) {
	instance, err := ca.NewVirtualSigstore()
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := ca.NewVirtualSigstore()
	if err != nil {
		t.Fatal(err)
	}
	manifest := []byte(`{"format":"accessc/manifest"}`)
	signed, err := instance.Sign("a@example.com", issuer, manifest)
	if err != nil {
		t.Fatal(err)
	}
	need := []verify.VerifierOption{verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1)}
	about := func(data []byte) verify.ArtifactPolicyOption { return verify.WithArtifact(bytes.NewReader(data)) }
	if _, err := verified(signed, instance, "a@example.com", issuer, about(manifest), need...); err != nil {
		t.Error(err)
	}
	fails := func(signed verify.SignedEntity, trusted root.TrustedMaterial, identity, issuer string, about verify.ArtifactPolicyOption, need ...verify.VerifierOption) error {
		_, err := verified(signed, trusted, identity, issuer, about, need...)
		return err
	}
	for name, err := range map[string]error{
		"another manifest":      fails(signed, instance, "a@example.com", issuer, about(manifest[1:]), need...),
		"another instance":      fails(signed, foreign, "a@example.com", issuer, about(manifest), need...),
		"somebody else":         fails(signed, instance, "b@example.com", issuer, about(manifest), need...),
		"no logged certificate": fails(signed, instance, "a@example.com", issuer, about(manifest), required()...),
	} {
		if err == nil {
			t.Errorf("%s: it holds", name)
		}
	}
}

// builtAt is a build in a directory.
func builtAt(t *testing.T) string {
	t.Helper()
	ws := t.TempDir()
	if err := os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte("[tools.t]\nsource = \"local\"\ncommand = \"cat x\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: ws}, Untested: true})
	if err != nil || res.Program == nil {
		t.Fatal(err)
	}
	dir := filepath.Join(ws, "access")
	if _, found, err := build.Write(build.Request{Program: res.Program, Backends: registry.All, Form: backends.Portable}, dir); err != nil || len(found) > 0 {
		t.Fatal(err, found)
	}
	return dir
}

// TestRefused: the program says why a bundle does not hold, ends with 1, and attests nothing.
func TestRefused(t *testing.T) {
	dir := builtAt(t)
	files := t.TempDir()
	put := func(name string, data []byte, err error) string {
		t.Helper()
		if err == nil {
			err = os.WriteFile(filepath.Join(files, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(files, name)
	}
	text, err := data.Bundle(t, realBundle).MarshalJSON()
	good := put("bundle.json", text, err)
	trusted, err := data.TrustedRoot(t, "public-good.json").MarshalJSON()
	rootFile := put("root.json", trusted, err)
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"of another artifact": {[]string{"-bundle", good, "-trusted-root", rootFile}, 1, "digest"},
		"truncated":           {[]string{"-bundle", put("half.json", text[:len(text)/2], nil), "-trusted-root", rootFile}, 1, "half.json"},
		"no bundle":           {[]string{"-bundle", files + "/none", "-trusted-root", rootFile}, 1, "no such file"},
		"no root":             {[]string{"-bundle", good, "-trusted-root", put("bad.json", []byte("{}"), nil)}, 1, "bad.json"},
		"no flag":             {[]string{"-bundle", good}, 2, "usage"},
		"no such flag":        {[]string{"-insecure"}, 2, "not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, messages bytes.Buffer
			args := append(c.args, "-identity", identity, "-issuer", issuer, "-attest", put("key", nil, nil), dir)
			if status := run(args, &out, &messages); status != c.status || !strings.Contains(messages.String(), c.want) || out.Len() > 0 {
				t.Errorf("status %d: %s%s", status, out.String(), messages.String())
			}
			if _, err := os.Stat(filepath.Join(dir, build.AttestationFile)); err == nil {
				t.Error("it is attested")
			}
		})
	}
}

// TestAttests: the attestation is about the files of the build, signed by the key, and there is nothing else. Its serial is
// when the bundle was signed: with the time of the check an earlier build and its bundle became the newest.
func TestAttests(t *testing.T) {
	dir := builtAt(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	file := filepath.Join(t.TempDir(), "a.key")
	if err := os.WriteFile(file, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, build.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	m, err := build.ParseManifest(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := (options{attest: file, project: "shop"}).write(dir, m, manifest, time.Unix(12, 0)); err != nil {
		t.Fatal(err)
	}
	e, err := signers.Envelope(filepath.Join(dir, build.AttestationFile))
	if err != nil {
		t.Fatal(err)
	}
	key, err := attest.ParsePrivate(secret)
	if err != nil {
		t.Fatal(err)
	}
	said, _, err := e.Verify(1, key.Public())
	if err != nil || said.Build.Project != "shop" || said.Build.Serial != 12 {
		t.Fatal(said, err)
	}
	if problems, err := build.Attested(said, m, build.Hash(manifest), dir); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}
