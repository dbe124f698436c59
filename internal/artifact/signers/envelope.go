package signers

import (
	"errors"
	"io/fs"
	"os"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/files/owned"
	"github.com/accessc/accessc/internal/text/oserr"
)

// errMissing is the reason where there is no attestation.
var errMissing = errors.New("there is no attestation; accessc build --sign writes one")

// Envelope reads an attestation of a build, which may lie anywhere: its signatures count, not its place.
func Envelope(path string) (*attest.Envelope, error) { return envelope(path, attest.Read) }

// Summary reads an attestation of tests in the same way.
func Summary(path string) (*attest.Envelope, error) { return envelope(path, attest.ReadSummary) }

func envelope(path string, understand func([]byte) (*attest.Envelope, error)) (*attest.Envelope, error) {
	data, err := ReadFile(path, attest.MaxEnvelope)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errMissing
	case err != nil:
		return nil, oserr.Reason(err)
	}
	return understand(data)
}

// ReadFile reads a regular file of at most limit bytes, and waits for no other process.
func ReadFile(path string, limit int64) ([]byte, error) {
	return owned.Read(path, limit, nil)
}

// ReadSecret reads the file of a key that signs, which others than this user must not be able to read.
func ReadSecret(path string) ([]byte, error) {
	return owned.Read(path, attest.MaxKey, func(_ *os.File, info os.FileInfo, _ string) error { return secret(info) })
}
