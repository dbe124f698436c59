package signers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/files/bounded"
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
	return read(path, limit, func(*os.File, os.FileInfo, string) error { return nil })
}

// ReadSecret reads the file of a key that signs, which others than this user must not be able to read.
func ReadSecret(path string) ([]byte, error) {
	return read(path, attest.MaxKey, func(_ *os.File, info os.FileInfo, _ string) error { return secret(info) })
}

// read reads a regular file that check accepts, once it is open; real is its path without symlinks.
func read(path string, limit int64, check func(f *os.File, info os.FileInfo, real string) error) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	f, err := openFile(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	if err := check(f, info, real); err != nil {
		return nil, err
	}
	return bounded.Read(f, limit)
}
