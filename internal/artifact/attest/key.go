package attest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

// MaxKey bounds the file of a key, in bytes.
const MaxKey = 16 << 10

// Public is a key that signatures are checked with.
type Public struct {
	key crypto.PublicKey
	id  string
}

// ID is the SHA-256 of the key as PKIX has it, in hexadecimal digits.
func (p Public) ID() string { return p.id }

// Private is a key that signs.
type Private struct {
	signer crypto.Signer
	public Public
}

// Public is the key that checks the signatures of this key.
func (p Private) Public() Public { return p.public }

// ParsePrivate reads a PEM file with one PKCS #8 key, Ed25519 or ECDSA on P-256.
func ParsePrivate(data []byte) (Private, error) {
	block, err := onlyBlock(data)
	if err != nil {
		return Private{}, err
	}
	switch block.Type {
	case "PRIVATE KEY":
	case "ENCRYPTED PRIVATE KEY":
		return Private{}, errors.New("the key is encrypted; openssl pkcs8 -topk8 -nocrypt decrypts it")
	case "EC PRIVATE KEY", "RSA PRIVATE KEY":
		return Private{}, fmt.Errorf("found %q, expected PKCS #8: openssl pkcs8 -topk8 -nocrypt converts it",
			block.Type)
	case "PUBLIC KEY":
		return Private{}, errors.New("found a public key, expected a private one")
	default:
		return Private{}, fmt.Errorf("found %q, expected PRIVATE KEY", block.Type)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Private{}, errors.New("not a PKCS #8 key")
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return Private{}, fmt.Errorf("found %s, expected Ed25519 or ECDSA on P-256", kind(key))
	}
	public, err := newPublic(signer.Public())
	return Private{signer, public}, err
}

// ParsePublic reads a PEM file with one PKIX key, Ed25519 or ECDSA on P-256.
func ParsePublic(data []byte) (Public, error) {
	block, err := onlyBlock(data)
	switch {
	case err != nil:
		return Public{}, err
	case block.Type == "PRIVATE KEY" || block.Type == "EC PRIVATE KEY" || block.Type == "ENCRYPTED PRIVATE KEY":
		return Public{}, errors.New("found a private key, expected a public one: openssl pkey -pubout makes it")
	case block.Type != "PUBLIC KEY":
		return Public{}, fmt.Errorf("found %q, expected PUBLIC KEY", block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return Public{}, errors.New("not a PKIX key")
	}
	return newPublic(key)
}

// onlyBlock returns the only block of a PEM file. Text around it could be another key to another
// reader.
func onlyBlock(data []byte) (*pem.Block, error) {
	block, rest := pem.Decode(data)
	switch {
	case len(data) > MaxKey:
		return nil, fmt.Errorf("larger than %d bytes", MaxKey)
	case block == nil:
		return nil, errors.New("not a PEM file")
	}
	if more, _ := pem.Decode(rest); more != nil {
		return nil, errors.New("found more than one key")
	}
	return block, nil
}

func newPublic(key crypto.PublicKey) (Public, error) {
	if k, ok := key.(*ecdsa.PublicKey); ok && k.Curve == elliptic.P256() {
		return identified(k)
	}
	if k, ok := key.(ed25519.PublicKey); ok {
		return identified(k)
	}
	return Public{}, fmt.Errorf("found %s, expected Ed25519 or ECDSA on P-256", kind(key))
}

func identified(key crypto.PublicKey) (Public, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	sum := sha256.Sum256(der)
	return Public{key, hex.EncodeToString(sum[:])}, err
}

// kind names the type of a key.
func kind(key any) string {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		return "ECDSA on " + k.Curve.Params().Name
	default:
		return fmt.Sprintf("a key of the type %T", key)
	}
}

// signer is a key as package dsse takes it, to sign with.
type signer struct{ Private }

// Sign implements dsse.Signer.
func (s signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	if _, ok := s.public.key.(ed25519.PublicKey); ok {
		return s.signer.Sign(rand.Reader, data, crypto.Hash(0))
	}
	sum := sha256.Sum256(data)
	return s.signer.Sign(rand.Reader, sum[:], crypto.SHA256)
}

// KeyID implements dsse.Signer.
func (s signer) KeyID() (string, error) { return s.public.id, nil }

// verifier is a key as package dsse takes it, to check with.
type verifier struct{ of Public }

var errSignature = errors.New("not a signature of the key")

// Verify implements dsse.Verifier.
func (v verifier) Verify(_ context.Context, data, sig []byte) error {
	ok := false
	switch k := v.of.key.(type) {
	case ed25519.PublicKey:
		ok = ed25519.Verify(k, data, sig)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(data)
		ok = ecdsa.VerifyASN1(k, sum[:], sig)
	}
	if !ok {
		return errSignature
	}
	return nil
}

// KeyID implements dsse.Verifier.
func (v verifier) KeyID() (string, error) { return v.of.id, nil }

// Public implements dsse.Verifier.
func (v verifier) Public() crypto.PublicKey { return v.of.key }
