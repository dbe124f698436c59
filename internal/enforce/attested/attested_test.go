package attested

import (
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
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
)

const layer = `[tools.t]
source = "local"
command = "cat x"
access.fs = [{ path = "a", read = true }]
access.commands = { cat = {} }
`

// host is a workspace whose build is signed, on a host where its signer may sign.
type host struct {
	root string
	key  attest.Private
	// change changes what is signed, unless it is nil.
	change func(*attest.Build)
}

func newHost(t *testing.T) host {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	h := host{root: filepath.Join(dir, "ws")}
	for _, d := range []string{h.root, h.root + "/a", h.root + "/b", dir + "/config/accessc"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h.key = newKey(t, dir+"/config/accessc/a.pub")
	write(t, dir+"/config/accessc/attestation.toml", "require = true\n[[signers]]\nname = \"a\"\nkey = \"a.pub\"\n")
	write(t, h.root+"/accessc.toml", layer)
	return h
}

// newKey makes a key that signs, and a file of its public key.
func newKey(t *testing.T, file string) attest.Private {
	t.Helper()
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
	write(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	return key
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (h host) options(resolve bool) hostfacts.Options {
	return hostfacts.Options{
		Options: compiler.Options{Root: h.root, Layers: source.Request{}}, View: hostview.New(), Resolve: resolve, Untested: true,
	}
}

// sign builds the workspace portably, with a signature.
func (h host) sign(t *testing.T, serial int) {
	t.Helper()
	res, err := hostfacts.Compile(h.options(false))
	if err != nil || res.Findings.Failed() {
		t.Fatal(err, res.Findings)
	}
	req := build.Request{Program: res.Program, Backends: registry.All, Form: backends.Portable}
	req.Attest = func(said *attest.Statement, _ []byte) ([]byte, error) {
		said.Build.Serial = serial
		if h.change != nil {
			h.change(said.Build)
		}
		return attest.Sign(said, h.key)
	}
	if _, found, err := build.Write(req, filepath.Join(h.root, "access")); err != nil || len(found) > 0 {
		t.Fatal(err, found)
	}
}

// start compiles the tool for this host, as a start does.
func (h host) start(t *testing.T) Start {
	t.Helper()
	opts := h.options(true)
	res, err := hostfacts.Compile(opts)
	if err != nil || res.Program == nil {
		t.Fatal(err, res.Findings)
	}
	tool, ok := res.Program.Tool("t")
	if !ok {
		t.Fatal(res.Findings)
	}
	return Start{Options: opts, Result: res, Tool: tool}
}

func (h host) check(t *testing.T, s Start) error {
	t.Helper()
	p, _, found := Signers(h.root)
	if len(found) > 0 {
		t.Fatal(found)
	}
	if by := Required(p, h.root, "t"); !strings.HasSuffix(by, "attestation.toml") {
		t.Fatalf("required by %q", by)
	}
	return s.Check(p)
}

// TestMoved: a configuration that was compiled for the start and is another one when it is compared is refused, also
// if the one that is compared is the signed one. The specification that is applied comes from the first.
func TestMoved(t *testing.T) {
	for name, change := range map[string]func(h host) (back func()){
		"a layer": func(h host) func() {
			write(t, h.root+"/accessc.toml", strings.Replace(layer, `"a"`, `"b"`, 1))
			return func() { write(t, h.root+"/accessc.toml", layer) }
		},
		"a layer that goes": func(h host) func() {
			if err := os.Mkdir(h.root+"/.jp", 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, h.root+"/.jp/config.toml", "[[tools.t.access.net]]\nhost = \"example.com\"\nallow = true\n")
			return func() { os.RemoveAll(h.root + "/.jp") }
		},
		"a symlink at a rule": func(h host) func() {
			os.Remove(h.root + "/a")
			if err := os.Symlink("b", h.root+"/a"); err != nil {
				t.Skip(err)
			}
			return func() { os.Remove(h.root + "/a"); os.Mkdir(h.root+"/a", 0o755) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.sign(t, 1)
			if err := h.check(t, h.start(t)); err != nil {
				t.Fatal(err)
			}
			back := change(h)
			s := h.start(t)
			back()
			if err := h.check(t, s); err == nil || !strings.Contains(err.Error(), errMoved.Error()) {
				t.Errorf("got %v", err)
			}
			if err := h.check(t, h.start(t)); err != nil {
				t.Errorf("after it: %v", err)
			}
		})
	}
}

// TestReplayed: the attestation of an earlier policy, with the earlier policy, starts nothing after a newer one has.
func TestReplayed(t *testing.T) {
	h := newHost(t)
	h.sign(t, 1)
	old, err := os.ReadFile(h.root + "/access/attestation.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.check(t, h.start(t)); err != nil {
		t.Fatal(err)
	}
	write(t, h.root+"/accessc.toml", strings.Replace(layer, `"a"`, `"b"`, 1))
	if err := h.check(t, h.start(t)); err == nil || !strings.Contains(err.Error(), "the layers of this start compile to the policy") {
		t.Errorf("got %v", err)
	}
	h.sign(t, 2)
	if err := h.check(t, h.start(t)); err != nil {
		t.Fatal(err)
	}
	write(t, h.root+"/accessc.toml", layer)
	write(t, h.root+"/access/attestation.json", string(old))
	if err := h.check(t, h.start(t)); err == nil || !strings.Contains(err.Error(), "it is a replay") {
		t.Errorf("got %v", err)
	}
}

// TestReplayedOfAnother: an earlier attestation by another signer is a replay as well. With a serial for each signer the last one
// of either could be put in the place of a newer one of the other.
func TestReplayedOfAnother(t *testing.T) {
	h := newHost(t)
	config := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "accessc")
	another := h
	another.key = newKey(t, config+"/b.pub")
	write(t, config+"/attestation.toml", "require = true\n[[signers]]\nname = \"a\"\nkey = \"a.pub\"\n[[signers]]\nname = \"b\"\nkey = \"b.pub\"\n")
	another.sign(t, 1)
	old, err := os.ReadFile(h.root + "/access/attestation.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.check(t, h.start(t)); err != nil {
		t.Fatal(err)
	}
	write(t, h.root+"/accessc.toml", strings.Replace(layer, `"a"`, `"b"`, 1))
	h.sign(t, 2)
	if err := h.check(t, h.start(t)); err != nil {
		t.Fatal(err)
	}
	write(t, h.root+"/accessc.toml", layer)
	write(t, h.root+"/access/attestation.json", string(old))
	if err := h.check(t, h.start(t)); err == nil || !strings.Contains(err.Error(), "it is a replay") {
		t.Errorf("got %v", err)
	}
}

// TestOtherSource: an attestation of a server's tool is none of a local one with the same policy.
func TestOtherSource(t *testing.T) {
	h := newHost(t)
	h.change = func(b *attest.Build) { b.Tools[0].Source = "mcp.x.t" }
	h.sign(t, 1)
	if err := h.check(t, h.start(t)); err == nil || !strings.Contains(err.Error(), `as a tool whose source is "mcp.x.t"`) {
		t.Errorf("got %v", err)
	}
}

// TestState: where a tool could write the serials, nothing is started.
func TestState(t *testing.T) {
	h := newHost(t)
	h.sign(t, 1)
	t.Setenv("XDG_STATE_HOME", filepath.Join(h.root, "state"))
	if err := h.check(t, h.start(t)); err == nil || !strings.Contains(err.Error(), "tools may write there") {
		t.Errorf("got %v", err)
	}
}
