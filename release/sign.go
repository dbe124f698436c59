package main

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/signers"
)

// Names of the files by which others are checked.
const (
	checksumsFile  = "checksums.txt"
	signatureFile  = "checksums.txt.sig"
	keyFile        = "release.pub"
	signersFile    = "release.signers"
	provenanceFile = "provenance.intoto.json"
)

// key signs a release: envelopes as builds have them, and files as OpenSSH signs them.
type key struct {
	attest.Private
	raw ed25519.PrivateKey
}

// readKey reads a key, or makes it if there is no file. A signature by ECDSA draws a number, so that two releases with
// the same key would differ.
func readKey(file string) (key, error) {
	var data []byte
	var err error
	if file == "" {
		var raw ed25519.PrivateKey
		if _, raw, err = ed25519.GenerateKey(rand.Reader); err != nil {
			return key{}, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(raw)
		if err != nil {
			return key{}, err
		}
		data = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	} else if data, err = signers.ReadSecret(file); err != nil {
		return key{}, err
	}
	private, err := attest.ParsePrivate(data)
	if err != nil {
		return key{}, fmt.Errorf("%s: %w", file, err)
	}
	block, _ := pem.Decode(data)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return key{}, err
	}
	raw, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return key{}, fmt.Errorf(
			"%s: found another key, expected Ed25519: openssl genpkey -algorithm ed25519 makes it", file)
	}
	return key{private, raw}, nil
}

// pem is the public key in PEM, authorized as OpenSSH writes it.
func (k key) pem() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(k.raw.Public())
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), err
}

func (k key) authorized() (string, error) {
	public, err := ssh.NewPublicKey(k.raw.Public())
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public))), nil
}

// namespace is what OpenSSH's signature of the checksums is for; install.sh names it, too.
const namespace = "accessc-release"

// signed is what a signature of OpenSSH signs, and with the key and the signature what it writes
// (https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig).
type signed struct{ Namespace, Reserved, Hash, Digest string }

// digest is the text that is signed for a file.
func digest(data []byte) []byte {
	sum := sha512.Sum512(data)
	return append([]byte("SSHSIG"), ssh.Marshal(signed{namespace, "", "sha512", string(sum[:])})...)
}

// sign is the signature of a file as ssh-keygen -Y sign writes it.
func (k key) sign(data []byte) ([]byte, error) {
	public, err := ssh.NewPublicKey(k.raw.Public())
	if err != nil {
		return nil, err
	}
	sig, err := k.raw.Sign(nil, digest(data), crypto.Hash(0))
	if err != nil {
		return nil, err
	}
	inner := ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoED25519, Blob: sig})
	blob := ssh.Marshal(struct {
		Version                        uint32
		Key, Namespace, Reserved, Hash string
		Signature                      []byte
	}{1, string(public.Marshal()), namespace, "", "sha512", inner})
	return pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: append([]byte("SSHSIG"), blob...)}), nil
}

// checksums writes the checksums of all files so far, the signature, and the key that checks it, in PEM and for
// ssh-keygen.
func (r *release) checksums() error {
	subjects, err := subjects(r.out)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, s := range subjects {
		fmt.Fprintf(&b, "%s  %s\n", strings.TrimPrefix(s.Hash, "sha256:"), s.Name)
	}
	signature, err := r.key.sign(b.Bytes())
	if err != nil {
		return err
	}
	public, err := r.key.pem()
	if err != nil {
		return err
	}
	authorized, err := r.key.authorized()
	if err != nil {
		return err
	}
	return errors.Join(r.put(checksumsFile, b.Bytes()), r.put(signatureFile, signature), r.put(keyFile, public),
		r.put(signersFile, []byte("release "+authorized+"\n")))
}

// subjects are the files of a directory by name.
func subjects(dir string) ([]attest.Subject, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []attest.Subject
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		out = append(out, attest.Subject{Name: e.Name(), Hash: "sha256:" + hex.EncodeToString(sum[:])})
	}
	return out, nil
}

// provenance writes the statement from which commit all files so far are made.
func (r *release) provenance() error {
	files, err := subjects(r.out)
	if err != nil {
		return err
	}
	data, err := attest.Sign(&attest.Statement{
		Subjects: files, Provenance: &attest.Provenance{Version: r.tag, Commit: r.commit, Go: r.golang},
	}, r.key.Private)
	if err != nil {
		return err
	}
	return r.put(provenanceFile, data)
}

// check reads the files of a release: the statement must be signed by a key and name each of them with its hash.
func check(dir, public string) error {
	text, err := os.ReadFile(public)
	if err != nil {
		return err
	}
	k, err := attest.ParsePublic(text)
	if err != nil {
		return fmt.Errorf("%s: %w", public, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, provenanceFile))
	if err != nil {
		return err
	}
	envelope, err := attest.ReadProvenance(data)
	if err != nil {
		return err
	}
	said, _, err := envelope.Verify(1, k)
	if err != nil {
		return err
	}
	files, err := subjects(dir)
	if err != nil {
		return err
	}
	var wrong []error
	found := 0
	for _, f := range files {
		switch want := said.Subject(f.Name); {
		case f.Name == provenanceFile:
		case want == "":
			wrong = append(wrong, fmt.Errorf("%s is not in the statement", f.Name))
		case want != f.Hash:
			wrong = append(wrong, fmt.Errorf("%s is not the file of the statement", f.Name))
		default:
			found++
		}
	}
	for _, s := range said.Subjects {
		if _, err := os.Lstat(filepath.Join(dir, s.Name)); err != nil {
			wrong = append(wrong, fmt.Errorf("%s is missing", s.Name))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	p := said.Provenance
	fmt.Printf("%d files of %s, made with %s from commit %s, signed by %s\n", found, p.Version, p.Go, p.Commit, k.ID())
	return nil
}
