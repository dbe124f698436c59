package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxArtifact and maxManifest bound what is read at a start, in bytes.
const (
	maxArtifact = 64 << 20
	maxManifest = 1 << 30
)

// Load reads a resolved specification and checks its hash: against sum, or, when
// sum is empty, against the manifest of the build that the file is part of. The
// specification must be that of the tool that is asked for.
func Load(path, sum, tool string) (*Spec, error) {
	data, err := readBounded(path, maxArtifact)
	if err != nil {
		return nil, failed("the artifact: %w", err)
	}
	digest := sha256.Sum256(data)
	got := "sha256:" + hex.EncodeToString(digest[:])
	if sum != "" {
		if want := "sha256:" + strings.TrimPrefix(strings.ToLower(sum), "sha256:"); want != got {
			return nil, failed("the artifact %s has the hash %s, expected %s", path, got, want)
		}
	} else if err := vouched(path, got); err != nil {
		return nil, err
	}
	spec, err := Parse(data)
	if err != nil {
		return nil, failed("the artifact %s: %w", path, err)
	}
	if is := spec.Launch().Tool; tool != "" && is != tool {
		return nil, failed("the artifact %s is that of %s, not of %s", path, is, tool)
	}
	return spec, nil
}

// vouched looks for the digest among those that the manifest lists. The digest
// covers the tool's name, so any place in the manifest is the right one.
func vouched(path, digest string) error {
	manifest := filepath.Join(filepath.Dir(filepath.Dir(path)), "manifest.json")
	data, err := readBounded(manifest, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return failed("no manifest vouches for %s (%s is not there); pass --sha256", path, manifest)
	}
	if err != nil {
		return failed("the manifest: %w", err)
	}
	if !bytes.Contains(data, []byte(`"`+digest+`"`)) {
		return failed("%s is not what %s vouches for; build again", path, manifest)
	}
	return nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s: larger than %d bytes", path, limit)
	}
	f, err := openFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + 1)
	_, err = buf.ReadFrom(io.LimitReader(f, limit))
	return buf.Bytes(), err
}
