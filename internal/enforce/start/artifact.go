package start

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// maxArtifact and maxManifest bound the files that a start reads, in bytes.
const (
	maxArtifact = 64 << 20
	maxManifest = 1 << 30
)

// Load reads a resolved specification and checks its hash: against sum, or, when sum is empty,
// against the manifest of the build that the file is part of. A manifest vouches only from
// where no tool can write (trust.go). The specification must be that of the requested tool, and
// the targets of its external rules must still be approved. root is the workspace that the
// caller is in, empty if it is none. It returns the hash as well.
func Load(path, sum, tool, root string) (*Spec, string, error) {
	spec, hash, path, err := loaded(path, sum, tool, root)
	if err != nil {
		return nil, "", err
	}
	if err := approved(spec.Launch); err != nil {
		return nil, "", failed("the artifact %s: %w", path, err)
	}
	return spec, hash, nil
}

// LoadContained is Load in a container, where the user's approvals are not: the hash, which is
// needed, vouches for those of the time when the container was described.
// See decision D24.
func LoadContained(path, sum, tool, root string) (*Spec, string, error) {
	if sum == "" {
		return nil, "", failed("--in-container needs --sha256")
	}
	spec, hash, _, err := loaded(path, sum, tool, root)
	return spec, hash, err
}

// loaded does all of that but for the approvals. It returns the canonical path as well.
func loaded(path, sum, tool, root string) (spec *Spec, hash, canonical string, err error) {
	path, err = filepath.Abs(path)
	if err == nil && root != "" && sum == "" {
		path, err = workspace.Direct(root, path)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, "", "", failed("the artifact: %w", err)
	}
	data, err := readBounded(path, maxArtifact)
	if err != nil {
		return nil, "", "", failed("the artifact: %w", err)
	}
	digest := sha256.Sum256(data)
	got := "sha256:" + hex.EncodeToString(digest[:])
	want := "sha256:" + strings.TrimPrefix(strings.ToLower(sum), "sha256:")
	if sum != "" && want != got {
		return nil, "", "", failed("the artifact %s has the hash %s, expected %s", path, got, want)
	}
	files := []string{path}
	if sum == "" {
		if files, err = vouched(path, got, root); err != nil {
			return nil, "", "", err
		}
	}
	spec, err = Parse(data)
	if err != nil {
		return nil, "", "", failed("the artifact %s: %w", path, err)
	}
	l := spec.Launch
	switch {
	case tool != "" && l.Tool != tool:
		return nil, "", "", failed("the artifact %s is that of %s, not of %s", path, l.Tool, tool)
	case sum == "":
		for _, file := range files {
			if err := refuse(file, own(file, l)); err != nil {
				return nil, "", "", err
			}
		}
	}
	return spec, got, path, nil
}

// vouched checks that the manifest of the build has the digest for this file, and that both lie
// where no tool can write: those are the files that it returns.
// See decision D24.
func vouched(path, digest, root string) ([]string, error) {
	named := filepath.Join(filepath.Dir(filepath.Dir(path)), "manifest.json")
	real, err := filepath.EvalSymlinks(named)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failed("found no manifest for %s (expected %s); pass --sha256", path, named)
	}
	if err != nil {
		return nil, failed("the manifest: %w", err)
	}
	// The directories around a manifest at its own place are around the artifact as well.
	files := []string{path}
	if real != named {
		files = append(files, real)
	}
	for _, file := range files {
		if err := refuse(file, Exposed(file, root)); err != nil {
			return nil, err
		}
	}
	data, err := readBounded(real, maxManifest)
	if err != nil {
		return nil, failed("the manifest: %w", err)
	}
	m, err := parseManifest(data)
	if err != nil {
		return nil, failed("the manifest %s: %w", named, err)
	}
	listed, err := m.named(filepath.Base(filepath.Dir(path)))
	if err != nil {
		return nil, failed("the manifest %s: %w", named, err)
	}
	for _, e := range listed {
		if e.Artifacts[filepath.Base(path)] != digest {
			continue
		}
		switch forbidden, err := m.forbidden(e); {
		case err != nil:
			return nil, failed("the manifest %s: %w", named, err)
		case forbidden:
			return nil, failed("the constraints of %s forbid it, by %s", e.Name, named)
		}
		return files, nil
	}
	return nil, failed("%s does not match its hash in %s; build again", path, named)
}

func refuse(file, why string) error {
	if why == "" {
		return nil
	}
	return failed("%s does not count, since it %s: run build --resolve without --out, or pass --sha256", file, why)
}

// manifest is the part of a build's manifest that a start reads (package build writes it).
type manifest struct {
	backends.Header
	Policy string `json:"policy_sha256"`
	// Tools are entries, of which a start reads those of its own tool.
	Tools []strictjson.Raw `json:"tools"`
}

type manifestEntry struct {
	Name        string            `json:"name"`
	Source      string            `json:"source"`
	Confined    bool              `json:"confined"`
	Risk        string            `json:"risk"`
	Hash        string            `json:"policy_sha256"`
	Artifacts   map[string]string `json:"artifacts"`
	Sensitive   strictjson.Raw    `json:"sensitive"`
	Policy      strictjson.Raw    `json:"policy"`
	PolicyAs    string            `json:"policy_as"`
	Identity    strictjson.Raw    `json:"identity"`
	Constraints strictjson.Raw    `json:"constraints"`
	Ledger      strictjson.Raw    `json:"ledger"`
	LedgerAs    string            `json:"ledger_as"`
}

// forbidden reports whether the constraints of a tool forbid to start it. Tools with the same policy
// have it in one entry.
func (m *manifest) forbidden(e manifestEntry) (bool, error) {
	policy := e.Policy
	if e.PolicyAs != "" {
		with, err := m.named(e.PolicyAs)
		switch {
		case err != nil:
			return false, err
		case len(with) == 0 || with[0].Policy == "":
			return false, fmt.Errorf("%w: %s has the policy of %s, which has none", errManifest, e.Name, e.PolicyAs)
		}
		policy = with[0].Policy
	}
	v := policy.Get("constraints", "forbidden")
	return v.Type != strictjson.Null && v.Type != strictjson.False, nil
}

// named are the entries of a name.
func (m *manifest) named(name string) ([]manifestEntry, error) {
	var out []manifestEntry
	for _, tool := range m.Tools {
		if tool.Get("name").Str != name {
			continue
		}
		var e manifestEntry
		if err := tool.Unmarshal(&e); err != nil {
			return nil, fmt.Errorf("%w: %w", errManifest, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// The manifest's format and version, as package build has them.
const (
	manifestFormat  = "accessc/manifest"
	manifestVersion = 2
)

var errManifest = errors.New("not a usable manifest")

func parseManifest(data []byte) (*manifest, error) {
	if err := backends.CheckHeader(errManifest, data, manifestFormat, manifestVersion); err != nil {
		return nil, err
	}
	var m manifest
	if err := strictjson.Own(data, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", errManifest, err)
	}
	return &m, nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := wholefile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := bounded.Read(f, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}
